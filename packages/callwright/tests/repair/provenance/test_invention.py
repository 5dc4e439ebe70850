from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.types import READ, WRITE, Message, Tool, ToolResult
from callwright.repair.provenance.invention import find_inventions
from callwright.repair.provenance.sources import ProvenanceIndex

NUMBER, WHOLE = {"type": "number"}, {"type": "integer"}
DAY, TIME = {"type": "string", "format": "date"}, {"type": "string", "format": "time"}
MAIL, UUID = {"type": "string", "format": "email"}, {"type": "string", "format": "uuid"}
CODE = {"type": "string", "pattern": "^[A-Z]+-[0-9]+$"}


def tool(part: Any, *, required: bool = True) -> Tool:
    schema = {"type": "object", "properties": {"x": part}, "required": ["x"] if required else []}
    return Tool("f", "", schema)


def found(value: Any, part: Any, said: str, *results: Any) -> list[Any]:
    sources = ProvenanceIndex(said)
    for place, content in enumerate(results):
        sources.add_result(ToolResult(f"r{place}", "g", {}, content))
    return [one.value for one in find_inventions({"x": value}, tool(part), sources)]


@pytest.mark.parametrize(
    ("value", "part", "said"),
    [
        (100, NUMBER, "Transfer some money to Ann, please."),
        (4711, WHOLE, "Buche einen Tisch für uns."),
        (4, WHOLE, "Book a table for us this evening."),
        (37.5, NUMBER, "Pay 12 to the shop."),
        ("2024-01-01", DAY, "What is 250 USD in Norwegian kroner?"),
        ("2031-05-17", DAY, "Today is 2026-11-23. Book a table."),
        ("2024-05-17T19:00:00Z", {**DAY, "format": "date-time"}, "Book a table."),
        ("19:30:00", TIME, "Book a table."),
        ("ann@example.com", MAIL, "Write to Ann."),
        ("6d0c3a5e-8b0e-4b57-9d9d-0f6f3c1c2a11", UUID, "Cancel my order."),
        ("ORD-4711", CODE, "Cancel my order."),
        (100, {"anyOf": [NUMBER, WHOLE]}, "Transfer some money to Ann, please."),
        (100, {"type": ["integer", "null"]}, "Transfer some money to Ann, please."),
        (100, {"anyOf": [NUMBER, {"type": "null"}]}, "Transfer some money to Ann, please."),
        (20, {"type": "integer", "description": "How much, e.g. 20"}, "Give it to the shop."),
        ("2024-01-01", {"type": "string"}, "What is 250 USD in Norwegian kroner?"),
        ("2024-01-01T08:00", {"type": "string"}, "What is 250 USD in Norwegian kroner?"),
        ("ann@example.com", {"type": "string"}, "Write to Ann."),
    ],
)
def test_what_stands_nowhere_is_an_invention(value: Any, part: Any, said: str) -> None:
    assert found(value, part, said) == [value]


