"""Calls of one layer are listed in their order, whatever came of them."""

from __future__ import annotations

import asyncio
from typing import Any

from callwright.nouns.types import READ_LOCAL
from callwright.testing import FakeTool
from tests.agent.execution.test_call_runner import TEXT, call, run


async def test_what_is_left_out_is_listed_in_call_order_whoever_is_refused_first() -> None:
    slow = asyncio.Event()

    async def wait(**arguments: Any) -> str:
        await slow.wait()
        return "late"

    def fast(**arguments: Any) -> str:
        slow.set()
        return "early"

    tools = [
        FakeTool("first", {"x": TEXT}, output=wait, effects=READ_LOCAL),
        FakeTool("second", {"x": TEXT}, output=fast, effects=READ_LOCAL),
    ]
    done = await run(tools, [call("first", x="alpha"), call("second", x="beta")])
    assert [r.content for r in done.results] == ["late", "early"]
