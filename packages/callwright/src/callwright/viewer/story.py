"""A trace sorted for a reader: the run's head and end, and per layer its question, calls and
skips.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from math import isfinite
from typing import Any, Literal

from callwright.nouns.trace import Event, collect_blobs, recovery_text, round_text, stale_text

Data = Mapping[str, Any]
_DIGITS = 4  # of a point in time, as a file keeps it: a page is the same before and after


@dataclass(frozen=True, slots=True)
class Dated:
    """The data of an event, and when it came. ``id``: the entry's name on the page, "" for none."""

    at: float
    data: Data
    id: str = ""


@dataclass(frozen=True, slots=True)
class Remark:
    """Something that a reader of the run should know, and when it came up."""

    at: float
    text: str


@dataclass(slots=True)
class CallStory:
    """One call from what was written, by the model as a rule, to what came back."""

    id: str
    tool: str
    raw: Any = None
    slot: str = ""
    by: str = "model"  # who wrote it: model | analogy | retry | substitute
    at: float = 0.0  # when it was written
    writes: bool = False  # it left as a call that may write
    refused: Data | None = None
    checked: Data | None = None
    repairs: list[Data] = field(default_factory=list)
    reflections: list[Data] = field(default_factory=list)
    results: list[Dated] = field(default_factory=list)
    asked: Data | None = None  # somebody was asked whether it may leave
    stale: str = ""  # why what came back no longer counts

    @property
    def state(self) -> Literal["skipped", "failed", "ok"]:
        if not self.results:
            return "skipped"
        return "failed" if self.results[-1].data.get("failure") else "ok"

    @property
    def is_held(self) -> bool:
        """Return True if the call did not leave because nobody allowed it."""
        return self.asked is not None and not self.asked.get("granted")

    @property
    def edits(self) -> list[Data]:
        """Every listed edit, gate first, then repairs."""
        found = list((self.checked or {}).get("edits") or ())
        for repair in self.repairs:
            found += [e for e in repair.get("edits") or () if e not in found]
        return found


@dataclass(slots=True)
class Stage:
    """One layer or turn."""

    title: str
    questions: list[Dated] = field(default_factory=list)
    calls: list[CallStory] = field(default_factory=list)
    skips: list[Dated] = field(default_factory=list)
    notes: list[Remark] = field(default_factory=list)


@dataclass(slots=True)
class Story:
    """All of a run that a page shows."""

    start: Data
    end: Data
    plan: Data
    answer: Data
    stages: list[Stage]
    closing: list[Dated]  # questions of the answer step
    texts: dict[str, str]  # digest -> prompt or reply
    streamed: bool = False  # its steps ran each as soon as its inputs existed
    seconds: float = 0.0  # from the first event to the last one

    @property
    def calls(self) -> list[CallStory]:
        """Every call, as the stages have them."""
        return [call for stage in self.stages for call in stage.calls]

    @property
    def questions(self) -> list[Dated]:
        """Every question to the model, as the stages have them, then those of the answer step."""
        return [question for stage in self.stages for question in stage.questions] + self.closing

    @property
    def states(self) -> dict[str, str]:
        """Slot id -> what became of it; a slot with several calls is as good as its best."""
        rank = {"idle": 0, "skipped": 1, "failed": 2, "ok": 3}
        found: dict[str, str] = {}
        for stage in self.stages:
            pairs = [(c.slot, c.state) for c in stage.calls] + [
                (s.data.get("slot", ""), "skipped") for s in stage.skips
            ]
            for slot, state in pairs:
                if rank[state] >= rank[found.get(slot, "idle")]:
                    found[slot] = state
        return found


def read_story(events: Iterable[Event]) -> Story:
    """Sort the events of one run. Missing events leave empty places; nothing raises on a trace cut
    short.
    """
    events = [replace(event, at=round(event.at, _DIGITS)) for event in events]
    story = Story({}, {}, {}, {}, [], [], collect_blobs(events))
    story.seconds = max((e.at for e in events if isfinite(e.at)), default=0.0)
    calls: dict[str, CallStory] = {}
    numbers = count(1)  # of the questions
    for event in events:
        if event.kind in ("run.start", "run.end", "plan", "answer"):
            setattr(story, event.kind.removeprefix("run."), event.data)
        elif event.kind == "shortlist":
            story.start = {
                **story.start,
                "tools": [*(story.start.get("tools") or ()), *event.data["tools"]],
            }
        elif event.kind == "layer":
            story.stages.append(Stage(f"Layer {event.data['index']} of {event.data['total']}"))
        elif event.kind == "dispatch":
            story.streamed = True
            if (
                "actor" not in event.data
            ):  # a plan at once, not one step of a plan that is being written
                story.stages.append(Stage(f"Plan, revision {event.data['revision']}"))
        elif event.kind == "model" and str(event.data.get("purpose")).startswith("answer"):
            story.closing.append(_name_question(event, next(numbers)))
        elif event.kind not in ("blob", "trial", "trials"):
            stage = _get_stage(story, event)
            if event.kind == "model":
                stage.questions.append(_name_question(event, next(numbers)))
            elif event.kind == "call.raw":
                stage.calls.append(_begin_call(event, calls))
            else:
                _add_event(event, stage, calls)
    return story


def _name_question(event: Event, number: int) -> Dated:
    return Dated(event.at, event.data, f"question-{number}")


def _begin_call(event: Event, calls: dict[str, CallStory]) -> CallStory:
    data = event.data
    given = data.get("arguments"), data.get("slot", ""), data.get("by", "model")
    call = CallStory(data["id"], data["tool"], *given, at=event.at)
    calls[call.id] = call
    return call


def _get_stage(story: Story, event: Event) -> Stage:
    """The stage an event belongs to. Strategies without layers get one stage per question."""
    layered = any(stage.title.startswith(("Layer", "Plan")) for stage in story.stages)
    turn = not layered and event.kind == "model" and event.data.get("purpose") in ("bind", "code")
    if turn or not story.stages:
        story.stages.append(Stage(f"Turn {len(story.stages) + 1}"))
    return story.stages[-1]


def _add_event(event: Event, stage: Stage, calls: dict[str, CallStory]) -> None:
    data = event.data
    if event.kind == "skip":
        stage.skips.append(Dated(event.at, data))
    elif event.kind == "stale":
        for call in (calls[id_] for id_ in data["results"] if id_ in calls):
            call.stale = f"since {data['by']}: {data['reason']}"
    elif event.kind != "resolution" and data.get("id") in calls:
        _add_to_call(event, calls[data["id"]])
    if text := _read_note(event):
        stage.notes.append(Remark(event.at, text))


def _read_note(event: Event) -> str:
    """The line that an event is to a reader; "" where it belongs to a call."""
    data = event.data
    match event.kind:
        case "note":
            return str(data.get("text", ""))
        case "round":
            return round_text(data)
        case "recovery":
            return recovery_text(data)
        case "stale":
            return stale_text(data)
        case "resolution":
            return f"{data['id']} was in doubt: {data['outcome']}, said the {data['by']}"
        case "limit":
            return f"limit reached: {data.get('limit')}"
    return ""


def _add_to_call(event: Event, call: CallStory) -> None:
    match event.kind:
        case "call.checked":
            call.checked = event.data
        case "call.refused":
            call.refused = event.data
        case "call.repair":
            call.repairs.append(event.data)
        case "reflection":
            call.reflections.append(event.data)
        case "approval":
            call.asked = event.data
        case "intent":
            call.writes = True
        case "result":
            call.results.append(Dated(event.at, event.data))
