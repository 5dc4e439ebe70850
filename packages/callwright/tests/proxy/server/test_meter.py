from __future__ import annotations

import re
import signal
import threading
from collections.abc import Iterator

import pytest

from callwright.proxy.server.meter import Meter, Unmetered, process_meter
from callwright.proxy.session.faults import OverBudget


@pytest.fixture
def meter() -> Iterator[Meter]:
    if not hasattr(signal, "SIGPROF"):
        yield Unmetered()
        return
    before = signal.getsignal(signal.SIGPROF)
    made = process_meter()
    yield made
    made.stop()
    signal.signal(signal.SIGPROF, before)


def spin() -> None:
    while True:
        sum(range(1000))


def test_code_that_takes_too_long_is_ended(meter: Meter) -> None:
    if isinstance(meter, Unmetered):
        return
    for _ in range(3):
        meter.start(0.01)
        with pytest.raises(OverBudget):
            spin()
        meter.stop()


def test_so_is_a_regular_expression(meter: Meter) -> None:
    if isinstance(meter, Unmetered):
        return
    meter.start(0.01)
    with pytest.raises(OverBudget):
        re.match(r"(a+)+$", "a" * 60 + "!")
    meter.stop()


def spin_and_swallow() -> None:
    try:
        spin()
    except BaseException:  # as a badly written library might
        spin()


def test_it_is_raised_again_where_it_was_swallowed(meter: Meter) -> None:
    if isinstance(meter, Unmetered):
        return
    meter.start(0.01)
    with pytest.raises(OverBudget):
        spin_and_swallow()
    meter.stop()


def test_after_the_end_nothing_is_raised(meter: Meter) -> None:
    meter.start(0.005)
    meter.stop()
    for _ in range(200):
        sum(range(10_000))


def test_a_thread_beside_the_main_one_has_no_timer() -> None:
    made: list[Meter] = []
    thread = threading.Thread(target=lambda: made.append(process_meter()))
    thread.start()
    thread.join()
    assert isinstance(made[0], Unmetered)
    made[0].start(0.0)
    made[0].stop()
