from __future__ import annotations

import json

from callwright.tools.mcp.lost import build_answer, is_cut, is_not_sent


def test_a_request_that_never_left_is_told_from_one_that_may_have_arrived() -> None:
    unsent = json.loads(build_answer("nobody there", is_sent=False))["error"]
    cut = json.loads(build_answer("reset", is_sent=True))["error"]
    assert unsent["message"] == "nobody there"
    assert is_not_sent(unsent["data"])
    assert not is_cut(unsent["data"])
    assert is_cut(cut["data"])
    assert not is_not_sent(cut["data"])


def test_a_server_cannot_make_the_mark() -> None:
    for data in (None, "not_sent", {"callwright": "not_sent"}, {"callwright": "cut "}, []):
        assert not is_not_sent(data)
        assert not is_cut(data)
