"""Values and their sources, one by one."""

from __future__ import annotations

from datetime import date

import pytest

from callwright.nouns.types import READ, WRITE, Json, JsonObject, Message, Tool, ToolResult
from callwright.repair.provenance.invention import find_inventions
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.repair.provenance.value_judge import (
    ValueJudge,
    days_in,
    is_schema_value,
    read_day,
)
from callwright.schema.compiled import Node, compiled_for


def node(part: Json) -> Node:
    root = compiled_for(Tool("pay", "", {"properties": {"x": part}})).root
    found = root.property("x")
    assert found is not None
    return found


def test_full_dates_are_found_in_their_usual_spellings() -> None:
    texts = [
        "2026-11-23 or 24/12/2026",
        "on 1st of May 2027, then June 3, 2027",
        "03/04/2027 has two readings, 20290230 is no day",
        "today is 20280229",
    ]
    assert sorted(day.isoformat() for day in days_in(texts)) == [
        "2026-11-23",
        "2026-12-24",
        "2027-05-01",
        "2027-06-03",
        "2028-02-29",
    ]


@pytest.mark.parametrize(
    ("value", "part", "holds"),
    [
        (40, {"type": "integer"}, True),
        (80, {"type": "integer"}, False),  # nobody said twice
        (17, {"type": "integer"}, False),
        (17, {"type": ["integer", "null"]}, False),
        (None, {"type": ["integer", "null"]}, True),
        (17, {"type": ["integer", "string"]}, False),
        (17, {"anyOf": [{"type": "number"}, {"type": "string"}]}, False),
        (17, {"anyOf": [{"type": "number"}, {"enum": [17]}]}, True),
        (17, {"type": ["integer", "nope"]}, True),  # no kind of JSON Schema
        ("seventeen", {"anyOf": [{"type": "number"}, {"type": "string"}]}, True),
        (17, {"type": "integer", "default": 17}, True),
        (True, {"type": "boolean"}, True),
        ("a rainy day", {"type": "string"}, True),  # may be a paraphrase
        ("B-7", {"type": "string", "pattern": "^B-[0-9]$"}, True),
        ("B-9", {"type": "string", "pattern": "^B-[0-9]$"}, False),
        ("ann@mail.example", {"type": "string", "format": "email"}, False),
        ("ann@mail.example", {"type": ["string", "null"], "format": "email"}, False),
        ("JFK", {"type": "string", "pattern": "^[A-Z]{3}$"}, True),
        ("127.0.0.1", {"type": "string", "format": "ipv4"}, True),
        ("10.3.4.5", {"type": "string", "format": "ipv4"}, False),
    ],
)
def test_a_value_holds_if_it_was_said_derived_or_cannot_be_judged(
    value: Json, part: Json, holds: bool
) -> None:
    said = "Please pay 40 of the lamps in the order B-7."
    judge = ValueJudge(ProvenanceIndex(said), [said])
    assert judge.holds("x", value, node(part)) is holds


@pytest.mark.parametrize(
    ("value", "holds"),
    [
        ("ann@mail.example", True),
        ("Ann <ann@mail.example>", True),
        ("Ann <ann@mail.example>, lee@mail.example; Kim <kim@mail.example>", True),
        ("ann@mail.example bob@mail.example", False),
        ("Ann <ann@mail.example>, Bob <bob@mail.example>", False),
        ("Bob <bob@mail.example>", False),
        ("Please write to bob@mail.example about it.", True),  # free text
        ("a@b, c", True),  # no addresses
    ],
)
def test_each_address_of_a_list_is_judged(value: str, holds: bool) -> None:
    said = "Write to ann@mail.example, lee@mail.example and kim@mail.example, please."
    judge = ValueJudge(ProvenanceIndex(said), [said])
    assert judge.holds("to", value, node({"type": "string"})) is holds


def test_a_host_is_judged_where_a_write_is_declared() -> None:
    said, part = "Publish my page.", {"type": "string", "format": "uri"}
    for effects, is_held in ((WRITE, True), (READ, False)):
        tool = Tool("publish", "Publishes a page.", {"properties": {"x": part}}, effects=effects)
        judge = ValueJudge(ProvenanceIndex(said), [said], tool=tool)
        assert judge.holds("x", "https://evil.example.com/hook", node(part)) is not is_held