@pytest.mark.parametrize(
    ("value", "part", "said"),
    [
        (100, NUMBER, "Transfer 100 to Ann."),
        (1234.5, NUMBER, "Transfer 1,234.50 to Ann."),
        (0.2, NUMBER, "Take 20% off."),
        (42, WHOLE, "٤٢ كتاب"),
        (2, WHOLE, "A table for two at the window."),
        (2, WHOLE, "Buche einen Tisch für zwei Personen um acht."),
        (2, WHOLE, "Reserva una mesa para dos personas a las ocho."),
        (25, WHOLE, "二十五人"),
        (1, WHOLE, "Order a pizza."),
        (7_200, WHOLE, "Remind me in 2 hours."),
        (60, WHOLE, "Start the timer for an hour."),
        (30, WHOLE, "Start the timer for half an hour."),
        (7, WHOLE, "The report of July 2021."),
        (90, NUMBER, "Give 20% of 450."),
        (59.9139, {"type": "number"}, "The temperature is 59.9139"),
        ("2026-12-04", DAY, "On 4 December, please."),
        ("2026-12-04", DAY, "Am 4. Dezember bitte."),
        ("2026-11-24", DAY, "It is Monday, 23 November 2026. Book for tomorrow."),
        ("2027-01-01", DAY, "It is 2026-12-31. Book for tomorrow."),
        ("2024-05-17", {**DAY, "default": "2024-05-17"}, "Book a table."),
        ("20:00:00", TIME, "A table at 8 pm."),
        ("ann@example.com", MAIL, "Write to ann@example.com."),
        ("ORD-4711", CODE, "Cancel order 4711."),
        ("NOK", {"type": "string", "pattern": "^[A-Z]{3}$"}, "In Norwegian kroner?"),
        ("+4791234567", {"type": "string", "format": "phone"}, "Call 91234567."),
        ("a table", {"type": "string"}, "Nothing of the kind."),
        ("20240101", {"type": "string"}, "Nothing of the kind."),
        (
            "AAPL",
            {"type": "string", "description": "A symbol, e.g. AAPL"},
            "How is the Apple stock?",
        ),
        ("2022-10-20", DAY, "A five-night stay from October 15th."),
        ("2026-12-31", DAY, "By the end of the month."),
        (3, {"type": "integer", "enum": [1, 3]}, "Book a table for us this evening."),
        (50, {"type": "integer", "default": 50}, "List them."),
        (500, {"type": "integer", "description": "500 means all"}, "List them."),
        (None, {"type": ["integer", "null"]}, "Transfer some money to Ann."),
        (100, {}, "Transfer some money to Ann."),
        (True, {"type": "boolean"}, "Do it."),
    ],
)
def test_what_was_said_could_be_derived_or_cannot_be_read_is_none(
    value: Any, part: Any, said: str
) -> None:
    assert found(value, part, said) == []


ORDERS = {  # language -> (some lamps, 36 in words, 48 as dozens, 36 in digits)
    "en": (
        "Order some of the desk lamps, A-100.",
        "Please order thirty-six of the desk lamps, A-100.",
        "Please order four dozen of the desk lamps, A-100.",
        "Please order 36 of the desk lamps, A-100.",
    ),
    "de": (
        "Bestelle bitte ein paar von den Schreibtischlampen, A-100, für das Büro.",
        "Bestelle bitte sechsunddreißig von den Lampen, A-100, für das Büro.",
        "Bestelle bitte vier Dutzend von den Lampen, A-100, für das Büro.",
        "Bestelle bitte 36 von den Lampen, A-100, für das Büro.",
    ),
    "es": (
        "Pide unas lámparas para nosotros y para el despacho, A-100.",
        "Pide treinta y seis lámparas para nosotros y para el despacho, A-100.",
        "Pide cuatro docenas de lámparas para nosotros y para el despacho, A-100.",
        "Pide 36 lámparas para nosotros y para el despacho, A-100.",
    ),
    "zh": (
        "请订购一些台灯，A-100。",
        "请订购三十六盏台灯，A-100。",
        "请订购四打台灯，A-100。",
        "请订购36盏台灯，A-100。",
    ),
    "ar": (
        "اطلب بعض المصابيح إلى المكتب، A-100.",
        "اطلب ستة وثلاثين مصباحا إلى المكتب، A-100.",
        "اطلب أربع دزينات من المصابيح إلى المكتب، A-100.",
        "اطلب ٣٦ مصباحا إلى المكتب، A-100.",
    ),
}


