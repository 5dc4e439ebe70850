"""Finds credentials by their names, in headers, fields, variables and texts. Pure.

A name has no language that could be told: the words of every pack count.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from callwright.language.pack import PACKS
from callwright.language.vocabulary import Vocabulary
from callwright.nouns.redaction import TAKEN_OUT, redact_secrets
from callwright.nouns.types import Json

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9_-]* +(\S.*)")


def _join_packs(name: str) -> re.Pattern[str]:
    """An expression that matches where that of any pack does."""
    found = [one for code in PACKS if (one := Vocabulary(code)).has(name)]
    return re.compile("|".join(one.expression(name) for one in found), re.IGNORECASE)


_SPEAKS_OF_A_SECRET = _join_packs("credentials.name")
_IN_TEXT = _join_packs("credentials.in_text")


def secret_values(table: Mapping[str, str]) -> tuple[str, ...]:
    """Values of headers, query parameters or environment variables whose *name* speaks of a
    credential.

    ``Bearer s3cr3t`` gives ``s3cr3t`` as well: a server may echo the token alone.
    """
    found = [value for name, value in table.items() if value and _SPEAKS_OF_A_SECRET.search(name)]
    alone = [match[1] for value in found if (match := _SCHEME.fullmatch(value))]
    return tuple(dict.fromkeys([*found, *alone]))


def mask_secrets(value: Json, secrets: Sequence[str] = ()) -> Json:
    """The value as it may be kept for long: without these secrets, and without what only looks like
    one.

    That is a text or number under a name that speaks of a credential, and ``token=…`` or ``Bearer
    …`` in a text.
    """
    return _mask_credentials(redact_secrets(value, secrets))


def _mask_credentials(value: Json) -> Json:
    if isinstance(value, str):
        return _IN_TEXT.sub(TAKEN_OUT, value)
    if isinstance(value, dict):
        return {
            k: TAKEN_OUT if _is_credential(k, v) else _mask_credentials(v) for k, v in value.items()
        }
    return [_mask_credentials(v) for v in value] if isinstance(value, list) else value


def _is_credential(name: Json, value: Json) -> bool:
    if isinstance(value, bool | dict | list) or value is None or value == "":
        return False
    return bool(_SPEAKS_OF_A_SECRET.search(str(name)))
