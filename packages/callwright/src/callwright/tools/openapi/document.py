"""An OpenAPI document: read from a dict, a path or fetched text; its version; its local
references.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any, Literal, TypeAlias
from urllib.parse import unquote

from callwright.jsontext.pointer import split_pointer
from callwright.nouns.errors import CatalogError, MissingExtra
from callwright.nouns.types import JsonObject
from callwright.tools.lists.json_document import (
    MAX_LEVELS,
    MAX_VALUES,
    NotJson,
    json_value,
    read_bytes,
)
from callwright.tools.openapi.yaml_text import YamlError, YamlTooLarge, parse_yaml

Notation: TypeAlias = Literal["json", "yaml", ""]
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")


class Unusable(Exception):
    """Reason why one operation, or a part of it, cannot be imported. This exception never leaves
    the catalogue.
    """


@dataclass
class Document:
    """A parsed document. ``legacy`` is OpenAPI 3.0, whose schemas are not quite JSON Schema.
    ``broken`` is known once ``operations`` has been read to its end.
    """

    root: JsonObject
    where: str
    legacy: bool
    missing: Mapping[str, str] = field(
        default_factory=dict
    )  # files it refers to that cannot be read, and why
    broken: list[tuple[str, str]] = field(
        default_factory=list
    )  # paths that cannot be read, and why
    _resolver: Any = field(repr=False, default=None)

    def lookup(self, reference: str) -> Any:
        """Return the target of a ``$ref`` into this document (RFC 6901). Nothing is ever
        fetched.
        """
        if not reference.startswith("#"):
            if why := self.missing.get(reference.partition("#")[0]):
                raise Unusable(f"$ref {reference[:200]!r}: {why}")
            raise Unusable(
                f"$ref {reference[:80]!r} leads out of the document, and nothing is fetched for it"
            )
        if self._resolver is None:
            self._resolver = _build_resolver(self.root)
        from referencing.exceptions import Unresolvable

        try:
            return self._resolver.lookup(reference).contents
        except (Unresolvable, ValueError, TypeError, KeyError, IndexError):
            raise Unusable(f"$ref {name_reference(reference)!r} points at nothing") from None

    def resolved(self, raw: Any) -> JsonObject:
        """An object, or the object its ``$ref`` leads to."""
        seen: set[str] = set()
        while isinstance(raw, Mapping) and isinstance(reference := raw.get("$ref"), str):
            if reference in seen:
                raise Unusable(f"$ref {name_reference(reference)!r} leads back to itself")
            seen.add(reference)
            raw = self.lookup(reference)
        if not isinstance(raw, dict):
            raise Unusable(f"an object was expected, not {type(raw).__name__}")
        return raw

    def operations(self) -> Iterator[tuple[str, str, JsonObject, Any]]:
        """(method, path, path item, operation) in the document's order."""
        paths = self.root.get("paths")
        for path, item in paths.items() if isinstance(paths, dict) else ():
            if not isinstance(item, dict):
                self.broken.append((str(path), "it is no object"))
                continue
            try:
                whole = {**self.resolved(item), **{k: v for k, v in item.items() if k != "$ref"}}
            except Unusable as exc:
                self.broken.append((str(path), str(exc)))
                whole = item
            for method in METHODS:
                if method in whole:
                    yield method, str(path), whole, whole[method]
            more = whole.get("additionalOperations")  # OpenAPI 3.2: by other methods
            for name, operation in more.items() if isinstance(more, dict) else ():
                yield str(name).lower(), str(path), whole, operation


def iter_objects(root: Any) -> Iterator[JsonObject]:
    """Every object in a document, once each: YAML's aliases make one object stand in several
    places.
    """
    seen: set[int] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        if not isinstance(node, dict | list) or id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, dict):
            yield node
        stack += node.values() if isinstance(node, dict) else node


FILES_KEY = "x-callwright-files"
"""Where the root of a document holds the files that it refers to."""


def name_reference(reference: str) -> str:
    """Return a reference as the file with it may say it: one into another file names that file."""
    inner = reference.removeprefix(f"#/{FILES_KEY}/")
    if inner == reference:
        return reference[:200]
    name, slash, pointer = inner.partition("/")
    return f"{unquote(split_pointer(name)[0])}#{slash}{pointer}"[:200]