@pytest.mark.parametrize("code", ORDERS)
def test_a_number_in_words_is_stated_and_a_made_up_one_is_not_in_five_languages(code: str) -> None:
    some, words, dozens, digits = ORDERS[code]
    assert found(36, WHOLE, words) == []
    assert found(48, WHOLE, dozens) == []
    assert found(36, WHOLE, digits) == []
    for invented in (5, 7, 10, 36, 250):
        assert found(invented, WHOLE, some) == [invented]
    for invented in (5, 18, 35, 72, 250):
        assert found(invented, WHOLE, words) == [invented]
        assert found(invented, WHOLE, digits) == [invented]
    assert found(1, WHOLE, some) == []


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (10, "Order some of the desk lamps, A-100."),  # a tenth of the code
        (200, "Order some of the desk lamps, A-100."),
        (8, "Order some of the desk lamps, Q4 model."),
        (12, "Order one of the desk lamps for us."),  # a year of months
    ],
)
def test_nothing_is_computed_from_a_code_or_an_article(value: int, said: str) -> None:
    assert found(value, WHOLE, said) == [value]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (2, "Réserve une table pour deux personnes dans le restaurant."),
        (24, "Commande deux douzaines de lampes pour la maison, s'il vous plaît."),
        (3, "明日のオスロのホテルを三人で予約して"),
        (5, "تعداد پنج چراغ برای دفتر سفارش بده"),
        (5, "Пять ламп, пожалуйста, и всё это в офис."),
        (7, "sieben lampoj"),
    ],
)
def test_where_number_words_are_not_known_a_whole_number_is_not_judged(
    value: int, said: str
) -> None:
    assert found(value, WHOLE, said) == []


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (60, "Stelle den Timer bitte auf eine Stunde für das Essen."),
        (60, "Pon un temporizador de una hora para el horno."),
        (60, "请设置一小时的计时器。"),
        (60, "اضبط مؤقتا لمدة ساعة إلى العشاء"),
        (7, "El informe de julio para el despacho, por favor."),
        (4, "La cuarta página de la lista que está en el despacho."),
        (23, "A restaurant that opens until 11 PM."),
    ],
)
def test_units_of_time_months_and_ordinals_count_in_each_language(value: int, said: str) -> None:
    assert found(value, WHOLE, said) == []


def test_rounding_and_what_is_left_of_a_limit_are_derived() -> None:
    assert found(40, WHOLE, "Round it.", {"gallons": 39.6258}) == []
    about = Tool(
        "fill",
        "Fills the tank, which holds up to 50 gallons.",
        {"type": "object", "properties": {"x": NUMBER}, "required": ["x"]},
    )
    sources = ProvenanceIndex("Fill it up for the ride, please.")
    assert find_inventions({"x": 40}, about, sources)
    sources.add_result(ToolResult("r1", "level", {}, {"level": 10.0}))
    assert not find_inventions({"x": 40}, about, sources)
    assert not find_inventions({"x": 50}, about, sources)


@pytest.mark.parametrize(
    "said",
    [
        "What is 250 USD in Norwegian kroner?",
        "Wie viel sind 250 USD in norwegischen Kronen?",
        "¿Cuánto son 250 USD en coronas noruegas para la oficina?",
        "查一下250美元是多少挪威克朗？",
        "كم تساوي 250 دولارا بالكرونة النرويجية؟",
    ],
)
def test_a_date_that_nobody_said_is_one_in_every_language(said: str) -> None:
    assert found("2024-01-01", DAY, said) == ["2024-01-01"]
    assert found("2023-10-05", DAY, said) == ["2023-10-05"]


def test_coordinates_are_known_of_a_place() -> None:
    schema = {"type": "object", "properties": {"latitude": NUMBER}, "required": ["latitude"]}
    assert not find_inventions(
        {"latitude": 59.91}, Tool("f", "", schema), ProvenanceIndex("The weather in Oslo?")
    )


def test_results_count_with_their_number_and_their_sum() -> None:
    bills = [{"amount": 12.5}, {"amount": 30.0}, {"amount": 8.25}]
    asked = "Pay the total of the bills."
    assert found(50.75, NUMBER, asked, bills) == []
    assert found(3, WHOLE, asked, bills) == []
    assert found(8.25, NUMBER, asked, bills) == []
    assert found(61.2, NUMBER, asked, bills) == [61.2]


