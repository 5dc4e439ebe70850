"""The schema-level constraint: later where another tool's output is required, to a fixed point,
without cycles.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from callwright.dataflow.flow import Field, Link
from callwright.nouns.types import Tool
from callwright.planning.schema_order import Claim, constrain_layers, drop_cycles, find_claims


def tool(name: str, inputs: tuple[str, ...] = (), outputs: tuple[str, ...] = ()) -> Tool:
    text = {"type": "string"}
    return Tool(
        name,
        input_schema={
            "type": "object",
            "properties": dict.fromkeys(inputs, text),
            "required": list(inputs),
        },
        output_schema={"type": "object", "properties": dict.fromkeys(outputs, text)},
    )


def claim(producer: str, consumer: str, score: float = 0.9) -> Claim:
    def leaf(name: str) -> Field:
        return Field((name,), (name,), frozenset(), frozenset())

    return Claim(
        producer, consumer, score, Link(producer, consumer, leaf("x_id"), leaf("x_id"), score)
    )


def test_a_tool_moves_behind_the_one_that_provides_its_required_input() -> None:
    tools = [tool("pay", ("invoice_id",)), tool("invoice", ("client",), ("invoice_id",))]
    placed, moves = constrain_layers({"pay": 0, "invoice": 0}, find_claims(tools))
    assert placed == {"pay": 1, "invoice": 0}
    assert [(m.tool, m.before, m.after) for m in moves] == [("pay", 0, 1)]
    assert moves[0].reason == "needs 'invoice_id', which 'invoice_id' of invoice provides"


def test_moves_go_on_to_a_fixed_point_and_past_the_last_layer() -> None:
    chain = [claim(f"t{i}", f"t{i + 1}") for i in range(9)]
    placed, _ = constrain_layers({f"t{i}": 4 for i in range(10)}, chain)
    assert placed == {f"t{i}": 4 + i for i in range(10)}


def test_tools_already_in_order_stay() -> None:
    placed, moves = constrain_layers({"a": 0, "b": 3}, [claim("a", "b")])
    assert placed == {"a": 0, "b": 3}
    assert moves == ()


def test_optional_inputs_move_nothing() -> None:
    optional = Tool(
        "pay", input_schema={"type": "object", "properties": {"invoice_id": {"type": "string"}}}
    )
    assert find_claims([optional, tool("invoice", (), ("invoice_id",))]) == ()


def test_a_bare_type_moves_nothing() -> None:
    assert find_claims([tool("a", (), ("height",)), tool("b", ("colour",))]) == ()


def test_cyclic_claims_lose_the_weakest() -> None:
    found = [claim("a", "b", 0.9), claim("b", "c", 0.8), claim("c", "a", 0.7)]
    assert [(c.producer, c.consumer) for c in drop_cycles(found)] == [("a", "b"), ("b", "c")]


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef")), max_size=20))
def test_whatever_is_claimed_the_layers_end_up_consistent(pairs: list[tuple[str, str]]) -> None:
    kept = drop_cycles([claim(a, b) for a, b in pairs])
    placed, _ = constrain_layers(dict.fromkeys("abcdef", 0), kept)
    assert all(placed[c.producer] < placed[c.consumer] for c in kept)
    assert max(placed.values()) <= 5


def test_only_the_best_producers_of_an_input_count() -> None:
    exact = tool("create_invoice", (), ("invoice_id",))
    vague = tool("invoice_report", (), ("id",))
    found = find_claims([tool("pay", ("invoice_id",)), exact, vague])
    assert [c.producer for c in found] == ["create_invoice"]
