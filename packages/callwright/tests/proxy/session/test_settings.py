from __future__ import annotations

from callwright.proxy.session.settings import Settings


def test_text_is_held_no_longer_than_promised() -> None:
    assert Settings().hold_bytes == 64 * 1024
    assert Settings().hold_seconds == 2.0
