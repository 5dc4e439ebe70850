"""Questions for something that is to be told, in any language with a list of question words."""

from __future__ import annotations

import re

from callwright.language.pack import PACKS, Pack
from callwright.language.thanks import is_only_greeting, is_only_thanks
from callwright.language.tokens import has_question_mark, holds_unparted

_PACKS = tuple(map(Pack, PACKS))
_WORDS = frozenset(word for one in _PACKS for word in one.question_words)
_ENGLISH_WORDS = frozenset(Pack("en").question_words)
_UNPARTED = tuple(word for word in sorted(_WORDS, key=len)[::-1] if holds_unparted(word))
_ENTRY = "requests.before_questions"
_BEFORE = "|".join(p.vocabulary.expression(_ENTRY) for p in _PACKS if p.vocabulary.has(_ENTRY))
_FIRST = re.compile(rf"\W*(?:(?:{_BEFORE})\s)?(?P<word>{'|'.join(_WORDS)})(?!\w)", re.IGNORECASE)
_COMMAS = frozenset(",，،、")
_SENTENCE = re.compile(  # no sentence ends between "p.m." and a small letter
    r".+?(?:(?:[!?;]|(?<!\.\w)\.)(?=\s|$)|\.(?=\s+[^\Wa-z])|[。！？；؟؛]|$)", re.DOTALL
)


def asks_to_be_told(text: str) -> bool:
    """Return True if a text is a question that begins with a question word, as "At what time …?"
    does too, or holds one in a script without spaces, and surely asks for no deed. With a comma it
    may: "When Ann comes, could you …?", as may "How about …?".
    """
    if not has_question_mark(text) or not _COMMAS.isdisjoint(text):
        return False
    is_asking = _FIRST.match(text) is not None or any(word in text for word in _UNPARTED)
    return is_asking and not any(one.says("requests.suggesting", text) for one in _PACKS)


def only_asks_to_be_told(text: str) -> bool:
    """Return True if each sentence of a text is such a question, but for greetings and thanks."""
    sentences = _drop_greetings(split_sentences(text))
    return bool(sentences) and all(map(asks_to_be_told, sentences))


def remove_questions(text: str) -> str:
    """The text without the sentences that only ask to be told something; as it is where it has no
    others.
    """
    sentences = _SENTENCE.findall(text)
    return "".join(one for one in sentences if not asks_to_be_told(one.strip())).strip() or text


def asks_only(text: str) -> bool:
    """Return True if each sentence of a text is a question, whatever it asks for, but for greetings
    and thanks.
    """
    sentences = _drop_greetings(split_sentences(text))
    return bool(sentences) and all(has_question_mark(one[-1:]) for one in sentences)


def split_sentences(text: str) -> list[str]:
    """The sentences of a text, without the spaces around them. A line end alone ends none."""
    return [one for one in map(str.strip, _SENTENCE.findall(text)) if one]


def _drop_greetings(sentences: list[str]) -> list[str]:
    """The sentences without greetings and thanks, where there are others."""
    told = [one for one in sentences if not (is_only_greeting(one) or is_only_thanks(one))]
    return told or sentences


def remove_question_words(text: str) -> str:
    """The text without the words that ask in its questions: "when" asks for a day, and names
    none. Before a comma an English one stays: "When Ann comes, could you …?" names one.
    """
    return " ".join(map(_remove_from_sentence, _SENTENCE.findall(text)))


def _remove_from_sentence(text: str) -> str:
    if not has_question_mark(text):
        return text
    first = _FIRST.match(text)
    stay = _ENGLISH_WORDS if not _COMMAS.isdisjoint(text) else ()
    if first is not None and first["word"].casefold() not in stay:
        text = text[first.end() :]
    for word in _UNPARTED:
        text = text.replace(word, " ")
    return text
