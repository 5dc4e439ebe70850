"""The built-in corpus answers its questions in two hops."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.benchmarks.search.corpus import (
    Corpus,
    Passage,
    invented_corpus,
    invented_questions,
    read_corpus,
    read_questions,
)


def test_the_rarer_word_ranks_higher_and_strangers_are_left_out() -> None:
    corpus = Corpus(
        [Passage("a", "the cat sat"), Passage("b", "the dog sat"), Passage("c", "the zebra stood")]
    )
    assert corpus.search("the zebra")[0].title == "c"
    assert corpus.search("unicorn") == []
    assert len(corpus.search("the", 2)) == 2
    assert Corpus([]).search("the") == []


def test_every_invented_question_can_be_answered_by_two_searches() -> None:
    corpus = invented_corpus()
    for question in invented_questions():
        name = question.text.split("where ")[1].removesuffix(" was born?")
        about = corpus.search(name)[0]
        assert about.title == name
        country = about.text.split(", ")[3]
        asked = question.text.split("What is the ")[1].split(" of the country")[0]
        held = " ".join(p.text for p in corpus.search(f"{asked} of {country}"))
        assert question.answers[0] in held, question


def test_a_user_s_own_files_are_read(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text('{"title": "T", "text": "words here"}\n')
    assert read_corpus(corpus).search("words")[0].title == "T"
    rows = [{"Question": "Q1", "Answer": "a"}, {"Question": "Q2", "Answer": ["b", "c"]}]
    for name, text in (("q.json", json.dumps(rows)), ("q.jsonl", "\n".join(map(json.dumps, rows)))):
        (tmp_path / name).write_text(text)
        assert [q.answers for q in read_questions(tmp_path / name)] == [("a",), ("b", "c")]
    with pytest.raises(ConfigError, match="there is no data file"):
        read_corpus(tmp_path / "nothing.jsonl")
