"""Plan examples: labels by longest path, shuffled before anybody sees them, distractors without a
layer.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.types import Tool
from callwright_lab.datasets.examples import (
    add_distractors,
    collect_tools,
    compute_depths,
    example_from_calls,
    example_from_graph,
    json_type,
    object_schema,
    sort_topologically,
    to_sequence,
)

A, B, C = Tool("a"), Tool("b"), Tool("c")


def test_depth_is_the_longest_path() -> None:
    assert compute_depths(4, {1: [0], 2: [0, 1], 3: []}) == [0, 1, 2, 0]


def test_a_tool_called_at_several_depths_takes_its_first_and_is_counted_apart() -> None:
    made = example_from_calls("x", "s", "q", [A, B], ["a", "b", "a"], {1: [0], 2: [1]})
    assert made.layers == {"a": 0, "b": 1}
    assert made.edges == {("a", "b")}
    assert made.several == {"a"}


def test_calling_a_tool_twice_at_one_depth_is_no_dependency() -> None:
    made = example_from_calls("x", "s", "q", [A, B], ["a", "a", "b"], {2: [0, 1]})
    assert made.edges == {("a", "b")}
    assert made.several == frozenset()


def test_tools_are_shuffled_by_the_id_and_not_by_the_order_given() -> None:
    tools = [Tool(f"t{i}") for i in range(8)]
    names = [t.name for t in tools]
    one = example_from_calls("x", "s", "q", tools, names, {})
    other = example_from_calls("x", "s", "q", tools[::-1], names, {})
    assert one.tools == other.tools
    assert [t.name for t in one.tools] != names
    assert example_from_calls("y", "s", "q", tools, names, {}).tools != one.tools


def test_execution_order_does_not_leak_through_the_order_of_tools() -> None:
    first = 0
    for i in range(400):
        made = example_from_calls(f"e{i}", "s", "q", [A, B], ["a", "b"], {1: [0]})
        first += made.tools[0].name == "a"
    assert 160 < first < 240


def test_a_graph_with_a_cycle_or_an_unknown_tool_is_no_example() -> None:
    assert (
        example_from_graph(
            "x", "s", "q", [A, B], ["a", "b"], [("a", "b"), ("b", "a")], "dependency"
        )
        is None
    )
    assert example_from_graph("x", "s", "q", [A], ["a", "b"], [("a", "b")], "dependency") is None


def test_a_graph_gives_layers_by_longest_path() -> None:
    made = example_from_graph(
        "x", "s", "q", [A, B, C], ["a", "b", "c"], [("a", "b"), ("b", "c"), ("a", "c")], "sequence"
    )
    assert made is not None
    assert made.layers == {"a": 0, "b": 1, "c": 2}
    assert made.kind == "sequence"


def test_distractors_have_no_layer_and_are_the_same_every_time() -> None:
    made = example_from_calls("x", "s", "q", [A], ["a"], {})
    spare = [Tool(f"t{i}") for i in range(10)]
    mixed = add_distractors(made, [*spare, A], 3)
    assert len(mixed.tools) == 4
    assert mixed.layers == {"a": 0}
    assert mixed == add_distractors(made, [A, *spare[::-1]], 3)
    assert collect_tools([mixed, made])[0] == A


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef")), max_size=15))
def test_a_topological_order_respects_every_edge_or_there_is_none(
    pairs: list[tuple[str, str]],
) -> None:
    order = sort_topologically("abcdef", pairs)
    if order is not None:
        place = {n: i for i, n in enumerate(order)}
        assert sorted(order) == list("abcdef")
        assert all(place[a] < place[b] for a, b in pairs)


def test_types_of_data_sets_become_json_types() -> None:
    assert [json_type(t) for t in ("str", "Int", "List[str]", "dict", "???", None)] == [
        "string",
        "integer",
        "array",
        "object",
        None,
        None,
    ]
    made = object_schema({"x": {"type": "str", "allowed_values": ["a"]}}, ["x", "gone"])
    assert made == {
        "type": "object",
        "properties": {"x": {"type": "string", "enum": ["a"]}},
        "required": ["x"],
    }


def test_in_execution_order_every_tool_has_a_layer_of_its_own() -> None:
    made = example_from_calls("x", "s", "q", [A, B, C], ["b", "b", "a", "c", "a"], {2: [0]})
    found = to_sequence(made)
    assert found is not None
    assert found.kind == "sequence"
    assert found.layers == {"a": 1, "b": 0, "c": 2}
    assert found.edges == {("b", "a"), ("a", "c")}
    assert found.several == {"a"}
    assert (found.tools, found.combination) == (made.tools, made.combination)
    assert to_sequence(found) is found


def test_a_graph_of_needs_does_not_say_in_which_order_was_called() -> None:
    made = example_from_graph("x", "s", "q", [A, B], ["a", "b"], [("a", "b")], "dependency")
    assert made is not None
    assert to_sequence(made) is None
