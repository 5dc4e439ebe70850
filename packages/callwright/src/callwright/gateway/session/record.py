"""The record of one call when it has ended: for the page, the log, the counters and the evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from callwright.nouns.types import (
    CheckedCall,
    Edit,
    Json,
    JsonObject,
    get_public_fields,
    to_canonical_json,
    to_json,
)
from callwright.repair.gate import Refusal

CallOutcome = Literal["passed", "edited", "refused", "failed", "unknown", "gone"]
OUTCOMES: tuple[CallOutcome, ...] = get_args(CallOutcome)
_REPLY = 2_000  # characters of a reply that are kept


@dataclass(slots=True)
class CallRecord:
    """``name`` and ``given`` are the client's; ``server`` and ``tool`` whom they mean, ``sent`` the
    arguments that left (None: nothing left). ``outcome``: a call that may have taken effect although
    nothing came back is ``unknown``, one that its client left ``gone``; ``reason`` says why it was
    refused or failed. ``verdict``: what the check of its
    arguments made of it. ``asked``: who was asked for approval. ``created``: seconds since 1970.
    """

    id: str
    name: str
    given: Json
    server: str = ""
    tool: str = ""
    sent: JsonObject | None = None
    verdict: CheckedCall | Refusal | None = None
    outcome: CallOutcome = "gone"
    reason: str = ""
    asked: str = ""
    reply: str = ""
    is_error: bool = False
    seconds: float = 0.0
    created: float = 0.0

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The changes that were made in the arguments."""
        return self.verdict.edits if self.verdict is not None else ()

    def note_result(self, result: JsonObject) -> None:
        """Keep the beginning of what came back."""
        self.is_error = result.get("isError") is True
        said = result.get("structuredContent")
        self.reply = _shorten_text(_read_blocks(result) if said is None else said, _REPLY)

    def shorten(self, most: int) -> JsonObject:
        """The record as JSON, each value of at most ``most`` characters."""
        told = {**get_public_fields(self), "edits": to_json(list(self.edits))}
        del told["verdict"]
        return {key: _shorten_value(value, most) for key, value in told.items()}


def _read_blocks(result: JsonObject) -> str:
    """The beginning of the texts of a result; of another block its type."""
    blocks, texts, size = result.get("content"), [], 0
    for block in blocks if isinstance(blocks, list) else ():
        if isinstance(block, dict) and size <= _REPLY:
            texts.append(str(block.get("text", f"[{block.get('type')}]"))[: _REPLY + 1])
            size += len(texts[-1])
    return "\n".join(texts)


def _shorten_text(value: Json, most: int) -> str:
    text = value if isinstance(value, str) else to_canonical_json(value)
    return text if len(text) <= most else text[: most - 1] + "…"


def _shorten_value(value: Json, most: int) -> Json:
    if isinstance(value, str):
        return _shorten_text(value, most)
    if isinstance(value, dict | list):
        return value if _is_short(value, most) else _cut_value(value, most)
    return value


def _is_short(value: Json, most: int) -> bool:
    return len(to_canonical_json(value)) <= most


def _cut_value(value: Json, most: int) -> Json:
    """A long list as a shorter one, so that its entries keep their form; a long object as text."""
    if not isinstance(value, list):
        return _shorten_text(value, most)
    kept: list[Json] = []
    for one in value:
        if not _is_short([*kept, one], most):
            break
        kept.append(one)
    return kept
