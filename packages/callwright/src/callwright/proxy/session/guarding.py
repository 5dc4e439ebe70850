"""The guard of one request: whether it acts, and the calls that it speaks against."""

from __future__ import annotations

from dataclasses import dataclass, field

from callwright.agent.safety.held_call import HeldCall
from callwright.proxy.session.settings import GuardMode, GuardSetting


@dataclass(slots=True)
class Guarding:
    """``mode``: empty as long as it is not known."""

    mode: GuardMode | None = None
    held: list[HeldCall] = field(default_factory=list)

    @property
    def kept_back(self) -> list[HeldCall]:
        """Return the calls that the client did not get."""
        return [one for one in self.held if not one.is_sent]

    @property
    def reported(self) -> list[HeldCall]:
        """Return the calls that the client got, although a rule speaks against them."""
        return [one for one in self.held if one.is_sent]


def choose_mode(setting: GuardSetting, *, is_trusted: bool) -> GuardMode:
    """Return what the guard does. ``is_trusted``: the model is on record as right on write cases;
    that decides where the setting is "auto".
    """
    if setting == "auto":
        return "report" if is_trusted else "act"
    return "act" if setting == "on" else setting
