"""Plans: layers are a view of a DAG, and what is not a DAG is named."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.errors import PlanError
from callwright.nouns.plan import Plan, Slot, SlotIds, find_references, rename_references

NAMES = st.lists(st.text("abcdefgh", min_size=1, max_size=3), unique=True, max_size=12)


@st.composite
def dags(draw: st.DrawFn) -> tuple[list[str], list[tuple[str, str]]]:
    names = draw(NAMES)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return draw(st.permutations(names)), edges


@given(
    st.lists(st.lists(st.text("abc", min_size=1, max_size=2), min_size=1, max_size=4), max_size=5)
)
def test_layers_are_the_inverse_of_from_layers(layers: list[list[str]]) -> None:
    plan = Plan.from_layers(layers)
    assert [[slot.tool for slot in layer] for layer in plan.layers] == layers
    assert plan.problems() == ()


@given(dags())
def test_every_slot_lies_exactly_one_layer_behind_its_latest_dependency(
    dag: tuple[list[str], list],
) -> None:
    names, edges = dag
    plan = Plan.from_edges(names, edges)
    depth = {slot.id: k for k, layer in enumerate(plan.layers) for slot in layer}
    assert set(depth) == set(names)
    for slot in plan.slots:
        assert depth[slot.id] == 1 + max((depth[b] for b in slot.after), default=-1)


@given(dags())
def test_running_what_is_ready_reaches_every_slot_in_as_many_waves_as_layers(
    dag: tuple[list[str], list],
) -> None:
    plan = Plan.from_edges(*dag)
    finished: set[str] = set()
    waves = 0
    while ready := plan.ready(finished):
        assert all(slot.after <= finished for slot in ready)
        finished |= {slot.id for slot in ready}
        waves += 1
    assert finished == {slot.id for slot in plan.slots}
    assert waves == len(plan.layers)


def test_a_tool_planned_twice_gets_two_slots() -> None:
    plan = Plan.from_layers([["search"], ["fetch"], ["search"]])
    assert [slot.id for slot in plan.slots] == ["search", "fetch", "search#2"]


def test_empty_layers_are_dropped_without_losing_the_order() -> None:
    assert [[s.tool for s in layer] for layer in Plan.from_layers([["a"], [], ["b"]]).layers] == [
        ["a"],
        ["b"],
    ]


@pytest.mark.parametrize(
    ("slots", "kind"),
    [
        ((Slot("a", "a", frozenset("b")), Slot("b", "b", frozenset("a"))), "cycle"),
        ((Slot("a", "a", frozenset("x")),), "dangling"),
        ((Slot("a", "a"), Slot("a", "b")), "duplicate"),
        ((Slot("a", "nowhere"),), "unknown_tool"),
    ],
)
def test_each_problem_is_found_and_named(slots: tuple[Slot, ...], kind: str) -> None:
    plan = Plan(slots)
    assert kind in {problem.kind for problem in plan.problems(["a", "b"])}
    with pytest.raises(PlanError, match=r"kind"):
        plan.require_sound(["a", "b"])


def test_a_cycle_has_no_layers() -> None:
    with pytest.raises(PlanError):
        _ = Plan((Slot("a", "a", frozenset("a")),)).layers
    with pytest.raises(PlanError):
        Plan.from_edges(["a", "b"], [("a", "b"), ("b", "a")])


def test_an_edge_to_a_tool_outside_the_plan_is_an_error() -> None:
    with pytest.raises(PlanError, match="'ghost'"):
        Plan.from_edges(["a"], [("a", "ghost")])


def test_growing_a_plan_is_a_new_revision_and_leaves_the_old_one_alone() -> None:
    plan = Plan.from_layers([["a"]])
    grown = plan.grown(Slot("b", "b", frozenset("a")))
    assert (plan.revision, grown.revision) == (0, 1)
    assert len(plan.slots) == 1
    assert grown.edges == (("a", "b"),)


def test_a_revision_keeps_what_is_finished_and_puts_the_rest_behind_it() -> None:
    plan = Plan.from_layers([["a", "b"], ["c"]])
    again = plan.revised({"a", "b"}, Plan.from_layers([["d"], ["a", "c"]]))
    assert again.revision == plan.revision + 1
    assert [[s.id for s in layer] for layer in again.layers] == [["a", "b"], ["d"], ["a#2", "c"]]
    assert again.ready({"a", "b"}) == again.layers[1]


@given(dags(), st.data())
def test_the_critical_path_is_a_chain_and_no_chain_takes_longer(
    dag: tuple[list[str], list], data: st.DataObject
) -> None:
    plan = Plan.from_edges(*dag)
    seconds = {s.id: data.draw(st.integers(0, 9)) for s in plan.slots}
    path = plan.critical_path(seconds)
    assert all(a in next(s.after for s in plan.slots if s.id == b) for a, b in pairwise(path))
    longest: dict[str, int] = {}
    for slot in (slot for layer in plan.layers for slot in layer):
        longest[slot.id] = seconds[slot.id] + max((longest[b] for b in slot.after), default=0)
    assert sum(seconds[i] for i in path) == max(longest.values(), default=0)


@given(dags())
def test_what_is_behind_a_slot_is_all_that_reaches_it_by_waiting(
    dag: tuple[list[str], list],
) -> None:
    plan = Plan.from_edges(*dag)
    after = {s.id: s.after for s in plan.slots}
    for slot in plan.slots:
        rests = {
            s.id
            for s in plan.slots
            if slot.id in after[s.id] or plan.behind([slot.id]) & after[s.id]
        }
        assert plan.behind([slot.id]) == rests


def test_who_refers_to_a_slot_waits_for_it_and_what_refers_to_nothing_is_named() -> None:
    plan = Plan(
        (
            Slot("a", "t"),
            Slot("b", "t", arguments={"x": "${a.k}"}),
            Slot("c", "t", arguments={"x": "${z.k}"}),
        )
    )
    assert {p.kind for p in plan.problems()} == {"dangling"}
    assert [p.slots for p in plan.problems()] == [("b", "a"), ("c", "z")]
    wired = plan.wired()
    assert wired.edges == (("a", "b"),)
    assert [p.slots for p in wired.problems()] == [("c", "z")]
    assert Plan((Slot("a", "t", arguments={"x": "${a}"}),)).wired().problems()[0].kind == "cycle"


def test_a_reference_names_the_longest_id_that_fits_and_a_path() -> None:
    value = {"x": ["${a.b.c[0]}", "at ${a} and ${other.k}", "${a#2}", "$5 ${HOME}x"]}
    found = find_references(value, {"a", "a.b", "a#2"})
    assert [(r.slot, r.path, r.whole) for r in found] == [
        ("a.b", ("c", 0), True),
        ("a", (), False),
        ("a#2", (), True),
    ]
    assert find_references("${nobody.k}", ())[0].slot == "nobody"
    swapped = rename_references(value, {"a": "a.b", "a.b": "a"})
    assert swapped == {"x": ["${a.c[0]}", "at ${a.b} and ${other.k}", "${a#2}", "$5 ${HOME}x"]}


def test_a_later_plan_may_refer_to_finished_slots_and_its_own_keep_their_references() -> None:
    before = Plan((Slot("find", "find"), Slot("note", "note", frozenset({"find"}))))
    fresh = Plan(
        (
            Slot("find", "find", arguments={"x": "1"}),
            Slot("note", "note", frozenset({"find"}), arguments={"y": "${find.v}"}),
        )
    )
    made = before.revised({"find"}, fresh)
    assert [s.id for s in made.slots] == ["find", "find#2", "note"]
    assert made.slots[2].arguments == {"y": "${find#2.v}"}
    assert made.slots[2].after == {"find#2"}
    assert (
        before.revised(
            {"find"}, Plan((Slot("sum", "sum", arguments={"y": "${find.v}"}),))
        ).problems()
        == ()
    )


def test_slots_come_back_from_a_journal_of_a_version_that_knew_no_arguments() -> None:
    told = [{"id": "a", "tool": "t", "after": [], "reason": "", "probabilities": []}]
    assert Plan.from_slots(told).slots == (Slot("a", "t"),)


def test_ids_that_are_taken_are_not_given_again() -> None:
    ids = SlotIds(["a", "a#2"])
    assert [ids.next("a"), ids.next("a"), ids.next("b")] == ["a#3", "a#4", "b"]
