"""The language in which a user is answered: a guess, for instructions to a model and for fixed
sentences. No value is read and no call is judged by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from callwright.language.detect import DETECTION, guess_language, language_of, script_of
from callwright.language.pack import PACKS
from callwright.language.vocabulary import Vocabulary


def guess_spoken(said: str, earlier: Sequence[str] = ()) -> str:
    """The code of the language in which a user speaks, "" where nothing tells: as the last message
    says, else as the ones before, the latest first, else the likeliest.
    """
    texts = (said, *reversed(earlier))
    told = next((found for text in texts if (found := language_of(text))), "")
    return told or next((found for text in texts if (found := _guess(text))), "")


def _guess(text: str) -> str:
    likeliest = DETECTION.table("scripts.likeliest_languages").get(script_of(text), "")
    return guess_language(text, PACKS) or str(likeliest)


def name_language(code: str) -> str:
    """The name of a language in English, "" for one that is not listed."""
    return str(DETECTION.table("names.english").get(code, ""))


def name_spoken(said: str, earlier: Sequence[str] = ()) -> str:
    """The language in which a user is answered, as a question to a model names it."""
    return name_language(guess_spoken(said, earlier)) or "the language of the user"


def load_phrases(code: str) -> Mapping[str, str]:
    """The fixed sentences and words of an answer in a language; in English where it has none."""
    return Vocabulary(code if code in PACKS else "en").table("answers.phrases")