def test_a_host_in_punycode_was_said_in_its_letters() -> None:
    part = {"type": "string", "format": "hostname"}
    tool = Tool("publish", "Publishes a page.", {"properties": {"x": part}}, effects=WRITE)
    for said, holds in (("Publish at münchen.de.", True), ("Publish at köln.de.", False)):
        judge = ValueJudge(ProvenanceIndex(said), [said], tool=tool)
        assert judge.holds("x", "xn--mnchen-3ya.de", node(part)) is holds


def test_a_day_of_which_nobody_spoke_is_no_value_of_a_declared_write() -> None:
    said, part = "Book a table at Roma for 4 people.", {"type": "string", "format": "date"}
    known = ProvenanceIndex(said, ["Today is 2026-11-23."])
    for effects, is_held in ((WRITE, True), (READ, False)):
        about = {"properties": {"x": part}}
        tool = Tool("book_table", "Books a table.", about, effects=effects)
        judge = ValueJudge(known, [said], tool=tool)
        assert judge.holds("x", "2026-11-24", node(part)) is not is_held
        assert judge.holds("x", "2026-11-23", node(part)) is not is_held
        assert not judge.holds("x", "2031-07-04", node(part))  # the 4 of "4 people"


def test_where_words_cannot_be_read_a_day_may_have_been_said() -> None:
    said = "Zarezerwuj stolik na dwudziestego czwartego lutego."
    judge = ValueJudge(ProvenanceIndex(said, ["Today is 2026-11-23."]), [said])
    assert judge.holds("x", "2027-02-24", node({"type": "string", "format": "date"}))


def test_what_a_result_says_holds_and_what_it_was_asked_with_does_not() -> None:
    said = "Please pay for all of the lamps."
    number = node({"type": "integer"})
    back = ToolResult("r1", "find", {"number": 77}, {"number": 77, "price": 12.5})
    judge = ValueJudge(ProvenanceIndex(said, results=[back]), [said])
    assert judge.holds("x", 12.5, number)
    assert not judge.holds("x", 77, number)


def test_a_schema_gives_its_default_and_what_it_describes_but_no_example() -> None:
    about = {"type": "string", "default": "de", "description": "fast or slow, e.g. 'quick'"}
    assert is_schema_value("de", node(about))
    assert is_schema_value("slow", node(about))
    assert not is_schema_value("quick", node(about))


def test_days_and_times_are_read_by_schema_or_form() -> None:
    assert read_day("2026-11-23T10:00:00Z", node({"type": "string"})) == date(2026, 11, 23)
    assert read_day("soon", node({"type": "string", "format": "date"})) is None
    assert read_day(20261123, node({"type": "integer"})) is None


@pytest.mark.parametrize(
    "value",
    [
        "unknown",
        "N/A",
        "TBD",
        "<part_code>",
        "string",
        "unbekannt",
        "desconocido",
        "未知",
        "غير معروف",
    ],
)
def test_what_stands_for_a_value_that_is_not_there_is_none(value: str) -> None:
    tool = Tool(
        "order",
        "Orders a part.",
        {"type": "object", "properties": {"part": {"type": "string"}}, "required": ["part"]},
        effects=WRITE,
    )
    listed = Tool(
        "order",
        "Orders a part.",
        {"type": "object", "properties": {"part": {"enum": [value]}}, "required": ["part"]},
        effects=WRITE,
    )
    call: JsonObject = {"part": value}
    query = "Order five of them, please."
    (found,) = find_inventions(call, tool, ProvenanceIndex(query), [query])
    assert found.key == "part"
    said = f"Order the part {value}, please."
    assert find_inventions(call, tool, ProvenanceIndex(said), [said]) == ()
    assert find_inventions(call, listed, ProvenanceIndex(query), [query]) == ()


CODE: JsonObject = {"type": "string"}
WHOLE: JsonObject = {"type": "integer"}


def held(
    tool: Tool, call: JsonObject, said: str, system: str = "Today is 2026-03-10."
) -> list[str]:
    known = ProvenanceIndex(said, [Message("system", system)])
    return [one.key for one in find_inventions(call, tool, known, [said])]


def writing(about: str = "Does it.", **parts: JsonObject) -> Tool:
    schema = {"type": "object", "properties": {**parts}, "required": [*parts]}
    return Tool("do", about, schema, effects=WRITE)


