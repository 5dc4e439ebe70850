"""A refused call of the gateway, put to a refiner."""

from __future__ import annotations

from typing import Any

import pytest

from callwright.gateway.session.commands import AskRefiner, Refined
from callwright.gateway.session.refined_call import refine_call
from callwright.nouns.types import CheckedCall, Reply, Tool, ToolCall
from callwright.repair.by_model.refiner_settings import RefinerSettings
from callwright.repair.gate import Gate

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city", "days"],
    "additionalProperties": False,
}
TOOL = Tool("weather__forecast", "", SCHEMA)
CALL = ToolCall("call", "weather__forecast", {"where": {"name": "Oslo"}, "how_long": "3 days"})


def answer(arguments: str, name: str = "weather__forecast", more: str = "") -> Reply:
    one = f'{{"name": "{name}", "arguments": {arguments}}}'
    return Reply(f"<func_call>[{one}{more}]</func_call>")


def refined(reply: Reply | None, call: ToolCall = CALL, **settings: Any) -> CheckedCall | None:
    steps = refine_call(Gate((TOOL,)), TOOL, call, RefinerSettings("short", **settings))
    command = next(steps)
    assert isinstance(command, AskRefiner)
    assert "weather__forecast(city: string, days: integer)" in command.request.messages[-1].content
    with pytest.raises(StopIteration) as done:
        steps.send(Refined(reply))
    found: CheckedCall | None = done.value.value
    return found


def test_an_accepted_answer_is_the_call_with_its_edits() -> None:
    found = refined(answer('{"city": "Oslo", "days": 3}'))
    assert found is not None
    assert found.arguments == {"city": "Oslo", "days": 3}
    assert {(edit.path, edit.rule) for edit in found.edits} == {
        ("/where", "model"), ("/how_long", "model"), ("/city", "model"), ("/days", "model"),
    }  # fmt: skip


@pytest.mark.parametrize(
    "reply",
    [
        None,
        Reply("I cannot."),
        answer('{"city": "Bergen", "days": 3}'),  # nobody has said it
        answer('{"city": "Oslo"}'),
        answer('{"city": "Oslo", "days": 3}', "weather__now"),
        answer(
            '{"city": "Oslo", "days": 3}', more=', {"name": "weather__forecast", "arguments": {}}'
        ),
    ],
)
def test_anything_else_leaves_the_call_refused(reply: Reply | None) -> None:
    assert refined(reply) is None


def test_without_a_guard_the_schema_still_decides() -> None:
    assert refined(answer('{"city": "Bergen", "days": 3}'), is_guarded=False) is not None
    assert refined(answer('{"city": "Bergen", "days": "x"}'), is_guarded=False) is None


def test_a_write_that_was_cut_in_the_middle_is_not_finished() -> None:
    cut = ToolCall("call", "weather__forecast", '{"city": "Oslo", "days": ')
    assert refined(answer('{"city": "Oslo", "days": 3}'), cut) is None
