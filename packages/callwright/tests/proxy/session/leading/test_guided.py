from __future__ import annotations

import json
from typing import Any

from callwright.proxy.session.context import Context, Toolsets, read_context
from callwright.proxy.session.leading import guided
from callwright.proxy.session.settings import Settings
from tests.proxy.playbook import body


def context(**more: Any) -> Context:
    found = read_context(body(**more), b"x", Toolsets(), Settings())
    assert found is not None
    return found


def test_the_schema_holds_every_offered_tool_and_no_call() -> None:
    some, none = guided.build_schema(context())["anyOf"]
    names = [
        c["properties"]["name"]["const"] for c in some["properties"]["calls"]["items"]["anyOf"]
    ]
    assert names == ["get_weather", "send_mail"]
    assert "no_call" in none["properties"]


def test_the_schema_follows_tool_choice_and_parallel_calls() -> None:
    chosen = {"type": "function", "function": {"name": "send_mail"}}
    made = guided.build_schema(context(tool_choice=chosen, parallel_tool_calls=False))
    calls = made["properties"]["calls"]
    assert [*made["properties"]] == ["calls"], "one call is all that is asked for"
    assert calls["maxItems"] == 1
    assert [c["properties"]["name"]["const"] for c in calls["items"]["anyOf"]] == ["send_mail"]


def test_as_many_calls_can_be_demanded_as_a_reply_may_hold() -> None:
    for least, told in ((1, 1), (3, 3), (99, 16)):
        some, _ = guided.build_schema(context(), least=least)["anyOf"]
        assert some["properties"]["calls"]["minItems"] == told


def test_the_tools_are_told_at_the_end_of_the_system_message() -> None:
    system = {"role": "system", "content": "Be brief."}
    sent = guided.build_body(context(messages=[system, {"role": "user", "content": "x"}]))
    assert [m["role"] for m in sent["messages"]] == ["system", "user"]
    assert sent["messages"][0]["content"].startswith("Be brief.\n\n")
    assert "get_weather" in sent["messages"][0]["content"]
    assert not {"tools", "tool_choice", "stream"} & sent.keys()


def test_a_system_message_without_words_is_not_told_as_text() -> None:
    system = {"role": "system", "content": None}
    sent = guided.build_body(context(messages=[system, {"role": "user", "content": "x"}]))
    assert not sent["messages"][0]["content"].startswith("None")


def test_our_own_engine_is_given_the_layout_that_small_models_know() -> None:
    asked = context()
    asked.local = True
    assert '"item_separator": ", "' in guided.build_body(asked)["grammar"]


def test_the_body_is_json() -> None:
    assert json.dumps(guided.build_body(context()))


def test_a_question_about_the_tools_is_told_of_them_and_another_is_not() -> None:
    asked = context(messages=[{"role": "user", "content": "Which tools do you have?"}])
    made = guided.build_body_in_words(asked)
    assert "send_mail" in made["messages"][0]["content"]
    assert "tools" not in made
    greeting = context(messages=[{"role": "user", "content": "Hello!"}])
    assert guided.build_body_in_words(greeting)["messages"] == [
        {"role": "user", "content": "Hello!"}
    ]
