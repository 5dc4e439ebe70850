"""A trace sorted for a reader: the run's head and end, and per layer its question, calls and
skips.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from callwright.nouns.trace import Event, collect_blobs, recovery_text, round_text, stale_text

Data = Mapping[str, Any]


@dataclass(slots=True)
class CallStory:
    """One call from what was written, by the model as a rule, to what came back."""

    id: str
    tool: str
    raw: Any = None
    slot: str = ""
    by: str = "model"  # who wrote it: model | analogy | retry | substitute
    refused: Data | None = None
    checked: Data | None = None
    repairs: list[Data] = field(default_factory=list)
    reflections: list[Data] = field(default_factory=list)
    results: list[Data] = field(default_factory=list)
    asked: Data | None = None  # somebody was asked whether it may leave
    stale: str = ""  # why what came back no longer counts

    @property
    def state(self) -> str:
        if not self.results:
            return "skipped"
        return "failed" if self.results[-1].get("failure") else "ok"

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
    questions: list[Data] = field(default_factory=list)
    calls: list[CallStory] = field(default_factory=list)
    skips: list[Data] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Story:
    """All of a run that a page shows."""

    start: Data
    end: Data
    plan: Data
    answer: Data
    stages: list[Stage]
    closing: list[Data]  # questions of the answer step
    texts: dict[str, str]  # digest -> prompt or reply
    streamed: bool = False  # its steps ran each as soon as its inputs existed

    @property
    def states(self) -> dict[str, str]:
        """Slot id -> what became of it; a slot with several calls is as good as its best."""
        rank = {"idle": 0, "skipped": 1, "failed": 2, "ok": 3}
        found: dict[str, str] = {}
        for stage in self.stages:
            pairs = [(c.slot, c.state) for c in stage.calls] + [
                (s.get("slot", ""), "skipped") for s in stage.skips
            ]
            for slot, state in pairs:
                if rank[state] >= rank[found.get(slot, "idle")]:
                    found[slot] = state
        return found


def read_story(events: Iterable[Event]) -> Story:
    """Sort the events of one run. Missing events leave empty places; nothing raises on a trace cut
    short.
    """
    events = list(events)
    story = Story({}, {}, {}, {}, [], [], collect_blobs(events))
    calls: dict[str, CallStory] = {}
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
            story.closing.append(event.data)
        elif event.kind not in ("blob", "trial", "trials"):
            _add_event(event, _get_stage(story, event), calls)
    return story


def _get_stage(story: Story, event: Event) -> Stage:
    """The stage an event belongs to. Strategies without layers get one stage per question."""
    layered = any(stage.title.startswith(("Layer", "Plan")) for stage in story.stages)
    turn = not layered and event.kind == "model" and event.data.get("purpose") in ("bind", "code")
    if turn or not story.stages:
        story.stages.append(Stage(f"Turn {len(story.stages) + 1}"))
    return story.stages[-1]


def _add_event(event: Event, stage: Stage, calls: dict[str, CallStory]) -> None:
    data = event.data
    if event.kind == "model":
        stage.questions.append(data)
    elif event.kind == "skip":
        stage.skips.append(data)
    elif event.kind == "note":
        stage.notes.append(str(data.get("text", "")))
    elif event.kind == "round":
        stage.notes += filter(None, [round_text(data)])
    elif event.kind == "recovery":
        stage.notes.append(recovery_text(data))
    elif event.kind == "stale":
        stage.notes.append(stale_text(data))
        for call in (calls[id_] for id_ in data["results"] if id_ in calls):
            call.stale = f"since {data['by']}: {data['reason']}"
    elif event.kind == "resolution":
        stage.notes.append(f"{data['id']} was in doubt: {data['outcome']}, said the {data['by']}")
    elif event.kind == "limit":
        stage.notes.append(f"limit reached: {data.get('limit')}")
    elif event.kind == "call.raw":
        call = CallStory(
            data["id"],
            data["tool"],
            data.get("arguments"),
            data.get("slot", ""),
            data.get("by", "model"),
        )
        calls[call.id] = call
        stage.calls.append(call)
    elif data.get("id") in calls:
        call = calls[data["id"]]
        if event.kind == "call.checked":
            call.checked = data
        elif event.kind == "call.refused":
            call.refused = data
        elif event.kind == "call.repair":
            call.repairs.append(data)
        elif event.kind == "reflection":
            call.reflections.append(data)
        elif event.kind == "approval":
            call.asked = data
        elif event.kind == "result":
            call.results.append(data)
