from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import mcp_types as types
from mcp.server.auth.middleware.auth_context import auth_context_var
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken

from callwright.gateway.server.caller import LOG_LEVEL, Caller, get_principal


def context(version: str, capabilities: Any = None, session: str = "", **meta: Any) -> Any:
    """A request's context, with the parts of the SDK's that a caller reads."""
    request = SimpleNamespace(headers={"mcp-session-id": session}) if session else None
    channel = SimpleNamespace(
        client_capabilities=types.ClientCapabilities.model_validate(capabilities or {})
    )
    return SimpleNamespace(
        session=channel, protocol_version=version, request=request, meta=meta, request_id=1
    )


def test_a_client_that_can_be_asked_shares_no_connection_with_another_session() -> None:
    asked = Caller(context("2025-11-25", {"elicitation": {}}, "s-1"))
    other = Caller(context("2025-11-25", {"elicitation": {}}, "s-2"))
    assert asked.key != other.key
    assert asked.can("elicitation")
    plain = Caller(context("2025-11-25", {}, "s-1"))
    assert plain.key == Caller(context("2025-11-25", {}, "s-2")).key
    assert plain.key != asked.key


def test_a_client_of_2026_has_no_session_and_is_told_from_others_by_what_it_can() -> None:
    one = Caller(context("2026-07-28", {"sampling": {}}))
    assert one.is_modern
    assert (one.session, one.key.session) == ("", "")
    assert one.key == Caller(context("2026-07-28", {"sampling": {}})).key
    assert one.key != Caller(context("2026-07-28", {"roots": {}})).key


def test_over_stdio_there_is_one_session() -> None:
    caller = Caller(context("2025-11-25", {"roots": {}}))
    assert caller.session == caller.key.session == "stdio"
    assert caller.budget_key == "stdio"


def test_what_belongs_to_the_connection_is_not_forwarded_and_what_belongs_to_the_call_is() -> None:
    meta = {
        "progress_token": 5,
        "io.modelcontextprotocol/clientInfo": {},
        LOG_LEVEL: "info",
        "traceparent": "00-a",
        "vendor/x": 1,
    }
    caller = Caller(context("2026-07-28", **meta))
    assert caller.forwarded_meta == {LOG_LEVEL: "info", "traceparent": "00-a", "vendor/x": 1}
    assert caller.wants_progress
    assert "error" in caller.log_levels
    assert not Caller(context("2026-07-28")).wants_progress


def test_users_are_told_apart_by_the_parts_of_their_token_and_the_token_is_none_of_them() -> None:
    assert get_principal() == ""
    keys = []
    for subject in ("ann", "bob"):
        token = AccessToken(
            token="secret-token", client_id="app", scopes=[], subject=subject, claims={"iss": "i"}
        )
        held = auth_context_var.set(AuthenticatedUser(token))
        caller = Caller(context("2026-07-28"))
        keys.append(caller.key)
        assert caller.budget_key == caller.principal
        assert "secret-token" not in caller.principal
        auth_context_var.reset(held)
    assert keys[0] != keys[1]
