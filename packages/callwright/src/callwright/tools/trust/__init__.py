"""What the user has confirmed, by digest: files, documents, servers and journals that came from
somewhere else.

Nothing that came with a folder or from the net is trusted before the user says so, once, with
``callwright trust``. What that means for keys, addresses, effects and code is one table in
docs/trust.md.
"""

from callwright.tools.trust.definitions import Change, changes, plain_json, printable, readable
from callwright.tools.trust.store import Confirmed, TrustStore, digest_of, location

__all__ = [
    "Change",
    "Confirmed",
    "TrustStore",
    "changes",
    "digest_of",
    "location",
    "plain_json",
    "printable",
    "readable",
]
