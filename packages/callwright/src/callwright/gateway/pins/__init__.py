"""Definitions of tools as they were first seen, kept between starts: what changed since is blocked
until the user approves it.
"""

from callwright.gateway.pins.pin_store import PinStore
from callwright.gateway.pins.profile_store import ProfileStore

__all__ = ["PinStore", "ProfileStore"]
