from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.agent.safety.held_call import HeldCall
from callwright.http import Egress, HttpClient, HttpResponse
from callwright.nouns.types import Edit, ToolCall
from callwright.proxy.server.app import Observers
from callwright.proxy.server.request_log import (
    Exchanged,
    JsonLines,
    TextLines,
    line_of,
    read_tokens,
)
from callwright.proxy.session.guarding import Guarding
from callwright.proxy.session.record import Record
from tests.proxy.playbook import JSON, body, chunk, text_stream, whole
from tests.proxy.upstream import Reply, proxy, upstream


def test_a_line_says_what_was_asked_what_came_of_it_and_what_was_repaired() -> None:
    assert line_of("GET", "/v1/models", 200, 0.0123) == "GET /v1/models 200 12 ms"
    assert line_of("POST", "/v1/x", 0, 1.0) == "POST /v1/x - 1000 ms"
    record = Record("1", "/v1/x", outcome="edited", questions=1, raw="what was said")
    record.edits += [Edit("/0", "secret", "value", rule) for rule in ("case", "date", "case")]
    assert (
        line_of("POST", "/v1/x", 200, 0.5, record)
        == "POST /v1/x 200 500 ms edited: case 2, date (1 question)"
    )


def test_nothing_in_a_path_steers_a_terminal_or_fills_it() -> None:
    line = line_of("GET", "/\x1b]0;title\x07\u202e\n" + "x" * 100_000, 400, 0.0)
    assert line.isprintable()
    assert len(line) < 300


def test_what_the_guard_only_reports_stands_in_the_line_by_its_rule_alone() -> None:
    call = ToolCall("a", "\x1b[2Jpay", {"to": "secret"})
    sent = HeldCall(call, "unstated_value", "nobody said secret", is_sent=True)
    record = Record("1", "/v1/x", outcome="untouched", guarding=Guarding("report", [sent, sent]))
    assert (
        line_of("POST", "/v1/x", 200, 0.5, record)
        == "POST /v1/x 200 500 ms untouched; would keep back: unstated_value 2"
    )
    kept = HeldCall(call, "unstated_value", "nobody said secret")
    acted = Record("1", "/v1/x", outcome="edited", guarding=Guarding("act", [kept]))
    acted.edits.append(Edit("/0", None, None, "unstated_value"))
    assert line_of("POST", "/v1/x", 200, 0.5, acted).endswith("edited: unstated_value")
    acted = Record("1", "/v1/x", outcome="untouched", guarding=Guarding("act", [kept]))
    line = line_of("POST", "/v1/x", 200, 0.5, acted)
    assert line.endswith("untouched; kept back: unstated_value"), "held while the engine led"


HERMES = '<tool_call>{"name": "getWeather", "arguments": {"city": "canary-city"}}</tool_call>'
KEY = "sk-canary-5fd1c0ffee"


async def log_of(reply: Reply, *, stream: bool = False, contents: bool = False) -> list[Any]:
    """The lines of one request with a tool, one without, one of a model list, and a refusal."""
    written: list[str] = []
    lines = JsonLines(with_contents=contents, now=lambda: 1.5)
    async with (
        upstream(lambda _: reply) as up,
        proxy(up.url, observers=Observers(log=written.append, lines=lines)) as (address, _),
        HttpClient(Egress.any()) as client,
    ):
        headers = {"authorization": f"Bearer {KEY}", "x-api-key": KEY}
        asked = {**body(stream), "user": "canary-user"}
        for request in (asked, {k: v for k, v in asked.items() if k != "tools"}):
            given = await client.request(
                "POST",
                f"{address}/v1/chat/completions?key={KEY}",
                headers=headers,
                json=request,
            )
            assert isinstance(given, HttpResponse)
        await client.request("GET", f"{address}/v1/models", headers={"host": "evil.example"})
        await client.request("GET", f"{address}/v1/models", headers={"x": "v" * 100_000})
    return [json.loads(line) for line in written]


def counted(text: str) -> bytes:
    made = json.loads(whole(text))
    usage = {"prompt_tokens": 31, "completion_tokens": 7, "total_tokens": 38}
    return json.dumps({**made, "usage": usage}).encode()


async def test_every_request_is_one_json_object_without_texts_or_secrets() -> None:
    made, plain, foreign, refused = await log_of(Reply([counted(f"Sure. {HERMES}")], headers=JSON))
    assert (made["event"], made["level"], made["status"]) == ("request", "info", 200)
    assert (made["model"], made["outcome"], made["dialect"]) == ("m", "edited", "hermes")
    assert made["edits"] == {"tool_spelling": 1}
    assert (made["prompt_tokens"], made["completion_tokens"]) == (31, 7)
    assert made["upstream"].startswith("127.0.0.1:")
    assert made["request"].endswith("-1")
    assert made["path"] == "/v1/chat/completions"
    assert made["seconds"] > 0
    assert (plain["model"], plain["prompt_tokens"], plain["request"][-2:]) == ("m", 31, "-2")
    assert foreign["status"] == 403
    assert (refused["event"], refused["status"]) == ("refused", 431)
    assert "canary" not in json.dumps([made, plain, foreign, refused])


async def test_tokens_of_a_stream_are_told_too() -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 9}
    events = [text_stream("It is ", "fine.", done=False), chunk({}, usage=usage)]
    made, *_ = await log_of(Reply(events), stream=True)
    assert (made["prompt_tokens"], made["completion_tokens"]) == (5, 9)


async def test_contents_are_told_where_they_are_wanted_and_secrets_never() -> None:
    said = f"Your key is {KEY}. {HERMES}"
    made, *others = await log_of(Reply([counted(said)], headers=JSON), contents=True)
    assert made["contents"]["sent"][0]["arguments"] == {"city": "canary-city"}
    assert "Your key is" in made["contents"]["raw"]
    assert KEY not in json.dumps([made, *others])


def test_a_request_that_failed_is_a_warning() -> None:
    record = Record("1", "/v1/x", outcome="passed", fault="over-budget")
    for one in (Exchanged("POST", "/x", 502, 0.1), Exchanged("POST", "/x", 200, 0.1, record)):
        assert json.loads(JsonLines().render_exchange(one))["level"] == "warning"


@pytest.mark.parametrize("lines", [TextLines(), JsonLines()])
def test_each_form_has_each_line(lines: Any) -> None:
    told = [
        lines.render_start("http://localhost:8787", ["http://a/v1"], "http://localhost:8787/p"),
        lines.render_warning("nothing answers"),
        lines.render_refusal(431, "too long"),
    ]
    for line, said in zip(told, ("http://a/v1", "nothing answers", "too long"), strict=True):
        assert said in line
        if isinstance(lines, JsonLines):
            assert json.loads(line)["time"]


@given(st.text(), st.integers(0, 10**12 - 1), st.integers(0, 10**12 - 1))
def test_tokens_are_read_from_the_answer_and_not_from_its_text(
    text: str, prompt: int, completion: int
) -> None:
    usage = {"prompt_tokens": prompt, "completion_tokens": completion}
    said = {"content": f'{text} "prompt_tokens": 3, "completion_tokens": 4', "usage": usage}
    assert read_tokens(json.dumps(said).encode()) == (prompt, completion)
    assert read_tokens(json.dumps({"content": said["content"]}).encode()) == (0, 0)
