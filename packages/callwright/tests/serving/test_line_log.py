from __future__ import annotations

import logging
import os

from callwright.serving.line_log import LineLog, LogHandler


def test_lines_are_written_in_order() -> None:
    ours, theirs = os.pipe()
    log = LineLog(theirs)
    for number in range(50):
        log(str(number))
    log.close()
    os.close(theirs)
    with open(ours) as reading:
        assert reading.read().split() == [str(number) for number in range(50)]


def test_who_does_not_read_holds_nothing_up_and_hears_what_is_missing() -> None:
    ours, theirs = os.pipe()
    log = LineLog(theirs)
    for _ in range(5_000):
        log("x" * 200)
    read = b""
    while b"lines were left out" not in read:
        log("more")
        read += os.read(ours, 65_536)
    os.close(ours)
    log.close()
    os.close(theirs)


def test_what_loggers_say_is_a_line_too() -> None:
    written: list[str] = []
    logger = logging.Logger("callwright.proxy")
    logger.addHandler(LogHandler(written.append, "warning: {}".format))
    logger.info("quiet")
    logger.warning("request %s passed", "r-1")
    assert written == ["warning: callwright.proxy: request r-1 passed"]
