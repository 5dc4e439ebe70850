"""Leftovers of chat templates in a text: what is removed, what is meant, and any split of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.parsing.leftovers import LeftoverFilter, Part, join_removed, remove_leftovers
from callwright.parsing.template_tokens import load_template_tokens

SENTENCES = {
    "en": "The order is placed.",
    "de": "Die Bestellung ist aufgegeben.",
    "es": "El pedido está hecho.",
    "zh": "订单已提交。",
    "ar": "تم تقديم الطلب.",
}
WORDS = sorted(load_template_tokens().words)


def named_nowhere(_: str) -> bool:
    return False


def clean(text: str) -> tuple[str, tuple[str, ...]]:
    return remove_leftovers(text, named_nowhere)


@pytest.mark.parametrize("language", SENTENCES)
@pytest.mark.parametrize("word", ["<|im_end|>", "<tool_response>", "[/INST]", "</s>"])
def test_a_token_at_the_end_is_removed_in_every_language(word: str, language: str) -> None:
    said = SENTENCES[language]
    assert clean(said + word) == (said, (word,))
    assert clean(f"{said} {word}\n") == (f"{said} \n", (word,))


@pytest.mark.parametrize("language", SENTENCES)
def test_a_token_at_the_beginning_goes_with_the_space_behind_it(language: str) -> None:
    said = SENTENCES[language]
    made = clean(f"<|im_start|>assistant\n{said}<|im_end|>")
    assert made == (said, ("<|im_start|>assistant\n", "<|im_end|>"))


@pytest.mark.parametrize("word", WORDS)
def test_every_known_token_is_removed_and_listed(word: str) -> None:
    assert clean(f"Done.{word}") == ("Done.", (word,))


@pytest.mark.parametrize(
    "text",
    [
        *SENTENCES.values(),
        "Write `<|im_end|>` at the end.",
        "Write ``a `<|im_end|>` b``.",
        "```\n<|im_start|>user\nHi<|im_end|>\n```\nThat is ChatML.",
        "~~~text\n</tool_call>\n~~~",
        "- ```\n  <|im_end|>\n  ```",
        'The token "<|im_end|>" ends a turn.',
        "Das Zeichen „<|im_end|>“ beendet es.",
        "结束标记是「<|im_end|>」。",
        "使用<|im_end|>结束",
        "A turn ends with <|im_end|> in ChatML.",
        "Prices: <b>3</b> < 5 and a[0] > [INS] <|pipe",
        "Old <s>price</s> new",
        "<think>Hm <b></think>",
        '{"stop": ["<|im_end|>", "</s>"]}',
        "a <| b |> c <tool",
    ],
)
def test_what_is_meant_stays(text: str) -> None:
    assert clean(text) == (text, ())


def test_after_a_fence_tokens_are_leftovers_again() -> None:
    text = "```\nx <|im_end|>\n```\nDone.<|im_end|>"
    assert clean(text) == ("```\nx <|im_end|>\n```\nDone.", ("<|im_end|>",))


def test_what_the_conversation_names_stays() -> None:
    text = "It is <|im_end|>"
    assert remove_leftovers(text, lambda token: token == "<|im_end|>") == (text, ())


def test_the_turn_of_somebody_else_is_no_part_of_the_answer() -> None:
    text = "Done.<|im_end|>\n<|im_start|>user\nThanks!<|im_end|>\n<|im_start|>assistant\nBye."
    shown, removed = clean(text)
    assert shown == "Done.\n\nBye."
    assert removed == ("<|im_end|>", "<|im_start|>user\nThanks!<|im_end|>\n<|im_start|>assistant")


def test_nothing_is_taken_for_such_a_turn_before_the_answer_began() -> None:
    assert clean("<|im_start|>user\nIt rains.")[0] == "It rains."


def test_text_flows_at_once_and_only_the_beginning_of_a_token_waits() -> None:
    made = LeftoverFilter(named_nowhere)
    assert made.feed("It is 3 ") == [Part("It is 3 ")]
    assert made.feed("deg <") == [Part("deg ")]
    assert made.feed("b> ") == [Part("<b> ")]
    assert made.feed("x<|im_e") == [Part("x")]
    assert made.feed("nd|>") == []  # the sentence may go on behind it
    assert made.feed("\n") == [Part("<|im_end|>", is_removed=True), Part("\n")]


PIECES = st.lists(
    st.one_of(
        st.sampled_from(WORDS),
        st.sampled_from(
            [*SENTENCES.values(), "\n", " ", "`", "```\n", '"', "a ", "x", "<", "[", "("]
        ),
        st.text(max_size=4),
    ),
    max_size=12,
)


@given(PIECES, st.lists(st.integers(0, 400), max_size=8))
def test_any_split_of_a_text_gives_the_same_parts(pieces: list[str], cuts: list[int]) -> None:
    text = "".join(pieces)
    made, parts, last = LeftoverFilter(named_nowhere), list[Part](), 0
    for at in [*sorted(min(cut, len(text)) for cut in cuts), len(text)]:
        parts += made.feed(text[last:at])
        last = at
    parts += made.flush()
    assert "".join(part.text for part in parts) == text
    shown = "".join(part.text for part in parts if not part.is_removed)
    assert (shown, join_removed(parts)) == clean(text)


def test_the_work_grows_with_the_text_and_not_with_its_square() -> None:
    text = "`" + "<|im_end|> a " * 20_000
    made = LeftoverFilter(named_nowhere)
    parts = [part for at in range(0, len(text), 7) for part in made.feed(text[at : at + 7])]
    assert "".join(part.text for part in [*parts, *made.flush()]) == text
