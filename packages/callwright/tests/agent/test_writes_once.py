"""A write is never silently made twice: tools x failures x strategies, whole or resumed, with the
effects counted in a file that outlives every process of a run.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright import Orchestrator, Run, call_key, tool
from callwright.agent.journal.resume import find_journal
from callwright.agent.journal.store import Journal, read_journal
from callwright.agent.options import Persistence, Safety
from callwright.agent.strategies import STRATEGIES, Given, open_strategy
from callwright.nouns.errors import JournalError, ToolError
from callwright.nouns.plan import Plan, Slot
from callwright.nouns.protocols import Capabilities, ChatRequest
from callwright.nouns.types import UNKNOWN, WRITE, Effects, JsonObject, Tool, ToolOutput
from callwright.simulation.recording import Recorded, Recording
from callwright.simulation.simulator import SimulatedSource, Simulator
from callwright.testing import FixedPlan, ScriptedModel
from callwright.tools.mcp.source import MCPSource
from callwright.tools.openapi.source import OpenAPISource
from callwright.tools.wrapped import WrappedSource

QUERY = "Book a room for Ann, or for Anna."
SCHEMA = {"type": "object", "properties": {"guest": {"type": "string"}}, "required": ["guest"]}
NOBODY_CALLS = {
    "no_call": "done",
    "thought": "",
    "useful": ["none"],
    "reason": "done",
    "action": {"tool": "finish", "reason": "done"},
}


@dataclass(frozen=True)
class Conduct:
    """What the tool does and says. ``refuses``: it does nothing, and says so in a way that is
    sure.
    """

    said: Any = None
    raises: Callable[[], BaseException] | None = None
    refuses: bool = False
    good: bool = False


CONDUCTS = {
    "good": Conduct({"booking": "B7"}, good=True),
    "mail timed out": Conduct({"booking": "B7", "error": "timed out waiting for the mail server"}),
    "limit of mails": Conduct(
        {"booking": "B7", "error": "rate limit exceeded while sending the confirmation"}
    ),
    "blames the guest": Conduct(
        {"booking": "B7", "error": "invalid email: nothing could be sent to 'Ann'"}
    ),
    "text": Conduct("Error: request timed out"),
    "flag": Conduct({"success": False, "message": "Gateway timeout (504)"}),
    "timeout": Conduct(raises=lambda: TimeoutError("timed out")),
    "reset": Conduct(raises=lambda: ConnectionResetError("connection reset by peer")),
    "value": Conduct(raises=lambda: ValueError("cannot read the reply for Ann")),
    "crash": Conduct(raises=lambda: RuntimeError("unexpected")),
    "refusal": Conduct(raises=lambda: ToolError("guest: Ann is not known here"), refuses=True),
}


class World:
    """The effects so far, one line each, in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.path.touch()

    @property
    def done(self) -> list[str]:
        return self.path.read_text().split()

    def act(self, guest: str, key: str = "") -> None:
        """One effect; none where it has carried out a call of this key before."""
        keys = self.path.with_suffix(".keys")
        if key and keys.exists() and key in keys.read_text():
            return
        with self.path.open("a") as file, keys.open("a") as known:
            file.write(f"{guest}\n")
            known.write(f"{key}\n")


def function(world: World, conduct: Conduct, effects: Effects) -> Any:
    @tool(effects=effects)
    async def book(guest: str) -> Any:
        """Book a room."""
        if not conduct.refuses:
            world.act(guest, call_key() if effects.keyed else "")
        if conduct.raises is not None:
            raise conduct.raises()
        return conduct.said

    return book


