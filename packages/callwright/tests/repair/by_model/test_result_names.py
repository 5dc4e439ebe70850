"""Names of results in a refiner's answer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.types import DESTRUCTIVE, READ, Tool, ToolCall
from callwright.repair.by_model.guard import Upstream
from callwright.repair.by_model.result_names import (
    _follow_references,
    find_relinked,
    keep_result_names,
)

WEIGH = Tool(
    "weigh",
    "",
    {"type": "object", "properties": {"who": {"type": "string"}}},
    {"type": "object", "properties": {"output_kg": {"type": "string"}, "lb": {"type": "string"}}},
    effects=READ,
)
PRINT = Tool(
    "print_code",
    "",
    {"type": "object", "properties": {"data": {"type": "string"}, "more": {"type": "string"}}},
    effects=READ,
)
TOOLS = (WEIGH, PRINT)


def chain(label: str, reference: str, other: str = "last") -> list[ToolCall]:
    return [
        ToolCall(label, "weigh", {"who": "Ann"}),
        ToolCall(other, "print_code", {"data": reference}),
    ]


def data_of(calls: tuple[ToolCall, ...]) -> list[tuple[str, object]]:
    return [(c.id, c.arguments.get("data")) for c in calls if isinstance(c.arguments, dict)]


@pytest.mark.parametrize(
    ("theirs", "mine", "told"),
    [
        (("var1", "$var1.output_kg$"), ("API_call_0", "API_call_0"), ("var1", "$var1.output_kg$")),
        (
            ("var1", "$var1.output_kg$"),
            ("x1", "$x1.output_kg$"),
            ("var1", "$var1.output_kg$"),
        ),
        (("c1", "output_kg"), ("API_call_0", "API_call_0"), ("c1", "output_kg")),
        (("var1", "$var1.output_kg$"), ("var7", "$var7.lb$"), ("var7", "$var7.lb$")),
    ],
)
def test_a_result_keeps_the_name_that_the_upstream_gave_it(
    theirs: tuple[str, str], mine: tuple[str, str], told: tuple[str, str]
) -> None:
    up = Upstream("", tuple(chain(*theirs)), TOOLS, "Weigh Ann and print it.")
    found = keep_result_names(up, chain(*mine, other="API_call_2"), {0: 0, 1: 1})
    assert (found[0].id, data_of(found)[1][1]) == told


def test_a_result_that_is_used_elsewhere_too_keeps_the_models_label() -> None:
    up = Upstream("", tuple(chain("var1", "$var1.output_kg$")), TOOLS, "Weigh Ann and print it.")
    made = chain("var3", "$var3.output_kg$", other="var4")
    made.append(ToolCall("var5", "print_code", {"data": "$var3.output_kg$", "more": "$var4.x$"}))
    assert list(keep_result_names(up, made, {0: 0, 1: 1})) == made


def test_labels_that_would_stand_twice_stay_apart() -> None:
    up = Upstream("", tuple(chain("var1", "$var1.output_kg$", other="var2")), TOOLS, "Weigh Ann.")
    made = [
        *chain("var5", "$var5.output_kg$", other="var6"),
        ToolCall("var1", "weigh", {"who": "Bo"}),
    ]
    assert list(keep_result_names(up, made, {0: 0, 1: 1})) == made


def test_an_output_that_the_models_call_has_not_is_no_name_for_its_result() -> None:
    before = [
        ToolCall("var1", "weigh", {"who": "Ann"}),
        ToolCall("var2", "print_code", {"data": "output_kg"}),
    ]
    made = [
        ToolCall("var1", "print_code", {}),
        ToolCall("var2", "print_code", {"data": "API_call_0"}),
    ]
    up = Upstream("", tuple(before), TOOLS, "Weigh Ann and print it.")
    assert list(keep_result_names(up, made, {0: 0, 1: 1})) == made


def test_a_right_call_that_takes_the_result_of_another_call_is_objected_to() -> None:
    before = [
        ToolCall("var1", "weigh", {"who": "Ann"}),
        ToolCall("var2", "weigh", {"who": "Bo"}),
        ToolCall("var3", "print_code", {"data": "$var2.output_kg$"}),
    ]
    other = [*before[:2], ToolCall("var3", "print_code", {"data": "$var1.output_kg$"})]
    pairs = {0: 0, 1: 1, 2: 2}
    query = "Weigh Ann and Bo and print it."
    up = Upstream("", tuple(before), TOOLS, query)
    assert [one.kind for one in find_relinked(up, other, pairs)] == ["lost"]
    assert not [*find_relinked(up, before, pairs)]
    assert not [*find_relinked(up, [before[1], before[0], before[2]], {0: 1, 1: 0, 2: 2})]
    writing = (WEIGH, replace(PRINT, effects=DESTRUCTIVE))
    up = Upstream("", tuple(before), writing, query)
    assert [one.kind for one in find_relinked(up, other, pairs)] == ["write"]
    ghost = (*before[:2], ToolCall("var3", "print_code", {"data": "$var2.output_kg$", "x": 1}))
    up = Upstream("", ghost, TOOLS, query)
    assert not [*find_relinked(up, other, pairs)], "it was not right"


labels = st.sampled_from(["var1", "var2", "var3", "API_call_0", "API_call_1", "call_1"])
references = st.sampled_from(
    [
        "$var1.output_kg$",
        "$var2.lb$",
        "$var3$",
        "API_call_0",
        "API_call_1",
        "output_kg",
        "lb",
        "Ann",
    ]
)
calls = st.lists(
    st.builds(
        lambda id, weighs, text: ToolCall(
            id, "weigh" if weighs else "print_code", {"who" if weighs else "data": text}
        ),
        labels,
        st.booleans(),
        references,
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda call: call.id,
)


@given(calls, calls)
def test_every_reference_leads_where_the_model_meant_it_to(
    before: list[ToolCall], made: list[ToolCall]
) -> None:
    up = Upstream("", tuple(before), TOOLS, "Weigh Ann and print it.")
    tools = {tool.name: tool for tool in TOOLS}

    def links(some: list[ToolCall]) -> list[tuple[int, object, int]]:
        return [(ref.call, ref.path, to) for ref, to in _follow_references(up, some, tools)]

    found = list(keep_result_names(up, made, {n: n for n in range(min(len(before), len(made)))}))
    assert links(found) == links(made)
    assert [call.tool for call in found] == [call.tool for call in made]
    assert len({call.id for call in found}) == len(found)
