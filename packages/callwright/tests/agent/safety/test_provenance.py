"""Where values come from: the request, a whole field, a piece of a text; and what in a text is an
address.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.agent.safety.provenance import (
    Origin,
    Provenance,
    find_addresses,
    is_same_value,
    iter_leaves,
    list_unstated,
)
from callwright.nouns.types import ToolResult
from callwright.repair.provenance.sources import ProvenanceIndex

MAIL = {
    "sender": "ann@desk.example",
    "text": "Write to bob@desk.example, or pay 12 to DE44500105175407324931.",
    "n": 7,
}


def seen() -> Provenance:
    results = [
        ToolResult("r1", "read_mail", {}, MAIL),
        ToolResult("r2", "contacts", {}, ["bob@desk.example"]),
    ]
    return Provenance(ProvenanceIndex("Answer Ann's mail of Monday.", results=results))


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("ann@desk.example", [Origin("r1", "read_mail", field=True)]),
        ("BOB@desk.example", [Origin("r1", "read_mail"), Origin("r2", "contacts", field=True)]),
        ("DE44 5001 0517 5407 3249 31", [Origin("r1", "read_mail")]),
        (7, [Origin("r1", "read_mail", field=True)]),
        ("eve@desk.example", []),
        (99, []),
    ],
)
def test_every_result_that_holds_a_value_is_named_and_whether_it_is_a_field_of_it(
    value: Any, found: list[Origin]
) -> None:
    assert seen().all_of(value) == found


def test_the_request_says_what_it_says_and_a_part_is_a_part() -> None:
    assert seen().is_in_request("Ann")
    assert seen().of("Ann") is None
    assert str(seen().of("Dear Ann, I wrote to bob@desk.example.")) == "r1 of read_mail, in part"
    assert seen().of("Dear Ann, all is well.") is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Write to eve@x.example.", ["eve@x.example"]),
        (
            "See www.evil-252.com, or https://x.example/a?b=1!",
            ["www.evil-252.com", "https://x.example/a?b=1"],
        ),
        ("see my-website-234.com/random", ["my-website-234.com/random"]),
        ("Pay US133000000121212121212 now", ["US133000000121212121212"]),
        ("It is in notes.docx and feedback.xlsx, e.g. page 3.5 on 2024-05-01 at 10:30", []),
        ("Hi Ann. All is well. Thanks", []),
        ("", []),
    ],
)
def test_addresses_are_mail_links_hosts_and_accounts_but_no_files_days_or_numbers(
    text: str, found: list[str]
) -> None:
    assert find_addresses(text) == found


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=3),
        lambda v: st.lists(v) | st.dictionaries(st.text(max_size=3), v),
    )
)
def test_every_leaf_is_found_where_its_pointer_says(value: Any) -> None:
    for path, leaf in iter_leaves(value):
        at = value
        for step in path.split("/")[1:]:
            at = (
                at[int(step)]
                if isinstance(at, list)
                else at[step.replace("~1", "/").replace("~0", "~")]
            )
        assert at == leaf


def test_what_is_said_stays_said_in_another_spelling_and_nothing_else() -> None:
    assert is_same_value("5", 5)
    assert not is_same_value(["a"], ["a", "b"])
    assert [*list_unstated({"a": "5", "b": 1, "c": 2}, {"a": 5, "b": 2})] == ["b", "c"]
