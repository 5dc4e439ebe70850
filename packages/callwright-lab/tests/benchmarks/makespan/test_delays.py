"""Scripted delays, and how long a run waited for its tools."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.trace import Event
from callwright.testing import FakeTool, fake_source
from callwright_lab.benchmarks.makespan.delays import SlowSource, compute_delay, sum_call_time


def span(start: float, end: float) -> Event:
    return Event("result", 0, end, {"seconds": end - start})


@given(st.text(), st.floats(0, 100))
def test_a_tools_delay_is_its_own_and_within_half_of_what_was_asked_for(
    name: str, seconds: float
) -> None:
    assert seconds / 2 <= compute_delay(name, seconds) <= 1.5 * seconds
    assert compute_delay(name, seconds) == compute_delay(name, seconds)


def test_calls_side_by_side_count_once_and_gaps_do_not() -> None:
    assert sum_call_time([span(0, 2), span(1, 3), span(1, 2), span(5, 6)]) == 4
    assert sum_call_time([span(1, 2), span(0, 3)]) == 3
    assert sum_call_time([Event("note", 0, 1.0, {})]) == 0


async def test_a_slow_source_answers_what_the_one_behind_does_after_its_time() -> None:
    behind = fake_source(FakeTool("tell", output={"said": "yes"}))
    slow = SlowSource(behind, 0.02)
    (tool,) = await slow.open()
    loop: Any = asyncio.get_running_loop()
    began = loop.time()
    assert (await slow.call(tool, {})).content == {"said": "yes"}
    assert loop.time() - began >= compute_delay("tell", 0.02) - 0.002
