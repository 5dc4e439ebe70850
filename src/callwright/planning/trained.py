"""A planner that is a language model of its own, as in Beyond ReAct: it plans, another model carries the plan out.

It is asked once, with the prompt that ``callwright train planner`` trains with. Any chat model can be asked so,
trained or not. The model lives on a thread and event loop of its own, so that it can be asked from a running loop and
by several threads at once.
"""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Sequence
from dataclasses import replace

from callwright.errors import PlanError
from callwright.models import open_model
from callwright.plan import Plan, Problem
from callwright.planning.arrows import question, read_reply
from callwright.planning.planner import require_distinct
from callwright.protocols import ChatModel
from callwright.types import Tool


class TrainedPlanner:
    """Plans by one question to ``model`` (what :func:`callwright.models.open_model` takes). A :class:`Planner`.

    The plan holds the tools that the model chose, each once. Close it to close the model.
    """

    def __init__(self, model: str | ChatModel) -> None:
        self.model = open_model(model)
        self.name = self.model.name
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="planner", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    def plan(self, query: str, tools: Sequence[Tool]) -> Plan:
        """The model's plan. Raises PlanError where its reply holds none that can run, ModelError from the model."""
        require_distinct(tools)
        found = asyncio.run_coroutine_threadsafe(self._ask(query, tools), self._loop).result()
        if isinstance(found, Problem):
            raise PlanError(f"the planner {self.name} wrote no plan: {found.message}", hint="take another --planner")
        found.require_sound([t.name for t in tools])
        return found

    async def _ask(self, query: str, tools: Sequence[Tool]) -> Plan | Problem:
        request = question(query, tools)
        if not (await self.model.capabilities()).json_schema:
            request = replace(request, schema=None)
        return read_reply((await self.model.complete(request)).text, tools)

    def close(self) -> None:
        """Close the model and its thread; it cannot plan after that. The end of the process does it too."""
        atexit.unregister(self.close)
        asyncio.run_coroutine_threadsafe(self.model.aclose(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