def test_only_required_values_are_judged_at_every_depth() -> None:
    inner = {"type": "object", "properties": {"n": NUMBER, "m": NUMBER}, "required": ["n"]}
    schema = {
        "type": "object",
        "$defs": {"line": inner},
        "properties": {"lines": {"type": "array", "items": {"$ref": "#/$defs/line"}}, "z": NUMBER},
        "required": ["lines"],
    }
    arguments = {"lines": [{"n": 100, "m": 200}, {"n": 12, "m": 300}], "z": 400}
    made = find_inventions(
        arguments, Tool("f", "", schema), ProvenanceIndex("Buy 12 of them for the office.")
    )
    assert [(one.path, one.key, one.value) for one in made] == [("/lines/0/n", "n", 100)]


def test_the_places_of_a_tuple_are_judged_by_their_own_schemas() -> None:
    pair = {"type": "array", "prefixItems": [NUMBER, {"type": "string"}], "items": WHOLE}
    made = find_inventions(
        {"x": [77, "left", 88]}, tool(pair), ProvenanceIndex("Put it down for us, please.")
    )
    assert [one.path for one in made] == ["/x/0", "/x/2"]


@given(st.integers(2, 10**9), st.text(max_size=30))
def test_a_number_that_was_said_in_digits_is_never_an_invention(number: int, around: str) -> None:
    assert found(number, WHOLE, f"Please pay {number} for it. {around}") == []


@given(
    st.floats(0.01, 1e6, allow_nan=False), st.sampled_from(["{}", '{{"total": {}}}', "it is {}."])
)
def test_nor_is_one_that_a_result_holds(number: float, form: str) -> None:
    number = round(number, 2)
    assert found(number, NUMBER, "Pay what it says.", form.format(number)) == []


@given(st.dates())
def test_nor_is_a_day_that_was_said(day: Any) -> None:
    assert found(day.isoformat(), DAY, f"On {day.isoformat()}, please.") == []


def test_what_of_a_schema_cannot_be_used_judges_nothing() -> None:
    assert not find_inventions(
        {"x": 5}, tool({"type": ["number", "nope"]}), ProvenanceIndex("Pay it.")
    )
    assert not find_inventions(
        {"x": "a5"}, tool({"type": "string", "pattern": "("}), ProvenanceIndex("Pay it.")
    )


def test_whatever_anybody_said_counts() -> None:
    sources = ProvenanceIndex(
        "yes", [Message("assistant", "Shall I transfer 250?"), Message("user", "yes")]
    )
    assert not find_inventions({"x": 250}, tool(NUMBER), sources)


def test_days_that_are_known_otherwise_and_those_near_them_are_known() -> None:
    sources = ProvenanceIndex("What does it cost tomorrow?", days=[date(2026, 11, 23)])
    assert sources.holds("2026-11-23")
    assert sources.copy().holds("2026-11-23")
    assert sources.without(()).holds("2026-11-23")
    for day, made in (("2026-11-24", []), ("2026-12-24", ["2026-12-24"])):
        found = find_inventions({"x": day}, tool(DAY), sources, near=7)
        assert [one.value for one in found] == made


DATE = {"type": "string", "format": "date"}


def test_a_date_of_fewer_signs_is_read_as_one() -> None:
    text = {"type": "string"}
    assert found("2031-1-5", text, "Today is 2026-03-12. Order lamps.") == ["2031-1-5"]
    assert found("2026-3-5", text, "Today is 2026-03-12. Order lamps.") == []


@pytest.mark.parametrize(
    "said",
    [
        "Today is 2026-03-12. Enter the meeting two weeks from today at 16:00.",
        "今天是2026-03-12。两周后开会，请安排在16:00",
    ],
)
def test_a_date_must_be_one_that_the_span_leads_to(said: str) -> None:
    assert found("2026-03-26", DATE, said) == []
    assert found("2026-04-14", DATE, said) == ["2026-04-14"]


