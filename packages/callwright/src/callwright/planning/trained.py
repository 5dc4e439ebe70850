"""A planner that is a language model of its own, as in Beyond ReAct: it plans, another model
carries the plan out.

It is asked once, with the prompt that ``callwright train planner`` trains with. A model that was
not trained can also be asked as the strategy ``dag`` asks (:mod:`callwright.planning.dag`), which
sends a plan back that cannot run. The model lives on a thread and event loop of its own, so that it
can be asked from a running loop and by several threads.
"""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from callwright.models import open_model
from callwright.models.dialogue import run_dialogue
from callwright.nouns.errors import PlanError
from callwright.nouns.plan import Plan, Problem
from callwright.nouns.protocols import ChatModel
from callwright.nouns.types import Tool
from callwright.planning.arrows import build_question, read_reply, render_tools
from callwright.planning.dag import Asked, plan_dialogue
from callwright.planning.planner import require_distinct

Form = Literal["arrows", "steps"]


class TrainedPlanner:
    """Plans by one question to ``model`` (what :func:`callwright.models.open_model` takes). A
    :class:`Planner`.

    The plan holds the tools that the model chose. ``form``: ``arrows``, the trained prompt, or
    ``steps``, that of ``dag``. Close it to close the model.
    """

    def __init__(self, model: str | ChatModel, form: Form = "arrows") -> None:
        self.model = open_model(model)
        self.name = self.model.name if form == "arrows" else f"dag:{self.model.name}"
        # what open_planner takes for it: a model's name tells no address
        prefix = "" if form == "arrows" else "dag:"
        self.spec = f"{prefix}{model}" if isinstance(model, str) else ""
        self._form = form
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="planner", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    def plan(self, query: str, tools: Sequence[Tool]) -> Plan:
        """The model's plan. Raises PlanError where its reply holds none that can run, ModelError
        from the model.
        """
        require_distinct(tools)
        ask = self._arrows if self._form == "arrows" else self._steps
        found = asyncio.run_coroutine_threadsafe(ask(query, tools), self._loop).result()
        if isinstance(found, Problem):
            raise PlanError(
                f"the planner {self.name} wrote no plan: {found.message}",
                hint="take another --planner",
            )
        found.require_sound([t.name for t in tools])
        return found

    async def _arrows(self, query: str, tools: Sequence[Tool]) -> Plan | Problem:
        request = build_question(query, tools)
        if not (await self.model.capabilities()).json_schema:
            request = replace(request, schema=None)
        return read_reply((await self.model.complete(request)).text, tools)

    async def _steps(self, query: str, tools: Sequence[Tool]) -> Plan | Problem:
        shown = "\n".join(line.partition(". ")[2] for line in render_tools(tools).splitlines())
        mode = (await self.model.capabilities()).mode
        draft = await run_dialogue(
            plan_dialogue(Asked(query, tuple(tools), shown, mode)), self.model.complete
        )
        return (
            draft.plan
            if draft.plan is not None
            else Problem("syntax", (), "; ".join(draft.problems))
        )

    def close(self) -> None:
        """Close the model and its thread; it cannot plan after that. The end of the process does it
        too.
        """
        atexit.unregister(self.close)
        asyncio.run_coroutine_threadsafe(self.model.aclose(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
