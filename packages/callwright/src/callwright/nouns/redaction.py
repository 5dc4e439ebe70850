"""Finds secret values, and removes them from texts in every spelling. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from callwright.nouns.secret_spellings import SHORTEST, SecretFinder
from callwright.nouns.types import Json

_SPEAKS_OF_A_SECRET = re.compile(
    r"token|secret|passw|pwd|credential|authori[sz]ation|cookie|(^|[_-])(auth|pat)($|[_-])|key($|[_-])",
    re.IGNORECASE,
)
_IN_TEXT = re.compile(
    r"""\b(?:bearer|basic)\s+[\w.~+/=-]{8,}"""
    r"""|(?:api[_-]?key|access[_-]?key|token|secret|passw(?:or)?d|pwd)["']?\s{0,3}[=:]\s{0,3}["']?[^\s"'&,;{}\[\]]{4,}""",
    re.IGNORECASE,
)
_TAKEN_OUT = "[secret]"
_AS_ONE = 8  # texts, below which each is looked through by itself
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9_-]* +(\S.*)")


def secret_values(table: Mapping[str, str]) -> tuple[str, ...]:
    """Values of headers, query parameters or environment variables whose *name* speaks of a
    credential.

    ``Bearer s3cr3t`` gives ``s3cr3t`` as well: a server may echo the token alone.
    """
    found = [value for name, value in table.items() if value and _SPEAKS_OF_A_SECRET.search(name)]
    alone = [match[1] for value in found if (match := _SCHEME.fullmatch(value))]
    return tuple(dict.fromkeys([*found, *alone]))


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
    made = ((text, finder.replace(text, _TAKEN_OUT)) for text in texts)
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


def mask_secrets(value: Json, secrets: Sequence[str] = ()) -> Json:
    """The value as it may be kept for long: without these secrets, and without what only looks like
    one.

    That is a text or number under a name that speaks of a credential, and ``token=…`` or ``Bearer
    …`` in a text.
    """
    return _mask_credentials(redact_secrets(value, secrets))


def _mask_credentials(value: Json) -> Json:
    if isinstance(value, str):
        return _IN_TEXT.sub(_TAKEN_OUT, value)
    if isinstance(value, dict):
        return {
            k: _TAKEN_OUT if _is_credential(k, v) else _mask_credentials(v)
            for k, v in value.items()
        }
    return [_mask_credentials(v) for v in value] if isinstance(value, list) else value


def _is_credential(name: Json, value: Json) -> bool:
    if isinstance(value, bool | dict | list) or value is None or value == "":
        return False
    return bool(_SPEAKS_OF_A_SECRET.search(str(name)))
