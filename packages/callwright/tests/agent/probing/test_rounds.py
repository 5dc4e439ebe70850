"""Rounds: what is tried when, and what closes a candidate. The whole is in test_trying.py."""

from __future__ import annotations

import asyncio
from datetime import date
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.agent.probing import TrialPolicy
from callwright.agent.probing.attempt import Attempts
from callwright.agent.probing.candidate import Candidate
from callwright.agent.probing.model_questions import Asking
from callwright.agent.probing.rounds import Rounds
from callwright.agent.probing.values import Request
from callwright.nouns.errors import Failure
from callwright.nouns.types import JsonObject, ToolOutput
from callwright.repair.gate import Gate
from callwright.testing import FakeTool

TEXT = {"type": "string"}


async def run(query: str, *tools: FakeTool, **policy: Any) -> dict[str, Candidate]:
    known = {t.name: t for t in tools}

    async def call(name: str, arguments: JsonObject) -> ToolOutput:
        return await known[name](arguments)

    settings_ = TrialPolicy(**policy)
    candidates = [Candidate(t.tool, i, 1 / i) for i, t in enumerate(tools, 1)]
    attempts = Attempts(query, call, Gate(t.tool for t in tools), settings_)
    request = Request(query, date(2026, 11, 22))
    await Rounds(
        candidates, (), request, (), attempts, Asking(None, settings_, "a", []), settings_
    ).run()
    return {one.tool.name: one for one in candidates}


def linked(name: str, needs: str, gives: str, output: Any = None) -> FakeTool:
    schema = {"type": "object", "properties": {gives: TEXT}}
    reply = {gives: f"{gives}-1"} if output is None else output
    return FakeTool(name, {needs: TEXT} if needs else {}, output=reply, output_schema=schema)


async def test_tools_that_need_each_other_are_not_waited_for_for_ever() -> None:
    a, b = (
        linked("get_order", "invoice_id", "order_id"),
        linked("get_invoice", "order_id", "invoice_id"),
    )
    found = await run("Show me what I bought", a, b)
    assert (a.calls, b.calls) == ([], [])
    assert {one.standing for one in found.values()} == {"kept"}, (
        "nobody could start: nothing is proved"
    )


async def test_a_provider_beyond_the_shortlist_is_tried_for_who_needs_it() -> None:
    last = linked("list_orders", "", "order_id")
    found = await run(
        "Show me the order",
        linked("get_order", "order_id", "total"),
        linked("x", "", "y"),
        last,
        k=1,
    )
    assert last.calls == [{}]
    assert found["get_order"].works
    assert found["x"].attempts == []


async def test_a_second_provider_is_asked_where_the_first_fails() -> None:
    dead = linked("find_order", "", "order_id", Failure("unavailable", "500", status=500))
    found = await run(
        "Show the order",
        linked("get_order", "order_id", "total"),
        dead,
        linked("orders", "", "order_id"),
    )
    assert found["get_order"].works
    assert found["get_order"].fed_by == ("orders",)


FATES = st.sampled_from(
    [
        None,
        Failure("unavailable", "500", status=500),
        Failure("tool_error", "400: a_id is not valid", status=400),
    ]
)
NEEDS = ["", "a_id", "b_id", "c_id"]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(NEEDS), st.sampled_from(NEEDS[1:]), FATES), min_size=1, max_size=7
    )
)
async def test_whatever_needs_whatever_trials_end_and_call_each_tool_a_few_times(
    rows: list[Any],
) -> None:
    tools = [
        linked(f"tool{i}_{gives}", needs, gives, fate)
        for i, (needs, gives, fate) in enumerate(rows)
    ]
    async with asyncio.timeout(20):
        await run('Do all of it with the a_id "A-7", please', *tools, thorough=True, calls=50)
    assert all(len(tool.calls) <= 4 for tool in tools)
