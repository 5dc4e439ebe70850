"""Documents of tools on disk or fetched, as JSON: bounded in bytes, values and levels before
anything walks them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from callwright.jsontext import JsonError, is_deeper, most_values, parse
from callwright.nouns.errors import CatalogError

MAX_BYTES = 64_000_000
MAX_VALUES = 4_000_000
MAX_LEVELS = 200

_CUT = "cut it down to the tools you need"


class BrokenDocument(CatalogError):
    """A document is there and cannot be used."""


class NotJson(BrokenDocument):
    """The document is not JSON."""


def read_bytes(path: Path) -> bytes:
    """The bytes of a file of at most MAX_BYTES. Raises BrokenDocument."""
    try:
        with path.open("rb") as file:
            found = file.read(MAX_BYTES + 1)  # not its stated size: a device or a pipe states none
    except OSError as error:
        said = f"{path} cannot be read: {error.strerror or error}"
        raise BrokenDocument(said, hint="is it a file, and may this user read it?") from error
    if len(found) > MAX_BYTES:
        raise BrokenDocument(f"{path} is longer than {MAX_BYTES} bytes", hint=_CUT)
    return found


def json_value(text: str | bytes, where: str) -> Any:
    """The value of a JSON document. Raises NotJson, or BrokenDocument beyond the bounds of this
    module.
    """
    if most_values(text, MAX_VALUES) > MAX_VALUES:
        raise BrokenDocument(f"{where} is too large: more than {MAX_VALUES} values", hint=_CUT)
    try:
        value = parse(text)
    except JsonError as error:
        raise NotJson(
            f"{where} is not JSON: {error}", hint="correct the document at that place"
        ) from None
    if is_deeper(value, MAX_LEVELS):
        raise BrokenDocument(
            f"{where} is too large: more than {MAX_LEVELS} levels inside each other", hint=_CUT
        )
    return value
