"""How a trajectory is shown to a judge: round by round, long replies cut, nothing that could end
its fence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import Json, ToolCall, ToolResult, canonical

CHARS = 6_000  # of one chain of execution
_THOUGHT = 300
_LEAST = 80  # characters that every reply is shown with, however many there are
_FENCE = "====="


def chain_text(steps: Sequence[Step], chars: int = CHARS) -> str:
    """The rounds of a trajectory, numbered; replies share what room the rest leaves of ``chars``,
    evenly.
    """
    replies = max(1, sum(max(len(step.calls), bool(step.shown)) for step in steps))
    bare = sum(len(line) for line in _lines(steps, 0))
    room = max(_LEAST, (chars - bare) // replies)
    return "\n".join(_lines(steps, room)) or "(nothing was done)"


def answer_text(trajectory: Trajectory) -> str:
    """The final answer as a judge reads it: also that there is none, or that the agent gave up."""
    said = _plain(trajectory.answer or "")
    if trajectory.given_up:
        return f"(the agent gave up) {said}".rstrip()
    return said or "(no answer)"


def _lines(steps: Sequence[Step], room: int) -> Iterator[str]:
    for number, step in enumerate(steps, 1):
        if step.thought:
            yield f"[{number}] thought: {_short(_plain(step.thought), _THOUGHT)}"
        for call, result in step.pairs:
            yield f"[{number}] call: {call_text(call)}"
            yield f"[{number}] result: {_short(_plain(_came(result, step.shown)), room)}"
        if not step.calls and step.shown:
            yield f"[{number}] result: {_short(_plain(step.shown), room)}"


def call_text(call: ToolCall) -> str:
    """``tool({"key": value})``."""
    given = call.arguments if isinstance(call.arguments, str) else canonical(call.arguments)
    return _plain(f"{call.tool}({given})")


def result_text(result: ToolResult) -> str:
    """What a tool returned, or how the call failed."""
    if result.failure is not None:
        return f"ERROR ({result.failure.kind}): {result.failure.message}"
    return _written(result.content)


def _came(result: ToolResult | None, shown: str) -> str:
    if result is not None:
        return result_text(result)
    return shown or "(not carried out)"


def _written(content: Json) -> str:
    return content if isinstance(content, str) else canonical(content)


def _plain(text: str) -> str:
    return " ".join(text.replace(_FENCE, "=" * 3).split())


def _short(text: str, most: int) -> str:
    return (
        text
        if len(text) <= most
        else f"{text[: max(0, most)]} …[{len(text) - most} more characters cut]"
    )
