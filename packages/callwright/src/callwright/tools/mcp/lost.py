"""Requests over HTTP that got no answer, told apart: one that never left, and one that may have
been carried out.

The SDK ends its whole connection, and with it the calls of others, where a request fails below
HTTP. So the transport answers such a request itself, with a JSON-RPC error that is marked as its
own: the mark is a secret of this process, so that no server can make one.
"""

from __future__ import annotations

import secrets
from typing import Any

from callwright.jsontext import write
from callwright.tools.mcp.results import CONNECTION_CLOSED

STATUS = 503
EXTENSION = "callwright.lost"  # of a response that no server sent
_MARK = secrets.token_hex(16)
_NOT_SENT, _CUT = f"not_sent {_MARK}", f"cut {_MARK}"


def build_answer(message: str, *, is_sent: bool) -> bytes:
    """The body of the answer to a request that failed. ``is_sent``: some of it may have arrived."""
    error = {
        "code": CONNECTION_CLOSED,
        "message": message,
        "data": {"callwright": _CUT if is_sent else _NOT_SENT},
    }
    return write({"jsonrpc": "2.0", "id": None, "error": error})


def is_not_sent(data: Any) -> bool:
    """Return True if an error says that its request never left."""
    return isinstance(data, dict) and data.get("callwright") == _NOT_SENT


def is_cut(data: Any) -> bool:
    """Return True if an error says that the connection of its request broke."""
    return isinstance(data, dict) and data.get("callwright") == _CUT
