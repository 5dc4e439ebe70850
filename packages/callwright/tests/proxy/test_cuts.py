"""Streams as servers write them, cut at every byte, over every API that clients speak: the same
answer goes out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from callwright.proxy.apis.adapters import FRONTS
from callwright.proxy.server.outbound import CHAT
from tests.proxy.playbook import JSON, USER, WEATHER, Playbook, assembled, call, events, whole

CALL = '{"name": "get_weather", "arguments": {"city": "Zürich"}}'
FUNCTION: Any = WEATHER["function"]
SCHEMA = FUNCTION["parameters"]
GIVEN = {"city": "Zürich"}
RAIN = '{"city": "Zürich", "rain": true}'
ASKED: dict[str, dict[str, Any]] = {
    CHAT: {"messages": [USER], "tools": [WEATHER]},
    "/v1/responses": {
        "input": "Weather?",
        "tools": [{"type": "function", "name": "get_weather", "parameters": SCHEMA}],
    },
    "/v1/messages": {
        "max_tokens": 99,
        "messages": [USER],
        "thinking": {"type": "enabled", "budget_tokens": 50},
        "tools": [{"name": "get_weather", "input_schema": SCHEMA}],
    },
    "/api/chat": {"messages": [USER], "tools": [WEATHER]},
}
AFTER_RESULTS: dict[str, list[Any]] = {  # what each API says after a call and its result
    CHAT: [
        USER,
        {"role": "assistant", "content": None, "tool_calls": [call("get_weather", GIVEN)]},
        {"role": "tool", "tool_call_id": "c1", "content": RAIN},
    ],
    "/v1/responses": [
        {"role": "user", "content": "Weather?"},
        {
            "type": "function_call",
            "call_id": "c1",
            "name": "get_weather",
            "arguments": json.dumps(GIVEN),
        },
        {"type": "function_call_output", "call_id": "c1", "output": RAIN},
    ],
    "/v1/messages": [
        USER,
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c1", "name": "get_weather", "input": GIVEN}],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c1", "content": RAIN}],
        },
    ],
    "/api/chat": [
        USER,
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"function": {"name": "get_weather", "arguments": GIVEN}}],
        },
        {"role": "tool", "tool_name": "get_weather", "content": RAIN},
    ],
}
_CLOCK = re.compile(rb'"(?:created_at|completed_at)":(?:"[^"]*"|\d+)|"total_duration":\d+')


def event(delta: dict[str, Any], finish: str | None = None) -> bytes:
    made = {"id": "x", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    return b"data: " + json.dumps(made, ensure_ascii=False).encode() + b"\n\n"


def stream(*deltas: dict[str, Any], finish: str = "stop") -> bytes:
    return b"".join(event(d) for d in deltas) + event({}, finish) + b"data: [DONE]\n\n"


def native(**function: str) -> dict[str, Any]:
    head = {"id": "c1", "type": "function"} if "name" in function else {}
    return {"tool_calls": [{"index": 0, **head, "function": function}]}


STREAMS = {
    "text": stream(
        {"content": "Ü <tool_"}, {"content": f"call>{CALL}</to"}, {"content": "ol_call>"}
    ),
    "native": stream(
        native(name="get_weather", arguments=""),
        native(arguments='{"city": "Zür'),
        native(arguments='ich"}'),
        finish="tool_calls",
    ),
    "words": stream(
        {"role": "assistant", "content": ""}, {"content": "3 <t, {é}"}, {"content": " 😀 `x`"}
    ),
    "leftovers": stream(
        {"content": "<|im_st"}, {"content": "art|>assistant\nÜ <b>"}, {"content": ".<|im_end|>"}
    ),
    "reasoning": stream(
        {"reasoning_content": "H <t"}, {"reasoning_content": "ö?"}, {"content": "Rain."}
    ),
}
MESSAGES: dict[str, tuple[str, str, list[Any]]] = {  # text, reasoning, calls
    "text": ("Ü", "", [("get_weather", {"city": "Zürich"})]),
    "native": ("", "", [("get_weather", {"city": "Zürich"})]),
    "words": ("3 <t, {é} 😀 `x`", "", []),
    "leftovers": ("Ü <b>.", "", []),
    "reasoning": ("Rain.", "H <tö?", []),
}


def of_chat(out: bytes) -> tuple[str, str, list[Any]]:
    made = assembled(out)
    return (
        made["text"],
        made["reasoning"],
        [(c["name"], json.loads(c["arguments"])) for c in made["calls"]],
    )


def of_responses(out: bytes) -> tuple[str, str, list[Any]]:
    """From the deltas, which the closing event must repeat."""
    found = [
        json.loads(line[6:]) for line in out.decode().splitlines() if line.startswith("data: ")
    ]
    assert [e["sequence_number"] for e in found] == list(range(len(found)))
    parts: dict[int, str] = {}
    for e in found:
        if e["type"].endswith(".delta"):
            parts[e["output_index"]] = parts.get(e["output_index"], "") + e["delta"]
    assert found[-1]["type"] == "response.completed"
    text, reasoning, calls = "", "", []
    for place, item in enumerate(found[-1]["response"]["output"]):
        if item["type"] == "function_call":
            assert item["arguments"] == parts[place]
            calls.append((item["name"], json.loads(item["arguments"])))
        elif item["type"] == "message":
            assert "".join(c["text"] for c in item["content"]) == parts[place]
            text += parts[place]
        else:
            reasoning += parts[place]
    return text, reasoning, calls


def of_messages(out: bytes) -> tuple[str, str, list[Any]]:
    blocks: list[dict[str, Any]] = []
    said: list[str] = []
    for block in out.decode().strip().split("\n\n"):
        kind, data = block.split("\n")
        e = json.loads(data.removeprefix("data: "))
        assert kind == f"event: {e['type']}"
        if e["type"] == "content_block_start":
            assert e["index"] == len(blocks)
            blocks.append(e["content_block"])
            said.append("")
        elif e["type"] == "content_block_delta":
            assert e["index"] == len(blocks) - 1
            delta = e["delta"]
            said[-1] += (
                delta.get("text", "") + delta.get("thinking", "") + delta.get("partial_json", "")
            )
    assert e["type"] == "message_stop"
    of = list(zip(blocks, said, strict=True))
    calls = [(b["name"], json.loads(s)) for b, s in of if b["type"] == "tool_use"]
    text = "".join(s for b, s in of if b["type"] == "text")
    return text, "".join(s for b, s in of if b["type"] == "thinking"), calls


def of_ollama(out: bytes) -> tuple[str, str, list[Any]]:
    lines = [json.loads(line) for line in out.decode().splitlines()]
    assert [line["done"] for line in lines] == [False] * (len(lines) - 1) + [True]
    said = [line["message"] for line in lines]
    calls = [c["function"] for m in said for c in m.get("tool_calls", ())]
    text, reasoning = (
        "".join(m["content"] for m in said),
        "".join(m.get("thinking", "") for m in said),
    )
    return text, reasoning, [(c["name"], c["arguments"]) for c in calls]


READ: dict[str, Callable[[bytes], tuple[str, str, list[Any]]]] = {
    CHAT: of_chat,
    "/v1/responses": of_responses,
    "/v1/messages": of_messages,
    "/api/chat": of_ollama,
}


def sent(path: str, data: bytes, cut: int | None) -> bytes:
    book = (
        Playbook(path=path).ask({"model": "m", "stream": True, **ASKED[path]}).answer(data, cut=cut)
    )
    assert book.finished is not None
    assert not book.finished.broken
    return _CLOCK.sub(b'"at":0', book.out) if path != CHAT else book.out


@pytest.mark.parametrize("said", STREAMS)
@pytest.mark.parametrize("path", ASKED)
def test_the_same_bytes_go_out_wherever_the_stream_is_cut(path: str, said: str) -> None:
    data = STREAMS[said]
    uncut = sent(path, data, None)
    text, reasoning, calls = READ[path](uncut)
    assert (text.strip() if calls else text, reasoning, calls) == MESSAGES[said]
    for cut in range(len(data)):  # 0: into single bytes
        assert sent(path, data, cut) == uncut, data[:cut]


@pytest.mark.parametrize("said", ["native", "words", "reasoning"])
def test_chat_completions_that_need_no_repair_go_out_as_they_came(said: str) -> None:
    assert sent(CHAT, STREAMS[said], None) == STREAMS[said]
    assert events(STREAMS[said])


@pytest.mark.parametrize("said", ["{}", RAIN, "<tool_response>", ""])
@pytest.mark.parametrize("path", ASKED)
def test_after_results_every_api_gives_words(path: str, said: str) -> None:
    given = "input" if path == "/v1/responses" else "messages"
    asked = {"model": "m", "stream": True, **ASKED[path], given: AFTER_RESULTS[path]}
    data, outs = stream({"content": said}), set()
    for cut in (None, 0, len(data) // 2):
        book = Playbook(path=path).ask(asked).answer(data, cut=cut)
        book.answer(whole("Es regnet.<|eot_id|>"), JSON)
        assert READ[path](book.out) == ("Es regnet.", "", [])
        assert "answer_in_words" in [edit.rule for edit in book.record.edits]
        outs.add(_CLOCK.sub(b'"at":0', book.out) if path != CHAT else book.out)
    assert len(outs) == 1


@pytest.mark.parametrize("path", ASKED)
def test_after_results_every_api_gives_words_in_one_piece_too(path: str) -> None:
    given = "input" if path == "/v1/responses" else "messages"
    asked = {"model": "m", "stream": False, **ASKED[path], given: AFTER_RESULTS[path]}
    book = Playbook(path=path).ask(asked).answer(whole("{}"), JSON)
    book.answer(whole("Es regnet."), JSON)
    assert "Es regnet." in book.out.decode()
    assert "{}" not in json.loads(book.out).get("output_text", "")
    assert [edit.rule for edit in book.record.edits] == ["answer_in_words"]


def test_every_api_is_among_them() -> None:
    assert set(AFTER_RESULTS) == set(ASKED)
    assert set(ASKED) == {CHAT, *FRONTS} - {"/responses"}  # which is /v1/responses by another name
