"""One call of a run: what is to be made, and its outcome."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field

from callwright.agent.journal.facts import EarlierCall
from callwright.agent.safety.clear import make_write_key
from callwright.agent.safety.held_call import HeldCall
from callwright.nouns.types import CheckedCall, JsonObject, Skip, Tool, ToolResult
from callwright.repair.gate import Refusal
from callwright.repair.provenance.invention import Invention
from callwright.repair.provenance.sources import ProvenanceIndex


@dataclass(slots=True)
class CallTask:
    """One call to be made. ``by``: who wrote it, ``model``, ``analogy``, ``retry`` or
    ``substitute``. ``own``: where its values may come from, if it does not see all that the run
    does. ``is_planned``: a plan says it, ``stated`` the arguments that are the plan's own.
    ``beside``: ids of the calls that were written with it, in one reply, plan or program.
    """

    id: str
    tool: str
    slot: str = ""
    by: str = "model"
    own: ProvenanceIndex | None = None
    is_planned: bool = False
    stated: JsonObject = field(default_factory=dict)
    beside: Container[str] = ()


@dataclass(slots=True)
class CallOutcome:
    """The outcome of one call, for the run to keep once all calls beside it have ended.

    ``refusal`` is the gate's, where repair did not help; ``lacks``: a value that later results may
    hold; ``held``: the call that a rule speaks against; ``denied``: the one that did not get
    approval; ``same``: the id of the very same call
    that was made before, ``repeats`` the same also where only an old journal's text says it;
    ``taught``: the tool as an error described it; ``assumed``: values of the
    call that succeeded which the model made up; ``key``: what equal calls have in common;
    ``earlier``: calls of earlier segments that it stands for, the last of them for its last
    arguments.
    """

    result: ToolResult | None = None
    skips: list[Skip] = field(default_factory=list)
    refusal: Refusal | None = None
    lacks: bool = False
    deferred: CheckedCall | None = None
    held: HeldCall | None = None
    denied: tuple[CheckedCall, Skip] | None = None
    same: str = ""
    repeats: str = ""
    taught: Tool | None = None
    unrepaired: str = ""
    assumed: tuple[Invention, ...] = ()
    key: bytes = b""
    earlier: list[EarlierCall] = field(default_factory=list)

    @property
    def is_plain(self) -> bool:
        """True if the call was made as it was written, and changed nothing but its result."""
        return not (
            self.skips
            or self.refusal
            or self.lacks
            or self.deferred
            or self.held
            or self.denied
            or self.taught
            or self.unrepaired
            or self.assumed
            or self.earlier
        )


def make_call_key(tool: Tool, arguments: JsonObject) -> bytes:
    """Return the key that equal calls share, however they spell a number or an argument's
    default.
    """
    return make_write_key(tool, arguments).encode("utf-8", "surrogatepass")
