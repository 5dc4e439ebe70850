"""The scripted model: what it answers at each point of a conversation, and over HTTP."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path

from callwright.nouns.types import ToolCall
from callwright_lab.benchmarks.bfcl.gold import LAST_WORD, Script, build_script, serve_gold

A, B, C = (ToolCall("", name, {"n": 1}) for name in ("shop.a", "b", "c"))
SCRIPT = Script(("First", "", "Third"), (((A,), (B,)), (), ((C,),)))
FIRST = {"role": "user", "content": "First"}
DONE = {"role": "assistant", "content": "…"}
RESULT = {"role": "tool", "content": "1"}
MORE = {"role": "user", "content": "[…]\nI have updated some more functions. What about now?"}


def test_each_turn_is_answered_call_by_call_and_ends_with_a_word() -> None:
    assert SCRIPT.find_reply([{"role": "system", "content": "First"}, FIRST]) == (A,)
    assert SCRIPT.find_reply([FIRST, DONE, RESULT]) == (B,)
    assert SCRIPT.find_reply([FIRST, DONE, RESULT, DONE, RESULT]) == ()
    assert SCRIPT.find_reply([FIRST, DONE, MORE]) == ()
    third = {"role": "user", "content": "Third"}
    assert SCRIPT.find_reply([FIRST, DONE, MORE, DONE, third]) == (C,)
    assert SCRIPT.find_reply([FIRST, DONE, {"role": "user", "content": "results"}]) == (B,)


def test_another_conversation_gets_a_word() -> None:
    assert SCRIPT.find_reply([{"role": "user", "content": "ping"}]) == ()


def test_the_endpoint_calls_offered_tools_and_writes_calls_where_none_are() -> None:
    with serve_gold(lambda category, case: SCRIPT) as model:
        model.prepare("any", "case")
        written = _ask(model.endpoint.url, {"messages": [FIRST]})
        called = _ask(model.endpoint.url, {"messages": [FIRST], "tools": [{}]})
        native = {"role": "assistant", "content": None, "tool_calls": [{}]}
        worded = _ask(model.endpoint.url, {"messages": [FIRST, native, RESULT]})
        ended = _ask(model.endpoint.url, {"messages": [FIRST, DONE, DONE], "tools": [{}]})
    assert written["content"] == "[shop.a(n=1)]"
    (call,) = called["tool_calls"]
    assert call["function"] == {"name": "shop_a", "arguments": '{"n":1}'}
    assert worded["content"] == ended["content"] == LAST_WORD
    assert len(model.asked) == 4


def _ask(url: str, body: dict[str, object]) -> dict[str, object]:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(f"{url}/chat/completions", json.dumps(body).encode()) as reply:
        message: dict[str, object] = json.loads(reply.read())["choices"][0]["message"]
    with direct.open(f"{url}/models") as reply:
        assert json.loads(reply.read())["data"]
    return message


def test_scripts_of_both_kinds(wheel: Path) -> None:
    turns = build_script("multi_turn_miss_func", "multi_turn_miss_func_77")
    assert len(turns.requests) == len(turns.replies)
    assert "" in turns.requests
    assert all(len(reply) == 1 for turn in turns.replies for reply in turn)
    single = build_script("parallel", "parallel_104")
    assert len(single.requests) == len(single.replies) == len(single.replies[0]) == 1
    assert len(single.replies[0][0]) > 1
