"""Maps each argument of an OpenAPI tool to its place in the request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from callwright.nouns.types import Effects, JsonObject

Place = Literal["path", "query", "header", "cookie", "body"]
BodyKind = Literal["json", "form", "multipart", "text", "bytes"]


@dataclass(frozen=True, slots=True)
class Field:
    """One argument's way into the request. ``key`` is the argument's name, ``name`` the API's."""

    key: str
    name: str
    place: Place
    required: bool = False
    style: str = "form"
    explode: bool = True
    reserved: bool = False
    as_json: bool = False  # declared by `content`: one JSON text


@dataclass(frozen=True, slots=True)
class Body:
    """Encoding of the body: the argument ``whole`` as it is, or without one an object of the body
    fields.
    """

    kind: BodyKind
    media_type: str
    required: bool
    whole: str = ""
    encoding: Mapping[str, Any] | None = None
    files: frozenset[str] = frozenset()  # multipart parts that are base64 text in the arguments


@dataclass(frozen=True, slots=True)
class Binding:
    """All that is needed to turn arguments into a request."""

    method: str
    path: str
    fields: tuple[Field, ...]
    body: Body | None
    effects: Effects
    key_header: str = ""  # takes the idempotency key
    accept: str = "application/json"
    security: tuple[tuple[str, ...], ...] = ()  # alternatives of scheme names; () inside: anonymous
    servers: tuple[JsonObject, ...] = ()
    tags: tuple[str, ...] = ()
    operation_id: str = ""
    declared: JsonObject = field(
        default_factory=dict
    )  # what the document says of its effects, believed or not


def is_json(media_type: str) -> bool:
    """Return True if a body of this media type (or range) can be JSON."""
    name = media_type.partition(";")[0].strip().lower()
    known = ("application/json", "text/json", "*/*", "application/*")
    return name in known or name.endswith("+json")
