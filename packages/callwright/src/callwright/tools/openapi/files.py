"""An OpenAPI document of several files -> one document: what its ``$ref`` name beside it is read,
within bounds.

Every file that is referred to becomes a part of the root, under ``x-callwright-files``, and every
reference one into the root. What may be read is the reader's to say: files in the document's own
folder, or addresses of its origin.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urljoin, urlsplit

from callwright.nouns.errors import CatalogError
from callwright.nouns.types import JsonObject
from callwright.tools.openapi.document import (
    FILES_KEY,
    Notation,
    Unusable,
    iter_objects,
    notation_of,
    read_file,
    value_from_text,
)

MAX_FILES = 200
MAX_BYTES = 16_000_000  # of all files beside the document

_IN_URLS = "/%:?&=+,;@~!$'()*[]"

Read = Callable[[str], Awaitable[tuple[str, Notation]]]
"""The text at a place, and what its name states of it. Raises Unusable where it may not be read, or
cannot be.
"""

_ELSEWHERE = re.compile(r"""\$ref["']?\s*+:\s*+["']?[^#"'\s]""")


def may_have_files(text: str) -> bool:
    """Return True if a reference of a document seems to lead out of it. The check is quick and
    never wrongly False.
    """
    return _ELSEWHERE.search(text) is not None


class Bundle:
    """One document being put together. ``texts``: what was read beside it, by place; ``missing``:
    what was not, and why.
    """

    def __init__(self, place: str, read: Read, join: Callable[[str, str], str]) -> None:
        self._place, self._read, self._join = place, read, join
        self._values: dict[str, Any] = {}
        self.texts: dict[str, str] = {}
        self.missing: dict[str, str] = {}

    async def complete(self, root: Any) -> Any:
        """``root`` with the files it refers to as parts of it. Changes ``root``."""
        waiting = [(self._place, root)]
        while waiting:
            place, value = waiting.pop()
            for holder in filter(_has_reference, iter_objects(value)):
                target = self._target(place, holder["$ref"])
                if target is None:
                    continue
                found, fragment = target
                if found != self._place and found not in self._values and found not in self.missing:
                    try:
                        self._values[found] = await self._loaded(found)
                        waiting.append((found, self._values[found]))
                    except (Unusable, CatalogError) as error:
                        self.missing[found] = (
                            error.message if isinstance(error, CatalogError) else str(error)
                        )
                holder["$ref"] = (
                    f"{found}#{fragment}"
                    if found in self.missing
                    else self._pointer(found, fragment)
                )
        return {**root, FILES_KEY: self._values} if self._values else root

    def _target(self, place: str, reference: str) -> tuple[str, str] | None:
        """The place and the fragment that a reference of a file leads to; None where it needs no
        change.
        """
        name, _, fragment = reference.partition("#")
        if not name:
            return None if place == self._place else (place, fragment)
        return self._join(place, name), fragment

    def _pointer(self, place: str, fragment: str) -> str:
        if place == self._place:
            return f"#{fragment}"
        inner = quote(place.replace("~", "~0").replace("/", "~1"), safe="~")
        return f"#/{FILES_KEY}/{inner}{fragment if fragment.startswith('/') else ''}"

    async def _loaded(self, place: str) -> Any:
        if len(self._values) + len(self.missing) >= MAX_FILES:
            raise Unusable(f"the document refers to more than {MAX_FILES} files")
        text, notation = await self._read(place)
        self.texts[place] = text
        if sum(map(len, self.texts.values())) > MAX_BYTES:
            raise Unusable(f"the files beside the document are longer than {MAX_BYTES} bytes")
        return value_from_text(text, place, notation)


def beside_file(path: Path, folders: Iterable[str] = ()) -> Bundle:
    """The bundle of a document on disk: files of its own folder and of those below it, and of other
    folders that the user allows.
    """
    folder = path.parent.resolve()
    allowed = (folder, *(Path(one).expanduser().resolve() for one in folders))

    async def read(place: str) -> tuple[str, Notation]:
        if urlsplit(place).scheme or "\0" in place:
            raise Unusable(f"it refers to {place[:80]!r}, and a file refers to files only")
        found = (folder / place).resolve()
        if not any(found.is_relative_to(one) for one in allowed):
            raise Unusable(
                f"it refers to {place[:80]!r}, which is outside the document's folder; files="
                " FOLDER allows another one"
            )
        return read_file(found), notation_of(found.name)

    def join(place: str, name: str) -> str:
        if urlsplit(name).scheme:
            return name
        return posixpath.normpath(posixpath.join(posixpath.dirname(place), unquote(name)))

    return Bundle(path.name, read, join)


def beside_url(url: str, fetch: Callable[[str], Awaitable[tuple[str, Notation]]]) -> Bundle:
    """The bundle of a document at an address: addresses of the same origin, read by ``fetch``."""
    own = urlsplit(url)

    async def read(place: str) -> tuple[str, Notation]:
        going = urlsplit(place)
        if (going.scheme.lower(), going.netloc.lower()) != (own.scheme.lower(), own.netloc.lower()):
            raise Unusable(
                f"it refers to {place[:80]!r}, which is another origin than the document's"
            )
        return await fetch(place)

    return Bundle(url, read, lambda place, name: urljoin(place, quote(name, safe=_IN_URLS)))


def _has_reference(node: JsonObject) -> bool:
    return isinstance(node.get("$ref"), str)
