"""Checks of a resume before it goes on. The run must be the one it was, so that it is replayed or
continued from its facts, and no write may be in doubt.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

from callwright import prompts
from callwright.agent.journal.ended import ended_life
from callwright.agent.journal.ledger import Answer, Ledger, build_doubt_error
from callwright.agent.journal.store import SUFFIX, find_folder
from callwright.agent.journal.usable_prompts import digests_of_prompts, usable_prompts
from callwright.nouns.errors import ConfigError, JournalError
from callwright.nouns.protocols import NotDone
from callwright.nouns.redaction import TAKEN_OUT
from callwright.nouns.trace import Event, Trace
from callwright.nouns.types import (
    Json,
    JsonObject,
    Message,
    Tool,
    ToolCall,
    ToolOutput,
    compute_digest,
    to_json,
)
from callwright.nouns.wire_names import current_literal

Ask: TypeAlias = Callable[[str, JsonObject, str], Awaitable[ToolOutput | NotDone | None]]
"""What became of a call: tool, arguments, idempotency key; see
:class:`callwright.nouns.protocols.Askable`.
"""


ResumeMode: TypeAlias = Literal["", "replay", "continue"]
"""How a run goes on: "" is a run that begins. Stored in its ``run.start``."""

_FREE = ("version", "prompts")  # what may differ where a run goes on from its facts

_REPLAY = (
    "Replay: nothing that the run depends on has changed, so what is recorded is neither asked nor"
    " done again."
)
_REPLAY_CHANGED = (
    "Replay: {changed}; what is recorded is neither asked nor done again, and the run stops at the"
    " first question that is not the recorded one."
)
_CONTINUE = (
    "Continue: {changed}, so the run goes on from its recorded facts: it asks new questions, and sends"
    " no recorded write again."
)
_ENDED = "The run has ended, and {changed}: this is its recorded answer, and nobody is asked."


@dataclass(frozen=True, slots=True)
class Resumption:
    """The way in which a run goes on, and what has changed since it was started."""

    mode: ResumeMode
    changed: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """One sentence that says how the run goes on; "" for one that begins."""
        if not self.mode:
            return ""
        if self.mode == "continue":
            return _CONTINUE.format(changed="; ".join(self.changed))
        if self.changed:
            return _REPLAY_CHANGED.format(changed="; ".join(self.changed))
        return _REPLAY

    @property
    def of_ended(self) -> str:
        """The sentence for a run that has come to its end."""
        return _ENDED.format(changed="; ".join(self.changed))


BEGUN = Resumption("")
HAD_CHANGED = "what it depends on had changed"


def build_identity(
    version: str,
    tools: Sequence[Tool],
    model: str,
    strategy: str,
    *,
    is_probing: bool = False,
    has_output: bool = False,
) -> dict[str, Json]:
    """Return what a replay depends on, as ``run.start`` records it. Of the prompts it names those
    that this run can use.
    """
    named = usable_prompts(strategy, is_probing=is_probing, has_output=has_output)
    return {
        "version": version,
        "prompts": digests_of_prompts(named),
        "digests": {tool.name: tool.digest for tool in tools},
        "model": model,
        "strategy": strategy,
    }


@cache
def prompts_digest() -> str:
    """A digest that changes whenever any prompt changes. Journals of earlier versions hold it."""
    return compute_digest({name: prompts.load(name) for name in prompts.names()})


def choose_resumption(
    start: Answer, now: Mapping[str, Json], run: str, *, is_changed: bool = False
) -> Resumption:
    """Replay where nothing has changed that the run depends on; continue from facts where it is the
    prompts or the version only, and where its strategy is no more and another took its place.

    ``is_changed``: replay in any case, as far as the same questions are asked. Raises JournalError
    naming everything that has changed, where tools, model or strategy are others.
    """
    changed = _changes(start, now)
    former = start.get("strategy")
    current = current_literal("strategies", former) if isinstance(former, str) else former
    if changed.keys() & {"strategy"} and current == now["strategy"]:
        now = {**now, "strategy": former}
        if is_changed or not _changes(start, now).keys() - {*_FREE}:
            return Resumption("continue", tuple(changed.values()))
    if is_changed or not changed:
        return Resumption("replay", tuple(changed.values()))
    if changed.keys() - {*_FREE}:
        raise _refused(changed.values(), run)
    return Resumption("continue", tuple(changed.values()))


def _refused(changed: Iterable[str], run: str) -> JournalError:
    return JournalError(
        f"the run {run} was started with something else: {'; '.join(changed)}",
        hint=(
            f"undo the change and resume; or callwright resume {run} --changed, which replays"
            " as long as the same questions are asked and stops where they differ; or start a"
            " new run"
        ),
    )


def _changes(start: Answer, now: Mapping[str, Json]) -> dict[str, str]:
    """Return every change as a text."""
    found = {}
    for key, value in now.items():
        before = start.get(key)
        if key == "prompts":
            before, value = _comparable(before, value)
        if before != value:
            found[key] = _describe_difference(key, before, value)
    return found


def _comparable(before: Json, now: Json) -> tuple[Json, Json]:
    """The prompts of a start and those of today in one form: by name; of an earlier version, all in
    one digest. A prompt that the start names counts even where this strategy cannot be told to use
    it.
    """
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        return before, {**digests_of_prompts(tuple(before)), **now}
    return before, prompts_digest()


def _describe_difference(key: str, before: Json, now: Json) -> str:
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        parts = {
            "gone": sorted(k for k in before if not now.get(k)),
            "new": sorted(now.keys() - before.keys()),
            "other": sorted(k for k in before if now.get(k) and before[k] != now[k]),
        }
        return f"{'tools' if key == 'digests' else key} " + ", ".join(
            f"{word}: {', '.join(names)}" for word, names in parts.items() if names
        )
    return f"{key} was {before}, is {now}"


async def resolve_doubts(ledger: Ledger, ask: Ask, trace: Trace) -> None:
    """Ask for the outcome of every write whose result was lost, where it can be asked.

    Raises JournalError naming the calls that stay in doubt.
    """
    left = []
    for doubt in ledger.doubts:
        found = await ask(doubt["tool"], doubt["arguments"], doubt["key"])
        if found is None:
            left.append(f"{doubt['id']} ({doubt['tool']} {doubt['arguments']})")
            continue
        told = {"outcome": "not_done"} if isinstance(found, NotDone) else _build_outcome(found)
        said = {"id": doubt["id"], "attempt": doubt["attempt"], "by": "source", **told}
        trace.add("resolution", **said)
        ledger.resolve(said)
    ledger.commit()
    if left:
        raise build_doubt_error(left, ledger.run)


def _build_outcome(found: ToolOutput) -> JsonObject:
    if found.failure is not None:
        return {"outcome": "failed", "message": found.failure.message}
    return {"outcome": "done", "content": to_json(found.content)}


def read_conversation(start: Answer) -> tuple[Message, ...]:
    """The conversation before the run's query."""
    return tuple(
        Message(**{**told, "tool_calls": tuple(ToolCall(**call) for call in told["tool_calls"])})
        for told in start["conversation"]
    )


