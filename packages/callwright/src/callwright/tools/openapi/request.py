"""Arguments -> a request, after OpenAPI's parameter styles (RFC 6570 underneath). Pure.

No argument can leave its place: path values are percent-encoded whole, and what a server could
still read as a way up (``..`` alone, behind an encoded slash, or encoded once more) is refused; so
are line breaks in headers.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from urllib.parse import quote, unquote

from callwright.nouns.types import JsonObject
from callwright.tools.openapi.binding import Binding, Body, Field

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_RESERVED = (  # what `allowReserved` may keep in a query without ending or splitting it
    ":/?@!$'()*,;"
)
_MEDIA_TYPE = re.compile(r"[\w.+-]+/[\w.+-]+", re.ASCII)  # one, and no range
_TEMPLATE = re.compile(r"\{([^{}]+)\}")


class BadArgument(Exception):
    """An argument that cannot be put into the request. The message is for the model."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request but for server and credentials. ``path`` and ``query`` are percent-encoded."""

    method: str
    path: str
    query: str = ""
    headers: JsonObject = field(default_factory=dict)
    cookies: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None


def build_request(binding: Binding, arguments: JsonObject) -> Request:
    """The request for these arguments. Raises BadArgument naming the argument that does not fit."""
    unknown = set(arguments) - {f.key for f in binding.fields}
    if unknown:
        raise BadArgument(f"there is no parameter {sorted(unknown)[0]!r}")
    for f in binding.fields:
        if f.required and f.key not in arguments:
            raise BadArgument(f"the parameter {f.key!r} is required")
    given = [(f, arguments[f.key]) for f in binding.fields if f.key in arguments]
    query = [
        pair
        for f, v in given
        if f.place == "query" and v is not None
        for pair in _format_query(f, v)
    ]
    cookies = [
        pair
        for f, v in given
        if f.place == "cookie" and v is not None
        for pair in _format_form_style(f, v)
    ]
    headers = {
        f.name.lower(): _format_header(f, v)
        for f, v in given
        if f.place == "header" and v is not None
    }
    headers["accept"] = binding.accept
    body, content_type = _encode_body(binding.body, {f: v for f, v in given if f.place == "body"})
    if body is not None:
        headers["content-type"] = content_type
    path = _fill_path(binding, {f.name: (f, v) for f, v in given if f.place == "path"})
    return Request(binding.method, path, "&".join(query), headers, tuple(cookies), body)