@pytest.mark.parametrize(
    "said",
    [
        "Please order 200 pieces of the part A-100.",
        "Bestelle bitte 200 Stück von dem Teil A-100.",
        "Pide 200 unidades de la pieza A-100, por favor.",
        "请订购200个A-100零件。",
        "اطلب ٢٠٠ قطعة من A-100 من فضلك",
    ],
)
def test_a_code_is_not_made_of_an_amount(said: str) -> None:
    pattern: JsonObject = {"type": "string", "pattern": "^[A-Z]+-[0-9]+$"}
    for part in (CODE, pattern):
        order = writing(part_code=part, quantity=WHOLE)
        assert held(order, {"part_code": "A-200", "quantity": 200}, said) == ["part_code"]
        assert held(order, {"part_code": "A-100", "quantity": 200}, said) == []
        assert held(writing(part_code=part), {"part_code": "A-200"}, said) == ["part_code"]


@pytest.mark.parametrize(
    ("said", "value", "is_held"),
    [
        ("Cancel order 4711.", "ORD-4711", False),
        ("Cancel ORD-4711 and 4712.", "ORD-4712", False),
        ("Cancel ord 4711, please.", "ORD-4711", False),
        ("取消订单4711。", "ORD-4711", False),
        ("ألغ الطلب رقم ٤٧١١", "ORD-4711", False),
        ("Cancel ORD-4711.", "ORD-471", True),
        ("Cancel the order of Hansen Bygg, 20 pieces.", "H-B-100", True),
        ("Cancel H-B-100.", "H-B-100", False),
        ("Cancel hb 100.", "H-B-100", False),
        ("Cancel ORD-4711.", "ORD-4712", True),
        ("Cancel the ORD for the chairs, ordered on 2026-03-04.", "ORD-2026-03", True),
        ("Lösche die ORD der Stühle, bestellt am 04.03.2026.", "ORD-2026-03", True),
    ],
)
def test_a_code_is_its_own_digits_in_any_spelling(said: str, value: str, is_held: bool) -> None:
    assert bool(held(writing(order_id=CODE), {"order_id": value}, said)) is is_held


@pytest.mark.parametrize(
    "part",
    [
        {"type": "string", "description": "Code of the part, as A-100"},
        {"type": "string", "description": "Code of the part (A-100)"},
        {"type": "string", "pattern": "^[A-Z]-[0-9]{3}$", "description": "Code: A-100 or so"},
    ],
)
def test_a_code_in_a_description_is_no_source_of_a_write(part: JsonObject) -> None:
    call: JsonObject = {"part_code": "A-100"}
    assert held(writing(part_code=part), call, "Order a desk lamp.") == ["part_code"]
    assert held(writing(part_code=part), call, "Order an A-100.") == []
    assert held(writing(part_code={**part, "default": "A-100"}), call, "Order a lamp.") == []
    reading = Tool("look", "", writing(part_code=part).input_schema)
    assert held(reading, call, "Look at a desk lamp.") == [], "a read does no harm"
    said = "Look at a lamp."
    found = find_inventions(call, reading, ProvenanceIndex(said), [said], looked_up={"part_code"})
    assert [one.key for one in found] == ["part_code"], "another read gives such codes"


@pytest.mark.parametrize(("value", "is_held"), [("K-17", True), ("primary", False)])
def test_where_a_read_gives_the_values_a_code_in_a_description_is_an_example(
    value: str, *, is_held: bool
) -> None:
    about = "Number of the customer, as K-17. Use primary for your own"
    tool = Tool("look", "", writing(id={"type": "string", "description": about}).input_schema)
    found = find_inventions({"id": value}, tool, ProvenanceIndex(""), [""], looked_up={"id"})
    assert bool(found) is is_held


def test_what_is_looked_up_stands_in_one_piece() -> None:
    said = "Cancel the order of the blue chair and the old lamp."
    for value, made in (("blue-chair", ()), ("blue-lamp", ("order_id",))):
        tool = writing(order_id=CODE)
        found = find_inventions(
            {"order_id": value}, tool, ProvenanceIndex(said), [said], looked_up={"order_id"}
        )
        assert tuple(one.key for one in found) == made


