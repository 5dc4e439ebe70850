from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.parsing.marker_set import MarkerSet
from callwright.parsing.pieces import Steps
from callwright.parsing.scanner import GLANCE, Scanner
from callwright.parsing.values import run_reader

ENDS = MarkerSet(["</a>", "</ab>"])
WORD = re.compile(r"\w*")


def whole(text: str, step: Callable[[Scanner], Steps[Any]]) -> tuple[Any, str]:
    """What a step takes of a text that is all there, and what it leaves."""
    tape = Scanner(text, ended=True)
    result = run_reader(step(tape))
    return result, tape.text[tape.at :]


def by_characters(text: str, step: Callable[[Scanner], Steps[Any]]) -> tuple[Any, str]:
    tape = Scanner()
    tape.mark()
    steps = step(tape)
    arrived = 0
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            return stop.value, tape.text[tape.at :] + text[arrived:]
        if arrived < len(text):
            tape.add(text[arrived])
            arrived += 1
        else:
            tape.ended = True


STEPS: dict[str, Callable[[Scanner], Steps[Any]]] = {
    "char": lambda t: t.char(),
    "space": lambda t: t.space(),
    "glance": lambda t: t.glance(),
    "glance on": lambda t: t.glance(2),
    "marker": lambda t: t.marker(ENDS),
    "closing": lambda t: t.closing(ENDS),
    "take": lambda t: t.take(WORD),
    "take three": lambda t: t.take(WORD, 3),
    "ahead": lambda t: t.ahead(ENDS),
    "ahead five": lambda t: t.ahead(ENDS, 5),
    "until": lambda t: t.until(ENDS),
    "until five": lambda t: t.until(ENDS, 5),
    "scalar": lambda t: t.scalar(),
    "value": lambda t: t.value(opened="}"),
    "value to": lambda t: t.value(ENDS, opened="]}"),
    "value five": lambda t: t.value(opened="}", limit=5),
    "round": lambda t: t.value(opened=")", round_=True),
}


@pytest.mark.parametrize(
    ("text", "ahead", "ends"),
    [
        ("", 0, True),
        ("ab", 2, True),
        ("ab", 1, False),
        (" " * GLANCE, 0, True),
        ("a" + " " * (GLANCE + 1), 1, False),
    ],
)
def test_a_reply_ends_where_nothing_but_a_glance_of_white_space_follows(
    text: str, ahead: int, ends: bool
) -> None:
    assert Scanner(text, ended=True).ends(ahead) is ends
    assert not Scanner(text).ends(ahead)


@pytest.mark.parametrize("name", STEPS)
@given(
    st.lists(st.sampled_from([*"ab \n\"'\\{}[](),:<", "</a>", "</ab>", " " * 70]), max_size=20).map(
        "".join
    )
)
def test_a_step_takes_the_same_however_the_text_arrives(name: str, text: str) -> None:
    assert by_characters(text, STEPS[name]) == whole(text, STEPS[name])


@pytest.mark.parametrize(
    ("text", "taken", "closed"),
    [
        ('{"a": "}"} x', '{"a": "}"}', True),
        ('{"a": "\\"}"} x', '{"a": "\\"}"}', True),
        ('{"a": "say "hi" }"} x', '{"a": "say "hi" }', True),
        ("{'a': '}'} x", "{'a': '}'}", True),
        ("{a: it's} x", "{a: it's}", True),
        ("[{]} x", "[{]", True),
        ('{"a": [', '{"a": [', False),
        ('{"a": "x"</a>', '{"a": "x"', False),
        ('{"a": "</a>"}', '{"a": "</a>"}', True),
    ],
)
def test_a_value_ends_at_its_last_bracket_outside_of_strings(
    text: str, taken: str, closed: bool
) -> None:
    assert whole(text, lambda t: t.value(ENDS))[0] == (taken, closed)


def test_a_string_is_taken_with_the_space_after_it() -> None:
    assert whole('"a\\"b" : 1', lambda t: t.string()) == (('"a\\"b" ', True), ": 1")
    assert whole('"a', lambda t: t.string()) == (('"a', False), "")


def test_what_was_read_since_the_mark_can_be_had_and_put_back() -> None:
    tape = Scanner("before ")
    tape.at = len(tape.text)
    tape.mark()
    tape.add("x" * 100)
    tape.at = len(tape.text)
    tape.add("y" * 100)
    tape.at += 50
    assert tape.raw() == "x" * 100 + "y" * 50
    start = tape.back()
    assert tape.text[start:] == "x" * 100 + "y" * 100
    assert tape.text[:start].endswith("before ")


def test_a_closing_marker_is_not_looked_for_behind_too_much_space() -> None:
    assert whole(" " * GLANCE + "</a>", lambda t: t.closing(ENDS))[0] == "</a>"
    assert whole(" " * (GLANCE + 1) + "</a>", lambda t: t.closing(ENDS))[0] == ""
