from dataclasses import replace

import pytest

from callwright.nouns.types import DESTRUCTIVE, READ, Tool, ToolCall
from callwright.repair.by_model.guard import (
    SCORED,
    Upstream,
    check_chained,
    find_objections,
    find_unreadable,
)
from callwright.repair.gate import Gate
from callwright.repair.ordering.references import find_call_references


def list_reasons(up: Upstream, made: list[ToolCall]) -> list[str]:
    return [one.message for one in find_objections(up, made)]


SUM = Tool(
    "add",
    "",
    {
        "type": "object",
        "properties": {
            "a": {"type": "number"},
            "b": {"type": "number"},
            "how": {"enum": ["up", "down"]},
        },
        "required": ["a", "b"],
    },
    {"type": "object", "properties": {"result": {"type": "number"}}},
    READ,
)
WIPE = Tool(
    "wipe", "", {"type": "object", "properties": {"disk": {"type": "string"}}, "required": ["disk"]}
)


def test_a_reference_stands_for_a_number_until_its_call_has_run() -> None:
    call = ToolCall("v2", "add", {"a": "$var1.result$", "b": 4})
    assert check_chained(call, find_call_references([call], [SUM]), Gate([SUM])) == ""
    assert "'b'" in check_chained(
        ToolCall("v2", "add", {"a": "$var1.result$", "b": "x"}),
        find_call_references([call], []),
        Gate([SUM]),
    )


@pytest.mark.parametrize(
    ("arguments", "taken"),
    [
        ({"a": 15, "b": 4}, True),  # the request says both
        ({"a": 15, "b": 4, "how": "up"}, True),  # an option of the schema
        ({"a": 15, "b": 7}, False),
    ],
)
def test_every_value_must_come_from_somewhere(arguments: dict[str, object], taken: bool) -> None:
    up = Upstream("add(15; 4)", (), (SUM,), "Add 15 and 4.")
    assert (list_reasons(up, [ToolCall("c", "add", arguments)]) == []) is taken


def test_a_value_of_the_upstreams_thoughts_counts() -> None:
    up = Upstream("add(?)", (), (SUM,), "Add them.", reasoning="15 and 4, I think.")
    assert list_reasons(up, [ToolCall("c", "add", {"a": 15, "b": 4})]) == []


def test_twice_the_writing_calls_of_the_upstream_are_refused() -> None:
    call = ToolCall("c", "wipe", {"disk": "sda"})
    up = Upstream("", (call,), (WIPE,), "Wipe sda.")
    assert list_reasons(up, [call]) == []
    assert "may change something" in " ".join(list_reasons(up, [call, call]))


def test_an_equal_call_again_is_refused_unless_the_upstream_made_it_so_often() -> None:
    call = ToolCall("c", "add", {"a": 15, "b": "x"})
    right = ToolCall("d", "add", {"b": 4, "a": 15})
    for before, count in (((call,), 1), ((right, right), 2), ((), 1)):
        up = Upstream("", before, (SUM,), "Add 15 and 4.")
        kinds = [[o.kind for o in find_objections(up, [right] * n)] for n in (count, count + 1)]
        assert "repeated" not in kinds[0]
        assert "repeated" in kinds[1]
        assert "repeated" not in SCORED


def test_a_call_beside_right_ones_is_evidence_and_beside_wrong_ones_is_none() -> None:
    made = [ToolCall("c", "add", {"a": 15, "b": 4}), ToolCall("d", "add", {"a": 4, "b": 15})]
    for before, kinds in ((made[0], ["added"]), (ToolCall("c", "add", {"a": 15}), [])):
        up = Upstream("", (before,), (SUM,), "Add 15 and 4.")
        assert [one.kind for one in find_objections(up, made)] == kinds
    assert "added" in SCORED


def test_a_tool_that_is_only_spoken_of_was_not_called() -> None:
    up = Upstream("I cannot wipe anything.", (), (WIPE,), "Wipe sda.")
    assert "may change something" in list_reasons(up, [ToolCall("c", "wipe", {"disk": "sda"})])[0]


def test_dangling_references_are_refused() -> None:
    up = Upstream("add 15 and 4", (), (SUM,), "Add 15 and 4.")
    calls = [
        ToolCall("var1", "add", {"a": 15, "b": 4}),
        ToolCall("var2", "add", {"a": "$var9.carry$", "b": 4}),
    ]
    assert "$var9.carry$" in " ".join(list_reasons(up, calls))


def test_an_endless_list_is_refused() -> None:
    up = Upstream("add", (), (SUM,), "Add 15 and 4.")
    assert list_reasons(up, [ToolCall("c", "add", {"a": 15, "b": 4})] * 99) == [
        "The model gave 99 calls."
    ]


@pytest.mark.parametrize(
    ("before", "after", "kinds"),
    [
        ({"a": 15, "b": 4}, {"a": 4, "b": 15}, ["lost"]),
        ({"a": 15, "b": "x"}, {"a": 15, "b": 7}, ["ungrounded"]),
        ({"a": 15, "b": 4}, {"a": 15, "b": "x"}, ["refused", "lost", "ungrounded"]),
    ],
)
def test_objections_say_what_they_are(
    before: dict[str, object], after: dict[str, object], kinds: list[str]
) -> None:
    up = Upstream("", (ToolCall("c", "add", before),), (SUM,), "Add 15 and 4.")
    made = [ToolCall("c", "add", after)]
    assert [one.kind for one in find_objections(up, made)] == kinds


def test_a_right_write_and_a_value_of_a_write_are_limits_where_it_is_declared() -> None:
    declared = replace(WIPE, effects=DESTRUCTIVE)
    right, wrong = ToolCall("c", "wipe", {"disk": "sda"}), ToolCall("c", "wipe", {"disk": 7})
    other = [ToolCall("c", "wipe", {"disk": "sdx"})]
    for tool, kinds in ((WIPE, ["lost", "ungrounded"]), (declared, ["write", "write"])):
        up = Upstream("", (right,), (tool,), "Wipe sda.")
        assert [one.kind for one in find_objections(up, other)] == kinds
        up = Upstream("", (wrong,), (tool,), "Wipe sda.")
        assert [one.kind for one in find_objections(up, other)] == kinds[1:]


def test_without_a_guard_only_what_cannot_be_sent_is_refused() -> None:
    up = Upstream("", (), (SUM,), "Add 15 and 4.")
    assert find_unreadable(up, [ToolCall("c", "add", {"a": "x", "colour": 1})]) == []
    assert [one.kind for one in find_unreadable(up, [])] == ["none"]
    strange = [ToolCall("c", "multiply", {}), ToolCall("d", "add", "{")]
    assert [one.kind for one in find_unreadable(up, strange)] == ["refused", "refused"]