def model_of(strategy: str, guests: list[str], *, together: int = 1) -> ScriptedModel:
    """A model that writes the same booking or another one whenever it is asked what to call, until
    it has no more.
    """
    left = [*guests]

    def answer(request: ChatRequest) -> Any:
        purpose = request.purpose
        if purpose == "select":
            return {"needed": ["book"]}
        if purpose == "repair":
            return {"guest": "Anna"}
        if purpose == "reflect":
            calls = [{"name": "book", "arguments": {"guest": "Anna"}}]
            return {"analysis": "a", "strategy": "s", "tool_calls": calls}
        if purpose == "join":
            return {"thought": "", "judgement": "replan: once more" if left else "finish"}
        if purpose == "code":
            if not left:
                return "<thought>Done.</thought>\n<final_answer>Done.</final_answer>"
            code = "\n".join([f"print(book(guest={left.pop(0)!r}))"] * together)
            return f"<thought>I book.</thought>\n<execute>\n```python\n{code}\n```\n</execute>"
        if purpose == "plan":
            guest = left.pop(0) if left else "Ann"
            steps = range(1, together + 1)
            return {
                "steps": [
                    {"step": n, "tool": "book", "after": [], "arguments": {"guest": guest}}
                    for n in steps
                ]
            }
        if purpose != "bind":
            return {"statements": [], "missing": []}
        if not left:
            return NOBODY_CALLS
        call = {"tool": "book", "name": "book", "arguments": {"guest": left.pop(0)}}
        return {"thought": "", "useful": ["book"], "calls": [call] * together, "action": call}

    coded = strategy.partition("-")[0].partition("+")[0] in ("code", "toolmvr")
    return ScriptedModel(answer, capabilities=Capabilities(json_schema=not coded))


def setup(
    strategy: str, source: Any, guests: list[str], folder: Path, *, together: int = 1
) -> Orchestrator:
    steps = tuple(
        Slot(f"book@{n}", "book", arguments={"guest": guests[0]}) for n in range(together)
    )
    return Orchestrator(
        [source],
        model=model_of(strategy, guests, together=together),
        strategy=Given(Plan(steps)) if strategy == "given" else open_strategy(strategy),
        planner=FixedPlan(["book"]),
        persistence=Persistence(journal=folder),
        safety=Safety(allow=["book"]),
    )


def written(run: Run) -> int:
    """How often the model wrote the call."""
    return sum(event.kind == "call.raw" for event in run.events)


def is_as_written(strategy: str) -> bool:
    return strategy.endswith(("-no-repair", "-no-gate")) and not strategy.startswith("layered")


def require_once(
    run: Run, strategy: str, conduct: Conduct, done: list[str], effects: Effects
) -> None:
    """The promise of docs/resume.md, over the effects in the world."""
    if is_as_written(
        strategy
    ):  # the model's own calls and no other: nothing is repeated or changed for it
        assert len(done) <= written(run)
    elif conduct.good and not effects.declared:
        # it may read, and another call that returned something new may have changed what it finds
        assert all(one != other for one, other in pairwise(done))
    elif conduct.good:
        assert len(done) == len({*done})
    else:
        assert len(done) <= 1, "a second write while nobody knows what became of the first"
        if done:
            assert run.in_doubt == ("r1",)
            assert any("may have been done" in part for part in run.answer.missing)
            assert run.status != "answered"


STRATEGY = st.sampled_from([*STRATEGIES, "layered+reflect", "react+reflect-after", "dag+reflect"])
GUESTS = st.lists(st.sampled_from(["Ann", "Anna"]), min_size=1, max_size=4)
EFFECTS = st.sampled_from([WRITE, UNKNOWN, replace(WRITE, keyed=True)])


def check(data: st.DataObject, folder: Path) -> None:
    strategy, guests, conduct = (
        data.draw(STRATEGY),
        data.draw(GUESTS),
        CONDUCTS[data.draw(st.sampled_from([*CONDUCTS]))],
    )
    effects = data.draw(EFFECTS)
    world = World(folder / "world")
    whole = asyncio.run(
        setup(strategy, function(world, conduct, effects), guests, folder).run(QUERY)
    )
    require_once(whole, strategy, conduct, world.done, effects)
    assert not (conduct.refuses and world.done)
    if not strategy.startswith("dfsdt"):  # a search writes in a sandbox only
        assert conduct.refuses or world.done, "the test reached the tool"

    _, events = read_journal(find_journal(whole.id, folder), every=True)
    kept = data.draw(st.integers(1, len(events)))
    again = World(folder / "again")
    for event in events[:kept]:
        if event.kind == "intent" and not conduct.refuses:
            again.act(event.data["arguments"]["guest"], event.data["key"] if effects.keyed else "")
    with Journal.create(folder / "cut") as copy:
        for event in events[:kept]:
            copy(event)
    before = again.done
    try:
        resumed = asyncio.run(
            setup(strategy, function(again, conduct, effects), guests, folder / "cut").resume(
                copy.path
            )
        )
    except JournalError:  # the call was under way: nothing runs before somebody says what happened
        assert again.done == before
        return
    require_once(resumed, strategy, conduct, again.done, effects)


