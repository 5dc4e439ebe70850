"""Removes secret values from texts in every spelling. Pure. What is a secret by its name:
:mod:`callwright.language.credentials`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from callwright.nouns.secret_spellings import SHORTEST, SecretFinder
from callwright.nouns.types import Json

TAKEN_OUT = "[secret]"
_AS_ONE = 8  # texts, below which each is looked through by itself


def select_redactable(secrets: Iterable[str]) -> tuple[str, ...]:
    """The secrets that are to be found in every spelling, for ``Trace(secrets=…)``: each once, the
    longest first.

    Those under :data:`SHORTEST` are left out.
    """
    return tuple(
        sorted({s for s in secrets if len(s) >= SHORTEST}, key=lambda one: (-len(one), one))
    )


def redact_secrets(value: Json, secrets: Sequence[str]) -> Json:
    """A JSON value with every one of these secrets replaced in its texts, keys included, however it
    is spelled there (:mod:`callwright.nouns.secret_spellings`). A number is replaced where its
    digits are a secret.
    """
    finder = _get_finder(tuple(secrets))
    made = _build_replacements(list(dict.fromkeys(_iter_texts(value))), finder) if finder else {}
    return _replace_texts(value, made) if made else value


@lru_cache(maxsize=64)
def _get_finder(secrets: tuple[str, ...]) -> SecretFinder:
    return SecretFinder(secrets)


def _iter_texts(value: Json) -> Iterator[str]:
    """Whatever in a value is or may be read as a text."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            left += [*one.values(), *map(str, one)]
        elif isinstance(one, list):
            left += one
        elif isinstance(one, int | float) and not isinstance(one, bool):
            yield str(one)


def _build_replacements(texts: list[str], finder: SecretFinder) -> dict[str, str]:
    """Return the replacements of those texts that hold a secret. Many short texts are searched as
    one, and by halves if something may be found.
    """
    if not finder.may_be_in(texts):
        return {}
    if len(texts) > _AS_ONE:
        middle = len(texts) // 2
        return _build_replacements(texts[:middle], finder) | _build_replacements(
            texts[middle:], finder
        )
    made = ((text, finder.replace(text, TAKEN_OUT)) for text in texts)
    return {text: without for text, without in made if text != without}


def _replace_texts(value: Json, made: Mapping[str, str]) -> Json:
    if isinstance(value, str):
        return made.get(value, value)
    if isinstance(value, dict):
        return {made.get(str(k), k): _replace_texts(v, made) for k, v in value.items()}
    if isinstance(value, list):
        return [_replace_texts(v, made) for v in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return made.get(str(value), value)
    return value
