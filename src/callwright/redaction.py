"""Which values are secrets, the forms in which they may come back to us, and how they are taken out. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import quote

from callwright.types import Json

SHORTEST = 4  # characters: to hide every "1" would make a trace unreadable and hide nothing

_SPEAKS_OF_A_SECRET = re.compile(
    r"token|secret|passw|pwd|credential|authori[sz]ation|cookie|(^|[_-])(auth|pat)($|[_-])|key($|[_-])", re.IGNORECASE
)
_IN_TEXT = re.compile(
    r"""\b(?:bearer|basic)\s+[\w.~+/=-]{8,}"""
    r"""|(?:api[_-]?key|access[_-]?key|token|secret|passw(?:or)?d|pwd)["']?\s{0,3}[=:]\s{0,3}["']?[^\s"'&,;{}\[\]]{4,}""",
    re.IGNORECASE,
)
_TAKEN_OUT = "[secret]"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9_-]* +(\S.*)")


def secret_values(table: Mapping[str, str]) -> tuple[str, ...]:
    """Values of headers, query parameters or environment variables whose *name* speaks of a credential.

    ``Bearer s3cr3t`` gives ``s3cr3t`` as well: a server may echo the token alone.
    """
    found = [value for name, value in table.items() if value and _SPEAKS_OF_A_SECRET.search(name)]
    alone = [match[1] for value in found if (match := _SCHEME.fullmatch(value))]
    return tuple(dict.fromkeys([*found, *alone]))


def in_every_form(secrets: Iterable[str]) -> tuple[str, ...]:
    """Each secret as it is, percent-encoded, and as it stands inside JSON text, for ``Trace(secrets=…)``.

    The longest come first, so that nothing is left of one that holds another. Those under :data:`SHORTEST` are left
    out.
    """
    long = [s for s in secrets if len(s) >= SHORTEST]
    forms = {
        f for s in long for f in (s, quote(s, safe=""), json.dumps(s)[1:-1], json.dumps(s, ensure_ascii=False)[1:-1])
    }
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))


def redacted(value: Json, secrets: Sequence[str]) -> Json:
    """A JSON value with every one of these secrets replaced in its texts, keys included."""
    if not secrets:
        return value
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, _TAKEN_OUT) if secret else value
        return value
    if isinstance(value, dict):
        return {redacted(k, secrets): redacted(v, secrets) for k, v in value.items()}
    return [redacted(v, secrets) for v in value] if isinstance(value, list) else value


def masked(value: Json, secrets: Sequence[str] = ()) -> Json:
    """The value as it may be kept for long: without these secrets, and without what only looks like one.

    That is a text or number under a name that speaks of a credential, and ``token=…`` or ``Bearer …`` in a text.
    """
    return _unnamed(redacted(value, secrets))


def _unnamed(value: Json) -> Json:
    if isinstance(value, str):
        return _IN_TEXT.sub(_TAKEN_OUT, value)
    if isinstance(value, dict):
        return {k: _TAKEN_OUT if _tells(k, v) else _unnamed(v) for k, v in value.items()}
    return [_unnamed(v) for v in value] if isinstance(value, list) else value


def _tells(name: Json, value: Json) -> bool:
    if isinstance(value, bool | dict | list) or value is None or value == "":
        return False
    return bool(_SPEAKS_OF_A_SECRET.search(str(name)))
