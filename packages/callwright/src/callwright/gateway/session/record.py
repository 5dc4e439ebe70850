"""What is known of one call when it has ended: for the page, the log, the counters and the
evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from callwright.language.credentials import mask_secrets
from callwright.nouns.types import Edit, Json, JsonObject, to_canonical_json, to_json

Outcome = Literal["passed", "edited", "refused", "failed", "gone"]
OUTCOMES: tuple[Outcome, ...] = ("passed", "edited", "refused", "failed", "gone")
_REPLY = 2_000  # characters of a reply that are kept


@dataclass(slots=True)
class CallRecord:
    """``name`` and ``given`` are the client's; ``server`` and ``tool`` whom they mean, ``sent`` the
    arguments that left (None: nothing left). ``reason`` says why a call was refused or failed;
    ``asked``, who was asked for approval. ``created``: seconds since 1970. A call that its client
    left is ``gone``.
    """

    id: str
    name: str
    given: Json
    server: str = ""
    tool: str = ""
    sent: JsonObject | None = None
    edits: tuple[Edit, ...] = ()
    outcome: Outcome = "gone"
    reason: str = ""
    asked: str = ""
    reply: str = ""
    is_error: bool = False
    client: str = ""
    seconds: float = 0.0
    created: float = 0.0
    notes: list[str] = field(default_factory=list)

    def note_edits(self, edits: Sequence[Edit]) -> None:
        """Keep what was changed in the arguments."""
        self.edits = tuple(edits)

    def note_result(self, result: JsonObject) -> None:
        """Keep the beginning of what came back."""
        self.is_error = result.get("isError") is True
        said = result.get("structuredContent")
        if said is None:
            blocks = result.get("content")
            texts = [one.get("text", f"[{one.get('type')}]") for one in blocks or ()]
            said = "\n".join(map(str, texts))
        self.reply = _shorten(said, _REPLY)

    def shortened(self, most: int, secrets: Sequence[str]) -> JsonObject:
        """The record as JSON without these secrets, each text of at most ``most`` characters."""
        told = to_json(self)
        made: JsonObject = mask_secrets(told, secrets)
        return {key: _shorten_value(value, most) for key, value in made.items()}


def _shorten(value: Json, most: int) -> str:
    text = value if isinstance(value, str) else to_canonical_json(value)
    return text if len(text) <= most else text[: most - 1] + "…"


def _shorten_value(value: Json, most: int) -> Json:
    if isinstance(value, str):
        return _shorten(value, most)
    if isinstance(value, dict | list):
        return value if len(to_canonical_json(value)) <= most else _shorten(value, most)
    return value
