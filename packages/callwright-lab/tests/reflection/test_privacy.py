"""What of a person stands in a row from a run, and what each filter did about it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.language.credentials import mask_secrets
from callwright.nouns.errors import Failure
from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import Tool, ToolCall, ToolResult, to_canonical_json, to_json
from callwright_lab.reflection.privacy import Filters, Privacy
from callwright_lab.reflection.row import Reflected, record

TEXT = {"type": "string"}
BOOK = Tool(
    "book",
    "Books a room.",
    {
        "type": "object",
        "properties": {"guest": TEXT, "email": TEXT, "phone": TEXT, "day": TEXT, "city": TEXT},
    },
)
GIVEN = {
    "guest": "Ann Lee",
    "email": "Ann.Lee@fjord.no",
    "phone": "+47 22 33 44 55",
    "day": "2024-12-25",
    "city": "Oslo",
}
QUERY = "Book a room in Oslo for Ann Lee (ann.lee@fjord.no, +47 22 33 44 55) on 2024-12-25."


def row(
    arguments: Any = None, query: str = QUERY, content: Any = None, tool: str = "book"
) -> Reflected:
    given = GIVEN if arguments is None else arguments
    call = ToolCall("w1", tool, {**given, "day": "25"})
    wrong = Step(
        "For Ann.", (call,), (ToolResult("w1", tool, call.arguments, content),), "print(1)  # Lee"
    )  # type: ignore[arg-type]
    t = Trajectory("t", query, (BOOK,))
    return Reflected(
        t, wrong, "Ann's day was wrong.", (ToolCall("y", tool, given),), "calling", "e"
    )


def clean(*rows: Reflected, **filters: Any) -> tuple[list[Reflected], Privacy]:
    privacy = Privacy(Filters(**filters))
    return privacy.clean(rows), privacy


def test_people_get_pseudonyms_the_same_everywhere_in_all_rows() -> None:
    (one, other), privacy = clean(row(), row(query="Who is Lee?"))
    text = to_canonical_json([to_json(one), to_json(other)])
    for gone in ("Ann", "Lee", "fjord", "22 33"):
        assert gone not in text
    given = one.right[0].arguments
    assert isinstance(given, dict)
    assert given == {"guest": "Name1 Name2", "email": "person1@example.com", "phone": "+1-555-0101",
                     "day": "2024-12-25", "city": "Oslo"}  # fmt: skip
    assert (
        one.before.query
        == "Book a room in Oslo for Name1 Name2 (person1@example.com, +1-555-0101) on 2024-12-25."
    )
    assert other.before.query == "Who is Name2?"
    assert one.reflection == "Name1's day was wrong."
    assert (
        "addresses renamed 1, telephone numbers renamed 1, words of names renamed 2"
        in privacy.report()
    )


def test_names_inside_of_results_are_found_by_what_they_stand_under() -> None:
    content = {
        "rooms": [{"guest": "Bo Berg", "city": "Bergen", "hotel": "Grand"}],
        "note": "Bo comes late",
    }
    (one,), _ = clean(row(content=content))
    (found,) = one.wrong.results
    assert found.content["rooms"][0]["city"] == "Bergen"
    assert found.content["rooms"][0]["hotel"] == "Grand"
    assert "Bo" not in found.content["note"].split()
    assert found.content["note"].endswith("comes late")


def test_a_name_that_only_the_run_tells_is_renamed_too_and_a_number_is_no_name() -> None:
    call = ToolCall("c1", "find_employee", {"name": "Bo Berg"})
    about = {"type": "string", "description": "name of an employee"}
    finder = Tool("find_employee", "", {"type": "object", "properties": {"name": about}})
    found = {"employee_id": "E105", "user": "bo7", "employee": "L12"}
    whole = Trajectory(
        "t", "q", (finder,), (Step("", (call,), (ToolResult("c1", "find_employee", {}, found),)),)
    )
    privacy = Privacy(Filters())
    (one,) = privacy.clean([row({"city": "E105"}, query="Book for Bo Berg, E105.")], [whole])
    assert one.before.query == "Book for Name1 Name2, E105."


def test_without_pseudonyms_nothing_is_renamed_and_the_report_says_so() -> None:
    one = replace(row(), wrong=replace(row().wrong, code=""))
    (kept,), privacy = clean(one, pseudonyms=False)
    assert kept == one
    assert privacy.report().endswith("nobody renamed")


def test_a_program_that_names_somebody_is_written_anew_from_its_calls() -> None:
    (one,), _ = clean(row())
    assert one.wrong.code == ""


def test_rows_of_other_tools_go_and_long_texts_are_left_out() -> None:
    assert clean(row(), keep=("find_*",))[0] == []
    assert clean(row(), drop=("bo*",))[0] == []
    kept, privacy = clean(row(), keep=("b*",), drop=("x",))
    assert len(kept) == 1
    assert "rows dropped for their tools 0" in privacy.report()
    (one,), privacy = clean(row(content={"page": "word " * 100}), longest=100)
    assert one.wrong.results[0].content == {"page": "[500 characters left out]"}
    assert "texts over 100 characters left out 1" in privacy.report()


def test_a_call_with_a_secret_is_no_row_and_what_looks_like_one_is_taken_out() -> None:
    kept, privacy = clean(row({**GIVEN, "city": "[secret]"}))
    assert kept == []
    assert "rows dropped for a secret 1" in privacy.report()
    (one,), _ = clean(row(content={"text": "Authorization: Bearer abcdefgh12345678"}))
    assert "abcdefgh12345678" not in to_canonical_json(to_json(one))


NAMES = st.sampled_from([
    ("Ann", "Lee"), ("Åse", "Ødegård"), ("Анна", "Петрова"), ("Ελένη", "Παππά"), ("李", "小龙"), ("田中", "さくら"),
    ("김", "민수"), ("فاطمة", "حسن"), ("प्रिया", "शर्मा"), ("สมชาย", "ใจดี"), ("O'Neil", "Niamh"), ("José", "Núñez"),
    ("Anne-Marie", "Kjær"), ("ann", "smedsvik"),
])  # fmt: skip
MAILS = st.one_of(
    st.from_regex(
        r"[a-z]{3,8}[.+_-]?[a-z0-9]{3,8}@[a-z]{3,8}\.(no|com|co\.uk)", fullmatch=True
    ).filter(
        lambda mail: mask_secrets({mail: "x"}) == {mail: "x"}  # as a key it would speak of a secret
    ),
    st.sampled_from(["анна@почта.рф", "åse.ø@blåbær.no", "d.o'neil@x.ie", "李雷@例子.公司"]),
)
PHONES = st.one_of(
    st.from_regex(r"\+[1-9][0-9] [2-9][0-9] [0-9]{2} [0-9]{2} [0-9]{2}", fullmatch=True),
    st.from_regex(r"[2-9][0-9]{2}-[2-9][0-9]{2}-[0-9]{4}", fullmatch=True),
    st.from_regex(r"[1-9][0-9]{7}", fullmatch=True),
)
SECRETS = st.from_regex(r"[A-Za-z0-9]{20,30}", fullmatch=True)
FREE = st.sampled_from(
    ["Please write to {x} at once.", "{x}", "für {x}, danke", "告诉{x}吧", "see ({x})"]
)


@st.composite
def planted(draw: st.DrawFn) -> tuple[Reflected, list[str]]:
    """A row with a person and a secret in every field it has, and what of them must not be left."""
    first, last = draw(NAMES)
    mail, phone, secret = draw(MAILS), draw(PHONES), draw(SECRETS)
    whole = f"{first} {last}"
    person = {"guest": whole, "email": mail, "phone": phone}
    told = {"guest": {"name": whole, "mobile": phone}, "api_key": secret, mail: phone, whole: 1,
            "attendees": [first, last], "text": to_canonical_json(person)}  # fmt: skip

    def free(*more: str) -> str:
        each = [draw(FREE).format(x=x) for x in (whole, last, mail, phone)]
        return " ".join(draw(st.permutations([*each, *(more or (f"token={secret}",))])))

    call = ToolCall("w1", "book", {**person, "city": free("Oslo"), mail: last})
    failure = Failure("tool_error", free(), detail={"guest": first})
    wrong = Step(
        free(),
        (call,),
        (ToolResult("w1", "book", dict(call.arguments), told, failure),),
        free(),
        free(),
    )  # type: ignore[arg-type]
    earlier = Step(free(), (replace(call, id="c0"),), (ToolResult("c0", "book", {}, free()),))
    options = {**TEXT, "enum": [whole], "description": free(), "default": mail}
    tool = Tool(
        "book", free(), {"type": "object", "properties": {**BOOK.properties, "guest": options}}
    )
    before = Trajectory(f"{mail}-run", free(), (tool,), (earlier,))
    row = Reflected(before, wrong, free(), (ToolCall("y", "book", person),), "calling", "e")
    return row, [first, last, mail, phone, secret]


@settings(max_examples=40)
@given(planted())
def test_nothing_of_a_planted_person_or_secret_reaches_a_row(
    made: tuple[Reflected, list[str]],
) -> None:
    row, hidden = made
    (one,) = Privacy(Filters()).clean([row])
    for layout in ("openai", "toolbench-vr"):
        text = unquoted(record(one, layout)).casefold()
        for value in hidden:
            assert not stands(value.casefold(), text), (value, text)
        assert not stands(hidden[0].upper().casefold(), text)


def unquoted(value: Any) -> str:
    """Every text of a record, keys included, with what is escaped inside of texts as it reads."""
    if isinstance(value, dict):
        return " ".join(f"{key} {unquoted(inner)}" for key, inner in value.items())
    if isinstance(value, list):
        return " ".join(map(unquoted, value))
    return re.sub(r"\\u([0-9a-f]{4})", lambda found: chr(int(found[1], 16)), str(value))


def stands(value: str, text: str) -> bool:
    """Whether a value stands there as a word of its own; in a script without spaces, at all."""
    tight = any(c > "\u0e00" for c in value)
    return (
        value in text
        if tight
        else re.search(rf"(?<![^\W\d_]){re.escape(value)}(?![^\W\d_])", text) is not None
    )


@settings(max_examples=40)
@given(NAMES, MAILS, PHONES)
def test_a_row_stays_as_true_to_itself_as_it_was(
    name: tuple[str, str], mail: str, phone: str
) -> None:
    given = {**GIVEN, "guest": " ".join(name), "email": mail, "phone": phone}
    (one,) = Privacy(Filters()).clean(
        [row(given, query=f"Book for {' '.join(name)} ({mail}, {phone}) in Oslo.")]
    )
    right = one.right[0].arguments
    assert isinstance(right, dict)
    for key in ("guest", "email", "phone"):
        assert str(right[key]) in one.before.query, key
    assert right["city"] == "Oslo"


@pytest.mark.parametrize(
    "query", ["a room for ann lee", "ROOM FOR ANN LEE", "Ann_Lee_2024.pdf", "for Ann's sake, Lee!"]
)
def test_a_name_is_renamed_however_the_request_writes_it(query: str) -> None:
    (one,) = Privacy(Filters()).clean([row(query=query)])
    assert "ann" not in one.before.query.casefold()
    if "lee" in query.casefold().split():
        assert "lee" not in one.before.query


def test_a_name_that_is_a_word_too_is_renamed_only_where_it_is_written_as_a_name() -> None:
    (one,) = Privacy(Filters()).clean(
        [row({**GIVEN, "guest": "Will May"}, query="Will you ask Will if he may come?")]
    )
    assert one.before.query == "Name1 you ask Name1 if he may come?"
