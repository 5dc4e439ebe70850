"""A small local corpus and BM25 over it. The built-in passages are about the invented people of
:mod:`people`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from callwright_lab.benchmarks.search.people import COUNTRIES, Country, Person, make_person
from callwright_lab.datasets.examples import read_json, read_lines

CORPUS_WHERE = 'a corpus is a file of JSON lines: {"title": …, "text": …}'
QUESTIONS_WHERE = (
    'questions are a JSON list or JSON lines of {"Question": …, "Answer": …} (Bamboogle\'s form)'
)
K1, B = 1.2, 0.75  # Okapi's usual constants
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Passage:
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """``answers``: any of them is right."""

    id: str
    text: str
    answers: tuple[str, ...]


class Corpus:
    """Passages ranked by BM25 (Robertson and Zaragoza 2009) with title and text as one field."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = tuple(passages)
        self._counts = [Counter(_split_words(f"{p.title} {p.text}")) for p in self.passages]
        self._lengths = [sum(c.values()) for c in self._counts]
        self._mean = sum(self._lengths) / max(1, len(self._lengths))
        self._holders = Counter(word for c in self._counts for word in c)

    def search(self, query: str, top: int = 3) -> list[Passage]:
        """The ``top`` passages, best first; those that share no word with the query are left
        out.
        """
        scores = [(self._score(_split_words(query), n), -n) for n in range(len(self.passages))]
        best = sorted((s for s in scores if s[0] > 0), reverse=True)[:top]
        return [self.passages[-n] for _, n in best]

    def _score(self, words: Sequence[str], number: int) -> float:
        counts, total = self._counts[number], 0.0
        for word in words:
            if word in counts:
                rarity = math.log(
                    1
                    + (len(self.passages) - self._holders[word] + 0.5) / (self._holders[word] + 0.5)
                )
                spread = 1 - B + B * self._lengths[number] / self._mean
                total += rarity * counts[word] * (K1 + 1) / (counts[word] + K1 * spread)
        return total


def _split_words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def read_corpus(path: Path) -> Corpus:
    """A corpus of the user's. Raises ConfigError where there is none."""
    return Corpus(
        [Passage(str(r.get("title", "")), str(r["text"])) for r in read_lines(path, CORPUS_WHERE)]
    )


def read_questions(path: Path) -> list[Question]:
    """Questions of the user's, such as Bamboogle's 125. Raises ConfigError where there are none."""
    rows = (
        read_lines(path, QUESTIONS_WHERE)
        if path.suffix == ".jsonl"
        else read_json(path, QUESTIONS_WHERE)
    )
    made = []
    for number, row in enumerate(rows):
        answer = row["Answer"]
        answers = tuple(map(str, answer)) if isinstance(answer, list) else (str(answer),)
        made.append(Question(f"q{number}", row["Question"], answers))
    return made


def invented_corpus(count: int = 48) -> Corpus:
    """Passages about the first ``count`` invented people and every invented country."""
    return Corpus(
        [
            *map(_about_person, map(make_person, range(count))),
            *(p for c in COUNTRIES for p in _about_country(c)),
        ]
    )


def invented_questions(count: int = 48) -> list[Question]:
    """One question of two hops for each of these people: their country, then something about it."""
    return [_build_question(number, *_ASKED[number % len(_ASKED)]) for number in range(count)]


def _about_person(who: Person) -> Passage:
    text = (
        f"{who.name}, {who.trade}, was born in {who.town}, {who.country.name}, on {who.birthdate}."
    )
    return Passage(who.name, text)


def _about_country(country: Country) -> Iterator[Passage]:
    north = "south" if country.latitude < 0 else "north"
    yield Passage(
        country.name,
        f"{country.name} is a country at about {abs(country.latitude)} degrees {north}. Its capital"
        f" is {country.capital}. In Spanish it is called {country.names[1]}, in Estonian"
        f" {country.names[3]}.",
    )
    yield Passage(
        f"Money of {country.name}",
        f"The currency of {country.name} is the {country.currency} (code {country.currency_short},"
        f" symbol {country.currency_symbol}).",
    )
    yield Passage(
        f"Telephones of {country.name}",
        f"The calling code of {country.name} is {country.calling_code}; its internet domain is"
        f" {country.domain}.",
    )


_ASKED = (
    ("What is the capital of the country where {} was born?", "capital"),
    ("What is the currency of the country where {} was born?", "currency"),
    ("What is the currency code of the country where {} was born?", "currency_short"),
    ("What is the calling code of the country where {} was born?", "calling_code"),
    ("What is the internet domain of the country where {} was born?", "domain"),
    ("What is the Spanish name of the country where {} was born?", "spanish"),
)


def _build_question(number: int, asked: str, what: str) -> Question:
    who = make_person(number)
    answer = who.country.names[1] if what == "spanish" else getattr(who.country, what)
    return Question(f"invented-{number}", asked.format(who.name), (answer,))
