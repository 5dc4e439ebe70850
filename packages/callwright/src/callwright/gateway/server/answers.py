"""The SDK's models of what clients answer to servers' requests."""

from __future__ import annotations

from typing import Any


def read_result_type(method: str) -> Any:
    """The model of a client's answer to a request of this method. Raises KeyError for another
    method.
    """
    import mcp_types as types

    return {
        "elicitation/create": types.ElicitResult,
        "roots/list": types.ListRootsResult,
        "sampling/createMessage": types.CreateMessageResultWithTools,
        "ping": types.EmptyResult,
    }[method]
