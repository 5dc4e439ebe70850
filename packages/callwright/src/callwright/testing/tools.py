"""Tools whose results are written down, and a source that serves them."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from callwright.nouns.errors import CatalogError, Failure, ToolError
from callwright.nouns.types import READ_LOCAL, Effects, Json, JsonObject, Tool, ToolOutput


class FakeTool:
    """A tool with scripted outputs that records the arguments of every call in ``calls``.

    ``parameters`` are JSON Schema properties, all required unless ``required`` names some; or give
    a whole ``input_schema``. ``output`` is one of

    * a JSON value, a :class:`ToolOutput` or a :class:`Failure`: the same every time;
    * :func:`in_order` of such values: one a call, then "tool_error";
    * a function of the arguments (as keywords), plain or async; what it raises becomes a Failure,
      as for real tools.

    Time is an event, never a sleep: with ``hold=asyncio.Event()`` a call waits for it; ``await
    begun(n)`` returns when n more calls have begun; ``running`` and ``most_running`` count calls in
    flight::

        search = FakeTool("search", {"q": {"type": "string"}}, output=[{"id": 7}])
        slow = FakeTool("slow", hold=asyncio.Event(), output="done")
    """

    def __init__(
        self,
        name: str,
        parameters: JsonObject | None = None,
        *,
        output: Any = None,
        description: str = "",
        required: Sequence[str] | None = None,
        input_schema: JsonObject | None = None,
        output_schema: JsonObject | None = None,
        effects: Effects = READ_LOCAL,
        hold: asyncio.Event | None = None,
    ) -> None:
        properties = parameters or {}
        schema = input_schema or {
            "type": "object",
            "properties": properties,
            "required": list(properties) if required is None else list(required),
        }
        self.tool = Tool(
            name, description or f"The tool {name}.", schema, output_schema, effects, source="fake"
        )
        self.calls: list[JsonObject] = []
        self.running = self.most_running = 0
        self._begun = asyncio.Semaphore(0)
        self._output = output
        self._hold = hold

    @property
    def name(self) -> str:
        return self.tool.name

    async def begun(self, calls: int = 1) -> None:
        """Wait until so many more calls have begun than were waited for before."""
        for _ in range(calls):
            await self._begun.acquire()

    async def __call__(self, arguments: JsonObject) -> ToolOutput:
        """One call: recorded, held, answered. Never raises for a scripted mishap."""
        self.calls.append(arguments)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        self._begun.release()
        try:
            if self._hold is not None:
                await self._hold.wait()
            return _to_output(await self._answer(arguments))
        except ToolError as exc:
            return ToolOutput(failure=Failure("tool_error", str(exc)))
        except Exception as exc:
            return ToolOutput(failure=Failure("tool_error", f"{type(exc).__name__}: {exc}"))
        finally:
            self.running -= 1

    async def _answer(self, arguments: JsonObject) -> Any:
        if isinstance(self._output, in_order):
            return self._output.next()
        if not callable(self._output):
            return self._output
        value = self._output(**arguments)
        return await value if inspect.isawaitable(value) else value


class in_order:
    """Outputs given one a call; a call too many fails with "tool_error"."""

    def __init__(self, *values: Any) -> None:
        self.left = list(values)

    def next(self) -> Any:
        """The next value. An exception among them is raised."""
        if not self.left:
            raise ToolError("the scripted outputs are used up")
        value = self.left.pop(0)
        if isinstance(value, Exception):
            raise value
        return value


class FakeSource:
    """A ToolSource over FakeTools. ``calls`` are (tool, arguments) in the order they arrived."""

    def __init__(self, tools: Sequence[FakeTool], name: str = "fake") -> None:
        self._tools = {t.name: t for t in tools}
        if len(self._tools) != len(tools):
            raise CatalogError("two fake tools have the same name")
        self._name = name
        self.calls: list[tuple[str, Json]] = []
        self.closed = False

    @property
    def name(self) -> str:
        return self._name

    def __getitem__(self, tool: str) -> FakeTool:
        return self._tools[tool]

    async def open(self) -> Sequence[Tool]:
        return tuple(t.tool for t in self._tools.values())

    async def call(self, tool: Tool, arguments: JsonObject) -> ToolOutput:
        self.calls.append((tool.name, arguments))
        if tool.name not in self._tools:
            return ToolOutput(
                failure=Failure(
                    "not_executable", f"the source {self._name} has no tool {tool.name!r}"
                )
            )
        return await self._tools[tool.name](arguments)

    async def aclose(self) -> None:
        self.closed = True


def fake_source(*tools: FakeTool | Callable[..., Any], name: str = "fake") -> FakeSource:
    """A source of fake tools. A plain function becomes a tool named after it whose parameters take
    anything.
    """
    return FakeSource([t if isinstance(t, FakeTool) else _from_function(t) for t in tools], name)


def _from_function(function: Callable[..., Any]) -> FakeTool:
    parameters = inspect.signature(function).parameters.values()
    return FakeTool(
        function.__name__,
        {p.name: {} for p in parameters},
        required=[p.name for p in parameters if p.default is inspect.Parameter.empty],
        description=inspect.getdoc(function) or "",
        output=function,
    )


def _to_output(value: Any) -> ToolOutput:
    if isinstance(value, ToolOutput):
        return value
    return ToolOutput(failure=value) if isinstance(value, Failure) else ToolOutput(value)
