"""One OpenAPI operation -> a Tool, and the Binding that says where each argument goes. No I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from callwright.nouns.errors import MissingExtra
from callwright.nouns.types import Effects, JsonObject, Tool
from callwright.tools.lists.effects import effects_from_method
from callwright.tools.openapi.arguments import Arguments
from callwright.tools.openapi.binding import Binding, Body, BodyKind, Place, is_json
from callwright.tools.openapi.document import Document, Unusable
from callwright.tools.openapi.schema import SchemaConverter

_PLACES: tuple[Place, ...] = ("path", "query", "header", "cookie")
_OURS = frozenset(
    {"accept", "content-type", "authorization"}
)  # OpenAPI: such header parameters are ignored
_FORBIDDEN_HEADERS = frozenset(
    {
        "host",
        "content-length",
        "transfer-encoding",
        "connection",
        "upgrade",
        "te",
        "trailer",
        "expect",
        "cookie",
    }
    | {"proxy-authorization", "proxy-connection", "keep-alive"}
)
_DESCRIPTION_CHARS = 1_500
_EFFECTS_KEYS = ("x-callwright-effects", "x-effects")
_HINTS = {
    "read_only": ("read_only", "readOnlyHint"),
    "destructive": ("destructive", "destructiveHint"),
    "idempotent": ("idempotent", "idempotentHint"),
    "open_world": ("open_world", "openWorldHint"),
}


class Importer:
    """Turns the operations of one document into tools."""

    def __init__(self, document: Document, *, source: str, trusted: bool) -> None:
        self._document = document
        self._source = source
        self._trusted = trusted
        # operations whose own word is not believed: it would loosen what the method says
        self.loosened = 0
        self._requests = SchemaConverter(document, writing=True)
        self._responses = SchemaConverter(document, writing=False)

    def tool(
        self, name: str, method: str, path: str, item: JsonObject, raw: Any
    ) -> tuple[Tool, Binding]:
        """The tool and its binding. Raises Unusable with the reason why there is none."""
        if not isinstance(raw, Mapping):
            raise Unusable("the operation is not an object")
        operation = self._document.resolved(raw)
        arguments = Arguments(self._requests)
        parameters = self._parameters(path, item, operation)
        key_header = next((p.name for p, _ in parameters if _is_key(p)), "")
        for parameter in parameters:
            if not _is_key(
                parameter[0]
            ):  # we make the key: a model's would not be the same at the next attempt
                arguments.add_parameter(*parameter)
        missing = set(re.findall(r"\{([^{}]+)\}", path)) - {
            f.name for f in arguments.fields if f.place == "path"
        }
        if missing:
            raise Unusable(f"the path parameter {sorted(missing)[0]!r} is not declared")
        body = self._body(operation, arguments)
        output, accept = self._output(operation)
        binding = Binding(
            method=method.upper(),
            path=path,
            fields=tuple(arguments.fields),
            body=body,
            effects=replace(
                self._effects(method, operation), keyed=bool(key_header) and self._trusted
            ),
            declared=_get_declared_effects(operation),
            key_header=key_header,
            accept=accept,
            security=_list_security(
                operation.get("security", self._document.root.get("security")), self._document
            ),
            servers=_list_servers(operation, item, self._document.root),
            tags=tuple(t for t in _get_list(operation, "tags") if isinstance(t, str)),
            operation_id=str(operation.get("operationId") or ""),
        )
        made = Tool(
            name,
            _build_description(operation),
            arguments.schema(),
            output,
            binding.effects,
            self._source,
            self._trusted,
        )
        return made, binding

    def _parameters(
        self, path: str, item: JsonObject, operation: JsonObject
    ) -> list[tuple[Any, JsonObject]]:
        """Declared parameters in the order path, query, header, cookie; the operation's replace the
        path's.
        """
        found: dict[tuple[str, str], tuple[Any, JsonObject]] = {}
        for raw in [*_get_list(item, "parameters"), *_get_list(operation, "parameters")]:
            whole = self._document.resolved(raw)
            typed = _typed_parameter(whole, self._document.legacy)
            place, name = typed.param_in.value, typed.name
            if (place == "header" and name.lower() in _OURS) or (
                place == "path" and f"{{{name}}}" not in path
            ):
                continue
            if place == "header" and name.lower() in _FORBIDDEN_HEADERS:
                raise Unusable(f"it sets the header {name!r}, which belongs to the connection")
            found[place, name] = (typed, whole)
        return sorted(found.values(), key=lambda p: _PLACES.index(p[0].param_in.value))

    def _body(self, operation: JsonObject, arguments: Arguments) -> Body | None:
        if operation.get("requestBody") is None:
            return None
        raw = self._document.resolved(operation["requestBody"])
        content = raw.get("content")
        if not isinstance(content, Mapping) or not content:
            return None
        media_type, kind = _media_type(content)
        media = content[media_type] if isinstance(content[media_type], Mapping) else {}
        encoding = media.get("encoding")
        body = Body(
            kind,
            media_type,
            raw.get("required") is True,
            "",
            encoding if isinstance(encoding, dict) else None,
        )
        if kind == "bytes":
            schema: JsonObject = {"type": "string", "contentEncoding": "base64"}
        elif kind == "text":
            schema = {"type": "string"}
        else:
            schema = self._requests.convert(media.get("schema", {}))
        if isinstance(text := raw.get("description"), str):
            schema = {"description": text, **schema}
        return arguments.add_body(body, schema)

    def _output(self, operation: JsonObject) -> tuple[JsonObject | None, str]:
        """The schema of the first successful response with a JSON body, and what to accept."""
        responses = operation.get("responses")
        codes = (
            [c for c in responses if re.fullmatch(r"2(\d\d|XX)", c)]
            if isinstance(responses, Mapping)
            else []
        )
        for code in sorted(codes):
            try:
                content = self._document.resolved(responses[code]).get("content")  # type: ignore[index]
            except Unusable:
                continue
            for media_type, media in content.items() if isinstance(content, Mapping) else ():
                if is_json(media_type) and isinstance(media, Mapping):
                    return self._response_schema(media.get("schema")), media_type.partition(";")[0]
            if isinstance(content, Mapping) and content:
                return (
                    {"type": "string"} if next(iter(content)).startswith("text/") else None
                ), "*/*"
        return None, "application/json"

    def _response_schema(self, raw: Any) -> JsonObject | None:
        try:
            return self._responses.convert(raw) if raw is not None else None
        except Unusable:
            return None  # the tool works without it

    def _effects(self, method: str, operation: JsonObject) -> Effects:
        """From the method (RFC 9110); ``x-callwright-effects`` overrides, and only tightens where
        not trusted.
        """
        effects = effects_from_method(method)
        said = _get_declared_effects(operation)
        changes = {
            f: said[k] for f, keys in _HINTS.items() for k in keys if isinstance(said.get(k), bool)
        }
        if not changes:
            return effects
        if changes.get("read_only"):
            changes = {"destructive": False, "idempotent": True, **changes}
        if not self._trusted:
            tight = {
                "read_only": False,
                "destructive": True,
                "idempotent": False,
                "open_world": True,
            }
            believed = {f: v for f, v in changes.items() if v == tight[f]}
            self.loosened += replace(effects, **changes) != replace(effects, **believed)
            changes = believed
        return replace(effects, **changes)


def _get_declared_effects(operation: JsonObject) -> JsonObject:
    """Return the effects that an operation declares."""
    return next((operation[k] for k in _EFFECTS_KEYS if isinstance(operation.get(k), dict)), {})


def _is_key(parameter: Any) -> bool:
    """Return True if a parameter is the Idempotency-Key header
    (draft-ietf-httpapi-idempotency-key-header).
    """
    return bool(
        parameter.param_in.value == "header" and parameter.name.lower() == "idempotency-key"
    )


def _typed_parameter(raw: JsonObject, legacy: bool) -> Any:
    """The parameter read by openapi-pydantic, without its schema (that is ours to convert)."""
    name = str(raw.get("name"))[:60]
    if raw.get("in") == "querystring":  # OpenAPI 3.2
        raise Unusable(f"the parameter {name!r} is the whole query string, which is not supported")
    try:
        if legacy:
            from openapi_pydantic.v3.v3_0 import Parameter
        else:
            from openapi_pydantic.v3.v3_1 import Parameter  # type: ignore[assignment]
    except ImportError:
        raise MissingExtra("reading OpenAPI documents", "openapi") from None
    plain = {
        k: raw[k] for k in ("name", "in", "required", "style", "explode", "description") if k in raw
    }
    try:
        return Parameter.model_validate(plain)
    except ValueError as exc:
        found: Any = getattr(exc, "errors", list)()
        where = ".".join(str(p) for p in found[0]["loc"]) if found else ""
        reason = f"{where}: {found[0]['msg']}" if found else str(exc)
        raise Unusable(f"the parameter {name!r} is malformed ({reason})") from None


def _media_type(content: Mapping[str, Any]) -> tuple[str, BodyKind]:
    ranks: dict[BodyKind, int] = {"json": 0, "form": 1, "multipart": 2, "text": 3, "bytes": 4}
    known = [
        (ranks[kind], index, name, kind)
        for index, name in enumerate(content)
        if (kind := _get_body_kind(name))
    ]
    if not known:
        raise Unusable(f"its body is written in {', '.join(content)[:80]}, which is not supported")
    best = min(known)
    return best[2], best[3]


def _get_body_kind(media_type: str) -> BodyKind | None:
    name = media_type.partition(";")[0].strip().lower()
    if is_json(name):
        return "json"
    plain: dict[str, BodyKind] = {
        "application/x-www-form-urlencoded": "form",
        "multipart/form-data": "multipart",
        "application/octet-stream": "bytes",
    }
    return plain.get(name) or ("text" if name.startswith("text/") else None)


def _get_list(holder: JsonObject, key: str) -> list[Any]:
    found = holder.get(key)
    if found is not None and not isinstance(found, list):
        raise Unusable(f"its {key} are no list")
    return found or []


def _build_description(operation: JsonObject) -> str:
    parts = [operation.get(k) for k in ("summary", "description")]
    texts = list(dict.fromkeys(p.strip() for p in parts if isinstance(p, str) and p.strip()))
    if len(texts) == 2 and texts[1].startswith(texts[0]):
        texts = texts[1:]
    text = "\n\n".join(["Deprecated."] * (operation.get("deprecated") is True) + texts)
    return text if len(text) <= _DESCRIPTION_CHARS else text[: _DESCRIPTION_CHARS - 1] + "…"


def _list_security(raw: Any, document: Document) -> tuple[tuple[str, ...], ...]:
    """The alternatives. Where a document declares schemes but never asks for one, each may be used
    and none must.
    """
    if isinstance(raw, list):
        return tuple(tuple(str(n) for n in entry) for entry in raw if isinstance(entry, Mapping))
    components = document.root.get("components")
    schemes = components.get("securitySchemes") if isinstance(components, Mapping) else None
    if isinstance(schemes, Mapping) and schemes:
        return (*((str(n),) for n in schemes), ())
    return ()


def _list_servers(
    operation: JsonObject, item: JsonObject, root: JsonObject
) -> tuple[JsonObject, ...]:
    for holder in (operation, item, root):
        found: Any = holder.get("servers")
        if isinstance(found, list) and found:
            return tuple(s for s in found if isinstance(s, dict) and isinstance(s.get("url"), str))
    return ()
