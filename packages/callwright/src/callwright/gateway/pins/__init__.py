"""Definitions of tools as they were first seen: what changed since is blocked until the user
approves it.
"""

from callwright.gateway.pins.admission import Admission, admit_tools
from callwright.gateway.pins.pin_store import PinStore

__all__ = ["Admission", "PinStore", "admit_tools"]