def _build_resolver(root: JsonObject) -> Any:
    try:
        from referencing import Registry, Specification
    except ImportError:
        raise MissingExtra("reading OpenAPI documents", "openapi") from None
    registry: Any = Registry()  # without a retriever: what is not in it cannot be had
    return registry.with_resource("", Specification.OPAQUE.create_resource(root)).resolver("")


def read_file(path: Path) -> str:
    """The text of a document on disk."""
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise CatalogError(
            f"{path} cannot be read: it is not UTF-8 text", hint="save it as UTF-8"
        ) from exc


def document_from_text(text: str, where: str, notation: Notation = "") -> Document:
    """The document of a text (:func:`value_from_text`). Raises CatalogError."""
    return document_of(value_from_text(text, where, notation), where)


def value_from_text(text: str, where: str, notation: Notation = "") -> Any:
    """Parse JSON or YAML. Raises CatalogError.

    ``notation`` is what the file's name or the content type states. A text that begins as JSON does
    is JSON unless YAML is stated, and is never read as YAML instead: what is wrong with it would be
    said of another language.
    """
    text = text.removeprefix("\ufeff")
    begins_as_json = text.lstrip()[:1] in ("{", "[")
    if notation == "json" or (begins_as_json and notation != "yaml"):
        return json_value(text, where)
    if begins_as_json:
        try:
            return json_value(text, where)
        except NotJson:  # YAML's own brackets: {openapi: 3.0.3, …}
            pass
    most = min(MAX_VALUES, 10_000 + 10 * len(text))
    try:
        return parse_yaml(text, values=most, levels=MAX_LEVELS)
    except YamlTooLarge as exc:
        raise _too_large(where, str(exc)) from None
    except YamlError as exc:
        said = (
            f"{where} is not YAML: {exc}"
            if notation
            else f"{where} is neither JSON nor YAML: {exc}"
        )
        raise CatalogError(said, hint="correct the document at that place") from None


def notation_of(name: str, content_type: str = "") -> Notation:
    """Return the notation of a document, from the name of its file or the content type of its
    answer.
    """
    kind = content_type.partition(";")[0].strip().lower()
    if kind.endswith(("/json", "+json")) or name.lower().endswith(".json"):
        return "json"
    return (
        "yaml" if kind.endswith(("yaml", "yml")) or name.lower().endswith((".yaml", ".yml")) else ""
    )


def clean_value(raw: Any) -> Any:
    """A JSON value from what another parser gave, of at most ``MAX_VALUES`` values. Raises
    CatalogError.
    """
    return _Cleaner().clean(raw, 0)


def document_of(root: Any, where: str, missing: Mapping[str, str] | None = None) -> Document:
    """Check that this is OpenAPI 3.0, 3.1 or 3.2. Raises CatalogError that says what it is instead."""
    if not isinstance(root, dict):
        raise CatalogError(
            f"{where} holds no OpenAPI document",
            hint='its root is an object with "openapi": "3.0…", "3.1…" or "3.2…"',
        )
    version = str(root.get("openapi", ""))[:40]
    if not version.startswith(("3.0", "3.1", "3.2")):
        swagger = f"Swagger {str(root['swagger'])[:40]}" if "swagger" in root else "no version"
        found = f"OpenAPI {version}" if version else swagger
        raise CatalogError(
            f"{where} is not an OpenAPI 3.0, 3.1 or 3.2 document, nor Swagger 2.0: {found}",
            hint="give one of these, or convert it to one first",
        )
    if not isinstance(root.get("paths"), dict) and version.startswith("3.0"):
        raise CatalogError(f"{where} has no paths")
    return Document(root, where, version.startswith("3.0"), missing or {})


class _Cleaner:
    """A JSON tree out of whatever a parser gave: text keys, no dates, no aliases that unfold
    without end.
    """

    def __init__(self) -> None:
        self._nodes = 0

    def clean(self, value: Any, depth: int) -> Any:
        self._nodes += 1
        if self._nodes > MAX_VALUES or depth > MAX_LEVELS:
            raise CatalogError(
                f"the OpenAPI document is too large: more than {MAX_VALUES} values or {MAX_LEVELS}"
                " levels",
                hint="cut it down to the operations you need",
            )
        if isinstance(value, Mapping):
            return {str(k): self.clean(v, depth + 1) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [self.clean(v, depth + 1) for v in value]
        if isinstance(value, float) and not isfinite(value):
            return None
        return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def _too_large(where: str, how: str) -> CatalogError:
    return CatalogError(
        f"{where} is too large: {how}", hint="cut it down to the operations you need"
    )
