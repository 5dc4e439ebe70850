import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.grounding.words import all_concepts, find_concepts, stem_word
from callwright.language.tokens import key_tokens


@pytest.mark.parametrize(
    "words", [("arrive", "arrives"), ("city", "cities"), ("visit", "visits", "visited", "visiting")]
)
def test_forms_of_a_word_share_a_stem(words: tuple[str, ...]) -> None:
    assert len({stem_word(w) for w in words}) == 1


@given(st.text("abcdefghijklmnopqrstuvwxyz", max_size=30))
def test_a_stem_is_a_short_form_of_the_word(word: str) -> None:
    assert 0 < len(stem_word(word)) <= len(word) or not word
    assert stem_word(word)[:3] == word[:3]


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("population", "inhabitants"),
        ("price", "costs"),
        ("temperature", "warmest"),
        ("duration", "takes"),
        ("wins", "won"),
    ],
)
def test_what_a_key_and_a_sentence_call_the_same_thing_meets_in_a_concept(
    key: str, said: str
) -> None:
    assert find_concepts(key) & find_concepts(said)


def test_words_of_different_things_share_no_concept() -> None:
    assert not find_concepts("population") & find_concepts("price")


def test_words_without_meaning_name_nothing() -> None:
    assert all_concepts(["the", "of", "results"]) == frozenset()


@given(st.text(max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    all_concepts(key_tokens(text))