def find_withheld_end(start: Answer, events: Sequence[Event], run: str) -> tuple[Event, ...]:
    """The events of the end of a run of which the record lacks a secret that was said to it; none
    where it lacks nothing. Raises JournalError where such a run has not ended: it would go on with
    the mark that stands in the secret's place.
    """
    if not start.get("withheld", TAKEN_OUT in start["query"]):  # earlier versions do not say
        return ()
    if life := ended_life(events):
        return life
    raise JournalError(
        f"the run {run} cannot go on: its request held a secret, and secrets are not written down",
        hint="start a new run with the whole request",
    )


def find_journal(
    run: str | Path, folder: bool | str | Path = True, *, is_whole: bool = False
) -> Path:
    """The journal of a run: its path as given, or its id in the folder of runs; where not
    ``is_whole`` also the beginning or the end of its id.

    Raises JournalError where no run, or more than one, is meant, ConfigError for what is neither
    text nor path.
    """
    if not isinstance(run, str | Path):
        raise ConfigError(
            f"the run is a {type(run).__name__}, and must be its id or the path of its journal",
            hint="resume(run.id), of a run that Persistence(journal=…) keeps",
        )
    given = Path(run)
    if given.suffix == SUFFIX:
        return given
    place = find_folder(None if isinstance(folder, bool) else folder)
    name = str(run)
    parts = (str.__eq__,) if is_whole else (str.startswith, str.endswith)
    found = [
        p for p in place.glob(f"*{SUFFIX}") if name and any(is_(p.stem, name) for is_ in parts)
    ]
    if len(found) != 1:
        what = (
            f"{len(found)} runs are meant by {name!r}"
            if found
            else f"there is no run {name!r} in {place}"
        )
        raise JournalError(what, hint="callwright runs lists what there is")
    return found[0]


def build_specification(**values: Any) -> dict[str, Json]:
    """Return the parts of a setup that can be written down, for the command line to open it again.
    These are texts and lists of texts.
    """
    made = {}
    for key, value in values.items():
        if isinstance(value, Path):
            value = str(value)
        if isinstance(value, list | tuple | frozenset):
            value = (
                [str(v) for v in value] if all(isinstance(v, str | Path) for v in value) else None
            )
        made[key] = value if isinstance(value, str | list) else None
    return made
