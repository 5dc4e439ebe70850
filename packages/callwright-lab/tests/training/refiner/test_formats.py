"""The formats of refiner data: read strictly, written as their publishers do."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright_lab.training.refiner.formats import FORMATS, Invocation, is_representable

CALL = Invocation("weather", {"city": "Lyon", "days": 2, "now": True})
NESTED = (
    Invocation("find", {"word": "pen"}, ("API_call_0", "API_call_1")),
    Invocation("buy", {"item": "API_call_0"}, ("API_call_2",)),
)
WRITTEN = {
    "glaive": (
        "<functioncall> "
        '{"name": "weather", "arguments": {"city": "Lyon", "days": 2, "now": true}} <|endoftext|>'
    ),
    "toolace": "<function_list>[weather(city='Lyon', days=2, now=True)]</function_list>",
    "xlam": (
        '<func_call>[{"name": "weather", "arguments": {"city": "Lyon", "days": 2, "now":'
        " true}}]</func_call>"
    ),
}


@pytest.mark.parametrize(("name", "text"), WRITTEN.items())
def test_a_call_is_written_and_read_in_each_sources_format(name: str, text: str) -> None:
    assert FORMATS[name].write([CALL]) == text
    reading = FORMATS[name].read(text)
    assert (reading.calls, reading.right) == ((CALL,), True)


def test_nested_calls_keep_their_labels_and_steps_their_numbers() -> None:
    text = FORMATS["nestools"].write(NESTED)
    assert text.startswith(
        '<nested_function>[{"api_name": "find", "parameters": {"word": "pen"}, "responses": ["API'
    )
    assert FORMATS["nestools"].read(text).calls == NESTED
    steps = [Invocation("a", {}, step=1), Invocation("b", {}, step=1), Invocation("c", {}, step=2)]
    text = FORMATS["order"].write(steps)
    assert (
        text == '<order_func>[{"step": 1, "tool_list": ["a", "b"]}, {"step": 2, "tool_list":'
        ' ["c"]}]</order_func>'
    )
    assert FORMATS["order"].read(text).calls == tuple(steps)


@pytest.mark.parametrize("name", WRITTEN)
def test_reasoning_may_stand_before_the_tags_and_nothing_else(name: str) -> None:
    text = WRITTEN[name]
    assert FORMATS[name].read(f"<think>The city is clear.</think>\n{text}").right
    for spoiled in (f"Here you are: {text}", f"{text} Done.", f"```{text}```"):
        reading = FORMATS[name].read(spoiled)
        assert not reading.right
        assert reading.calls == (CALL,)


@pytest.mark.parametrize("name", WRITTEN)
def test_without_its_tags_a_reply_is_read_but_not_right(name: str) -> None:
    tags = (FORMATS[name].open, FORMATS[name].close)
    reading = FORMATS[name].read(WRITTEN[name].replace(tags[0], "").replace(tags[1], ""))
    assert (reading.calls, reading.right) == ((CALL,), False)
    assert FORMATS[name].read(WRITTEN[name].replace(tags[1], "")).right is False


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("xlam", "[{'name': 'a', 'arguments': {}}]"),
        ("xlam", '{"name": "a", "arguments": {}}'),
        ("xlam", '[{"name": "a", "parameters": {}}]'),
        ("xlam", '[{"name": "a", "arguments": "{}"}]'),
        ("xlam", '[{"name": "a", "arguments": {}, "id": 1}]'),
        ("glaive", '[{"name": "a", "arguments": {}}]'),
        ("toolace", "[a('x')]"),
        ("toolace", "[a(x=b)]"),
        ("toolace", "[a(x={1})]"),
        ("toolace", "a(x=1)"),
        ("toolace", "[a(**{})]"),
        ("nestools", '[{"api_name": "a", "parameters": {}}]'),
        ("order", '[{"step": 2, "tool_list": ["a"]}]'),
        ("order", '[{"step": 1, "tool_list": [1]}]'),
        ("order", "[" * 5000),
        ("toolace", "[" * 5000),
    ],
)
def test_what_is_not_exactly_the_format_cannot_be_read(name: str, body: str) -> None:
    found = FORMATS[name]
    reading = found.read(f"{found.open}{body}{found.close}")
    assert (reading.calls, reading.right) == (None, False)


def test_calls_a_format_cannot_say_do_not_fit() -> None:
    assert is_representable([CALL], "toolace")
    assert not is_representable([Invocation("Search Managers", {})], "toolace")
    assert not is_representable([Invocation("trip", {"from": "Lyon"})], "toolace")
    assert not is_representable([CALL, CALL], "glaive")


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=40)
@given(
    st.sampled_from(["xlam", "toolace", "nestools"]),
    st.dictionaries(st.from_regex(r"x[a-z]{0,5}", fullmatch=True), _JSON),
)
def test_what_is_written_is_read_again(name: str, arguments: dict[str, object]) -> None:
    calls = (Invocation("a.b", arguments), Invocation("c", {}))
    text = FORMATS[name].write(calls)
    reading = FORMATS[name].read(text)
    assert (reading.right, reading.calls) == (True, calls)


@given(st.sampled_from(sorted(FORMATS)), st.text())
def test_any_text_is_taken(name: str, text: str) -> None:
    found = FORMATS[name]
    assert found.read(text).right in (True, False)
    assert found.read(found.open + text + found.close).right in (True, False)
