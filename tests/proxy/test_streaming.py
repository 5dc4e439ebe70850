from __future__ import annotations

import random

from tests.proxy.playbook import assembled, body, chunk, native_stream, text_stream

from callwright.proxy.context import Toolsets, read
from callwright.proxy.settings import Settings
from callwright.proxy.settle import settle
from callwright.proxy.streaming import Streamed

TEXTS = (
    'Sure.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>',
    '```json\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n```',
    'One <b> {two}.\n<tool_call>{"name": "get_weather", "arguments": {"city": "A </tool_call>"}}</tool_call> End.',
)
CONTEXT = read(body(), b"x", Toolsets(), Settings())


def through(stream: bytes, cuts: list[int]) -> bytes:
    assert CONTEXT is not None
    streamed = Streamed(CONTEXT)
    out, last = b"", 0
    for at in [*cuts, len(stream)]:
        out += streamed.feed(stream[last:at], 0.0)
        last = at
    out += streamed.end()
    if streamed.ready:
        try:
            next(settle(streamed.found(), streamed.said, streamed.finish, CONTEXT))
        except StopIteration as end:
            out += streamed.write(end.value)
    return out


def test_a_thousand_rechunkings_assemble_the_same_message() -> None:
    chance = random.Random(7)
    for text in TEXTS:
        first = None
        for _ in range(350):
            pieces, at = [], 0
            while at < len(text):
                size = chance.randint(1, 12)
                pieces.append(text[at : at + size])
                at += size
            stream = text_stream(*pieces)
            cuts = sorted(chance.sample(range(len(stream)), 5))
            message = assembled(through(stream, cuts))
            first = first or message
            assert message == first


def test_answers_without_calls_and_right_native_calls_are_the_same_bytes() -> None:
    chance = random.Random(8)
    native = native_stream(("c1", "get_weather", '{"city": "Paris"}'))
    words = text_stream("a < b, [x], {y} `z` ", "Action", ": none", " <tool", "box>")
    for stream in (native, words):
        for _ in range(100):
            assert through(stream, sorted(chance.sample(range(len(stream)), 4))) == stream


def test_comments_and_unknown_events_pass_in_their_place() -> None:
    stream = (
        b": hello\n\n"
        + chunk({"content": "x"})
        + b"event: odd\ndata: 1\n\n"
        + chunk({}, "stop")
        + b"data: [DONE]\n\n"
    )
    assert through(stream, []) == stream


def test_several_choices_are_not_understood_and_pass() -> None:
    stream = b'data: {"choices": [{"index": 0, "delta": {}}, {"index": 1, "delta": {}}]}\n\n' + text_stream(TEXTS[0])
    assert through(stream, []) == stream


def test_the_last_event_without_a_blank_line_is_not_lost() -> None:
    stream = text_stream("x", done=False) + b"data: [DONE]"
    assert through(stream, []) == stream
