"""What a resume checks before it goes on: that the run is the one it was, and that no write is in
doubt.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from callwright import prompts
from callwright.agent.journal.ledger import Answer, Ledger, in_doubt
from callwright.agent.journal.store import SUFFIX, runs_dir
from callwright.nouns.errors import JournalError
from callwright.nouns.protocols import NotDone
from callwright.nouns.trace import Trace
from callwright.nouns.types import (
    Json,
    JsonObject,
    Message,
    Tool,
    ToolCall,
    ToolOutput,
    digest,
    to_json,
)

Ask: TypeAlias = Callable[[str, JsonObject, str], Awaitable[ToolOutput | NotDone | None]]
"""What became of a call: tool, arguments, idempotency key; see
:class:`callwright.nouns.protocols.Askable`.
"""


def identity(version: str, tools: Sequence[Tool], model: str, strategy: str) -> dict[str, Json]:
    """What a replay depends on, as ``run.start`` records it."""
    return {
        "version": version,
        "prompts": prompts_digest(),
        "digests": {tool.name: tool.digest for tool in tools},
        "model": model,
        "strategy": strategy,
    }


@cache
def prompts_digest() -> str:
    """Changes whenever any prompt changes."""
    return digest({name: prompts.load(name) for name in prompts.names()})


def require_same(start: Answer, now: Mapping[str, Json], run: str) -> None:
    """Raise JournalError naming everything that has changed since the run was started."""
    changed = [
        _difference(key, start.get(key), value)
        for key, value in now.items()
        if start.get(key) != value
    ]
    if changed:
        raise JournalError(
            f"the run {run} was started with something else: {'; '.join(changed)}",
            hint=(
                f"put that back and resume; or callwright resume {run} --changed, which replays as"
                " far as the same questions are asked and stops where they differ; or start the"
                " run anew"
            ),
        )


def _difference(key: str, before: Json, now: Json) -> str:
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        parts = {
            "gone": sorted(before.keys() - now.keys()),
            "new": sorted(now.keys() - before.keys()),
            "other": sorted(k for k in before.keys() & now.keys() if before[k] != now[k]),
        }
        return "tools " + ", ".join(
            f"{word}: {', '.join(names)}" for word, names in parts.items() if names
        )
    return f"{key} was {before}, is {now}"


async def settle_doubts(ledger: Ledger, ask: Ask, trace: Trace) -> None:
    """Ask for the outcome of every write whose result was lost, where it can be asked.

    Raises JournalError naming the calls that stay in doubt.
    """
    left = []
    for doubt in ledger.doubts:
        found = await ask(doubt["tool"], doubt["arguments"], doubt["key"])
        if found is None:
            left.append(f"{doubt['id']} ({doubt['tool']} {doubt['arguments']})")
            continue
        told = {"outcome": "not_done"} if isinstance(found, NotDone) else _outcome(found)
        said = {"id": doubt["id"], "attempt": doubt["attempt"], "by": "source", **told}
        trace.add("resolution", **said)
        ledger.resolve(said)
    ledger.commit()
    if left:
        raise in_doubt(left, ledger.run)


def _outcome(found: ToolOutput) -> JsonObject:
    if found.failure is not None:
        return {"outcome": "failed", "message": found.failure.message}
    return {"outcome": "done", "content": to_json(found.content)}


def conversation_of(start: Answer) -> tuple[Message, ...]:
    """The conversation before the run's query."""
    return tuple(
        Message(**{**told, "tool_calls": tuple(ToolCall(**call) for call in told["tool_calls"])})
        for told in start["conversation"]
    )


def journal_path(run: str | Path, folder: bool | str | Path = True) -> Path:
    """The journal of a run: its path as given, or its id (or the end or beginning of one) in the
    folder of runs.

    Raises JournalError where no run, or more than one, is meant.
    """
    given = Path(run)
    if given.suffix == SUFFIX:
        return given
    place = runs_dir() if isinstance(folder, bool) else Path(folder).expanduser()
    name = str(run)
    found = [
        p for p in place.glob(f"*{SUFFIX}") if p.stem.startswith(name) or p.stem.endswith(name)
    ]
    if len(found) != 1:
        what = (
            f"{len(found)} runs are meant by {name!r}"
            if found
            else f"there is no run {name!r} in {place}"
        )
        raise JournalError(what, hint="callwright runs lists what there is")
    return found[0]


def specification(**values: Any) -> dict[str, Json]:
    """What of a setup can be written down, for the command line to open it again: texts and lists
    of texts.
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