def format_scalar(value: Any) -> str:
    """A value as text in a URL, header or form: JSON's spelling, strings bare, null empty."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _format_json(value: Any) -> str:
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":"))
    except (ValueError, TypeError, RecursionError):
        raise BadArgument("an argument holds a value that JSON cannot carry") from None


def _encode_value(value: Any, safe: str = "") -> str:
    return quote(format_scalar(value), safe=safe, errors="replace")


def _iter_pairs(value: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    return ((str(k), v) for k, v in value.items() if v is not None)


def _fill_path(binding: Binding, values: Mapping[str, tuple[Field, Any]]) -> str:
    def fill(name: str) -> str:
        f, value = values[name]
        _refuse_ways_out(f, value)
        text = _path_value(f, value)
        if not text.strip(".;=,"):
            raise BadArgument(f"the path parameter {f.key!r} must not be empty or made of dots")
        return text

    path = "".join(
        fill(part) if place % 2 else quote(part, safe="/%{}:@!$&'()*+,;=~")
        for place, part in enumerate(_TEMPLATE.split(binding.path))
    )
    if any(unquote(segment) in (".", "..") for segment in path.split("/")):
        raise BadArgument("the path parameters would lead to another path")
    # without a slash it would go on the name of the server's host, and the credential with it
    return f"/{path}" if path and not path.startswith("/") else path


def _refuse_ways_out(f: Field, value: Any) -> None:
    parts: Collection[Any] = [value]
    if isinstance(value, list):
        parts = value
    elif isinstance(value, dict):
        parts = value.values()
    if not parts:
        raise BadArgument(f"the path parameter {f.key!r} must not be empty")
    for part in parts:
        text = format_scalar(part)
        for _ in range(4):  # a server, or one in front of it, may decode more than once
            if _CONTROL.search(text):
                raise BadArgument(f"the path parameter {f.key!r} holds control characters")
            if any(p.split(";")[0].strip() in (".", "..") for p in re.split(r"[/\\]", text)):
                raise BadArgument(
                    f"the path parameter {f.key!r} must not hold '.' or '..' as a path segment"
                )
            text = unquote(text)
        if text == "":
            raise BadArgument(f"the path parameter {f.key!r} must not be empty")


def _path_value(f: Field, value: Any) -> str:
    """Styles simple, label and matrix (RFC 6570 3.2.2, 3.2.5, 3.2.7)."""
    if f.as_json:
        return quote(_format_json(value), safe="")
    prefix, joint = {"label": (".", "."), "matrix": (";", ";")}.get(f.style, ("", ","))
    name = quote(f.name, safe="")
    if isinstance(value, list):
        parts = [_encode_value(v) for v in value]
        if f.style == "matrix":
            return (
                "".join(f";{name}={p}" for p in parts)
                if f.explode
                else f";{name}={','.join(parts)}"
            )
        return prefix + (joint if f.explode else ",").join(parts)
    if isinstance(value, dict):
        if f.explode:
            return prefix + joint.join(
                f"{_encode_value(k)}={_encode_value(v)}" for k, v in _iter_pairs(value)
            )
        flat = ",".join(f"{_encode_value(k)},{_encode_value(v)}" for k, v in _iter_pairs(value))
        return f";{name}={flat}" if f.style == "matrix" else prefix + flat
    return (
        f";{name}={_encode_value(value)}" if f.style == "matrix" else prefix + _encode_value(value)
    )


def _format_query(f: Field, value: Any) -> list[str]:
    """``name=value`` texts; styles form, spaceDelimited, pipeDelimited and deepObject."""
    safe = _RESERVED if f.reserved else ""
    name = quote(f.name, safe="[]$")
    if f.style == "deepObject" and isinstance(value, dict):
        return [
            f"{quote(f.name + key, safe='[]')}={_encode_value(v, safe)}"
            for key, v in _iter_deep_pairs(value)
        ]
    if (
        f.style in ("spaceDelimited", "pipeDelimited")
        and not f.explode
        and isinstance(value, list | dict)
    ):
        flat = (
            value if isinstance(value, list) else [x for pair in _iter_pairs(value) for x in pair]
        )
        return [
            f"{name}={('%20' if f.style == 'spaceDelimited' else '%7C').join(_encode_value(v, safe) for v in flat)}"
        ]
    return [f"{quote(n, safe='[]$')}={text}" for n, text in _format_form_style(f, value, safe)]


def _iter_deep_pairs(value: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    """``[a][b]`` and its value for every leaf; arrays repeat their key."""
    for key, inner in _iter_pairs(value):
        here = f"{prefix}[{key}]"
        if isinstance(inner, dict):
            yield from _iter_deep_pairs(inner, here)
        elif isinstance(inner, list):
            yield from ((here, v) for v in inner)
        else:
            yield here, inner


def _format_form_style(f: Field, value: Any, safe: str = "") -> list[tuple[str, str]]:
    """Style form: names as they are, values percent-encoded."""
    if f.as_json:
        return [(f.name, quote(_format_json(value), safe=safe))]
    if isinstance(value, list):
        parts = [_encode_value(v, safe) for v in value]
        if f.explode:
            return [(f.name, p) for p in parts]
        if parts:
            return [(f.name, ",".join(parts))]
        return []
    if isinstance(value, dict):
        if f.explode:
            return [(k, _encode_value(v, safe)) for k, v in _iter_pairs(value)]
        return [
            (
                f.name,
                ",".join(
                    f"{_encode_value(k)},{_encode_value(v, safe)}" for k, v in _iter_pairs(value)
                ),
            )
        ]
    return [(f.name, _encode_value(value, safe))]


def _format_header(f: Field, value: Any) -> str:
    """Style simple: values as they are (RFC 9110 has no encoding for them), line breaks and
    controls refused.
    """
    if f.as_json:
        text = _format_json(value)
    elif isinstance(value, list):
        text = ",".join(format_scalar(v) for v in value)
    elif isinstance(value, dict):
        text = ",".join(
            f"{k}{'=' if f.explode else ','}{format_scalar(v)}" for k, v in _iter_pairs(value)
        )
    else:
        text = format_scalar(value)
    if _CONTROL.search(text):
        raise BadArgument(
            f"the header parameter {f.key!r} must not hold line breaks or control characters"
        )
    return text


def _encode_body(body: Body | None, values: Mapping[Field, Any]) -> tuple[bytes | None, str]:
    if body is None or not (values or body.required):
        return None, ""
    value: Any = {f.name: v for f, v in values.items()}
    if body.whole:
        value = next(iter(values.values()), None)
    if body.kind == "json":
        media_type = "application/json" if "*" in body.media_type else body.media_type
        return _format_json(value).encode(), media_type
    if body.kind == "text":
        return (
            format_scalar(value).encode("utf-8", "replace"),
            f"{body.media_type.partition(';')[0]}; charset=utf-8",
        )
    if body.kind == "bytes":
        return _decode_binary("body", value), body.media_type
    if not isinstance(value, dict):
        raise BadArgument("the body must be an object")
    return _encode_form(body, value) if body.kind == "form" else _encode_multipart(body, value)


def _decode_binary(key: str, value: Any) -> bytes:
    try:
        return b64decode(value if isinstance(value, str) else "?", validate=True)
    except (Base64Error, ValueError):
        raise BadArgument(f"{key!r} must be base64 text") from None


def _encode_form(body: Body, value: JsonObject) -> tuple[bytes, str]:
    """``application/x-www-form-urlencoded``: style form, exploded, unless the encoding object says
    otherwise.
    """
    pairs: list[str] = []
    for name, inner in _iter_pairs(value):
        said = (body.encoding or {}).get(name)
        rule = said if isinstance(said, Mapping) else {}
        style = str(rule.get("style", "form"))
        explode = bool(rule.get("explode", style in ("form", "deepObject")))
        as_json = isinstance(inner, dict) and not rule.get("style")
        pairs += _format_query(
            Field(name, name, "query", False, style, explode, as_json=as_json), inner
        )
    return "&".join(pairs).encode(), "application/x-www-form-urlencoded"


def _encode_multipart(body: Body, value: JsonObject) -> tuple[bytes, str]:
    """``multipart/form-data`` (RFC 7578): text parts, JSON parts for objects, base64 arguments as
    files.
    """
    parts: list[tuple[str, bytes]] = []
    for name, inner in _iter_pairs(value):
        rule = (body.encoding or {}).get(name)
        for item in _split_items(inner, rule):
            parts.append(_encode_part(name, item, name in body.files, rule))
    boundary = "callwright-" + sha256(b"".join(text for _, text in parts)).hexdigest()[:32]
    lines = [f"--{boundary}\r\n{head}\r\n\r\n".encode() + text + b"\r\n" for head, text in parts]
    return (
        b"".join([*lines, f"--{boundary}--\r\n".encode()]),
        f"multipart/form-data; boundary={boundary}",
    )


def _split_items(value: Any, rule: Any) -> list[Any]:
    """The values of a field, each a part of its own, unless its encoding joins them."""
    if not isinstance(value, list):
        return [value]
    signs = {"form": ",", "spaceDelimited": " ", "pipeDelimited": "|"}
    given = rule if isinstance(rule, Mapping) else {}
    sign = signs.get(str(given.get("style"))) if given.get("explode") is False else None
    return value if sign is None else [sign.join(format_scalar(item) for item in value)]


def _encode_part(name: str, value: Any, is_file: bool, rule: Any) -> tuple[str, bytes]:
    """One part: its head and its bytes. ``rule`` is its encoding object, which may name its type."""
    said = rule.get("contentType") if isinstance(rule, Mapping) else None
    named = said if isinstance(said, str) and _MEDIA_TYPE.fullmatch(said) else ""
    safe = quote(name, safe=" []$!#&'()*+,-./:;<=>?@^_`{|}~")
    head = f'Content-Disposition: form-data; name="{safe}"'
    if is_file:
        return (
            f'{head}; filename="{safe}"\r\nContent-Type: {named or "application/octet-stream"}',
            _decode_binary(name, value),
        )
    if isinstance(value, dict):
        kind = named or "application/json"
        return f"{head}\r\nContent-Type: {kind}", _format_json(value).encode()
    kind = f"\r\nContent-Type: {named}" if named else ""
    return f"{head}{kind}", format_scalar(value).encode("utf-8", "replace")
