"""``callwright simulate``: a catalogue served over HTTP, answered from recordings, by a model, or
by the tools.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import time
from collections.abc import Collection, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from callwright.agent.safety.approvals import OfferedTools, find_approved
from callwright.agent.safety.clear import ClearanceState, ClearedCall, Denied, clear
from callwright.agent.safety.consent import Consent
from callwright.cli.settings.options import EVERY_SOURCE
from callwright.cli.terminal.console import format_count
from callwright.models import open_model
from callwright.nouns.control_characters import one_line
from callwright.nouns.errors import ConfigError, Failure, MissingExtra
from callwright.nouns.trace import JsonlSink, Trace
from callwright.nouns.types import Tool, ToolCall, ToolOutput
from callwright.proxy.server.budget import Budget
from callwright.repair.gate import Gate, Refusal
from callwright.serving.sockets import open_socket, render_host
from callwright.simulation.recording import Recording, record_call, start_recording
from callwright.simulation.routes import Answer, registered_routes
from callwright.simulation.server import LOOPBACK, ToolServer
from callwright.simulation.simulator import Simulator
from callwright.tools.catalog import Catalog, open_catalog
from callwright.tools.sources import SourceSpec
from callwright.tools.trust import TrustStore

if TYPE_CHECKING:
    import uvicorn

# of calls that whoever serves the tools has allowed
PERMITTED = ClearanceState(consent=Consent(allow=("*",)))
KEY = "CALLWRIGHT_SIMULATE_KEY"
_SHORTEST_KEY = 16


@dataclass(frozen=True)
class Served:
    """Settings of the simulator: the tools to serve, and the sources of their answers. Recordings
    come first, then ``live`` the tools themselves, else the nearest call on record, else ``model``.
    ``allow``: tools that may write and are still called live. ``record``: a file that keeps every
    answer, as a recording.
    """

    tools: Sequence[str] = ()
    recorded: Sequence[Path] = ()
    model: str | None = None
    nearest: bool = False
    live: bool = False
    allow: Sequence[str] = ()
    record: Path | None = None

    def __post_init__(self) -> None:
        if not self.tools and not self.recorded:
            raise ConfigError(
                "there is nothing to serve", hint="--tools SOURCE, or --recorded FILE"
            )
        if self.live and (self.model or self.nearest or not self.tools):
            said = "--live asks the tools themselves"
            raise ConfigError(said, hint="give --tools SOURCE, and neither --model nor --nearest")


def serve_simulator(served: Served, host: str = "127.0.0.1", port: int = 8788) -> None:
    """Serve until interrupted. Raises ConfigError, CatalogError, TraceError, MissingExtra."""
    key = os.environ.get(KEY, "")
    if host not in LOOPBACK and len(key) < _SHORTEST_KEY:
        said = (
            f"tools served on {host} can be called by others, so that needs a key of"
            f" {_SHORTEST_KEY} characters"
        )
        raise ConfigError(said, hint=f"set {KEY}, or listen on 127.0.0.1")
    recording = Recording.read(*served.recorded)
    with open_socket(host, port, "simulator") as listening:
        asyncio.run(_serve_tools(served, recording, listening, key))


async def _serve_tools(
    served: Served, recording: Recording, listening: socket.socket, key: str
) -> None:
    async with AsyncExitStack() as stack:
        sources: list[SourceSpec] = [*served.tools] or [*recording.tools.values()]
        store = TrustStore()
        opened = open_catalog(sources, strict=EVERY_SOURCE.get(), trust=store, pins=store)
        catalog = await stack.enter_async_context(opened)
        model = open_model(served.model) if served.model else None
        if model is not None:
            stack.push_async_callback(model.aclose)
        simulated = _make_simulated_answer(Simulator(recording, model, nearest=served.nearest))
        allowed = find_approved(served.allow, OfferedTools(catalog))
        answer = _make_live_answer(catalog, recording, allowed) if served.live else simulated
        if served.record is not None:
            answer = _record_answers(answer, catalog, stack.enter_context(JsonlSink(served.record)))
        _print_addresses(listening, catalog, recording)
        await _build_server(ToolServer(catalog.tools, answer, key=key)).serve(sockets=[listening])


def _make_simulated_answer(simulator: Simulator) -> Answer:
    async def answer(tool: Tool, call: ToolCall) -> ToolOutput:
        result = await simulator.simulate(call, tool)
        return ToolOutput(result.content, result.failure, result.simulated)

    return answer


def _make_live_answer(catalog: Catalog, recording: Recording, allowed: Collection[str]) -> Answer:
    """The tools themselves where nothing is on record; those that may write only where they are
    allowed.
    """

    async def answer(tool: Tool, call: ToolCall) -> ToolOutput:
        checked = Gate([tool]).check(call)
        if isinstance(checked, Refusal):
            return ToolOutput(failure=Failure("tool_error", checked.message))
        if found := recording.find(tool, checked.arguments):
            return found
        if tool.effects.may_write and tool.name not in allowed:
            said = (
                f"{tool.name} may write, and is not called for others: start with --allow"
                f" {tool.name}"
            )
            return ToolOutput(failure=Failure("auth", said, status=403))
        cleared = clear(checked, PERMITTED)
        if isinstance(cleared, Denied):
            return ToolOutput(failure=Failure("auth", cleared.reason, status=403))
        return await _send_call(catalog, cleared)

    return answer


async def _send_call(catalog: Catalog, call: ClearedCall) -> ToolOutput:
    return await catalog.call(call.tool.name, call.take_arguments())


def _record_answers(answer: Answer, catalog: Catalog, sink: JsonlSink) -> Answer:
    trace = Trace(sinks=(sink,), secrets=catalog.secrets)
    start_recording(trace, catalog.tools)

    async def kept(tool: Tool, call: ToolCall) -> ToolOutput:
        began = time.monotonic()
        output = await answer(tool, call)
        checked = Gate([tool]).check(call)
        if not isinstance(checked, Refusal):  # what no tool would take is no call
            record_call(trace, tool, checked.arguments, output, time.monotonic() - began)
        return output

    return kept


def _print_addresses(listening: socket.socket, catalog: Catalog, recording: Recording) -> None:
    host, port = listening.getsockname()[:2]
    shown = render_host(host)
    for problem in (*recording.problems, *catalog.problems):
        print(f"note:     {one_line(problem)}", file=sys.stderr)
    url = f"http://{shown}:{port}/openapi.json"
    routes = "".join(f"; {r.title}: POST {r.path}" for r in registered_routes().values())
    print(
        f"tools:    {len(catalog.tools)}, with {format_count(len(recording), 'recorded call')}\ntrust:   "
        f" callwright trust {url}, so that effects are believed and reads not asked about\nserving:"
        f"  {url}  (callwright run --tools URL{routes})",
        file=sys.stderr,
        flush=True,
    )


def _build_server(app: ToolServer) -> uvicorn.Server:
    try:
        import uvicorn

        from callwright.proxy.server.connection import build_protocol
    except ImportError:
        raise MissingExtra("serving tools", "proxy") from None
    limits = build_protocol(Budget())
    config = uvicorn.Config(
        app, http=limits, log_level="error", access_log=False, ws="none", server_header=False
    )
    return uvicorn.Server(config)