def test_what_the_user_meant_is_told_with_the_wrong_day() -> None:
    said = "Today is 2026-03-12. Enter the meeting two weeks from today at 16:00."
    made = find_inventions({"x": "2026-04-14"}, tool(DATE), ProvenanceIndex(said))
    assert made[0].meant == ("2026-03-26", "2026-02-26")


@pytest.mark.parametrize(
    "said",
    [
        "Trag für nächsten Montag um 13:00 Uhr 'Lagerbesuch' ein.",
        "Enter the visit to the warehouse for next Monday at 13:00, please.",
    ],
)
def test_a_date_must_be_the_weekday_that_was_said(said: str) -> None:
    known = ProvenanceIndex(f"Today is Thursday, 2026-03-12. {said}")
    for right in ("2026-03-16", "2026-03-23"):
        assert find_inventions({"x": right}, tool(DATE), known, [said]) == ()
    (made,) = find_inventions({"x": "2026-03-13"}, tool(DATE), known, [said])
    assert made.meant == ("2026-03-16",)


@pytest.mark.parametrize(
    "said",
    [
        "Apunta 'Inventario' para pasado mañana a las 09:00.",
        "Trag für übermorgen um 09:00 Uhr 'Inventur' ein.",
        "请把开会安排在后天09:00。",
    ],
)
def test_a_date_must_be_the_near_day_that_was_said(said: str) -> None:
    known = ProvenanceIndex(f"Today is Thursday, 2026-03-12. {said}")
    assert find_inventions({"x": "2026-03-14"}, tool(DATE), known, [said]) == ()
    (made,) = find_inventions({"x": "2026-03-13"}, tool(DATE), known, [said])
    assert made.meant == ("2026-03-14",)
    unknown = ProvenanceIndex(said)  # nobody told which day it is
    assert find_inventions({"x": "2031-05-05"}, tool(DATE), unknown, [said]) == ()


def counting(value: int, said: str, effects: Any = WRITE) -> bool:
    schema = {"properties": {"a": {"type": "integer"}}, "required": ["a"]}
    call = Tool("order", "Order parts.", schema, effects=effects)
    return bool(find_inventions({"a": value}, call, ProvenanceIndex(said), [said]))


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Pide cuatro docenas de lámparas.", ("48",)),
        ("Bestelle uns bitte noch zweiundvierzig Lampen.", ("42",)),
        ("اطلب دزينتين من المصابيح", ("24",)),
        ("Order lamps, by three o'clock.", ()),  # an hour is no amount
        ("Order forty lamps or thirty.", ()),
        ("Order 40 lamps.", ()),
    ],
)
def test_the_only_number_in_words_is_told_with_a_wrong_one(said: str, meant: tuple[str]) -> None:
    schema = {"properties": {"a": {"type": "integer"}}, "required": ["a"]}
    call = Tool("order", "Order parts.", schema, effects=WRITE)
    (made,) = find_inventions({"a": 17}, call, ProvenanceIndex(said), [said])
    assert made.meant == meant


@pytest.mark.parametrize(
    "said",
    ["Please order 1 of them for us and for Olsen.", "Please pay 1.0 to Olsen for us and for Lee."],
)
def test_one_in_figures_is_said(said: str) -> None:
    assert not counting(1, said)
    assert counting(1, said.replace("1.0", "some").replace("1", "some"))


@pytest.mark.parametrize(
    "content",
    [
        {"date": "2026-03-13", "events": [{"title": "Inventario", "date": "2026-03-13"}]},
        "Nothing on 2026-03-13.",
    ],
)
def test_a_wrong_day_is_not_right_because_it_was_looked_up(content: Any) -> None:
    said = "Apunta 'Inventario' para pasado mañana a las 09:00."
    known = ProvenanceIndex(f"Hoy es jueves, 2026-03-12. {said}")
    known.add_result(ToolResult("r1", "list_events", {"date": "2026-03-13"}, content))
    (made,) = find_inventions({"x": "2026-03-13"}, tool(DATE), known, [said])
    assert made.meant == ("2026-03-14",)
    known.add_result(ToolResult("r2", "list_invoices", {}, [{"due": "2026-03-13"}]))
    assert find_inventions({"x": "2026-03-13"}, tool(DATE), known, [said]) == ()


