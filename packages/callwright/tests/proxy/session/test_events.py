from __future__ import annotations

from callwright.proxy.session.events import Probe, Request, SendUpstream


def test_no_event_shows_a_header_or_a_body() -> None:
    secret = (("authorization", "sk-canary"),)
    shown = [
        Request("POST", "/", "", secret, b"sk-canary"),
        SendUpstream("POST", "/", "", secret, b"sk-canary"),
    ]
    assert "sk-canary" not in repr([*shown, Probe("m", secret)])
