"""One of several upstreams: its address, its names of models, and the credentials that it is sent.

An address may name models behind ``#``: ``URL#MODEL`` sends every request under that name,
``URL#NAME=MODEL,NAME=MODEL`` only those that ask for one of the names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import unquote, urlsplit

from callwright.models.secret import Secret
from callwright.nouns.errors import ConfigError
from callwright.proxy.server.address import Upstream
from callwright.proxy.session.answers.sse import json_bytes, json_object
from callwright.proxy.session.events import Headers, SendUpstream, UpstreamHead

_PASSED = frozenset(
    {
        "accept",
        "accept-language",
        "content-encoding",
        "content-type",
        "openai-beta",
        "traceparent",
        "tracestate",
        "user-agent",
        "x-request-id",
    }
)
"""Headers of a client that hold no credential, whatever its API."""
_PASSED_BEGINNINGS = ("x-stainless-",)
_PLACES = 8  # where a body may seem to name its model


@dataclass(frozen=True, slots=True)
class ModelNames:
    """Names of models at an upstream. ``by_name`` counts before ``default``; "" leaves a name."""

    by_name: Mapping[str, str] = field(default_factory=dict)
    default: str = ""

    @classmethod
    def parse(cls, text: str) -> ModelNames:
        """``MODEL``, or ``NAME=MODEL`` with commas between. Raises ConfigError."""
        if "=" not in text:
            return cls(default=unquote(text))
        pairs = [part.partition("=") for part in text.split(",")]
        if not all(name and model for name, _, model in pairs):
            raise ConfigError(
                f"#{text} maps no names of models",
                hint="write URL#MODEL, or URL#NAME=MODEL,NAME=MODEL",
            )
        return cls({unquote(name): unquote(model) for name, _, model in pairs})

    def __bool__(self) -> bool:
        return bool(self.by_name or self.default)

    def get(self, model: str) -> str:
        """Return the upstream's name of a model."""
        return self.by_name.get(model, self.default or model)


@dataclass(frozen=True, slots=True)
class Destination:
    """An upstream and what is sent there. ``is_trusted``: it is, or lies at the origin of, the
    upstream that the clients' own credentials are meant for; all others get none of them.
    """

    upstream: Upstream
    name: str
    models: ModelNames = field(default_factory=ModelNames)
    key: Secret = field(default_factory=lambda: Secret(""))
    is_trusted: bool = True

    def filter_headers(self, given: Headers) -> Headers:
        """Return the headers of a request to the first upstream as this one is sent them."""
        if self.is_trusted and not self.key:
            return given
        kept = tuple((k, v) for k, v in given if _holds_no_credential(k))
        return (*kept, ("authorization", f"Bearer {self.key.reveal()}")) if self.key else kept

    def adapt(self, command: SendUpstream) -> SendUpstream:
        """Return a request to the first upstream as this one is sent it."""
        return replace(
            command,
            query=command.query if self.is_trusted else "",
            headers=self.filter_headers(command.headers),
            body=rename_model(command.body, self.models) if self.models else command.body,
        )

    def read_head(self, head: UpstreamHead) -> UpstreamHead:
        """Return the head of its answer without cookies that a client would send to another
        upstream.
        """
        return head if self.is_trusted else replace(head, cookies=())


def read_destinations(
    addresses: Sequence[str], keys: Mapping[str, Secret] | None = None
) -> tuple[Destination, ...]:
    """The upstreams at these addresses. ``keys``: those of upstreams behind the first, by their
    address. Raises ConfigError.
    """
    made: list[Destination] = []
    for address in addresses:
        url, _, models = address.partition("#")
        upstream = Upstream(url)
        if any(one.upstream.base == upstream.base for one in made):
            raise ConfigError(
                f"the upstream {upstream.base} is named twice", hint="name each address once"
            )
        made.append(
            Destination(
                upstream,
                _name_upstream(upstream, [one.name for one in made]),
                ModelNames.parse(models) if models else ModelNames(),
                (keys or {}).get(address, Secret("")),
                not made or _read_origin(upstream) == _read_origin(made[0].upstream),
            )
        )
    return tuple(made)


def rename_model(body: bytes, names: ModelNames) -> bytes:
    """Return a JSON body with its model's name replaced, and all other bytes as they are. A body
    that is no JSON object, or that names no model, stays.
    """
    document = json_object(body)
    before = document.get("model") if document is not None else None
    if document is None or not isinstance(before, str) or names.get(before) == before:
        return body
    wanted = {**document, "model": names.get(before)}
    spliced = (made for made in _iter_spliced(body, wanted["model"]) if json_object(made) == wanted)
    return next(spliced, None) or json_bytes(wanted)


def _iter_spliced(body: bytes, model: str) -> Iterator[bytes]:
    """The body with one of the places replaced that may hold the model's name."""
    found = re.finditer(rb'"model"\s*:\s*("(?:[^"\\]|\\.)*")', body)
    for _, match in zip(range(_PLACES), found, strict=False):
        yield body[: match.start(1)] + json_bytes(model) + body[match.end(1) :]


def _holds_no_credential(name: str) -> bool:
    return name in _PASSED or name.startswith(_PASSED_BEGINNINGS)


def _name_upstream(upstream: Upstream, taken: Sequence[str]) -> str:
    """Host and port, with the path where another upstream has them as well."""
    parts = urlsplit(upstream.base)
    return parts.netloc if parts.netloc not in taken else f"{parts.netloc}{parts.path}"


def _read_origin(upstream: Upstream) -> tuple[str, str, int]:
    parts = urlsplit(upstream.base)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return parts.scheme, str(parts.hostname).lower(), port
