"""What one call showed of a tool, in the four outcomes of GRETEL (Table 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from callwright.errors import Failure
from callwright.redaction import masked
from callwright.types import Json, JsonObject, canonical

Outcome: TypeAlias = Literal["functional_success", "parameter_mismatch", "semantic_mismatch", "execution_failure"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
Origin: TypeAlias = Literal["trial", "run"]

REPLY = 1_000  # characters of a reply that are kept
_EMPTY = "empty"
_REFUSED = frozenset({"tool_error", "error_payload"})  # the tool was there and said no to this call
_DEAD = frozenset({405, 410, 501})  # HTTP statuses (RFC 9110) of an operation that is not there whatever it is given


@dataclass(frozen=True, slots=True)
class Observation:
    """What one call, or the attempt to make one, showed of a tool.

    ``digest`` is the tool's, ``kind`` a :data:`callwright.errors.FailureKind`, "empty", "missing" (an input that
    nobody gave) or "". ``proof`` is one line for people, ``at`` in seconds of Unix time. ``simulated``: the reply was
    written by a simulator, and proves nothing. ``ref`` names what was observed: one ref is counted once, however
    often it is recorded ("": every time).
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
        """Whether it says something of the tool, whoever asks for whatever: it worked, it cannot be reached or used,
        or it answered with nothing. What did not fit the request says something of the request."""
        if self.simulated:
            return False
        return self.outcome in ("functional_success", "execution_failure") or self.kind == _EMPTY


def outcome_of(failure: Failure | None) -> Outcome | None:
    """The outcome of a call that left, by how it failed; None where nothing was learned of the tool.

    A tool that says no to a call (an exception, a 4xx about the request) was given the wrong arguments, as far as
    one call can tell; what cannot be reached, does not answer in time or wants another key has failed itself.
    """
    if failure is None:
        return "functional_success"
    if failure.kind in ("cancelled", "not_executable"):
        return None
    if failure.kind == _EMPTY:
        return "semantic_mismatch"
    if failure.kind in _REFUSED and failure.status not in _DEAD:
        return "parameter_mismatch"
    return "execution_failure"


def excerpt(content: Json, secrets: Sequence[str] = (), most: int = REPLY) -> str:
    """The beginning of a reply, as text. Secrets go first: a cut through one would hide it from who looks for it."""
    text = masked(content, secrets)
    shown = text if isinstance(text, str) else canonical(text)
    return shown if len(shown) <= most else shown[: most - 1] + "…"
