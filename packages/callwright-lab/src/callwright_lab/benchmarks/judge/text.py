"""Renders a trajectory for a judge: round by round, with long replies shortened and fence markers
neutralised.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import Json, ToolCall, ToolResult, to_canonical_json

CHARS = 6_000  # of one chain of execution
_THOUGHT = 300
_LEAST = 80  # characters that every reply is shown with, however many there are
_FENCE = "====="


def chain_text(steps: Sequence[Step], chars: int = CHARS) -> str:
    """The rounds of a trajectory, numbered; replies share what room the rest leaves of ``chars``,
    evenly.
    """
    replies = max(1, sum(max(len(step.calls), bool(step.shown)) for step in steps))
    bare = sum(len(line) for line in _iter_lines(steps, 0))
    room = max(_LEAST, (chars - bare) // replies)
    return "\n".join(_iter_lines(steps, room)) or "(nothing was done)"


def answer_text(trajectory: Trajectory) -> str:
    """The final answer as a judge reads it: also that there is none, or that the agent gave up."""
    said = _fold_text(trajectory.answer or "")
    if trajectory.given_up:
        return f"(the agent gave up) {said}".rstrip()
    return said or "(no answer)"


def _iter_lines(steps: Sequence[Step], room: int) -> Iterator[str]:
    for number, step in enumerate(steps, 1):
        if step.thought:
            yield f"[{number}] thought: {_shorten_text(_fold_text(step.thought), _THOUGHT)}"
        for call, result in step.pairs:
            yield f"[{number}] call: {call_text(call)}"
            yield f"[{number}] result: {_shorten_text(_fold_text(_render_result(result, step.shown)), room)}"
        if not step.calls and step.shown:
            yield f"[{number}] result: {_shorten_text(_fold_text(step.shown), room)}"


def call_text(call: ToolCall) -> str:
    """``tool({"key": value})``."""
    given = call.arguments if isinstance(call.arguments, str) else to_canonical_json(call.arguments)
    return _fold_text(f"{call.tool}({given})")


def result_text(result: ToolResult) -> str:
    """Return the text of a tool's result, or of the failure of its call."""
    if result.failure is not None:
        return f"ERROR ({result.failure.kind}): {result.failure.message}"
    return _render_content(result.content)


def _render_result(result: ToolResult | None, shown: str) -> str:
    if result is not None:
        return result_text(result)
    return shown or "(not carried out)"


def _render_content(content: Json) -> str:
    return content if isinstance(content, str) else to_canonical_json(content)


def _fold_text(text: str) -> str:
    return " ".join(text.replace(_FENCE, "=" * 3).split())


def _shorten_text(text: str, most: int) -> str:
    return (
        text
        if len(text) <= most
        else f"{text[: max(0, most)]} …[{len(text) - most} more characters cut]"
    )
