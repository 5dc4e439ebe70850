import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.types import Tool
from callwright.repair.by_model.reply import read_reply

TOOLS = [
    Tool("find_city", input_schema={"type": "object", "properties": {"name": {}, "n": {}}}),
    Tool("locate_book"),
]


@pytest.mark.parametrize(
    "text",
    [
        '<func_call>[{"name": "find_city", "arguments": {"name": "Rome", "n": 2}}]</func_call>',
        "<function_list>[find_city(name='Rome', n=2)]</function_list>",
        (
            '<nested_function>[{"api_name": "find_city", "parameters": {"name": "Rome", "n":'
            " 2}}]</nested_function>"
        ),
        (
            '<think>Rome.</think>\n<func_call>[{"name": "find_city", "arguments": {"name": "Rome",'
            ' "n": 2}}]</func_call>'
        ),
        (
            '<func_call>```json\n[{"name": "find_city", "arguments": {"name": "Rome", "n":'
            " 2}}]\n```</func_call>"
        ),
        '<tool_call>{"name": "find_city", "arguments": {"name": "Rome", "n": 2}}</tool_call>',
    ],
)
def test_one_call_is_read_from_every_format_of_the_paper(text: str) -> None:
    read = read_reply(text, TOOLS)
    assert [(c.tool, c.arguments) for c in read.calls] == [("find_city", {"name": "Rome", "n": 2})]
    assert not read.truncated


def test_labels_become_ids() -> None:
    text = """<nested_function>[
        {"api_name": "find_city", "parameters": {}, "responses": ["API_call_0", "API_call_1"]},
        {"api_name": "locate_book", "parameters": {"at": "API_call_1"}, "responses": ["API_call_2"]}
    ]</nested_function>"""
    assert [c.id for c in read_reply(text).calls] == ["API_call_0 API_call_1", "API_call_2"]
    text = '<func_call>[{"name": "add", "arguments": {}, "label": "$var_1"}]</func_call>'
    assert [c.id for c in read_reply(text).calls] == ["$var_1"]


def test_an_order_is_read_as_steps_of_names() -> None:
    text = (
        '<order_func>[{"step": 1, "tool_list": ["a", "b"]}, {"step": 2, "tool_list":'
        ' ["c"]}]</order_func>'
    )
    assert read_reply(text).steps == (("a", "b"), ("c",))
    assert read_reply('<order_func>["a", "c"]</order_func>').steps == (("a",), ("c",))


def test_a_reply_that_stops_in_the_middle_says_so() -> None:
    assert read_reply('<func_call>[{"name": "find_city", "arguments": {"name": "Ro').truncated
    assert read_reply('<func_call>[{"name": "find_city", "arguments": {}}]').truncated
    assert read_reply("<think>Let me see").calls == ()


def test_a_list_with_something_that_is_no_call_gives_none() -> None:
    assert read_reply('<func_call>[{"name": "a", "arguments": {}}, 7]</func_call>').calls == ()


def test_a_plain_no_is_told_from_silence() -> None:
    assert read_reply("<func_call>[]</func_call>").none
    assert not read_reply("I would not call anything.").none


@given(
    st.text(), st.sampled_from(["func_call", "function_list", "nested_function", "order_func", "x"])
)
def test_any_text_is_read_without_an_error(text: str, tag: str) -> None:
    read_reply(text, TOOLS)
    read_reply(f"<{tag}>{text}</{tag}>", TOOLS)


@given(
    st.lists(
        st.dictionaries(st.text(), st.none() | st.booleans() | st.integers() | st.text()),
        max_size=4,
    )
)
def test_what_is_written_as_json_calls_is_read_back(arguments: list[dict[str, object]]) -> None:
    body = json.dumps([{"name": "t", "arguments": a} for a in arguments])
    read = read_reply(f"<func_call>{body}</func_call>")
    if "</func_call>" not in body and "<think>" not in body and "</think>" not in body:
        assert [c.arguments for c in read.calls] == arguments
