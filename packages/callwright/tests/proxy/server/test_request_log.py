from __future__ import annotations

import os

from callwright.nouns.types import Edit, ToolCall
from callwright.proxy.server.request_log import RequestLog, line_of
from callwright.proxy.session.guarding import Guarding, HeldCall
from callwright.proxy.session.record import Record


def test_a_line_says_what_was_asked_what_came_of_it_and_what_was_repaired() -> None:
    assert line_of("GET", "/v1/models", 200, 0.0123) == "GET /v1/models 200 12 ms"
    assert line_of("POST", "/v1/x", 0, 1.0) == "POST /v1/x - 1000 ms"
    record = Record("1", "/v1/x", outcome="edited", questions=1, raw="what was said")
    record.edits += [Edit("/0", "secret", "value", rule) for rule in ("case", "date", "case")]
    assert (
        line_of("POST", "/v1/x", 200, 0.5, record)
        == "POST /v1/x 200 500 ms edited: case 2, date (1 question)"
    )


def test_nothing_in_a_path_steers_a_terminal_or_fills_it() -> None:
    line = line_of("GET", "/\x1b]0;title\x07\u202e\n" + "x" * 100_000, 400, 0.0)
    assert line.isprintable()
    assert len(line) < 300


def test_lines_are_written_in_order() -> None:
    ours, theirs = os.pipe()
    log = RequestLog(theirs)
    for number in range(50):
        log(str(number))
    log.close()
    os.close(theirs)
    with open(ours) as reading:
        assert reading.read().split() == [str(number) for number in range(50)]


def test_who_does_not_read_holds_nothing_up_and_hears_what_is_missing() -> None:
    ours, theirs = os.pipe()
    log = RequestLog(theirs)
    for _ in range(5_000):
        log("x" * 200)
    read = b""
    while b"lines were left out" not in read:
        log("more")
        read += os.read(ours, 65_536)
    os.close(ours)
    log.close()
    os.close(theirs)


def test_what_the_guard_only_reports_stands_in_the_line_by_its_rule_alone() -> None:
    call = ToolCall("a", "\x1b[2Jpay", {"to": "secret"})
    sent = HeldCall(call, "unstated_write", "nobody said secret", is_sent=True)
    record = Record("1", "/v1/x", outcome="untouched", guarding=Guarding("report", [sent, sent]))
    assert (
        line_of("POST", "/v1/x", 200, 0.5, record)
        == "POST /v1/x 200 500 ms untouched; would keep back: unstated_write 2"
    )
    kept = HeldCall(call, "unstated_write", "nobody said secret")
    acted = Record("1", "/v1/x", outcome="edited", guarding=Guarding("act", [kept]))
    acted.edits.append(Edit("/0", None, None, "unstated_write"))
    assert line_of("POST", "/v1/x", 200, 0.5, acted).endswith("edited: unstated_write")
    acted = Record("1", "/v1/x", outcome="untouched", guarding=Guarding("act", [kept]))
    line = line_of("POST", "/v1/x", 200, 0.5, acted)
    assert line.endswith("untouched; kept back: unstated_write"), "held while the engine led"
