"""Defines the observation of one call of a tool, in the four outcomes of GRETEL (Table 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from callwright.language.credentials import mask_secrets
from callwright.nouns.types import Json, JsonObject, to_canonical_json

Outcome: TypeAlias = Literal[
    "functional_success", "parameter_mismatch", "semantic_mismatch", "execution_failure"
]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
Origin: TypeAlias = Literal["trial", "run"]

REPLY = 1_000  # characters of a reply that are kept
UNDOCUMENTED = (  # a call as the documentation has it was refused for lack of what it does not name
    "undocumented"
)
AGAINST = (
    "empty",
    UNDOCUMENTED,
)  # kinds that speak against a tool although it was reached and answered
SILENT = "rate_limit"  # that it was called too often is not a tool's doing


@dataclass(frozen=True, slots=True)
class Observation:
    """Observation of one call of a tool, or of the attempt to make one.

    ``digest`` is the tool's. ``kind`` is a :data:`callwright.nouns.errors.FailureKind`,
    :data:`UNDOCUMENTED`, "missing" (an input without a source), … or "". ``proof`` is one line for
    people, ``at`` in seconds of Unix time. ``simulated``: the reply was written by a simulator, and
    proves nothing. ``ref`` names what was observed: one ref is counted once, however often it is
    recorded ("": every time).
    """

    tool: str
    digest: str
    outcome: Outcome
    arguments: JsonObject = field(default_factory=dict)
    reply: str = ""
    kind: str = ""
    proof: str = ""
    seconds: float = 0.0
    simulated: bool = False
    origin: Origin = "trial"
    at: float = 0.0
    ref: str = ""

    @property
    def of_tool(self) -> bool:
        """Return True if the observation concerns the tool itself, whatever the request. It worked,
        it cannot be reached or used, it returned nothing, or it needs undocumented input. A
        mismatch with the request concerns the request.
        """
        if self.simulated or self.kind == SILENT:
            return False
        return self.outcome in ("functional_success", "execution_failure") or self.kind in AGAINST


def make_excerpt(content: Json, secrets: Sequence[str] = (), most: int = REPLY) -> str:
    """The beginning of a reply, as text. Secrets go first: a cut through one would hide it from who
    looks for it.
    """
    text = mask_secrets(content, secrets)
    shown = text if isinstance(text, str) else to_canonical_json(text)
    return shown if len(shown) <= most else shown[: most - 1] + "…"
