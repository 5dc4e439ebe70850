"""Which argument a failure is blamed on, which result gave it, and what a new result changes in
other calls.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from callwright.agent.origins import (
    Renewal,
    build_failed_call,
    build_refused_call,
    find_origin,
    has_changed_value,
)
from callwright.nouns.errors import Failure, Violation
from callwright.nouns.types import READ_LOCAL, WRITE, Tool, ToolCall, ToolResult
from callwright.repair.gate import Refusal
from callwright.repair.provenance.sources import ProvenanceIndex

TOOL = Tool("status", effects=READ_LOCAL)


def failing(message: str, kind: Any = "tool_error", tool: Tool = TOOL, **arguments: Any) -> Any:
    failure = Failure(kind, message, outcome_unknown=kind == "timeout")
    return build_failed_call(ToolResult("r9", tool.name, arguments, failure=failure), tool)


def test_an_error_that_quotes_a_value_or_names_its_argument_blames_it() -> None:
    assert failing("there is no order O12", order_id="O12", day="today").blamed == ("order_id",)
    assert failing("order_id is unknown", order_id="O12", day="today").blamed == ("order_id",)
    assert failing("there is no order 712", order=712).blamed == ("order",)
    assert failing("there is no order O123", order_id="O12").blamed == (), (
        "a part of another value is no quotation"
    )


def test_an_outage_blames_nothing_and_cannot_be_helped_by_other_arguments() -> None:
    failed = failing("503: order_id O12", "unavailable", order_id="O12")
    assert (failed.blamed, failed.final) == ((), True)


def test_a_write_that_may_have_happened_is_left_alone() -> None:
    write = Tool("book", effects=WRITE)
    assert failing("no answer", "timeout", write, room="7") is None
    assert failing("no room", "tool_error", write, room="7") is not None


def test_a_refusal_blames_the_arguments_it_points_at() -> None:
    violation = Violation("schema", "too long", "/code/0", "maxLength", None, None)
    refusal = Refusal(ToolCall("r1", "status", {}), TOOL, {"code": ["ABC"], "x": 1}, (violation,))
    found = build_refused_call(refusal)
    assert found is not None
    assert found.blamed == ("code",)
    assert build_refused_call(Refusal(ToolCall("r1", "status", "{"), TOOL, None)) is None


def sources(*contents: Any) -> ProvenanceIndex:
    return ProvenanceIndex(
        "", (), [ToolResult(f"r{i}", f"t{i}", {}, c) for i, c in enumerate(contents, 1)]
    )


def test_the_origin_of_a_value_is_the_one_result_that_holds_it() -> None:
    failed = failing("no order O12", order_id="O12")
    found = find_origin(
        failed, sources({"order_id": "O12"}, {"name": "Ann"}), ProvenanceIndex("Ann's order")
    )
    assert found is not None
    assert found.id == "r1"
    assert (
        find_origin(failed, sources({"order_id": "O12"}, {"id": "O12"}), ProvenanceIndex(""))
        is None
    ), "two could have given it"
    assert (
        find_origin(failed, sources({"order_id": "O12"}), ProvenanceIndex("status of O12")) is None
    ), "the request says it itself"
    assert find_origin(failed, sources({"name": "Ann"}), ProvenanceIndex("")) is None


def test_a_short_value_has_an_origin_only_under_its_own_name() -> None:
    failed = failing("no room 7", room="7")
    assert find_origin(failed, sources({"guests": 7}), ProvenanceIndex("")) is None
    found = find_origin(failed, sources({"room": 7}), ProvenanceIndex(""))
    assert found is not None


def test_new_values_take_the_place_of_the_old_ones_by_where_they_stand() -> None:
    renewal = Renewal.of(
        {"order": {"id": "O12", "of": "Ann"}}, {"order": {"id": "O15", "of": "Ann"}}
    )
    assert renewal.applied({"ids": ["O12"], "by": "Ann"}) == {"ids": ["O15"], "by": "Ann"}
    assert renewal.touches({"id": "O12"})
    assert not renewal.touches({"by": "Ann"})


def test_what_stands_in_a_list_of_several_is_not_guessed() -> None:
    renewal = Renewal.of([{"id": "O1"}, {"id": "O2"}], [{"id": "O3"}, {"id": "O1"}])
    assert renewal.applied({"id": "O2"}) is None
    assert renewal.applied({"id": "O1"}) == {"id": "O1"}, "it is still there"
    single = Renewal.of([{"id": "O1"}], [{"id": "O3"}])
    assert single.applied({"id": "O1"}) == {"id": "O3"}


def test_a_call_rests_on_a_value_only_if_nothing_else_says_it() -> None:
    renewal = Renewal.of({"id": "O12"}, {"id": "O15"})
    result = ToolResult("r2", "depot", {"order": "O12"}, {})
    assert has_changed_value(result, renewal, [], ProvenanceIndex(""))
    assert not has_changed_value(
        result, renewal, [ToolResult("r3", "t", {}, ["O12"])], ProvenanceIndex("")
    )
    assert not has_changed_value(result, renewal, [], ProvenanceIndex("order O12"))


_JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(_JSON, st.dictionaries(st.text(max_size=3), _JSON, max_size=3))
def test_a_result_that_did_not_change_changes_no_call(
    content: Any, arguments: dict[str, Any]
) -> None:
    renewal = Renewal.of(content, content)
    assert not renewal.touches(arguments)
    assert renewal.applied(arguments) == arguments
