from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from callwright.models.chat import Gathered, body_out
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Message, Usage


def pieces_of(text: str, cuts: list[int]) -> list[str]:
    ends = sorted({min(c, len(text)) for c in cuts} | {0, len(text)})
    return [text[a:b] for a, b in pairwise(ends)]


def gathered(pieces: list[str]) -> tuple[Gathered, str]:
    got = Gathered()
    visible = "".join(got.feed({"choices": [{"delta": {"content": p}}]}) for p in pieces)
    return got, visible + got.close()


@given(st.text(alphabet="<>/thinkx \n", max_size=40), st.lists(st.integers(0, 40), max_size=12))
def test_how_a_reply_is_cut_into_pieces_changes_nothing(text: str, cuts: list[int]) -> None:
    whole, _ = gathered([text])
    cut, visible = gathered(pieces_of(text, cuts))
    assert (cut.text, cut.reasoning) == (whole.text, whole.reasoning)
    assert visible == cut.text


def test_thinking_is_set_apart_only_where_it_opens_the_reply() -> None:
    assert gathered(["\n<think>a", "b</think> \n yes"])[0].text == "yes"
    assert gathered(["\n<think>a", "b</think> \n yes"])[0].reasoning == "ab"
    assert gathered(["see <think>a</think>"])[0].text == "see <think>a</think>"


def test_unfinished_thinking_is_no_answer() -> None:
    got, visible = gathered(["<think>on and on"])
    assert (got.text, visible, got.reasoning) == ("", "", "on and on")


def test_calls_streamed_in_pieces_are_put_together_by_index() -> None:
    got = Gathered()
    for index, call in [
        (0, {"id": "a", "function": {"name": "f", "arguments": ""}}),
        (1, {"function": {"name": "g"}}),
    ]:
        got.feed({"choices": [{"delta": {"tool_calls": [{"index": index, **call}]}}]})
    for part in ('{"x"', ": 1}"):
        got.feed(
            {
                "choices": [
                    {"delta": {"tool_calls": [{"index": 0, "function": {"arguments": part}}]}}
                ]
            }
        )
    calls = got.calls()
    assert [(c.id, c.tool, c.arguments) for c in calls] == [
        ("a", "f", {"x": 1}),
        ("call_2", "g", ""),
    ]


def test_timings_count_tokens_of_a_reply_that_was_cut() -> None:
    got = Gathered()
    got.feed(
        {
            "choices": [{"delta": {"content": "a"}}],
            "timings": {"cache_n": 5, "prompt_n": 7, "predicted_n": 2},
        }
    )
    assert got.reply(prompt="").usage == Usage(12, 2, 5)


def test_without_a_count_the_usage_is_estimated_and_says_so() -> None:
    got, _ = gathered(["x" * 40])
    reply = got.reply(prompt="y" * 80)
    assert (reply.usage, reply.estimated) == (Usage(20, 10), True)


def test_the_likeliest_first_tokens_are_read_where_the_server_states_them() -> None:
    likely = [{"token": "A", "logprob": -0.1}, {"token": "B", "logprob": -3.0}, {"token": 1}]
    choice = {"message": {"content": "A"}, "logprobs": {"content": [{"top_logprobs": likely}]}}
    got = Gathered()
    got.feed({"choices": [choice]})
    found = got.reply(prompt="").first_token
    assert {token: round(p, 3) for token, p in found.items()} == {"A": 0.905, "B": 0.05}
    for odd in (None, {}, {"content": []}, {"content": [{"top_logprobs": 3}]}, {"content": [7]}):
        got = Gathered()
        got.feed({"choices": [{"message": {"content": "A"}, "logprobs": odd}]})
        assert got.reply(prompt="").first_token == {}


def _token(text: str, logprob: object) -> dict[str, object]:
    return {"token": text, "logprob": logprob}


def test_the_log_probabilities_of_the_answer_are_kept_without_those_of_its_thoughts() -> None:
    got = Gathered()
    said = [
        ("<think>", -0.1),
        ("Oslo?", -3.0),
        ("</thi", -0.2),
        ("nk>", -0.3),
        ("Yes", -0.5),
        (".", 0.1),
    ]
    for text, logprob in said:
        got.feed(
            {
                "choices": [
                    {"delta": {"content": text}, "logprobs": {"content": [_token(text, logprob)]}}
                ]
            }
        )
    got.close()
    assert got.reply(prompt="").logprobs == (-0.5, 0.0)
    assert got.reply(prompt="").text == "Yes."


def test_log_probabilities_that_are_none_are_left_out() -> None:
    got = Gathered()
    odd = {"content": [7, _token("a", None), _token("b", -1)]}
    got.feed({"choices": [{"message": {"content": "ab"}, "logprobs": odd}]})
    assert got.reply(prompt="").logprobs == (-1.0,)


def test_log_probabilities_are_asked_for_where_they_are_wanted() -> None:
    asked = ChatRequest((Message("user", "Hi."),), logprobs=True)
    assert body_out(asked)["logprobs"] is True
    assert "logprobs" not in body_out(replace(asked, logprobs=False))
