"""A model's opinion of a row by the six criteria, beside the rules. What it says is a suspicion:
nobody read it.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping

from callwright.jsontext import JsonError, parse_complete
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.trajectory import Trajectory
from callwright.nouns.types import JsonObject, Reply, to_canonical_json
from callwright.schema.normalize import closed_object
from callwright_lab import prompts
from callwright_lab.verify.dataset.rules import CALLS, QUERY, Criterion

_CHARS = 12_000  # of what is shown of a row: tools, calls and results share them
_BOOLEAN: JsonObject = {"type": "boolean"}
SCHEMA = closed_object(reason={"type": "string"}, **dict.fromkeys((*QUERY, *CALLS), _BOOLEAN))


def ask_opinion(
    trajectory: Trajectory, constrained: bool, seat: int = 0
) -> Generator[ChatRequest, Reply, Mapping[Criterion, bool]]:
    """Ask one judge: the criteria it spoke of, and whether they hold. None: its reply could not be
    read.
    """
    tools = "\n".join(
        f"{t.name}({to_canonical_json(t.properties)}): {t.description}" for t in trajectory.tools
    )
    calls = "\n".join(_iter_call_lines(trajectory)) or "none"
    answer = trajectory.answer or ("given up" if trajectory.given_up else "none")
    values = {
        "tools": _truncate_text(tools, 3),
        "query": _truncate_text(trajectory.query, 4),
        "calls": _truncate_text(calls, 3),
        "answer": answer,
    }
    messages = prompts.render("verify_row", **values)
    schema = SCHEMA if constrained else None
    reply = yield ChatRequest(
        messages, purpose="verify_row", schema=schema, max_tokens=300, seed=seat
    )
    try:
        read = parse_complete(reply.text)
    except JsonError:
        return {}
    found = read if isinstance(read, dict) else {}
    return {c: found[c] for c in (*QUERY, *CALLS) if isinstance(found.get(c), bool)}


def _iter_call_lines(trajectory: Trajectory) -> Generator[str]:
    for _, call, result in trajectory.pairs():
        back = (
            "" if result is None else f" -> {_truncate_text(to_canonical_json(result.content), 20)}"
        )
        yield f"{call.tool}({to_canonical_json(call.arguments)}){back}"


def _truncate_text(text: str, parts: int) -> str:
    """The text, its end left out beyond one of so many parts of the room."""
    most = _CHARS // parts
    return text if len(text) <= most else f"{text[:most]}…"
