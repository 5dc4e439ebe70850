from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.proxy.server.budget import Budget
from callwright.proxy.session.answers.streaming import Streamed
from callwright.proxy.session.context import Toolsets, read_context
from callwright.proxy.session.decision.decide import decide_calls
from callwright.proxy.session.settings import Settings
from tests.proxy.playbook import assembled, body, chunk, events, native_stream, text_stream

TEXTS = (
    'Sure.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>',
    '```json\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n```',
    (
        'One <b> {two}.\n<tool_call>{"name": "get_weather", "arguments": {"city": "A'
        ' </tool_call>"}}</tool_call> End.'
    ),
)
CONTEXT = read_context(body(), b"x", Toolsets(), Settings())


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
            next(
                decide_calls(streamed.found(), streamed.text_beside_calls, streamed.finish, CONTEXT)
            )
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
    stream = (
        b'data: {"choices": [{"index": 0, "delta": {}}, {"index": 1, "delta": {}}]}\n\n'
        + text_stream(TEXTS[0])
    )
    assert through(stream, []) == stream


def test_the_last_event_without_a_blank_line_is_not_lost() -> None:
    stream = text_stream("x", done=False) + b"data: [DONE]"
    assert through(stream, []) == stream


@pytest.mark.parametrize("text", TEXTS)
def test_what_goes_out_is_the_same_bytes_wherever_the_network_cuts(text: str) -> None:
    stream = text_stream(*[text[i : i + 3] for i in range(0, len(text), 3)])
    expected = through(stream, [])
    assert expected != stream
    for at in range(1, len(stream), 23):
        assert through(stream, [at]) == expected
    assert through(stream, list(range(1, len(stream)))) == expected


def test_events_before_and_after_a_call_keep_their_bytes() -> None:
    before, after = chunk({"content": "Sure.\n"}), chunk({"content": " Done."})
    call = chunk(
        {
            "content": (
                '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>'
            )
        }
    )
    out = through(before + call + after + chunk({}, "stop") + b"data: [DONE]\n\n", [])
    assert out.startswith(before + after)
    assert assembled(out)["calls"][0]["name"] == "get_weather"


def test_an_event_that_is_half_call_keeps_what_else_it_carries() -> None:
    half = chunk(
        {"role": "assistant", "content": "Hm. " + TEXTS[2][15:]}, usage={"prompt_tokens": 1}
    )
    first = events(through(half + chunk({}, "stop") + b"data: [DONE]\n\n", []))[0]
    assert first["choices"][0]["delta"] == {"role": "assistant", "content": "Hm.  End."}
    assert first["usage"] == {"prompt_tokens": 1}


def test_a_stream_that_breaks_off_behind_a_call_loses_none_of_its_text() -> None:
    call = '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>'
    broken = b"".join(chunk({"content": c}) for c in ("a ", call[:30], call[30:], " b <tool"))
    for cuts in ([], list(range(1, len(broken)))):
        said = assembled(through(broken, cuts))["text"]
        assert sorted(said.replace(call, "")) == sorted("a  b <tool")
        assert call in said


@pytest.mark.parametrize("error", [b"", b'data: {"error": {"message": "no memory"}}\n\n'])
def test_calls_of_an_answer_that_breaks_off_do_not_go_out_undecided(error: bytes) -> None:
    stream = native_stream(("c1", "get_weather", '{"city": "Paris"}'))
    begun = chunk({"content": "I look. "}) + stream.rpartition(b"data: {")[0]
    for cuts in ([], list(range(1, len(begun)))):
        out = through(begun + error, cuts)
        assert assembled(out.removesuffix(error))["text"] == "I look. "
        assert b"get_weather" not in out
        assert out.endswith(error)


def test_a_call_of_the_older_form_is_one_of_the_upstreams_own() -> None:
    called = {"name": "get_weather", "arguments": '{"city": "Paris"}'}
    head = chunk({"role": "assistant", "content": "Sure."})
    rest = [chunk({"function_call": {**called, "arguments": ""}})]
    rest += [chunk({"function_call": {"arguments": piece}}) for piece in ('{"city": ', '"Paris"}')]
    made = through(head + b"".join(rest) + chunk({}, "function_call") + b"data: [DONE]\n\n", [])
    message = assembled(made)
    assert message["text"] == "Sure."
    assert [(c["name"], c["arguments"]) for c in message["calls"]] == [
        ("get_weather", '{"city":"Paris"}')
    ]
    assert message["finish"] == "tool_calls"
    assert b"function_call" not in made


def test_what_servers_send_behind_the_end_is_neither_lost_nor_a_second_end() -> None:
    late = chunk({"content": " Bye."}, "stop") + chunk({}, None, usage={"prompt_tokens": 2})
    out = through(text_stream(TEXTS[0], done=False) + late + b"data: [DONE]\n\n", [])
    message = assembled(out)
    assert (message["text"], message["finish"]) == ("Sure.\n Bye.", "tool_calls")
    assert events(out)[-1]["usage"] == {"prompt_tokens": 2}


