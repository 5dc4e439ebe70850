"""Stores the user's confirmations by digest: files, documents, servers and journals of foreign
origin.

Nothing that came with a folder or from the net is trusted before the user confirms it, once, with
``callwright trust``. One table in docs/trust.md says what that means for keys, addresses, effects
and code.
"""

from callwright.tools.trust.definitions import (
    Change,
    escape_terminal_text,
    find_changes,
    plain_json,
    render_changes,
)
from callwright.tools.trust.store import Confirmed, TrustStore, digest_of, normalize_location

__all__ = [
    "Change",
    "Confirmed",
    "TrustStore",
    "digest_of",
    "escape_terminal_text",
    "find_changes",
    "normalize_location",
    "plain_json",
    "render_changes",
]
