"""The world of the recorded runs: tools whose effects are counted, models with fixed replies.

A tool's answer depends on its arguments only. So a run which is resumed at any point meets the same
world. ``World.sent`` lists what was sent to the tools that may write, in order.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any, Literal

from golden import names
from golden.names import DESTRUCTIVE, KEYED, READ_LOCAL, WRITE, ToolError

Sent = tuple[str, dict[str, Any], str]


class World:
    """Counts what the tools do.

    ``unstable``: tools whose first call does not come back.
    ``known``: the events of a run that goes on; what they tell has happened already.
    """

    def __init__(self, unstable: Sequence[str] = (), known: Sequence[Any] = ()) -> None:
        self.sent: list[Sent] = []
        self._unstable = frozenset(unstable)
        came = {
            (e.data["id"], e.data["attempt"]): e.data["tool"] for e in known if e.kind == "result"
        }
        self._calls = Counter(came.values())

    async def write(self, name: str, key: str = "", **arguments: Any) -> None:
        """Note one effect. The first call of an unstable tool does not return."""
        self.sent.append((name, arguments, key))
        self._calls[name] += 1
        if name in self._unstable and self._calls[name] == 1:
            await asyncio.Event().wait()

    def tools(self) -> list[Callable[..., Any]]:
        """Return the tools."""
        return [*self._lookups(), *self._orders(), *self._writes(), *self._writes_with_care()]

    def _orders(self) -> list[Callable[..., Any]]:
        """Tools of which the first names an order that is gone, and asked again another one."""

        @names.tool(effects=READ_LOCAL)
        async def find_order(customer: str) -> dict[str, str]:
            """Find the order of a customer."""
            self._calls["find_order"] += 1
            return {"order_id": "O12" if self._calls["find_order"] == 1 else "O15"}

        @names.tool(effects=READ_LOCAL)
        async def order_depot(order_id: str) -> dict[str, str]:
            """Say where the depot of an order is."""
            return {"depot": f"hall {order_id[1:]}"}

        @names.tool(effects=READ_LOCAL)
        async def order_status(order_id: str) -> dict[str, str]:
            """Say what became of an order."""
            if order_id != "O15":
                raise ToolError(f"there is no order {order_id}")
            return {"status": "shipped"}

        return [find_order, order_depot, order_status]

    def _lookups(self) -> list[Callable[..., Any]]:
        @names.tool(effects=READ_LOCAL)
        async def find_airport(city: str) -> dict[str, str]:
            """Find the airport of a city."""
            if city == "Olso":
                raise ToolError("city: 'Olso' is not known here; did you mean 'Oslo'?")
            return {"iata": {"Oslo": "OSL", "Rome": "FCO"}[city]}

        @names.tool(effects=READ_LOCAL)
        async def population(iata: str) -> dict[str, int]:
            """Count the people who live near an airport."""
            return {"people": {"OSL": 7, "FCO": 9}[iata]}

        return [find_airport, population]

    def _writes(self) -> list[Callable[..., Any]]:
        @names.tool(effects=WRITE)
        async def book(iata: str, guest: str) -> dict[str, str]:
            """Book a room for a guest near an airport."""
            await self.write("book", iata=iata, guest=guest)
            if guest == "Late":
                raise TimeoutError("timed out")
            return {"booking": f"B-{guest}"}

        @names.tool(effects=WRITE)
        async def note(desk: Literal["north", "south"], guest: str) -> dict[str, bool]:
            """Note a guest at a desk."""
            await self.write("note", desk=desk, guest=guest)
            return {"noted": True}

        return [book, note]

    def _writes_with_care(self) -> list[Callable[..., Any]]:
        @names.tool(effects=KEYED)
        async def bill(guest: str) -> dict[str, str]:
            """Send a guest the bill."""
            await self.write("bill", names.call_key(), guest=guest)
            return {"invoice": f"I-{guest}"}

        @names.tool(effects=DESTRUCTIVE)
        async def cancel_order(order_id: str) -> dict[str, str]:
            """Cancel an order of a customer."""
            await self.write("cancel_order", order_id=order_id)
            return {"cancelled": order_id}

        return [bill, cancel_order]


def prompt_of(request: names.ChatRequest) -> str:
    """Return a question as the journals keep it."""
    return "\n\n".join(f"[{m.role}]\n{m.content}" for m in request.messages)


def replaying(recorded: Sequence[Any], known: Sequence[Any] = (), otherwise: Any = None) -> Any:
    """Return a model that gives the recorded reply to every recorded question.

    ``known`` are the events that a resumed run replays without asking.
    A question that was never recorded raises KeyError, unless there is an answer ``otherwise``.
    """
    texts = {e.data["digest"]: e.data["text"] for e in recorded if e.kind == "blob"}
    replies: dict[str, list[Any]] = defaultdict(list)
    for event in _answers(recorded):
        replies[texts[event["prompt"]]].append(event)
    for event in _answers(known):
        replies[texts[event["prompt"]]].pop(0)

    def answer(request: names.ChatRequest) -> Any:
        left = replies.get(prompt_of(request))
        if not left and otherwise is not None:
            return otherwise
        if not left:
            raise KeyError(f"a question that was not recorded: {prompt_of(request)}")
        told = left.pop(0)
        calls = tuple(names.ToolCall(**call) for call in told["native_calls"])
        usage = names.Usage(**told["usage"])
        text = texts[told["reply"]]
        return names.Reply(text, calls, usage, finish_reason=told["finish_reason"])

    return answer


def _answers(events: Sequence[Any]) -> list[Any]:
    """Return the recorded replies, each once: a resumed run records again what it replays."""
    found: dict[tuple[str, int], Any] = {}
    for event in events:
        if event.kind == "model":
            found.setdefault((event.data["actor"], event.data["turn"]), event.data)
    return list(found.values())
