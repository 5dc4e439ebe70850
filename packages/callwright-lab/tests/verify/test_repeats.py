"""What ``--calls`` counts where a tool is an HTTP API: every request that leaves, the repeated ones
too.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date
from pathlib import Path

import pytest
from aiohttp import web

from callwright.http import Egress, HttpClient, Surroundings
from callwright.nouns.types import JsonObject
from callwright.tools.catalog import open_catalog
from callwright.tools.openapi.source import OpenAPISource
from callwright_lab.verify.apis import ApiVerifier, Watch
from callwright_lab.verify.budget import Budget
from callwright_lab.verify.reporting.report import summarize_sweep
from callwright_lab.verify.sweep import Journal, Sweep, open_journal, run_sweep

CITY = {"name": "city", "in": "query", "required": True, "schema": {"type": "string"}}
DOCUMENT: JsonObject = {
    "openapi": "3.1.0",
    "info": {"title": "Weather", "version": "1"},
    "paths": {
        "/weather": {"get": {"operationId": "weather", "parameters": [CITY], "responses": {}}}
    },
}


class Service:
    """Answers 503 as often as ``busy`` says, at first."""

    def __init__(self, busy: int) -> None:
        self.busy, self.seen = busy, 0

    async def handle(self, request: web.Request) -> web.Response:
        self.seen += 1
        if self.seen <= self.busy:
            return web.json_response({"error": "busy"}, status=503)
        return web.json_response({"city": request.query["city"], "sky": "clear"})


@asynccontextmanager
async def served(service: Service) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_get("/weather", service.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def no_sleep(_: float) -> None: ...


async def verified(service: Service, journal: Journal, budget: Budget, each: int = 2) -> Sweep:
    async with (
        served(service) as url,
        HttpClient(Egress.any(), surroundings=Surroundings(sleep=no_sleep)) as http,
    ):
        source = OpenAPISource(DOCUMENT, base_url=url, http=http)
        async with open_catalog([source]) as catalog:
            verifier = ApiVerifier(
                catalog.tools, catalog.call, Watch(calls=each, today=date(2026, 11, 22))
            )
            return await run_sweep(
                verifier.rows(), verifier.judge, journal, levels=verifier.levels, budget=budget
            )


async def test_every_request_that_left_is_a_call_and_the_report_says_which_were_sent_again() -> (
    None
):
    service = Service(busy=2)
    made = await verified(service, Journal(None, {}), Budget())
    assert made.findings[0].category == "alive"
    assert (made.cost.calls, made.cost.repeats) == (service.seen, 2)
    assert "4 calls (2 of them requests that were sent again)" in summarize_sweep(made)


@pytest.mark.parametrize("most", [1, 2, 3])
async def test_no_request_leaves_beyond_the_budget_and_what_was_cut_short_decides_nothing(
    most: int, tmp_path: Path
) -> None:
    path, service = tmp_path / "apis.jsonl", Service(busy=2)
    with open_journal(path, {}) as journal:
        first = await verified(service, journal, Budget(calls=most))
    assert (service.seen, first.cost.calls) == (most, most)
    assert (first.findings, first.left) == ((), ("weather",))
    with open_journal(path, {}) as journal:
        whole = await verified(service, journal, Budget())
    (found,) = whole.findings
    assert found.category == "alive"
    assert first.cost.calls + whole.cost.calls == service.seen
    with open_journal(path, {}) as journal:
        again = await verified(Service(busy=0), journal, Budget(calls=0))
    assert again.findings[0].cost == found.cost, "what it cost in all is on record"


async def test_a_call_that_was_repeated_and_is_on_record_costs_what_it_cost(tmp_path: Path) -> None:
    """The third request answers; the budget ends with it, and the row goes on from there."""
    path, service = tmp_path / "apis.jsonl", Service(busy=2)
    with open_journal(path, {}) as journal:
        await verified(service, journal, Budget(calls=3))
    with open_journal(path, {}) as journal:
        made = await verified(service, journal, Budget())
    assert (made.cost.calls, made.cost.repeats) == (1, 0)
    assert (made.findings[0].cost.calls, made.findings[0].cost.repeats) == (4, 2)
