"""Where a request is read shows in nothing but how long others wait."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from callwright.http import Egress, HttpClient, HttpResponse
from callwright.proxy.server.budget import Budget
from callwright.proxy.server.lane import Lane
from callwright.proxy.server.meter import Meter, Unmetered
from callwright.proxy.server.outbound import CHAT
from callwright.proxy.server.placement import Placement, warm_up
from callwright.proxy.server.worker import Setup
from callwright.proxy.session.context import Toolsets
from callwright.proxy.session.events import (
    CloseUpstream,
    Command,
    Finish,
    Probe,
    Probed,
    Request,
    SendBody,
    SendHead,
    SendUpstream,
    UpstreamData,
    UpstreamEnd,
    UpstreamHead,
)
from callwright.proxy.session.faults import OverBudget
from callwright.proxy.session.settings import Settings
from tests.proxy.playbook import JSON, USER, body, cut_at, native_stream, text_stream, whole
from tests.proxy.session.test_faults import MESSAGES
from tests.proxy.upstream import Reply, proxy, upstream

CALL = (
    '<tool_call>\n{"name": "getWeather", "arguments": {"city": "Paris", "days": "2"}}\n</tool_call>'
)
PATIENT = Budget(worker_wait_seconds=60, worker_seconds=30)  # however busy the machine is
OFF = Settings(guided="off", budget=PATIENT)
LONG = {"role": "system", "content": "Paris is a city. " * 12_000}


@pytest.fixture
async def http() -> AsyncIterator[HttpClient]:
    async with HttpClient(Egress.any()) as client:
        yield client


async def ask(http: HttpClient, address: str, asked: Any, path: str = CHAT) -> HttpResponse:
    given = await http.request("POST", f"{address}{path}", data=json.dumps(asked).encode())
    assert isinstance(given, HttpResponse)
    return given


@pytest.mark.parametrize(("path", "streamed"), [(CHAT, True), ("/v1/messages", False)])
async def test_a_long_request_is_answered_as_a_short_one(
    http: HttpClient, path: str, streamed: bool
) -> None:
    text = f"I look it up. {CALL}"
    stream = text_stream(*[text[i : i + 7] for i in range(0, len(text), 7)])
    reply = Reply(cut_at(stream, 400)) if streamed else Reply([whole(text)], headers=JSON)
    tools = [{"name": "get_weather", "input_schema": body()["tools"][0]["function"]["parameters"]}]
    more = {"tools": tools} if path != CHAT else {}
    async with upstream(lambda _: reply) as up, proxy(up.url, OFF) as (address, made):
        bodies = []
        for messages in ([USER], [{**LONG, "role": "user"}, USER]):
            asked = body(streamed, messages=messages, max_tokens=9, **more)
            given = await ask(http, address, asked, path)
            assert given.status == 200
            assert b"getWeather" not in given.body
            bodies.append(given.body)
        assert made.lane.generation == 1, "the second was read in the worker process"
        assert [r.outcome for r in made.counters.records] == ["edited", "edited"]
    assert len(bodies[0]) == len(bodies[1])
    assert json.loads(up.asked[-1].body)["messages"][-1]["content"]


async def test_a_right_answer_to_a_long_request_passes_byte_for_byte(http: HttpClient) -> None:
    stream = native_stream(("c1", "get_weather", '{"city":  "Paris"}'))
    async with (
        upstream(lambda _: Reply(cut_at(stream, 100))) as up,
        proxy(up.url, OFF) as (address, made),
    ):
        given = await ask(http, address, body(messages=[LONG, USER]))
        assert given.body == stream
        assert made.counters.records[0].outcome == "untouched"
    assert up.asked[0].json["messages"] == [LONG, USER]


MESSAGES_PATH = "/v1/messages"


@pytest.mark.parametrize(
    ("budget", "path"),
    [
        (Budget(worker_bytes=150_000), CHAT),
        (Budget(worker_bytes=150_000), MESSAGES_PATH),
        (Budget(worker_load_bytes=1_000), CHAT),
        (replace(PATIENT, worker_items=1), MESSAGES_PATH),
        (replace(PATIENT, worker_seconds=0.001), CHAT),
    ],
)
async def test_what_is_over_the_budget_passes_untouched_and_marked(
    http: HttpClient, budget: Budget, path: str
) -> None:
    asked = {**MESSAGES, **body(False), "tools": MESSAGES["tools"]} if path != CHAT else body(False)
    asked["messages"] = [{**LONG, "role": "user"}, USER]
    async with (
        upstream(lambda _: Reply([whole(CALL)], headers=JSON)) as up,
        proxy(up.url, Settings(guided="off", budget=budget)) as (address, made),
    ):
        given = await ask(http, address, asked, path)
        assert given.status == 200
        assert given.headers["x-callwright-outcome"] == "passed"
        assert given.headers["x-callwright-fault"] == "over-budget"
        # on a busy machine what passes it on is over its own time as well
        assert made.counters.faults["over-budget"] in (1, 2)
    if path == CHAT:
        assert given.body == whole(CALL)
    else:
        assert json.loads(given.body)["content"][0]["text"] == CALL


async def test_a_long_body_that_is_no_chat_request_is_not_read_anywhere(http: HttpClient) -> None:
    sound = b"RIFF" * 200_000
    async with (
        upstream(lambda _: Reply([b"{}"], headers=JSON)) as up,
        proxy(up.url, OFF) as (address, made),
    ):
        given = await http.request("POST", f"{address}/v1/audio/transcriptions", data=sound)
        assert isinstance(given, HttpResponse)
        assert (given.status, made.lane.generation) == (200, 0)
        assert not [name for name in given.headers if name.startswith("x-callwright")]
    assert up.asked[0].body == sound


async def test_a_whole_answer_that_is_too_long_passes_untouched_and_marked(
    http: HttpClient,
) -> None:
    answer = whole(CALL + "x" * 5_000)
    budget = Budget(read_bytes=3_000)
    async with (
        upstream(lambda _: Reply(cut_at(answer, 2_000), headers=JSON)) as up,
        proxy(up.url, Settings(guided="off", budget=budget)) as (address, made),
    ):
        given = await ask(http, address, body(False))
        assert (given.body, given.headers["x-callwright-fault"]) == (answer, "over-budget")
        assert made.lane.generation == 0


async def test_when_the_worker_process_ends_the_rest_of_a_stream_passes_as_it_comes(
    http: HttpClient,
) -> None:
    hold = asyncio.Event()
    stream = [text_stream("It rains. ", done=False, finish="")[:-1], b"\n", text_stream(CALL)]
    async with (
        upstream(lambda _: Reply(stream, hold=hold, hold_at=2)) as up,
        proxy(up.url, OFF) as (address, made),
    ):
        asked = json.dumps(body(messages=[LONG, USER])).encode()
        async with http.stream("POST", f"{address}{CHAT}", data=asked) as given:
            assert isinstance(given, object)
            pieces = given.chunks()  # type: ignore[union-attr]
            got = b""
            while b"rains" not in got:
                got += await anext(pieces)  # type: ignore[operator]
            await made.lane.aclose()
            hold.set()
            async for piece in pieces:
                got += piece  # type: ignore[operator]
        assert got == b"".join(stream)
        assert made.counters.records[0].fault == "over-budget"


class Ringing(Unmetered):
    """Ends the computation at one of its ends."""

    def __init__(self, at: int) -> None:
        self._left = at

    def stop(self) -> None:
        self._left -= 1
        if self._left == 0:
            raise OverBudget("on purpose")


async def played(
    meter: Meter, lane: Lane | None, settings: Settings, streamed: bool = False
) -> tuple[bytes, int, str]:
    """What the client gets, how often the upstream was asked, and the outcome; everything is done
    as it is told.
    """
    placed = Placement(settings, Toolsets(), lane, meter, "n", created=1)
    waiting: list[Any] = [Request("POST", CHAT, body=json.dumps(body(streamed)).encode())]
    out, asked, outcome = b"", 0, ""
    while waiting:
        made: list[Command] = await placed.handle(waiting.pop(0), 1.0)
        for command in made:
            match command:
                case CloseUpstream():
                    waiting.clear()
                case SendUpstream():
                    asked += 1
                    data = text_stream(CALL) if streamed else whole(CALL)
                    head = UpstreamHead(
                        200, {"content-type": "text/event-stream"} if streamed else JSON
                    )
                    waiting += [
                        head,
                        UpstreamData(data[:90]),
                        UpstreamData(data[90:]),
                        UpstreamEnd(),
                    ]
                case Probe():
                    waiting.append(Probed(native=False, schema=True))
                case SendBody(data):
                    out += data
                case SendHead():
                    outcome = dict(command.headers).get("x-callwright-outcome", "")
                case Finish(broken):
                    assert not broken
                    return out, asked, outcome
    raise AssertionError("no end")


@pytest.mark.parametrize("guided", ["off", "text"])
async def test_a_request_that_proves_long_is_read_on_in_the_worker_process(guided: Any) -> None:
    settings = Settings(guided=guided, budget=PATIENT)
    expected = await played(Unmetered(), None, settings)
    assert expected[2] == "edited"
    lane = Lane(Setup(settings))
    try:
        for at in range(1, 9):
            assert await played(Ringing(at), lane, settings) == expected
        assert lane.generation == 1
        broken = Lane(Setup(settings), ("/nowhere/python",))
        for at in range(1, 5):
            assert await played(Ringing(at), broken, settings) == (whole(CALL), 1, "passed")
    finally:
        await lane.aclose()


async def test_a_stream_that_proves_long_is_read_on_in_the_worker_process() -> None:
    """It passed untouched from there on, so that no guard saw its calls."""
    settings = Settings(guided="off", guard="on", budget=PATIENT)
    expected = await played(Unmetered(), None, settings, streamed=True)
    assert b"getWeather" not in expected[0]
    lane = Lane(Setup(settings))
    try:
        for at in range(1, 8):
            assert await played(Ringing(at), lane, settings, streamed=True) == expected
        assert lane.generation == 1
    finally:
        await lane.aclose()


@pytest.mark.parametrize("moved_at", range(5))  # the last piece completes the call
async def test_a_stream_that_has_moved_loses_nothing_with_the_worker_process(moved_at: int) -> None:
    settings = Settings(guided="off", guard="report", budget=PATIENT)
    stream, lane = text_stream("It rains. ", "It pours. ", CALL), Lane(Setup(settings))
    # a ring for the request, one for the head, then one for each piece
    placed = Placement(settings, Toolsets(), lane, Ringing(3 + moved_at), "n", created=1)
    head = UpstreamHead(200, {"content-type": "text/event-stream"})
    size = len(stream) // 6 + 1
    pieces = [UpstreamData(stream[i : i + size]) for i in range(0, len(stream), size)]
    assert len(pieces) == 6
    asked = Request("POST", CHAT, body=json.dumps(body()).encode())
    out = b""
    for at, event in enumerate([asked, head, *pieces, UpstreamEnd()]):
        for command in await placed.handle(event, 1.0):
            out += command.data if isinstance(command, SendBody) else b""
        if at == moved_at + 2:
            assert lane.generation == 1, "it has moved"
            await lane.aclose()
    assert out == stream


async def test_what_the_worker_process_would_have_answered_in_another_way_does_not_go_on_there() -> (
    None
):
    settings = Settings(guided="off", guard="report", budget=PATIENT)
    other = Lane(Setup(replace(settings, hold_bytes=1)))
    expected = await played(Unmetered(), None, settings, streamed=True)
    try:
        found = [await played(Ringing(at), other, settings, streamed=True) for at in range(2, 7)]
    finally:
        await other.aclose()
    assert {out for out, _, _ in found} <= {expected[0], text_stream(CALL)}
    assert {asked for _, asked, _ in found} == {1}


@pytest.mark.parametrize("streamed", [False, True])
async def test_with_the_guard_on_no_call_passes_that_the_guard_has_not_seen(streamed: bool) -> None:
    settings = Settings(guided="off", guard="on")
    expected = await played(Unmetered(), None, settings, streamed)
    broken = Lane(Setup(settings), ("/nowhere/python",))
    found = [await played(Ringing(at), broken, settings, streamed) for at in range(1, 8)]
    assert [expected] != found
    for out, asked, outcome in found:
        assert (out, asked, outcome) == expected or (b"unread" in out and outcome != "passed")
        assert b"getWeather" not in out, "repaired, or not there"


async def test_a_stream_that_proves_long_passes_untouched_without_a_worker_process() -> None:
    settings = Settings(guided="off")
    lane = Lane(Setup(settings), ("/nowhere/python",))
    repaired = await played(Unmetered(), None, settings, streamed=True)
    found = [await played(Ringing(at), lane, settings, streamed=True) for at in range(1, 8)]
    assert {out for out, _, _ in found} == {
        text_stream(CALL),
        repaired[0],
    }, "nothing between the two"
    assert {asked for _, asked, _ in found} == {1}


class Broken(Lane):
    """A lane whose steps fail in a way that nobody foresaw."""

    async def step(self, step: Any, generation: int | None = None) -> Any:
        raise RuntimeError("on purpose")


async def test_a_fault_on_the_way_to_the_worker_process_costs_no_answer() -> None:
    settings = Settings(guided="off")
    for at in range(1, 5):
        assert await played(Ringing(at), Broken(Setup(settings)), settings) == (
            whole(CALL),
            1,
            "passed",
        )


def test_warming_up_makes_no_difference_to_what_follows() -> None:
    warm_up(Settings())
    warm_up(Settings(guided="on"))
