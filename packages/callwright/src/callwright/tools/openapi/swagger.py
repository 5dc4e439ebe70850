"""Swagger 2.0 -> OpenAPI 3.0, which all that follows reads. Pure.

Schemas, and the references to them, stay where they stand: only paths, servers and security schemes
are written anew. Shared parameters and responses are copied to where they are used, because a body
in Swagger is a parameter. https://swagger.io/specification/v2
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from callwright.nouns.types import JsonObject
from callwright.tools.openapi.document import METHODS, Document, Unusable, document_of, iter_objects

VERSION = "2.0"
_JSON, _FORM, _MULTIPART = (
    "application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
)
_STYLES: Mapping[str, JsonObject] = {
    "csv": {"style": "form", "explode": False},
    "ssv": {"style": "spaceDelimited", "explode": False},
    "pipes": {"style": "pipeDelimited", "explode": False},
    "multi": {"style": "form", "explode": True},
    "tsv": {"style": "tabDelimited", "explode": False},  # OpenAPI 3 has none: it is refused by name
}
_OF_PARAMETERS = frozenset(
    {"name", "in", "required", "description", "collectionFormat", "allowEmptyValue"}
)
_BINARY: JsonObject = {"type": "string", "format": "binary"}

Parameters: TypeAlias = list[JsonObject]


def read_root(
    root: Any, where: str, missing: Mapping[str, str] | None = None, *, scheme: str = "https"
) -> Document:
    """The document of a parsed root, OpenAPI or Swagger. ``scheme``: that of the document's own
    address. Raises CatalogError for anything else.
    """
    if isinstance(root, dict) and is_swagger(root):
        root = convert(root, where, scheme)
    return document_of(root, where, missing)


def is_swagger(root: JsonObject) -> bool:
    """Return True if a document says that it is Swagger 2.0."""
    return "openapi" not in root and str(root.get("swagger")) == VERSION


def convert(root: JsonObject, where: str, scheme: str) -> JsonObject:
    """Return the document as OpenAPI 3.0. ``scheme`` is that of the document's own address, which
    counts where it names none. What cannot be read stays as it is, for the importer to name.
    """
    converter = _Converter(root, where)
    made = {k: v for k, v in root.items() if k not in ("swagger", "paths", "securityDefinitions")}
    made["openapi"] = "3.0.3"
    made["servers"] = _list_servers(root, root.get("schemes"), scheme)
    paths = root.get("paths")
    made["paths"] = (
        {path: converter.convert_item(item, scheme) for path, item in paths.items()}
        if isinstance(paths, dict)
        else paths
    )
    schemes = root.get("securityDefinitions")
    if isinstance(schemes, dict):
        converted = {name: _convert_security(one) for name, one in schemes.items()}
        made["components"] = {"securitySchemes": converted}
    _mark_nullable(made)
    return made


class _Converter:
    def __init__(self, root: JsonObject, where: str) -> None:
        self._root = root
        self._document = Document(root, where, legacy=True)

    def convert_item(self, raw: Any, scheme: str) -> Any:
        try:
            item = self._document.resolved(raw)
        except Unusable:
            return raw
        shared = item.get("parameters")
        made = {k: v for k, v in item.items() if k not in (*METHODS, "parameters")}
        for method in METHODS:
            if method in item:
                made[method] = self._convert_operation(item[method], shared, scheme)
        return made

    def _convert_operation(self, raw: Any, shared: Any, scheme: str) -> Any:
        """The operation, with the path's parameters. One of which a reference leads nowhere stays
        as it is: the importer says why.
        """
        if not isinstance(raw, dict):
            return raw
        try:
            parameters = self._gather(shared, raw.get("parameters"))
        except Unusable:
            lists = (given for given in (shared, raw.get("parameters")) if isinstance(given, list))
            return {**raw, "parameters": [one for given in lists for one in given]}
        except TypeError:
            return raw if raw.get("parameters") is not None else {**raw, "parameters": shared}
        made = {k: v for k, v in raw.items() if k not in ("parameters", "schemes", "responses")}
        made["parameters"] = [
            _convert_parameter(one)
            for one in parameters
            if one.get("in") not in ("body", "formData")
        ]
        body = self._convert_body(parameters, _list_types(raw, self._root, "consumes"))
        if body is not None:
            made["requestBody"] = body
        made["responses"] = self._convert_responses(raw)
        if isinstance(raw.get("schemes"), list):
            made["servers"] = _list_servers(self._root, raw["schemes"], scheme)
        return made

    def _gather(self, *lists: Any) -> Parameters:
        """The parameters, those of later lists in the place of earlier ones. Raises Unusable where
        one cannot be read, TypeError for what is no list.
        """
        found: dict[tuple[str, str], JsonObject] = {}
        for given in lists:
            if not isinstance(given, list | None):
                raise TypeError
            for raw in given or ():
                one = self._document.resolved(raw)
                found[str(one.get("in")), str(one.get("name"))] = one
        return [*found.values()]

    def _convert_body(self, parameters: Parameters, types: Sequence[str]) -> JsonObject | None:
        whole = next((one for one in parameters if one.get("in") == "body"), None)
        if whole is not None:
            content = {kind: {"schema": whole.get("schema", {})} for kind in types or [_JSON]}
            made: JsonObject = {"required": whole.get("required") is True, "content": content}
            told = whole.get("description")
            return {**made, "description": told} if isinstance(told, str) else made
        fields = [one for one in parameters if one.get("in") == "formData"]
        return _convert_form(fields, types) if fields else None

    def _convert_responses(self, operation: JsonObject) -> Any:
        responses = operation.get("responses")
        if not isinstance(responses, dict):
            return responses
        types = _list_types(operation, self._root, "produces") or [_JSON]
        made: JsonObject = {}
        for code, raw in responses.items():
            try:
                one = self._document.resolved(raw)
            except Unusable:
                made[str(code)] = raw
                continue
            schema = one.get("schema")
            content = {kind: {"schema": _convert_file(schema)} for kind in types}
            told = {"description": one.get("description", "")}
            made[str(code)] = {**told, "content": content} if schema is not None else told
        return made


def _convert_parameter(raw: JsonObject) -> JsonObject:
    kept = _OF_PARAMETERS - {"collectionFormat"}
    made: JsonObject = {k: v for k, v in raw.items() if k in kept}
    made["schema"] = _convert_schema(raw)
    if raw.get("type") == "array":
        style = _STYLES.get(str(raw.get("collectionFormat", "csv")), _STYLES["csv"])
        is_listed = raw.get("in") == "query" or style is not _STYLES["csv"]
        made |= style if is_listed else {"style": "simple", "explode": False}
    return made


def _convert_form(fields: Parameters, types: Sequence[str]) -> JsonObject:
    """The form's fields as one object: a multipart body where a file is among them, or nothing else
    is taken.
    """
    has_file = any(one.get("type") == "file" for one in fields)
    is_multipart = has_file or (_MULTIPART in types and _FORM not in types)
    properties = {str(one.get("name")): _convert_field(one) for one in fields}
    needed = [str(one.get("name")) for one in fields if one.get("required") is True]
    schema: JsonObject = {"type": "object", "properties": properties}
    encoding = {
        str(one.get("name")): _STYLES.get(str(one.get("collectionFormat", "csv")), _STYLES["csv"])
        for one in fields
        if one.get("type") == "array"
    }
    media = {"schema": {**schema, "required": needed} if needed else schema, "encoding": encoding}
    kind = _MULTIPART if is_multipart else _FORM
    return {"required": bool(needed), "content": {kind: media}}


def _convert_field(raw: JsonObject) -> JsonObject:
    made = _convert_file(_convert_schema(raw))
    told = raw.get("description")
    return {"description": told, **made} if isinstance(told, str) else made


def _convert_schema(raw: JsonObject) -> JsonObject:
    """The schema that Swagger writes into a parameter itself."""
    return {k: v for k, v in raw.items() if k not in _OF_PARAMETERS}


def _convert_file(schema: Any) -> Any:
    if isinstance(schema, dict) and schema.get("type") == "file":
        return {**schema, **_BINARY}
    return schema


def _convert_security(raw: Any) -> Any:
    if not isinstance(raw, dict):
        return raw
    if raw.get("type") == "basic":
        return {**raw, "type": "http", "scheme": "basic"}
    return {**raw, "flows": {}} if raw.get("type") == "oauth2" else raw


def _list_types(operation: JsonObject, root: JsonObject, key: str) -> list[str]:
    """The media types that an operation consumes or produces: its own, else the document's."""
    given = operation.get(key, root.get(key))
    return [one for one in given if isinstance(one, str)] if isinstance(given, list) else []


def _list_servers(root: JsonObject, schemes: Any, own: str) -> list[JsonObject]:
    """The addresses of ``host`` and ``basePath``, the safest first; only the path without a
    host.
    """
    base = f"/{str(root.get('basePath') or '').strip('/')}".rstrip("/")
    host = root.get("host")
    if not isinstance(host, str) or not host:
        return [{"url": base or "/"}]
    given = schemes if isinstance(schemes, list) else []
    known = [one for one in given if one in ("https", "http")] or [own]
    return [{"url": f"{one}://{host}{base}"} for one in sorted(known, reverse=True)]


def _mark_nullable(root: Any) -> None:
    """Set ``nullable`` where a schema has the extension that stands for it in Swagger."""
    for node in iter_objects(root):
        if node.get("x-nullable") is True:
            node.setdefault("nullable", True)
