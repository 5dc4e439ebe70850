"""The language of a text, by its script and by the function words that it holds.

No model and no dictionary: a text in Latin or Cyrillic script belongs to the language whose
function words and number words it holds, words of several languages counting less, and one with an
inverted question mark is Spanish; one in Arabic script is Arabic by its letters; other scripts name
a language or none. Short texts without function words have no language. Who asks acts only on an
answer that it knows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Mapping
from functools import cache, lru_cache
from typing import Any, Final

from callwright.language.vocabulary import Vocabulary
from callwright.nouns.memo import cache_by_digest

DETECTION: Final = Vocabulary("detection")
LONGEST: Final = 4_000  # characters of a text that are looked at
_ASCII_LETTER = re.compile(r"[a-zA-Z]")
_WORD = re.compile(r"[^\W\d_]{2,}(?:['’][^\W\d_]+)*")  # a letter by itself is a sign: "31 m/s"
_QUOTED = re.compile(r"""(["'“‘«„])[¿¡].*?(?:["'”’»]|\Z)""", re.DOTALL)


@cache_by_digest(most=4_096, longest=1_024)
def language_of(text: str) -> str:
    """The code of the language that a text is written in ("en", "de", …); "" where it cannot be
    told.
    """
    text = text[:LONGEST]
    script = script_of(text)
    if script == "Arab":
        return _detect_by_letters(text)
    if script not in _read_table("scripts_with_words"):
        return str(_read_table("languages_of_scripts").get(script, ""))
    found = _WORD.findall(text.casefold())
    return _detect_by_words(found, _read_sign(text)) if found else ""


def _read_sign(text: str) -> str:
    """The language that has a sign of its own, if the text holds one outside quotations; else ""."""
    own = _QUOTED.sub("", text)
    return "es" if not DETECTION.words("letters.es_alone").isdisjoint(own) else ""


def is_foreign(text: str, code: str = "en") -> bool:
    """Return True if a text is surely not written in a language: its script, or its function words,
    are those of another one. A text of which nothing can be told is not foreign.
    """
    language = language_of(text)
    if language:
        return language != code
    return script_of(text[:LONGEST]) not in ("", "Latn")


def is_likelier_another(text: str, code: str = "en") -> bool:
    """Return True if a language other than this one, in the same script, has more of a text's words
    as function words: where :func:`language_of` tells nothing, that still speaks against it.
    """
    held = _count_function_words(text)
    return max(held.values(), default=0) > held[code]


def guess_language(text: str, preferred: Container[str] = ()) -> str:
    """The language that has more of a text's words as function words than any other, "" for none: a
    guess, for what is read either way, where :func:`language_of` tells nothing. Of several that have
    the most, it is the only ``preferred`` one.
    """
    first = list_likeliest(text)
    kept = [*first] if len(first) == 1 else [code for code in first if code in preferred]
    return kept[0] if len(kept) == 1 else ""


def list_likeliest(text: str) -> frozenset[str]:
    """The languages that have more of a text's words as function words than any other: where
    :func:`language_of` tells none, it is one of them or of a language that is not listed.
    """
    held = _count_function_words(text)
    most = max(held.values(), default=0)
    return frozenset(code for code, count in held.items() if count == most)


def _count_function_words(text: str) -> Counter[str]:
    weights = _weigh_function_words()
    words = _WORD.findall(text[:LONGEST].casefold())
    return Counter(found for word in words for found in weights.get(word, {}))


@cache_by_digest(most=4_096, longest=1_024)
def script_of(text: str) -> str:
    """The script that most letters of a text are in, as ISO 15924 names it; "" for a text without
    letters and for scripts that are not listed.
    """
    if text.isascii():
        return _find_script(ord("a")) if _ASCII_LETTER.search(text) else ""
    counts: dict[str, int] = {}
    for char, times in Counter(text).items():  # in the order in which they first appear
        if char.isalpha():
            script = _find_script(ord(char))
            counts[script] = counts.get(script, 0) + times * _letters_in_a_sign(script)
    if not counts:
        return ""
    if counts.get("Kana"):
        counts["Kana"] += counts.pop("Hani", 0)  # Japanese is written in both
    return max(counts, key=lambda name: counts[name])


def _letters_in_a_sign(script: str) -> int:
    return int(_read_table("letters_in_a_sign").get(script, 1))


@lru_cache(maxsize=4_096)
def _find_script(code: int) -> str:
    return next((name for low, high, name in _read_ranges() if low <= code <= high), "")


@cache
def _read_ranges() -> tuple[tuple[int, int, str], ...]:
    rows = (row.split() for row in DETECTION.listed("scripts.ranges"))
    return tuple((int(low, 16), int(high, 16), name) for low, high, name in rows)


@cache
def _read_table(name: str) -> Mapping[str, Any]:
    return DETECTION.table(f"scripts.{name}")


def _detect_by_words(words: list[str], signed: str = "") -> str:
    """The language whose function words cover most of the words, clearly more than the next one.
    ``signed``: the language whose sign the text has; it is that if no other has more of the words.
    """
    cuts = DETECTION.table("thresholds.function_words")
    weights = _weigh_function_words()
    scores: dict[str, float] = {}
    for word in words:
        for code, weight in weights.get(word, {}).items():
            scores[code] = scores.get(code, 0.0) + weight
    ranked = sorted(scores, key=lambda code: -scores[code])
    if not ranked:
        return ""
    best, next_best = scores[ranked[0]], scores[ranked[1]] if len(ranked) > 1 else 0.0
    covered = best / len(words)
    clear = best - next_best >= cuts["margin"] and best >= cuts["ratio"] * next_best
    held = Counter(code for word in words for code in weights.get(word, {}))
    if held[signed] >= max(cuts["coverage"] * len(words), *held.values()):
        return signed
    return ranked[0] if clear and covered >= cuts["coverage"] else ""


def _detect_by_letters(text: str) -> str:
    """Arabic, where a text has only its letters in Arabic script, and one that its neighbours do not
    have.
    """
    letters = {c for c in text if _find_script(ord(c)) == "Arab" and c.isalpha()}
    is_arabic = letters <= DETECTION.words("letters.ar")
    return "ar" if is_arabic and not letters.isdisjoint(DETECTION.words("letters.ar_alone")) else ""


@cache
def _weigh_function_words() -> Mapping[str, Mapping[str, float]]:
    """Function word -> language -> what it counts: less, the more languages have the word."""
    languages = _list_languages_of_words("stop_words")
    numbers = _list_languages_of_words("number_words")
    # a number word that is a function word of another language tells nothing: "to" is two in Danish
    languages |= {word: codes for word, codes in numbers.items() if word not in languages}
    for word, codes in _list_languages_of_words("shared_words").items():
        languages.setdefault(word, set()).update(codes)
    return {word: {code: 1 / len(codes) for code in codes} for word, codes in languages.items()}


def _list_languages_of_words(kind: str) -> dict[str, set[str]]:
    languages: dict[str, set[str]] = {}
    for code in DETECTION.file(kind):
        for word in DETECTION.listed(f"{kind}.{code}"):
            languages.setdefault(word, set()).add(code)
    return languages