def test_an_answer_with_its_finish_waits_two_seconds_for_the_rest() -> None:
    assert CONTEXT is not None
    streamed = Streamed(CONTEXT)
    streamed.feed(text_stream(TEXTS[1], done=False), 5.0)
    assert streamed.wake == 7.0
    assert streamed.tick(6.9) == b""
    assert not streamed.ready
    streamed.tick(7.0)
    assert streamed.ready


def test_endless_calls_are_let_go_and_memory_stays_bounded() -> None:
    assert CONTEXT is not None
    context = replace(
        CONTEXT, settings=Settings(call_bytes=200_000, budget=Budget(waiting_bytes=400_000))
    )
    piece = native_stream(("c1", "get_weather", "x" * 1000)).partition(b"data: [DONE]")[0]
    calls = b"data: ".join(piece.split(b"data: ")[:-1])  # without its finish
    text = chunk(
        {"content": '<tool_call>{"name": "get_weather", "arguments": {"city": "' + "y" * 1000}
    )
    for endless in (calls, text, b"data: " + b"z" * 1000):
        streamed, sent, got = Streamed(context), 0, 0
        for _ in range(900):
            got += len(streamed.feed(endless, 0.0))
            sent += len(endless)
        assert sent - got < 500_000


def test_an_error_in_the_middle_goes_on_as_it_came_with_all_that_waited() -> None:
    error = b'data: {"error": {"message": "CUDA out of memory", "code": 500}}\n\n'
    stream = chunk({"content": "It <tool_call>{"}) + error + b"data: [DONE]\n\n"
    assert through(stream, []) == stream


GARBAGE = [
    b"data: {\n\n",
    b"data: \xff\xfe\n\n",
    b"data: [1, 2]\n\n",
    b'data: {"choices": 3}\n\n',
    b"garbage\n\n",
    b"\n\n",
]
GARBAGE += [
    b'data: {"choices": [{"delta": "x"}]}\n\n',
    b'data: {"choices": [{"delta": {"content": 3}}]}\n\n',
]
GARBAGE += [
    b'data: {"choices": [{"delta": {"tool_calls": {"a": 1}}}]}\n\n',
    b"event: ping\n\n",
    b"data: null\n\n",
]


@given(st.lists(st.sampled_from(GARBAGE), max_size=6), st.lists(st.integers(0, 400), max_size=4))
def test_garbage_between_events_passes_and_changes_nothing(
    garbage: list[bytes], cuts: list[int]
) -> None:
    stream = chunk({"content": "a"}) + b"".join(garbage) + text_stream("It ", "rains.")
    assert through(stream, sorted(c for c in cuts if c < len(stream))) == stream


def fed(*pieces: str, **more: object) -> tuple[Streamed, list[bytes]]:
    context = read_context(body(**more), b"x", Toolsets(), Settings())
    assert context is not None
    streamed = Streamed(context)
    return streamed, [streamed.feed(chunk({"content": piece}), 0.0) for piece in pieces]


def test_a_leftover_is_cut_out_and_all_before_it_has_flowed() -> None:
    streamed, out = fed("It is ", "warm.", "<|im", "_end|>", "\n")
    assert out[:3] == [chunk({"content": "It is "}), chunk({"content": "warm."}), b""]
    assert [assembled(data)["text"] for data in out[3:]] == ["", "\n"]
    assert streamed.removed == ("<|im_end|>",)
    streamed.feed(chunk({}, "stop") + b"data: [DONE]\n\n", 0.0)
    assert streamed.ready, "the removal is an edit"


def test_what_only_began_like_a_token_goes_on_when_its_time_has_come() -> None:
    streamed, out = fed("a <|im")
    assert out == [b""]
    assert streamed.wake is not None
    assert streamed.tick(streamed.wake) == chunk({"content": "a <|im"})
    assert streamed.feed(chunk({"content": "_end|> b"}), 3.0) == chunk({"content": "_end|> b"})
    assert streamed.removed == ()


RESULTS = [
    {"role": "user", "content": "Weather?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "{}"},
]


def test_after_results_json_waits_and_goes_out_as_it_came_once_words_follow() -> None:
    streamed, out = fed("{}", " is", " it", messages=RESULTS)
    assert out == [
        b"",
        chunk({"content": "{}"}) + chunk({"content": " is"}),
        chunk({"content": " it"}),
    ]
    assert streamed.text_in_words is None
    streamed, out = fed("{}", messages=RESULTS)
    assert out == [b""]
    assert streamed.text_in_words == "{}"
    streamed.drop_words()
    assert streamed.text_beside_calls == ""


def test_endless_json_after_results_waits_for_64_kilobytes() -> None:
    streamed, out = fed('["', *["x" * 1024] * 70, messages=RESULTS)
    assert len(b"".join(out)) > 0
    assert streamed.text_in_words is None
