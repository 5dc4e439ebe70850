"""A model's opinion of a row by the six criteria, beside the rules. What it says is a suspicion:
nobody read it.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping

from callwright.jsontext import JsonError, uncut
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.trajectory import Trajectory
from callwright.nouns.types import JsonObject, Reply, canonical
from callwright.schema.normalize import closed_object
from callwright_lab import prompts
from callwright_lab.verify.dataset.rules import CALLS, QUERY, Criterion

_CHARS = 12_000  # of what is shown of a row: tools, calls and results share them
_BOOLEAN: JsonObject = {"type": "boolean"}
SCHEMA = closed_object(reason={"type": "string"}, **dict.fromkeys((*QUERY, *CALLS), _BOOLEAN))


def opinion(
    trajectory: Trajectory, constrained: bool, seat: int = 0
) -> Generator[ChatRequest, Reply, Mapping[Criterion, bool]]:
    """Ask one judge: the criteria it spoke of, and whether they hold. None: its reply could not be
    read.
    """
    tools = "\n".join(
        f"{t.name}({canonical(t.properties)}): {t.description}" for t in trajectory.tools
    )
    calls = "\n".join(_told(trajectory)) or "none"
    answer = trajectory.answer or ("given up" if trajectory.given_up else "none")
    values = {
        "tools": _cut(tools, 3),
        "query": _cut(trajectory.query, 4),
        "calls": _cut(calls, 3),
        "answer": answer,
    }
    messages = prompts.render("verify_row", **values)
    schema = SCHEMA if constrained else None
    reply = yield ChatRequest(
        messages, purpose="verify_row", schema=schema, max_tokens=300, seed=seat
    )
    try:
        read = uncut(reply.text)
    except JsonError:
        return {}
    found = read if isinstance(read, dict) else {}
    return {c: found[c] for c in (*QUERY, *CALLS) if isinstance(found.get(c), bool)}


def _told(trajectory: Trajectory) -> Generator[str]:
    for _, call, result in trajectory.pairs():
        back = "" if result is None else f" -> {_cut(canonical(result.content), 20)}"
        yield f"{call.tool}({canonical(call.arguments)}){back}"


def _cut(text: str, parts: int) -> str:
    """The text, its end left out beyond one of so many parts of the room."""
    most = _CHARS // parts
    return text if len(text) <= most else f"{text[:most]}…"