@settings(max_examples=20)
@given(data=st.data())
def test_no_write_is_silently_made_twice(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    check(data, tmp_path_factory.mktemp("world"))


@pytest.mark.heavy
@settings(max_examples=300)
@given(data=st.data())
def test_no_write_is_silently_made_twice_at_length(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    check(data, tmp_path_factory.mktemp("world"))


@contextmanager
def service(world: World, status: int, body: bytes, waits: str = "") -> Iterator[str]:
    """A server whose POST books, then answers so; status 0: it hangs up instead. 425 and 429 refuse
    the first request only, with ``waits`` as Retry-After.
    """
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["content-length"])))
            is_refused = status in (400, 422) or (status in (425, 429) and not asked)
            asked.append(sent["guest"])
            if not is_refused:
                world.act(sent["guest"])
            if not status:
                self.close_connection = True
                return
            self.send_response(status if is_refused or status not in (425, 429) else 200)
            if is_refused and waits:
                self.send_header("retry-after", waits)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            """Silence."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "rooms", "version": "1"},
    "paths": {
        "/book": {
            "post": {
                "operationId": "book",
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": SCHEMA}},
                },
                "responses": {"200": {"description": "booked"}},
            }
        }
    },
}
SOME = ["layered", "guided", "dag", "compiler", "react", "code", "react+reflect"]


@pytest.mark.parametrize("strategy", SOME)
@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b'{"booking": "B7", "error": "timed out sending the mail"}'),
        *((status, b"{}") for status in (408, 500, 501, 502, 503, 504)),
        (409, b'{"error": "conflict: guest Ann invalid"}'),
        (0, b""),
    ],
)
async def test_an_http_service_that_booked_is_not_asked_again(
    strategy: str, status: int, body: bytes, tmp_path: Path
) -> None:
    world = World(tmp_path / "world")
    with service(world, status, body) as url:
        source = OpenAPISource(DOCUMENT, base_url=url)
        done = await setup(strategy, source, ["Ann", "Ann", "Anna"], tmp_path).run(QUERY)
    assert len(world.done) == 1
    assert done.in_doubt == ("r1",)


@pytest.mark.parametrize("status", [400, 422])
async def test_an_http_service_that_refused_may_be_asked_for_another(
    status: int, tmp_path: Path
) -> None:
    world = World(tmp_path / "world")
    with service(world, status, b'{"detail": "guest: give the name in full"}') as url:
        source = OpenAPISource(DOCUMENT, base_url=url)
        done = await setup("layered", source, ["Ann"], tmp_path).run(QUERY)
    assert [r.arguments["guest"] for r in done.results] == ["Anna"]
    assert (done.in_doubt, world.done) == ((), [])


@pytest.mark.parametrize(
    ("status", "waits", "made"), [(425, "", ["Ann"]), (429, "0", ["Ann"]), (429, "60", [])]
)
async def test_a_write_that_was_not_served_did_not_happen_and_may_be_sent_again(
    status: int, waits: str, made: list[str], tmp_path: Path
) -> None:
    world = World(tmp_path / "world")
    with service(world, status, b"{}", waits) as url:
        source = OpenAPISource(DOCUMENT, base_url=url)
        done = await setup("layered", source, ["Ann"], tmp_path).run(QUERY)
    assert (done.in_doubt, world.done) == ((), made)


SERVER = """
import json, os, sys
path, how = sys.argv[1:]
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method, said = asked["method"], {}
    if method == "initialize":
        said = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}
        said["serverInfo"] = {"name": "rooms", "version": "1"}
    elif method == "tools/list":
        schema = {"type": "object", "properties": {"guest": {"type": "string"}}, "required": ["guest"]}
        said = {"tools": [{"name": "book", "inputSchema": schema}]}
    elif method == "tools/call":
        with open(path, "a") as file:
            file.write(asked["params"]["arguments"]["guest"] + "\\n")
        if how == "die":
            os._exit(1)
        text = "invalid guest 'Ann': no mail could be sent"
        said = {"content": [{"type": "text", "text": text}], "isError": how == "error"}
    answer = {"jsonrpc": "2.0", "id": asked["id"]}
    known = method in ("initialize", "tools/list", "tools/call")
    failed = {"code": -32603 if known else -32601, "message": "internal error: guest 'Ann'"}
    answer |= {"result": said} if known and not (method == "tools/call" and how == "fault") else {"error": failed}
    print(json.dumps(answer), flush=True)