@pytest.mark.parametrize(
    ("said", "phone", "is_held"),
    [
        ("أضف Roth برقم +٩٦٦ ٥٠ ١٢٣ ٤٥٦٧", "+966501234567", False),
        ("Add my dentist in Berlin, phone 030 1234567.", "+49301234567", False),
        ("Add Roth, phone +49 (0)30 1234567.", "+49301234567", False),
        ("Füge Roth hinzu, Telefon 0049 30 1234567.", "+49301234567", False),
        ("添加Roth，电话13812345678。", "+8613812345678", False),
        ("Add my dentist in Berlin, phone 030 1234567.", "+49301234568", True),
        ("Add my dentist in Berlin.", "+49301234567", True),
        ("Pay DE89 3704 0044 0532 0130 00.", "DE88370400440532013000", True),
    ],
)
def test_a_phone_number_counts_in_other_notations(said: str, phone: str, is_held: bool) -> None:
    part: JsonObject = {"type": "string", "pattern": r"^(\+|[A-Z]{2})[0-9]{6,30}$"}
    assert bool(held(writing(phone=part), {"phone": phone}, said)) is is_held


@pytest.mark.parametrize(
    "said", ["Turn it all the way up.", "Dreh es bitte ganz auf.", "调到最大。"]
)
def test_a_bound_is_given_by_the_schema(said: str) -> None:
    volume: JsonObject = {"type": "integer", "minimum": 5, "maximum": 90}
    tool = writing(volume=volume)
    assert held(tool, {"volume": 90}, said) == []
    assert held(tool, {"volume": 5}, said) == []
    assert held(tool, {"volume": 80}, said) == ["volume"]


def test_a_bound_of_one_gives_nothing() -> None:
    lamps: JsonObject = {"type": "integer", "minimum": 1}
    assert held(writing(n=lamps), {"n": 1}, "Order some desk lamps for us, please.") == ["n"]


TIMED: JsonObject = {"type": "string", "format": "date-time"}


@pytest.mark.parametrize(
    "said",
    [
        "Please put the review into my calendar tomorrow.",
        "Trag die Besprechung bitte morgen in den Kalender ein.",
        "Apunta la revisión para pasado mañana en el calendario, por favor.",
        "请把评审会议加到明天的日历里。",
    ],
)
def test_a_time_of_which_nobody_spoke_is_held_in_a_declared_write(said: str) -> None:
    day = "2026-03-12" if "pasado" in said else "2026-03-11"
    enter = writing(start=TIMED)
    assert held(enter, {"start": f"{day}T14:00:00Z"}, said) == ["start"]
    for free in ("00:00:00Z", "12:00:00Z", "23:59:59"):
        assert held(enter, {"start": f"{day}T{free}"}, said) == []


@pytest.mark.parametrize(
    "said",
    [
        "Please put the review into my calendar tomorrow at two.",
        "Please put the review into my calendar tomorrow morning.",
        "Please put the review into my calendar tomorrow after lunch.",
        "Please put the review, an hour long, into my calendar tomorrow.",
        "Trag die Besprechung bitte morgen früh in den Kalender ein.",
        "Trag die Besprechung bitte morgen um zwei in den Kalender ein.",
        "明天下午三点开评审会。",
        "Wpisz przegląd na jutro do kalendarza.",
    ],
)
def test_a_time_that_may_be_meant_is_not_judged(said: str) -> None:
    assert held(writing(start=TIMED), {"start": "2026-03-11T14:00:00Z"}, said) == []


def test_a_time_of_today_may_be_the_present() -> None:
    said = "Please log that I have watered the plants."
    assert held(writing(at=TIMED), {"at": "2026-03-10T08:14:31Z"}, said) == []


def test_a_time_that_the_documentation_gives_is_not_judged() -> None:
    said = "Please put the review into my calendar tomorrow."
    call: JsonObject = {"start": "2026-03-11T09:00:00Z"}
    assert held(writing(start={**TIMED, "description": "9:00 if none is said"}), call, said) == []
    assert held(writing("Begins at the next free slot.", start=TIMED), call, said) == []
    assert held(writing(start=TIMED), call, said) == ["start"]


@pytest.mark.parametrize(
    ("record", "is_held"),
    [
        ({"customer_id": "K-17", "name": "Hansen Bygg"}, True),
        ({"name": "Hansen Bygg"}, False),  # the name may be all that there is
        ({"id": "Hansen Bygg", "name": "Hansen Bygg"}, False),
    ],
)
def test_the_name_of_a_record_with_an_identifier_is_no_other_identifier(
    record: JsonObject, *, is_held: bool
) -> None:
    said = "Cancel the order of Hansen Bygg."
    came = ToolResult("r1", "find_customer", {"name": "Hansen"}, [record])
    sources, tool = ProvenanceIndex(said, (), [came]), writing(order_id={"type": "string"})
    found = find_inventions(
        {"order_id": "Hansen Bygg"}, tool, sources, [said], looked_up={"order_id"}
    )
    assert bool(found) is is_held
