import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.grounding.words import all_concepts, concepts, fold, key_tokens, stem, tokens


def test_case_and_accents_do_not_part_words() -> None:
    assert fold("Málaga") == fold("MALAGA") == "malaga"
    assert tokens("São-Paulo, 3rd!") == ["sao", "paulo", "3rd"]


@pytest.mark.parametrize(
    "key", ["totalPassengers", "total_passengers", "total-passengers", "Total passengers"]
)
def test_keys_are_read_alike_in_every_style(key: str) -> None:
    assert key_tokens(key) == ["total", "passengers"]


def test_a_run_of_capitals_is_one_word_of_a_key() -> None:
    assert key_tokens("HTTPStatusCode") == ["http", "status", "code"]


@pytest.mark.parametrize(
    "words", [("arrive", "arrives"), ("city", "cities"), ("visit", "visits", "visited", "visiting")]
)
def test_forms_of_a_word_share_a_stem(words: tuple[str, ...]) -> None:
    assert len({stem(w) for w in words}) == 1


@given(st.text("abcdefghijklmnopqrstuvwxyz", max_size=30))
def test_a_stem_is_a_short_form_of_the_word(word: str) -> None:
    assert 0 < len(stem(word)) <= len(word) or not word
    assert stem(word)[:3] == word[:3]


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
    assert concepts(key) & concepts(said)


def test_words_of_different_things_share_no_concept() -> None:
    assert not concepts("population") & concepts("price")


def test_words_without_meaning_name_nothing() -> None:
    assert all_concepts(["the", "of", "results"]) == frozenset()


@given(st.text(max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    assert all(t == fold(t) for t in tokens(text))
    all_concepts(key_tokens(text))
