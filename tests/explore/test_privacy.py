"""What of a person stands in a row from a run, and what each filter did about it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from callwright.explore.privacy import Filters, Privacy
from callwright.explore.row import Reflected
from callwright.trajectory import Step, Trajectory
from callwright.types import Tool, ToolCall, ToolResult, canonical, to_json

TEXT = {"type": "string"}
BOOK = Tool(
    "book",
    "Books a room.",
    {"type": "object", "properties": {"guest": TEXT, "email": TEXT, "phone": TEXT, "day": TEXT, "city": TEXT}},
)
GIVEN = {
    "guest": "Ann Lee",
    "email": "Ann.Lee@fjord.no",
    "phone": "+47 22 33 44 55",
    "day": "2024-12-25",
    "city": "Oslo",
}
QUERY = "Book a room in Oslo for Ann Lee (ann.lee@fjord.no, +47 22 33 44 55) on 2024-12-25."


def row(arguments: Any = None, query: str = QUERY, content: Any = None, tool: str = "book") -> Reflected:
    given = GIVEN if arguments is None else arguments
    call = ToolCall("w1", tool, {**given, "day": "25"})
    wrong = Step("For Ann.", (call,), (ToolResult("w1", tool, call.arguments, content),), "print(1)  # Lee")  # type: ignore[arg-type]
    t = Trajectory("t", query, (BOOK,))
    return Reflected(t, wrong, "Ann's day was wrong.", (ToolCall("y", tool, given),), "calling", "e")


def clean(*rows: Reflected, **filters: Any) -> tuple[list[Reflected], Privacy]:
    privacy = Privacy(Filters(**filters))
    return privacy.clean(rows), privacy


def test_people_get_pseudonyms_the_same_everywhere_in_all_rows() -> None:
    (one, other), privacy = clean(row(), row(query="Who is Lee?"))
    text = canonical([to_json(one), to_json(other)])
    for gone in ("Ann", "Lee", "fjord", "22 33"):
        assert gone not in text
    given = one.right[0].arguments
    assert isinstance(given, dict)
    assert given == {"guest": "Name1 Name2", "email": "person1@example.com", "phone": "+1-555-0101",
                     "day": "2024-12-25", "city": "Oslo"}  # fmt: skip
    assert one.before.query == "Book a room in Oslo for Name1 Name2 (person1@example.com, +1-555-0101) on 2024-12-25."
    assert other.before.query == "Who is Name2?"
    assert one.reflection == "Name1's day was wrong."
    assert "addresses renamed 1, telephone numbers renamed 1, words of names renamed 2" in privacy.report()


def test_names_inside_of_results_are_found_by_what_they_stand_under() -> None:
    content = {"rooms": [{"guest": "Bo Berg", "city": "Bergen", "hotel": "Grand"}], "note": "Bo comes late"}
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
    whole = Trajectory("t", "q", (finder,), (Step("", (call,), (ToolResult("c1", "find_employee", {}, found),)),))
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
    assert "abcdefgh12345678" not in canonical(to_json(one))


@given(
    names=st.lists(st.sampled_from(["Ann", "Lee", "Bo", "Åse", "Kim"]), min_size=1, max_size=3),
    mail=st.from_regex(r"[a-z]{3,8}\.[a-z]{3,8}@[a-z]{3,8}\.(no|com)", fullmatch=True),
)
def test_neither_name_nor_address_survives_and_the_right_call_stays_sourced(names: list[str], mail: str) -> None:
    name = " ".join(names)
    given = {**GIVEN, "guest": name, "email": mail}
    (one,), _ = clean(row(given, query=f"Book for {name}, {mail}."))
    text = canonical(to_json(one))
    assert mail not in text
    right = one.right[0].arguments
    assert isinstance(right, dict)
    assert str(right["guest"]) in one.before.query
    assert str(right["email"]) in one.before.query
    assert not {*names} & {*one.before.query.replace(",", "").split()}
