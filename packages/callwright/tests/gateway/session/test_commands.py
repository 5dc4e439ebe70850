from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from callwright.gateway.session.commands import ClientAnswered, Consulted, Dispatch, Returned


def test_commands_and_events_are_values() -> None:
    sent = Dispatch("a", "tools/call", {"name": "x"}, 5.0, may_repeat=True)
    assert sent == Dispatch("a", "tools/call", {"name": "x"}, 5.0, may_repeat=True)
    assert (sent.responses, sent.state) == (None, None)
    assert Consulted() == Consulted("", None)
    assert ClientAnswered().responses == {}
    with pytest.raises(FrozenInstanceError):
        Returned({}).result = {}  # type: ignore[misc]