"""


@pytest.mark.parametrize("how", ["error", "fault", "die"])
@pytest.mark.parametrize("strategy", ["layered", "react"])
async def test_an_mcp_server_that_booked_is_not_asked_again(
    strategy: str, how: str, tmp_path: Path
) -> None:
    world = World(tmp_path / "world")
    source = MCPSource.stdio(sys.executable, "-c", SERVER, str(world.path), how, name="rooms")
    done = await setup(strategy, source, ["Ann", "Ann", "Anna"], tmp_path).run(QUERY)
    assert world.done == ["Ann"]
    assert done.in_doubt == ("r1",)


class Counted(WrappedSource):
    """Counts the calls of the source behind it as effects."""

    def __init__(self, source: Any, world: World) -> None:
        super().__init__(source)
        self._world = world

    async def call(self, tool: Tool, arguments: JsonObject) -> ToolOutput:
        self._world.act(arguments["guest"])
        return await super().call(tool, arguments)


@pytest.mark.parametrize("strategy", SOME)
@pytest.mark.parametrize("imitated", [False, True])
async def test_a_recording_or_an_imitation_of_a_write_is_a_write(
    strategy: str, imitated: bool, tmp_path: Path
) -> None:
    world, book = World(tmp_path / "world"), Tool("book", "Book a room.", SCHEMA, effects=WRITE)
    said = {"error": "invalid guest 'Ann': the mail timed out"}
    calls = [Recorded("book", {"guest": guest}, ToolOutput(said)) for guest in ("Ann", "Anna")]
    imitator = ScriptedModel({"simulate": said}) if imitated else None
    simulator = Simulator(Recording([] if imitated else calls), imitator)
    source = Counted(SimulatedSource([book], simulator), world)
    done = await setup(strategy, source, ["Ann", "Ann", "Anna"], tmp_path).run(QUERY)
    assert world.done == ["Ann"]
    assert done.in_doubt == ("r1",)


@pytest.mark.parametrize("strategy", ["layered", "dag", "compiler", "code", "given"])
async def test_equal_writes_that_were_written_together_are_all_made(
    strategy: str, tmp_path: Path
) -> None:
    """Two deposits of 5 are 10."""
    world = World(tmp_path / "world")
    source = function(world, CONDUCTS["good"], WRITE)
    done = await setup(strategy, source, ["Ann"], tmp_path, together=2).run(QUERY)
    assert world.done == ["Ann", "Ann"]
    again = await setup(strategy, source, ["Ann"], tmp_path, together=2).resume(done.id)
    assert (again.results, world.done) == (done.results, ["Ann", "Ann"])


async def test_a_read_may_be_made_again_after_a_write_and_sees_what_it_changed(
    tmp_path: Path,
) -> None:
    world = World(tmp_path / "world")

    @tool(effects=replace(WRITE, read_only=True, idempotent=True))
    def bookings() -> list[str]:
        """List who has a room."""
        return world.done

    look, book = (
        {"tool": "bookings", "arguments": {}},
        {"tool": "book", "arguments": {"guest": "Ann"}},
    )
    steps = [{"thought": "", "action": action} for action in (look, look, book, look)]
    model = ScriptedModel({"bind": [*steps, NOBODY_CALLS], "*": {"statements": [], "missing": []}})
    source = [bookings, function(world, CONDUCTS["good"], WRITE)]
    done = await Orchestrator(
        source, model=model, strategy="react", safety=Safety(allow=["*"])
    ).run(QUERY)
    assert [(r.tool, r.content) for r in done.results] == [
        ("bookings", []),
        ("book", {"booking": "B7"}),
        ("bookings", ["Ann"]),
    ]


async def test_in_a_declared_sandbox_a_failed_write_may_be_tried_again(tmp_path: Path) -> None:
    world = World(tmp_path / "world")
    source = function(world, CONDUCTS["blames the guest"], WRITE)
    model = model_of("layered", ["Ann"])
    done = await Orchestrator(
        [source],
        model=model,
        planner=FixedPlan(["book"]),
        safety=Safety(allow=["book"], sandbox=True),
    ).run(QUERY)
    assert world.done == ["Ann", "Anna"]
    assert done.in_doubt == ()
