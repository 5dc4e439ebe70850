"""An OpenAPI document: read from a dict, a path or fetched text; its version; its local references."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

from callwright.errors import CatalogError, MissingExtra
from callwright.jsontext import JsonError, parse
from callwright.types import JsonObject

MAX_BYTES = 64_000_000
MAX_NODES = 4_000_000
MAX_DEPTH = 200
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")


class Unusable(Exception):
    """Why one operation (or one part of it) cannot be imported. Never leaves the catalogue."""


@dataclass
class Document:
    """A parsed document. ``legacy`` is OpenAPI 3.0, whose schemas are not quite JSON Schema."""

    root: JsonObject
    where: str
    legacy: bool
    _resolver: Any = field(repr=False, default=None)

    def lookup(self, reference: str) -> Any:
        """What a ``$ref`` into this document points at (RFC 6901). Nothing is ever fetched."""
        if not reference.startswith("#"):
            raise Unusable(f"$ref {reference[:80]!r} leads out of the document, and nothing is fetched for it")
        if self._resolver is None:
            self._resolver = _resolver(self.root)
        from referencing.exceptions import Unresolvable

        try:
            return self._resolver.lookup(reference).contents
        except (Unresolvable, ValueError, TypeError, KeyError, IndexError):
            raise Unusable(f"$ref {reference[:80]!r} points at nothing") from None

    def resolved(self, raw: Any) -> JsonObject:
        """An object, or the object its ``$ref`` leads to."""
        seen: set[str] = set()
        while isinstance(raw, Mapping) and isinstance(reference := raw.get("$ref"), str):
            if reference in seen:
                raise Unusable(f"$ref {reference[:80]!r} leads back to itself")
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
                continue
            try:
                whole = {**self.resolved(item), **{k: v for k, v in item.items() if k != "$ref"}}
            except Unusable:
                whole = item
            for method in METHODS:
                if method in whole:
                    yield method, str(path), whole, whole[method]


def _resolver(root: JsonObject) -> Any:
    try:
        from referencing import Registry, Specification
    except ImportError:
        raise MissingExtra("reading OpenAPI documents", "openapi") from None
    registry: Any = Registry()  # without a retriever: what is not in it cannot be had
    return registry.with_resource("", Specification.OPAQUE.create_resource(root)).resolver("")


def read_file(path: Path) -> str:
    """The text of a document on disk."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise CatalogError(f"{path} is longer than {MAX_BYTES} bytes")
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as exc:
        reason = getattr(exc, "strerror", None) or "it is not UTF-8 text"
        raise CatalogError(f"cannot read the OpenAPI document {path}: {reason}") from exc


def document_from_text(text: str, where: str) -> Document:
    """Parse JSON, or YAML where it is no JSON. Raises CatalogError."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            return _checked(parse(text.lstrip("\ufeff")), where)
        except JsonError as exc:
            reason = str(exc)
    else:
        reason = ""
    try:
        loaded = _yaml(text)
    except ValueError as exc:
        said = f"{where} is neither JSON nor YAML: {reason or exc}"
        raise CatalogError(said, hint="mend the document at that place") from exc
    return document_from(loaded, where, most=min(MAX_NODES, 10_000 + 10 * len(text)))  # aliases unfold


def document_from(raw: Any, where: str, *, most: int = MAX_NODES) -> Document:
    """A document from any mapping, of at most ``most`` values. Raises CatalogError as ``document_from_text`` does."""
    return _checked(_Cleaner(most).clean(raw, 0), where)


def _checked(root: Any, where: str) -> Document:
    """Check that this is OpenAPI 3.0 or 3.1. Raises CatalogError that says what it is instead."""
    if not isinstance(root, dict):
        raise CatalogError(f"{where} holds {type(root).__name__}, not an OpenAPI document")
    version = str(root.get("openapi", ""))
    if not version.startswith(("3.0", "3.1")):
        found = (
            f"OpenAPI {version}" if version else f"Swagger {root['swagger']}" if "swagger" in root else "no version"
        )
        hint = (
            "convert Swagger 2.0 to OpenAPI 3 first" if "swagger" in root else "give an OpenAPI 3.0 or 3.1 document"
        )
        raise CatalogError(f"{where} is not an OpenAPI 3.0 or 3.1 document: {found}", hint=hint)
    if not isinstance(root.get("paths"), dict) and not version.startswith("3.1"):
        raise CatalogError(f"{where} has no paths")
    return Document(root, where, version.startswith("3.0"))


class _Cleaner:
    """A JSON tree out of whatever a parser gave: text keys, no dates, no aliases that unfold without end."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._nodes = 0

    def clean(self, value: Any, depth: int) -> Any:
        self._nodes += 1
        if self._nodes > self._most or depth > MAX_DEPTH:
            raise CatalogError(
                f"the OpenAPI document is too large: more than {self._most} values or {MAX_DEPTH} levels",
                hint="cut it down to the operations you need",
            )
        if isinstance(value, Mapping):
            return {str(k): self.clean(v, depth + 1) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [self.clean(v, depth + 1) for v in value]
        if isinstance(value, float) and not isfinite(value):
            return None
        return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def _yaml(text: str) -> Any:
    try:
        import yaml
    except ImportError:
        raise MissingExtra("reading YAML", "openapi") from None
    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    resolvers = {
        first: [(tag, pattern) for tag, pattern in known if tag != "tag:yaml.org,2002:timestamp"]
        for first, known in base.yaml_implicit_resolvers.items()
    }
    loader = type("JsonLoader", (base,), {"yaml_implicit_resolvers": resolvers})  # dates stay text, as in JSON
    try:
        return yaml.load(text, Loader=loader)  # a SafeLoader: plain values only
    except yaml.YAMLError as exc:
        raise ValueError(str(exc).replace("\n", " ")[:300]) from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
