"""The figures of a run: from its end, or counted from what is there of a run that has none yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from callwright.viewer.moments import read_seconds
from callwright.viewer.story import CallStory, Story

_REPAIRS = ("tier1", "tier2", "repeat", "recovery")


@dataclass(frozen=True, slots=True)
class RunTotals:
    """Figures of one run; texts where a foreign trace says something else than numbers."""

    status: str
    seconds: float
    questions: int
    calls: int
    tokens: tuple[str, str]
    repairs: tuple[str, ...]  # edits, repairs, repeats, recoveries
    writes: int
    held: int
    failed: tuple[CallStory, ...]

    @classmethod
    def of(cls, story: Story) -> RunTotals:
        """Count them."""
        cost = _read_table(story.end.get("cost"))
        took = read_seconds(cost.get("seconds"))
        repairs = _read_table(cost.get("repairs"))
        return cls(
            status=str(story.end.get("status", "unfinished")),
            seconds=story.seconds if took is None else took,
            questions=_read_count(cost.get("model_calls"), len(story.questions)),
            calls=_read_count(cost.get("calls"), sum(len(c.results) for c in story.calls)),
            tokens=_count_tokens(story, _read_table(cost.get("usage"))),
            repairs=tuple(str(repairs.get(name, 0)) for name in _REPAIRS)
            if story.end
            else _count_repairs(story),
            writes=sum(call.writes for call in story.calls),
            held=sum(call.is_held for call in story.calls),
            failed=tuple(call for call in story.calls if call.state == "failed"),
        )


def _count_tokens(story: Story, usage: Mapping[str, Any]) -> tuple[str, str]:
    names = ("prompt_tokens", "completion_tokens")
    if usage:
        return str(usage.get(names[0], "?")), str(usage.get(names[1], "?"))
    asked = [_read_table(question.data.get("usage")) for question in story.questions]
    first, second = (
        sum(used[name] for used in asked if isinstance(used.get(name), int)) for name in names
    )
    return str(first), str(second)


def _count_repairs(story: Story) -> tuple[str, ...]:
    """Edits and repairs only: what else was tried stands in the end of a run."""
    edited = sum(len(call.edits) for call in story.calls)
    return str(edited), str(sum(len(call.repairs) for call in story.calls)), "0", "0"


def _read_count(value: Any, counted: int) -> int:
    return value if isinstance(value, int) else counted


def _read_table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