def test_a_code_is_not_known_because_it_was_looked_up() -> None:
    known = ProvenanceIndex("Cancel the order of Lena Hoff.")
    asked = {"order_id": "ORD-4711"}
    known.add_result(ToolResult("r1", "get", asked, {**asked, "status": "not found"}))
    assert [one.value for one in find_inventions({"x": "ORD-4711"}, tool(CODE), known)] == [
        "ORD-4711"
    ]
    known.add_result(ToolResult("r2", "get", asked, {**asked, "customer": "Lena Hoff"}))
    assert find_inventions({"x": "ORD-4711"}, tool(CODE), known) == ()


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (1250, "Zahle Ann 1 250 Kronen für das Auto."),
        (1250, "Zahle Ann 1\u202f250 Kronen für das Auto."),
        (1250, "Zahle Ann 1'250 Franken für das Auto."),
        (1250, "ادفع إلى Ann ١٬٢٥٠ كرونة من فضلك"),
        (200, "ادفع إلى Ann مئتي كرونة من فضلك"),
    ],
)
def test_a_number_counts_however_its_thousands_are_parted(value: int, said: str) -> None:
    assert found(value, NUMBER, said) == []
    assert found(value + 3, NUMBER, said) == [value + 3]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("19:30", "Trag das Treffen mit Ann für halb acht abends in den Kalender ein."),
        ("16:45", "Enter the meeting with Ann at quarter to five, please."),
        ("15:30", "Apunta la reunión con Ann a las tres y media de la tarde, por favor."),
        ("15:30", "Saat üç buçukta Ann ile toplantı oluştur."),
    ],
)
def test_a_time_may_be_told_by_the_next_hour_or_in_words_that_cannot_be_read(
    value: str, said: str
) -> None:
    assert found(value, TIME, said) == []


@pytest.mark.parametrize(
    "about",
    [
        "The day, e.g. 2026-01-15",
        "Der Tag, z. B. 2026-01-15.",
        "El día, por ejemplo: 2026-01-15",
        "日期，例如2026-01-15。",
        "اليوم، مثال: 2026-01-15",
    ],
)
def test_an_example_of_a_description_is_no_value_that_the_schema_gives(about: str) -> None:
    part = {**DAY, "description": about}
    assert found("2026-01-15", part, "Book a table.") == ["2026-01-15"]
    given = {**DAY, "description": "The day; 2026-01-15 for the whole year"}
    assert found("2026-01-15", given, "Book a table.") == []


def test_one_of_something_has_to_be_said_where_the_language_says_it() -> None:
    assert counting(1, "Order some desk lamps, please.")
    assert counting(1, "Bestelle bitte Tischlampen und sonst nichts mehr")
    for said in (
        "Order a lamp, please.",
        "Order one more of those",
        "اطلب طابعة F-640.",
        "订购台灯",
    ):
        assert not counting(1, said), said
    assert not counting(1, "Order some desk lamps, please.", READ)
    assert not counting(0, "Order some desk lamps, please.")


def test_ten_times_a_number_is_another_number() -> None:
    four_dozen = "Pide cuatro docenas de D-415 para la oficina, por favor."
    assert counting(40, four_dozen)
    assert not counting(48, four_dozen)


