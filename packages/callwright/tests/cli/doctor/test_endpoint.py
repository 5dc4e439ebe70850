"""How an endpoint that cannot be asked at all is told from another, and what each is advised."""

from __future__ import annotations

import pytest

from callwright.cli.doctor.command import probe_endpoint
from callwright.cli.doctor.endpoint import Endpoint, build_tool
from callwright.http import Egress, HttpClient
from callwright.nouns.errors import ConfigError
from tests.cli.patient import Patient, refused
from tests.proxy.playbook import JSON
from tests.proxy.upstream import Answer, Asked, Reply, upstream


def listing(status: int, body: bytes, kind: str = "application/json") -> Answer:
    """Lists its models, and answers questions with this."""

    def answer(asked: Asked) -> Reply:
        return (
            Patient()(asked)
            if asked.method == "GET"
            else Reply([body], status, {"content-type": kind})
        )

    return answer


@pytest.mark.parametrize(
    ("answer", "said", "hint"),
    [
        (
            listing(401, b'{"error": {"message": "no key"}}'),
            "status 401: no key",
            "CALLWRIGHT_API_KEY",
        ),
        (listing(404, b'{"detail": "model x not found"}'), "model x not found", "big, small"),
        (lambda asked: refused("what?", 404), "status 404", "as far as /v1, no further"),
        (listing(200, b"<html>hello</html>", "text/html"), "no chat completion", "not the address"),
        (listing(500, b"boom"), "status 500: boom", "own log"),
    ],
)
async def test_an_endpoint_that_does_not_answer_is_told_why_and_what_to_do(
    answer: Answer, said: str, hint: str
) -> None:
    async with upstream(answer) as up:
        with pytest.raises(ConfigError) as caught:
            await probe_endpoint(up.url, "x")
    assert said in caught.value.message
    assert hint in str(caught.value.hint)


async def test_a_server_that_is_not_there_is_a_clear_error() -> None:
    with pytest.raises(ConfigError, match="does not answer") as caught:
        await probe_endpoint("http://127.0.0.1:9/v1", "m")
    assert "is the server running" in str(caught.value.hint)


async def test_the_first_model_is_asked_unless_one_is_named_and_the_key_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CALLWRIGHT_API_KEY", "sk-doctor")
    async with upstream(Patient()) as up, HttpClient(Egress.any()) as client:
        for named, asked in ((None, "big"), ("small", "small")):
            endpoint = Endpoint(client, up.url, named)
            await endpoint.choose()
            found = await endpoint.ask("Say hello.")
            assert (endpoint.model, found.text) == (asked, "Hello.")
            assert endpoint.listed == ("big", "small")
    assert all(a.headers["authorization"] == "Bearer sk-doctor" for a in up.asked)


async def test_an_endpoint_that_lists_nothing_is_asked_for_its_default() -> None:
    def answer(asked: Asked) -> Reply:
        return Reply([b"not found"], 404) if asked.method == "GET" else Patient()(asked)

    async with upstream(answer) as up, HttpClient(Egress.any()) as client:
        endpoint = Endpoint(client, up.url)
        await endpoint.choose()
    assert endpoint.model == "default"
    assert endpoint.listed == ()


def test_a_tool_requires_all_it_names() -> None:
    made = build_tool("f", "F.", x={"type": "string"})
    assert made["function"]["parameters"]["required"] == ["x"]


async def test_reasoning_is_read_from_streams_and_under_both_its_names() -> None:
    event = (
        b'data: {"choices": [{"index": 0, "delta": {"reasoning": "hm"}, "finish_reason":'
        b' "stop"}]}\n\n'
    )
    whole = (
        b'{"choices": [{"index": 0, "message": {"reasoning_content": "hm"}, "finish_reason":'
        b' "stop"}]}'
    )

    def answer(asked: Asked) -> Reply:
        return Reply([event]) if asked.json.get("stream") else Reply([whole], headers=JSON)

    async with upstream(answer) as up, HttpClient(Egress.any()) as client:
        endpoint = Endpoint(client, up.url, "m")
        for stream in (True, False):
            found = await endpoint.ask("x", stream=stream)
            assert (found.text_or_reasoning, found.finish) == ("hm", "stop")
