"""Defines the settings of a proxy in one object."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from callwright.nouns.model_profile import SMALL, ModelProfile
from callwright.proxy.server.budget import Budget
from callwright.tools.declared_effects import DeclaredEffects

if TYPE_CHECKING:
    from callwright.repair.by_model.refiner_settings import RefinerSettings

Guided = Literal["auto", "native", "text", "on", "off"]
"""``auto``: calls are asked for by JSON schema where the upstream can that and its native calls do
not work. ``native``: the same, and an upstream whose native calls work is led by them. ``text``:
the client's request goes first, and calls in its text are read. ``on``: always by schema. ``off``:
never.
"""
GuidedPart = Literal[
    "select",
    "layers",
    "prerequisites",
    "wishes",
    "unasked",
    "options",
    "polling",
    "question",
    "answer",
]
"""Parts of guided mode. ``select``: the tools that the request needs are chosen first. ``layers``:
only those of the current layer are offered. ``prerequisites``: what gives a needed value is called
before. ``wishes``: as many calls as the request has wishes. ``options``: optional values that no
word states stay where the conversation makes them likelier; those of a native call go where it
makes them less likely. ``answer``: written from the results
alone, and checked against them.
"""
GuardSetting = Literal["auto", "on", "report", "off"]
"""``auto``: as ``on``, unless the model is on record as right on write cases; then as
``report``."""
GuardMode = Literal["act", "report", "off"]
"""What becomes of a call that must not be made: it is kept back, named in the record, or not
judged.
"""


@dataclass(frozen=True, slots=True)
class Patience:
    """The times that a proxy waits and the texts that it holds. Seconds and bytes."""

    hold_bytes: int = 64 * 1024  # of text that may still begin a call
    hold_seconds: float = 2.0  # that such text is held
    call_bytes: int = 4_000_000  # of one reply that has begun a call
    keep_alive_seconds: float = 10.0  # of silence towards a streaming client
    connect_seconds: float = 10.0
    idle_seconds: float = 600.0  # between two pieces of an upstream answer


@dataclass(frozen=True, slots=True)
class Settings(Patience):
    """Behaviour of a proxy; its limits are in ``budget``."""

    guided: Guided = "auto"
    without: frozenset[GuidedPart] = frozenset()  # parts of guided mode that are left out
    guard: GuardSetting = "auto"
    # what tools do that do not say it themselves
    effects: DeclaredEffects = field(default_factory=DeclaredEffects)
    # what becomes of a call that the gate refuses to the end
    refused: Literal["forward", "text"] = "forward"
    reasks: int = 1  # questions to the upstream beyond the first, per request; 0: never
    # of those, per conversation, counted from the history in the request
    conversation_reasks: int = 4
    loop_after: int = 3  # the same call failed so often in a row: it is not sent again; 0: never
    budget: Budget = field(default_factory=Budget)  # what requests may cost
    refiner: RefinerSettings | None = None  # of a model that is asked about every answer's calls
    profile: ModelProfile = SMALL  # of an upstream that is led
    keep: bool = False  # whether conversations are handed to who keeps those with a repaired call