@pytest.mark.parametrize(
    ("said", "value", "meant"),
    [
        ("Order three dozen D-415.", 3, ("36",)),
        ("Order 3 dozen D-415.", 3, ("36",)),
        ("Bestelle drei Dutzend D-415.", 3, ("36",)),
        ("Pide cuatro docenas de D-415.", 4, ("48",)),
        ("请订购三打 D-415（一打是 12 件）。", 3, ("36",)),
        ("اطلب ثلاث دزينات من D-415.", 3, ("36",)),
        ("Order three dozen D-415 and three chairs.", 3, None),
        ("Order 3 dozen D-415 and 3 chairs.", 3, None),
        ("Order thirty-six D-415 in boxes of twelve.", 3, None),
    ],
)
def test_a_number_of_groups_is_no_number_of_things(
    said: str, value: int, meant: tuple[str, ...] | None
) -> None:
    one = tool(WHOLE)
    held = find_inventions({"x": value}, one, ProvenanceIndex(said))
    assert [found.meant for found in held] == ([meant] if meant is not None else [])
    dozens = tool({**WHOLE, "description": "How many dozens."})
    assert not find_inventions({"x": value}, dozens, ProvenanceIndex(said))


@pytest.mark.parametrize(
    ("said", "is_held"),
    [
        ("Pide pizarras C-330, por favor.", True),
        ("Pide una pizarra C-330, por favor.", False),
        ("Order desk lamps A-100, please, for me.", True),
        ("C-330", False),
        ("Zamów tablice C-330.", False),
    ],
)
def test_one_that_nobody_said_is_held_where_each_likely_language_would_say_it(
    said: str, is_held: bool
) -> None:
    order = Tool(
        "order",
        "",
        {"type": "object", "properties": {"x": WHOLE}, "required": ["x"]},
        effects=WRITE,
    )
    assert bool(find_inventions({"x": 1}, order, ProvenanceIndex(said))) == is_held


CLOCK = {"type": "string", "pattern": "^[0-9]{2}:[0-9]{2}$"}


@pytest.mark.parametrize(
    ("said", "value", "listed", "is_held"),
    [
        ("Meet at 14:30 today.", "14:30", "", False),
        ("Meet at 2:30 pm today.", "14:30", "", False),
        ("Meet at 14:30 today.", "14:00", "", True),
        ("Borra el simulacro de mañana y mira qué queda.", "14:00", "14:30", True),
        ("Enter it for 2026-03-14, please.", "14:00", "", True),
        ("Meet half an hour after the call.", "15:00", "14:30", False),
        ("Meet two hours after the call.", "16:30", "14:30", False),
        ("Meet me at quarter to five.", "04:45", "", False),
        ("Trag das bitte um halb acht ein.", "07:30", "", False),
        ("Pon la reunión a las tres y media.", "15:30", "", False),
        ("明天下午三点开会", "15:00", "", False),
    ],
)
def test_the_hour_of_another_time_is_not_said(
    said: str, value: str, listed: str, is_held: bool
) -> None:
    assert bool(found(value, CLOCK, said, *([{"time": listed}] if listed else []))) == is_held


@pytest.mark.parametrize(
    ("said", "is_held"),
    [
        ("Add a reminder about the plants.", True),
        ("Add a reminder about the plants for tonight.", False),
        ("Erinnere mich an die Pflanzen, bitte.", True),
        ("Erinnere mich um acht an die Pflanzen, bitte.", False),
        ("Recuérdame que riegue las plantas.", True),
        ("Recuérdame a las ocho que riegue las plantas.", False),
        ("提醒我浇花。", True),
        ("今晚提醒我浇花。", False),
        ("ذكرني بسقي النباتات.", True),
        ("ذكرني اليوم بسقي النباتات.", False),
    ],
)
def test_today_is_held_in_a_write_only_where_somebody_spoke_of_a_time(
    said: str, is_held: bool
) -> None:
    schema = {"type": "object", "properties": {"date": DATE}, "required": ["date"]}
    known = ProvenanceIndex(said, [Message("system", "Today is Thursday, 2026-03-12.")])
    call = {"date": "2026-03-12"}
    for effects, judged in ((WRITE, is_held), (READ, False)):
        made = find_inventions(call, Tool("remind", "", schema, effects=effects), known, [said])
        assert bool(made) is judged
    log = Tool("log_run", "Logs a run.", schema, effects=WRITE)
    assert not find_inventions(call, log, known, [said])
