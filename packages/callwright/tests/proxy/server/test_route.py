"""Requests to several upstreams: over real connections, and without."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

from callwright.http import Egress, HttpClient, HttpResponse
from callwright.models.probe import Memory
from callwright.models.secret import Secret
from callwright.models.write_record import WriteRecord, WriteRecords
from callwright.nouns.errors import Failure
from callwright.proxy.server.app import Proxy, UpstreamFacts
from callwright.proxy.server.budget import Budget
from callwright.proxy.server.destination import read_destinations
from callwright.proxy.server.route import Routes
from callwright.proxy.session.settings import Settings
from callwright.serving.access import Access
from tests.proxy.playbook import JSON, body, chunk, text_stream, whole
from tests.proxy.upstream import Answer, Asked, Reply, Upstream, proxy, upstream

KEY, SECOND_KEY = "sk-canary-of-the-client", "sk-canary-of-the-second"
NOW = 1_800_000_000.0


@dataclass
class Time:
    """A clock that only waiting moves."""

    seconds: float = 100.0
    waited: list[float] = field(default_factory=list)

    def clock(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.waited.append(seconds)
        self.seconds += seconds


def routes(
    *addresses: str, time: Time | None = None, keys: dict[str, Secret] | None = None
) -> Routes:
    time = time or Time()
    return Routes(
        read_destinations(addresses, keys),
        clock=time.clock,
        now=lambda: NOW,
        sleep=time.sleep,
    )


def says(text: str = "Hello.") -> Reply:
    return Reply([whole(text)], headers=JSON)


def refuses(status: int, **headers: str) -> Reply:
    return Reply([b'{"error": {"message": "no"}}'], status, {**JSON, **headers})


@asynccontextmanager
async def several(
    *answers: Answer, settings: Settings | None = None, **more: Any
) -> AsyncIterator[tuple[str, list[Upstream], Proxy, Time]]:
    time = Time()
    async with AsyncExitStack() as stack:
        ups = [await stack.enter_async_context(upstream(one)) for one in answers]
        keys = {ups[1].url: Secret(SECOND_KEY)} if more.pop("second_key", False) else None
        made = routes(*(up.url for up in ups), time=time, keys=keys)
        address, served = await stack.enter_async_context(proxy(made, settings, **more))
        yield address, ups, served, time


def scripted(*given: Reply) -> Answer:
    left = list(given)
    return lambda _: left.pop(0) if len(left) > 1 else left[0]


def asked_of(address: str) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=f"{address}/v1", api_key=KEY, max_retries=0)


async def collect(streamed: Any) -> list[Any]:
    return [piece async for piece in streamed]


async def post(address: str, path: str = "/v1/chat/completions", **more: Any) -> HttpResponse:
    async with HttpClient(Egress.any()) as client:
        headers = {"authorization": f"Bearer {KEY}", "cookie": KEY, **more.pop("headers", {})}
        given = await client.request(
            "POST", f"{address}{path}", headers=headers, json=more.pop("json", body(False)), **more
        )
    assert isinstance(given, HttpResponse), given
    return given


@pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
@pytest.mark.parametrize("size", [0, 300_000], ids=["event loop", "worker process"])
async def test_a_refusal_goes_on_to_the_next_upstream(status: int, size: int) -> None:
    request = {**body(False), "user": "x" * size}
    budget = Budget(worker_wait_seconds=60, worker_seconds=30)
    settings = Settings(guided="off", budget=budget)
    async with several(scripted(refuses(status)), scripted(says()), settings=settings) as (
        address,
        ups,
        served,
        _,
    ):
        given = await post(address, json=request)
        record = served.counters.records[0]
    name = served.routes.destinations[1].name
    assert (given.status, given.headers["x-callwright-upstream"]) == (200, name)
    assert given.body == whole("Hello.")
    assert [len(up.asked) for up in ups] == [1, 1]
    assert (record.upstream, record.outcome) == (name, "untouched")
    assert f"HTTP {status}" in record.notes[0]


async def test_an_upstream_that_is_not_there_or_hangs_up_is_passed_over() -> None:
    def hangs_up(_: Asked) -> Reply:
        raise ConnectionError

    async with upstream(hangs_up) as broken, upstream(scripted(says())) as up:
        made = routes("http://127.0.0.1:9/v1", broken.url, up.url)
        async with proxy(made) as (address, _), asked_of(address) as client:
            answer = await client.chat.completions.create(**body(False))
    assert answer.choices[0].message.content == "Hello."
    assert len(broken.asked) == 2, "a connection that breaks is tried once more"
    assert [one["state"] for one in made.to_dict()] == ["fails", "fails", "answers"]


async def test_an_upstream_that_said_429_rests_as_long_as_it_asked() -> None:
    first = scripted(refuses(429, **{"retry-after": "30"}), says("I am back."))
    async with several(first, scripted(says("Second."))) as (address, ups, _, time):
        for _ in range(3):
            assert b"Second." in (await post(address)).body
        assert [len(up.asked) for up in ups] == [1, 3]
        time.seconds += 30.0
        assert b"I am back." in (await post(address)).body
    assert time.waited == []


@pytest.mark.parametrize(
    "asked", ["7", formatdate(NOW + 7, usegmt=True)], ids=["seconds", "HTTP date"]
)
async def test_all_that_rest_are_waited_for_as_long_as_the_first_asked(asked: str) -> None:
    first = scripted(refuses(429, **{"retry-after": "60"}))
    second = scripted(refuses(429, **{"retry-after": asked}), says("Second."))
    async with several(first, second) as (address, ups, _, time):
        assert b"Second." in (await post(address)).body
    assert time.waited == [7.0]
    assert [len(up.asked) for up in ups] == [1, 2]


LIMITED = [
    ("openai", "/v1/chat/completions", lambda e: e["error"]["type"] == "rate_limit_error"),
    ("responses", "/v1/responses", lambda e: "error" in e),
    (
        "anthropic",
        "/v1/messages",
        lambda e: e["type"] == "error" and e["error"]["type"] == "rate_limit_error",
    ),
    ("ollama", "/api/chat", lambda e: isinstance(e["error"], str)),
]


@pytest.mark.parametrize(("api", "path", "is_shaped"), LIMITED, ids=[one[0] for one in LIMITED])
async def test_where_all_rest_for_long_the_client_is_told_in_its_own_api(
    api: str, path: str, is_shaped: Any
) -> None:
    request: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
    if api == "responses":
        request = {"model": "m", "input": "Hi"}
    limit = scripted(refuses(429, **{"retry-after": "90"}))
    async with several(limit, limit) as (address, ups, _, time):
        for _ in range(2):
            given = await post(address, path, json=request)
            assert (given.status, given.headers["retry-after"]) == (429, "90")
            assert is_shaped(json.loads(given.body)), given.text
            assert "try again in 90 s" in given.text
            assert "x-callwright-upstream" not in given.headers
    assert [len(up.asked) for up in ups] == [1, 1], "nobody is asked while all rest"
    assert time.waited == []


async def test_the_official_clients_raise_what_they_raise_for_a_limit() -> None:
    limit = scripted(refuses(429, **{"retry-after": "90"}))
    hello: Any = [{"role": "user", "content": "Hi"}]
    async with several(limit, limit) as (address, _, _, _):
        async with asked_of(address) as client:
            with pytest.raises(openai.RateLimitError) as caught:
                await client.chat.completions.create(**body(True))
        assert caught.value.response.headers["retry-after"] == "90"
        async with anthropic.AsyncAnthropic(base_url=address, api_key=KEY, max_retries=0) as other:
            with pytest.raises(anthropic.RateLimitError):
                await other.messages.create(model="m", max_tokens=9, messages=hello)


async def test_where_none_answers_the_client_gets_a_503_that_names_them() -> None:
    async with several(scripted(refuses(500)), scripted(refuses(503))) as (address, ups, _, _):
        given = await post(address)
    assert (given.status, given.headers["retry-after"]) == (503, "1")
    for up, said in zip(ups, ("HTTP 500", "HTTP 503"), strict=True):
        name = up.url.removeprefix("http://").removesuffix("/v1")
        assert f"{name}: {said}" in given.text


async def test_an_answer_that_has_begun_is_never_asked_for_again() -> None:
    broken = Reply([chunk({"content": "It "}), chunk({"content": "is"})], cut=True)
    async with several(scripted(broken), scripted(Reply([text_stream("Second.")]))) as made:
        address, ups, _, _ = made
        async with asked_of(address) as client:
            streamed = await client.chat.completions.create(**body(True))
            with pytest.raises(openai.APIError):
                await collect(streamed)
    assert [len(up.asked) for up in ups] == [1, 0]


@pytest.mark.parametrize("status", [400, 401, 404, 422, 501])
async def test_other_refusals_are_answers(status: int) -> None:
    async with several(scripted(refuses(status)), scripted(says())) as (address, ups, _, _):
        assert (await post(address)).status == status
    assert [len(up.asked) for up in ups] == [1, 0]


async def test_each_upstream_is_sent_its_own_key_and_no_other() -> None:
    seen: list[Asked] = []

    def note(reply: Reply) -> Answer:
        return lambda asked: seen.append(asked) or reply  # type: ignore[func-returns-value]

    async with several(note(refuses(500)), note(refuses(500)), note(says()), second_key=True) as (
        address,
        _,
        served,
        _,
    ):
        given = await post(address, headers={"x-api-key": KEY, "api-key": KEY})
        shown = b"".join(
            [
                (await get(address, page)).body
                for page in ("/callwright", "/callwright/requests.json", "/metrics")
            ]
        )
    first, second, third = (json.dumps(one.headers) for one in seen)
    assert KEY in first
    assert SECOND_KEY not in first + third
    assert SECOND_KEY in second
    assert KEY not in second + third
    told = shown.decode() + given.text + json.dumps(dict(given.headers))
    assert KEY not in told
    assert SECOND_KEY not in told
    assert served.counters.records[0].upstream


async def test_the_key_in_place_of_the_clients_goes_to_the_first_alone() -> None:
    access = Access(upstream_key=Secret("sk-canary-upstream"))
    async with several(scripted(refuses(500)), scripted(says()), access=access) as made:
        address, ups, _, _ = made
        await post(address)
    assert ups[0].asked[0].headers["authorization"] == "Bearer sk-canary-upstream"
    assert "authorization" not in ups[1].asked[0].headers


async def get(address: str, path: str) -> HttpResponse:
    async with HttpClient(Egress.any()) as client:
        given = await client.request("GET", f"{address}{path}")
    assert isinstance(given, HttpResponse)
    return given


async def test_the_guard_follows_the_upstream_that_answers(tmp_path: Path) -> None:
    """What is on record of a model at one endpoint says nothing of it at another."""
    memory = tmp_path / "m.json"
    async with several(
        scripted(says(), refuses(500), says()),
        scripted(says()),
        facts=UpstreamFacts(memory=memory),
    ) as (address, ups, _, time):
        WriteRecords(ups[0].url, Memory(memory)).put("m", WriteRecord(29, 29, "2026-11-24"))
        modes = []
        for _ in range(2):
            modes.append((await post(address)).headers["x-callwright-guard"])
        time.seconds += 5
        modes.append((await post(address)).headers["x-callwright-guard"])
    assert modes == ["report", "act", "report"]


async def test_a_record_counts_under_the_upstream_s_own_name_of_the_model(tmp_path: Path) -> None:
    memory = tmp_path / "m.json"
    async with upstream(scripted(says())) as up:
        WriteRecords(up.url, Memory(memory)).put("theirs", WriteRecord(29, 29, "2026-11-24"))
        made = routes("http://127.0.0.1:9/v1", f"{up.url}#theirs")
        async with proxy(made, facts=UpstreamFacts(memory=memory)) as (address, _):
            given = await post(address)
    assert given.headers["x-callwright-guard"] == "report"
    assert up.asked[0].json["model"] == "theirs"


async def test_a_request_that_may_have_had_effects_is_noted() -> None:
    for reply, noted in ((refuses(502), True), (refuses(429), False)):
        async with several(scripted(reply), scripted(says())) as (address, _, served, _):
            await post(address, json={**body(False), "store": True})
            notes = " ".join(served.counters.records[0].notes)
        assert ("may have stored or started" in notes) is noted


async def test_what_only_the_first_upstream_knows_is_asked_of_it_alone() -> None:
    async with several(scripted(refuses(500)), scripted(says())) as (address, ups, _, _):
        assert (await post(address, "/v1/files")).status == 500
        assert (await get(address, "/v1/responses/resp_1")).status == 500
        assert (await get(address, "/v1/models")).status == 200
    assert [len(up.asked) for up in ups] == [3, 1]


async def test_one_upstream_alone_answers_as_it_does_without_us() -> None:
    async with several(scripted(refuses(429, **{"retry-after": "5"}))) as (address, ups, _, time):
        given = await post(address)
    assert (given.status, given.body, given.headers["retry-after"]) == (
        429,
        b'{"error": {"message": "no"}}',
        "5",
    )
    assert "x-callwright-upstream" not in given.headers
    assert (len(ups[0].asked), time.waited) == (1, [])


async def test_health_is_shown_where_there_are_several() -> None:
    limited = scripted(refuses(429, **{"retry-after": "30"}))
    async with several(limited, scripted(says())) as (address, _, served, _):
        await post(address)
        page, told, metrics = [
            (await get(address, path)).text
            for path in ("/callwright", "/callwright/upstreams.json", "/metrics")
        ]
    first, second = served.routes.destinations
    assert f"{first.name}: limited (HTTP 429), rests 30 s; 1 asked, 0 failed, 1 limited" in page
    assert [one["state"] for one in json.loads(told)] == ["limited", "answers"]
    outcome = f'upstream="{second.name}",outcome="answered"'
    assert f"callwright_upstream_requests_total{{{outcome}}} 1" in metrics


async def test_a_limit_that_asks_for_no_rest_ends_the_waiting_too() -> None:
    time = Time()
    made = routes("http://a/v1", "http://b/v1", time=time)
    route = made.begin("POST", "/v1/chat/completions")
    asked = 0
    while True:
        await route.choose()
        if route.chosen is None:
            break
        asked += 1
        answer: Any = HttpResponse(429, {"retry-after": "0"}, b"")
        route.give_up(answer, route.judge(answer), b"")
    assert asked <= 3 + made.longest_wait
    assert route.refuse().status == 429


async def test_an_upstream_that_failed_lately_is_asked_where_all_others_rest() -> None:
    made = routes("http://a/v1", "http://b/v1")
    first, second = (member.health for member in made.members)
    first.fail(100.0, "HTTP 500")
    second.limit(100.0, "HTTP 429", 60.0)
    route = made.begin("POST", "/v1/messages")
    await route.choose()
    assert route.chosen is not None
    assert route.chosen.name == "a"
    broken: Any = Failure("unavailable", "the connection broke", not_done=True)
    route.give_up(broken, route.judge(broken), b"")
    await route.choose()
    assert route.chosen is None
    assert route.refuse().status == 503
