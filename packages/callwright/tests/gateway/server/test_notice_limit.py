from __future__ import annotations

from callwright.gateway.server.notice_limit import BURST, RATE, NoticeLimit


def test_a_flood_of_notices_is_dropped_and_all_else_passes() -> None:
    now = [0.0]
    limit = NoticeLimit(lambda: now[0])
    dropped = sum(limit.is_dropped("notifications/progress") for _ in range(5_000))
    assert dropped == 5_000 - BURST
    assert not limit.is_dropped("notifications/tools/list_changed")
    assert not limit.is_dropped("")
    now[0] = 1.0
    passed = sum(not limit.is_dropped("notifications/message") for _ in range(5_000))
    assert passed == RATE
