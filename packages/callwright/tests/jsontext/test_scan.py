from __future__ import annotations

import json
import time
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from callwright.jsontext.scan import Span, first_span, string_end

objects = st.recursive(
    st.text() | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
).filter(lambda v: isinstance(v, dict | list))


def test_a_text_without_brackets_has_no_span() -> None:
    assert first_span("nothing here") is None


def test_the_span_ends_with_the_bracket_that_closes_the_first() -> None:
    assert first_span('say {"a": [1, {"b": 2}]} done') == Span(4, 24, True)


def test_brackets_and_quotes_inside_strings_do_not_count() -> None:
    text = '{"a": "} ] \\" {", \'b\': \'}\'}'
    assert first_span(text) == Span(0, len(text), True)


def test_an_unescaped_quote_inside_a_string_does_not_end_it() -> None:
    text = '{"a": "he said "hi} there" to me"} tail'
    span = first_span(text)
    assert span is not None
    assert text[: span.end] == '{"a": "he said "hi} there" to me"}'


def test_an_apostrophe_in_a_bare_word_opens_no_string() -> None:
    assert first_span("{a: don't} x") == Span(0, 10, True)


def test_an_open_string_or_bracket_is_not_closed() -> None:
    for text in ('{"a": "x', '{"a": {"b": 1}', "[1, 2", '{"a": "x}'):
        span = first_span(text)
        assert span is not None
        assert not span.closed, text
        assert span.end == len(text)


def test_a_string_that_never_ends_is_minus_one() -> None:
    assert string_end('"abc', 0) == -1
    assert string_end('"abc" ,', 0) == 5


@given(objects, st.text(alphabet="abc .,\n"), st.text(alphabet="abc .,\n"))
def test_any_json_value_amid_prose_is_found_exactly(value: Any, before: str, after: str) -> None:
    for text in (json.dumps(value), json.dumps(value, indent=1, ensure_ascii=False)):
        span = first_span(before + text + after)
        assert span == Span(len(before), len(before) + len(text), True)


@given(objects, st.data())
def test_no_proper_prefix_of_a_value_counts_as_closed(value: Any, data: st.DataObject) -> None:
    text = json.dumps(value)
    cut = data.draw(st.integers(1, len(text) - 1)) if len(text) > 1 else 1
    span = first_span(text[:cut])
    assert span is None or not span.closed or text[:cut] == text


def test_a_long_text_takes_linear_time() -> None:
    started = time.perf_counter()
    first_span('{"a": "' + 'x" ' * 300_000)
    first_span("[" * 1_000_000)
    assert time.perf_counter() - started < 3
