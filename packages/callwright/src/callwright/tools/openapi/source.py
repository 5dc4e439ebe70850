"""OpenAPI documents as a tool source: every operation a tool, every call a real request under
egress rules.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urljoin, urlsplit

from callwright.http import Egress, HttpClient, HttpResponse
from callwright.language.credentials import secret_values
from callwright.nouns.errors import CatalogError, ConfigError, Failure
from callwright.nouns.protocols import CALL_KEY, Confirmations
from callwright.nouns.types import JsonObject, Tool, ToolOutput
from callwright.tools.lists.json_document import MAX_BYTES
from callwright.tools.openapi.binding import Binding
from callwright.tools.openapi.document import (
    METHODS,
    Document,
    Notation,
    Unusable,
    clean_value,
    notation_of,
    read_file,
    value_from_text,
)
from callwright.tools.openapi.files import beside_file, beside_url, may_have_files
from callwright.tools.openapi.keys import KeyRule, explain_withheld
from callwright.tools.openapi.names import tool_name
from callwright.tools.openapi.operation import Importer
from callwright.tools.openapi.request import BadArgument, Request, build_request
from callwright.tools.openapi.response import output_of
from callwright.tools.openapi.security import (
    Credentials,
    Scheme,
    credentials_for,
    schemes_of,
    secrets_of,
)
from callwright.tools.openapi.swagger import read_root
from callwright.tools.trust import digest_of, escape_terminal_text, normalize_location

_BASE_HINT = "write http(s)://host[:port]/path"


@dataclass(frozen=True, slots=True)
class NotImported:
    """An operation that did not become a tool, and why."""

    operation: str  # "GET /pets/{id}"
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class OpenAPIOptions:
    """Options of an OpenAPI document.

    ``include`` and ``exclude`` take ``"GET"``, ``"tag:repos"``, ``"/repos/*"``, ``"GET /repos/*"``
    or the glob of an operationId or tool name; names do not depend on them. Credentials come from
    environment variables (see ``openapi_security``); ``credentials`` names another variable for a
    scheme, ``headers`` are sent with every call. ``files`` are folders, besides the document's own,
    from which its ``$ref`` may read.
    """

    name: str = ""
    base_url: str = ""
    server: int | str = 0
    server_variables: Mapping[str, str] | None = None
    include: Iterable[str] = ()
    exclude: Iterable[str] = ()
    credentials: Mapping[str, str] | None = None
    environment: Mapping[str, str] | None = None
    headers: Mapping[str, str] | None = None
    allow: Iterable[str] = ()
    trusted: bool = False
    timeout: float = 30.0
    max_bytes: int = 2_000_000
    files: Iterable[str] = ()


class OpenAPISource:
    """Tools from an OpenAPI 3.0, 3.1, 3.2 or Swagger 2.0 document: a dict, a path, or an http(s) URL;
    JSON or YAML.

    The fields of ``options`` are still taken as keyword arguments, which replace those of
    ``options``; the next version takes them in ``options`` only.

    Requests go to public addresses only, plus the hosts of ``base_url`` and of the document's own
    URL, because the caller typed them, plus ``allow``. ``http`` is a client to share: its own
    egress rules then hold, and it stays open. After ``open``, ``not_imported`` lists what could not
    become a tool.

    A document is not ``trusted`` unless the caller says so, or the user has confirmed it by digest
    (:meth:`consult`): what it says of effects loosens nothing, and it does not choose the address
    that a credential goes to (:mod:`~callwright.tools.openapi.keys`).
    """

    def __init__(
        self,
        document: Mapping[str, Any] | str | Path,
        options: OpenAPIOptions | None = None,
        *,
        http: HttpClient | None = None,
        **deprecated: Any,
    ) -> None:
        chosen = replace(options or OpenAPIOptions(), **deprecated)
        environment = chosen.environment
        self._given = document
        self._name = chosen.name or _default_name(document)
        self._base_url = _checked_base(chosen.base_url)
        self._server, self._server_variables = chosen.server, dict(chosen.server_variables or {})
        self._include, self._exclude = tuple(chosen.include), tuple(chosen.exclude)
        self._renamed = dict(chosen.credentials or {})
        self._environment = os.environ if environment is None else environment
        is_addressed = bool(chosen.base_url) or environment is not None
        self._keys = KeyRule(_as_url(document), frozenset(self._renamed), is_addressed)
        self._headers = {k.lower(): v for k, v in (chosen.headers or {}).items()}
        self._trusted = chosen.trusted
        self._trust: Confirmations | None = None
        self._timeout, self._max_bytes = chosen.timeout, chosen.max_bytes
        self._folders = tuple(chosen.files)
        self._own_http = http is None
        typed = [u for u in (self._base_url, _as_url(document)) if u]
        allowed = [*chosen.allow, *map(_origin_entry, typed)]
        self._http = http or HttpClient(Egress.allow(allowed))
        self._bindings: dict[str, Binding] = {}
        self._schemes: dict[str, Scheme] = {}
        self.not_imported: tuple[NotImported, ...] = ()
        self.unconfirmed: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self._name

    @property
    def secrets(self) -> tuple[str, ...]:
        """The secret values this source may send, for ``Trace(secrets=…)``. Known after
        ``open``.
        """
        return (*secrets_of(self._schemes, self._environment), *secret_values(self._headers))

    async def open(self) -> Sequence[Tool]:
        """Read the document and import its operations. Raises CatalogError when it cannot be read
        at all.
        """
        try:
            document = await self._load()
        except BaseException:
            await self.aclose()
            raise
        return await asyncio.to_thread(self._import, document)

    async def call(self, tool: Tool, arguments: JsonObject) -> ToolOutput:
        """Send the request. What goes wrong is in the output's failure."""
        binding = self._bindings.get(tool.name)
        if binding is None:
            return ToolOutput(
                failure=_build_failure(
                    f"{self._name} has no operation behind the tool {tool.name!r}"
                )
            )
        try:
            request = build_request(binding, arguments)
        except BadArgument as exc:
            return ToolOutput(failure=Failure("tool_error", str(exc), not_done=True))
        base = self._base(binding)
        if isinstance(base, Failure):
            return ToolOutput(failure=base)
        credentials = self._credentials(binding, base)
        if isinstance(credentials, Failure):
            return ToolOutput(failure=credentials)
        answer = await self._http.request(
            binding.method,
            _build_url(base, request, credentials),
            headers=_build_headers(self._headers, request, credentials)
            | _build_key_header(binding),
            data=request.body,
            timeout=self._timeout,
            max_bytes=self._max_bytes,
            repeat=binding.effects.may_repeat,
        )
        if isinstance(answer, HttpResponse):
            return output_of(answer, f"{binding.method} {binding.path}", self.secrets, time.time())
        return ToolOutput(failure=answer)

    async def aclose(self) -> None:
        if self._own_http:
            await self._http.aclose()

    def consult(self, trust: Confirmations) -> None:
        """Have :meth:`open` ask whether the user has confirmed the document as it is."""
        self._trust = trust

    @property
    def origin(self) -> str:
        """Return the name under which the definitions of its tools are remembered."""
        return f"openapi {normalize_location(self._named) if self._named else self._name}"

    def definition(self, tool: Tool) -> JsonObject:
        """Return the document's definition of a tool and of its request. It holds everything whose
        change would matter.
        """
        binding = self._bindings[tool.name]
        return {
            "request": f"{binding.method} {binding.path}",
            "servers": list(binding.servers),
            "description": tool.description,
            "input_schema": tool.input_schema,
            "output_schema": tool.output_schema,
            "effects": binding.declared,
        }

    @property
    def _named(self) -> str:
        """The place of the document, as ``callwright trust`` takes it; "" for one that was handed
        over.
        """
        return "" if isinstance(self._given, Mapping) else str(self._given)

    def _note_trust(self, text: str | JsonObject) -> None:
        """Set ``_trusted`` if the user has confirmed the document in its present form."""
        if self._trust is not None and not self._trusted:
            self._trusted = self._trust.is_trusted(
                "document", normalize_location(self._named), digest_of(text)
            )

    async def _load(self) -> Document:
        url = _as_url(self._given)
        if isinstance(self._given, Mapping):
            root = await asyncio.to_thread(clean_value, self._given)
            return read_root(root, self._name)
        if url:
            text, notation = await self._fetched(url)
            where, bundle = f"the document from {_get_host(url)}", beside_url(url, self._fetched)
        else:
            path = Path(self._given)
            text, notation = await asyncio.to_thread(read_file, path), notation_of(path.name)
            where, bundle = str(path), beside_file(path, self._folders)
        root = await asyncio.to_thread(value_from_text, text, where, notation)
        if may_have_files(text) and isinstance(root, dict):
            root = await bundle.complete(root)
        self._note_trust({"": text, **bundle.texts} if bundle.texts else text)
        scheme = urlsplit(url).scheme.lower() or "https"
        return await asyncio.to_thread(read_root, root, where, bundle.missing, scheme=scheme)

    async def _fetched(self, url: str) -> tuple[str, Notation]:
        """The text at an address, and what its name or its type states of it. Raises
        CatalogError.
        """
        origin = _get_host(url)
        answer = await self._http.request("GET", url, max_bytes=MAX_BYTES, repeat=True)
        if isinstance(answer, Failure):
            said = f"cannot fetch the OpenAPI document from {origin}: {answer.message}"
            raise CatalogError(
                said, hint="is the address right and the server running? A file works as well"
            )
        if not answer.ok:
            said = f"cannot fetch the OpenAPI document: {origin} answered {answer.status}"
            raise CatalogError(
                said, hint="is the address right? One that needs a login is saved to a file first"
            )
        if url != self._given and answer.url and _get_host(answer.url).lower() != origin.lower():
            raise CatalogError(
                f"{origin} sends to another origin for a part of its OpenAPI document"
            )
        return answer.text, notation_of(urlsplit(url).path, answer.content_type)

    def _import(self, document: Document) -> list[Tool]:
        importer = Importer(document, source=f"openapi {self._name}", trusted=self._trusted)
        taken: set[str] = set()
        tools, failed, bindings = [], [], {}
        for method, path, item, operation in document.operations():
            name = tool_name(method, path, operation, taken)
            if not self._wanted(name, method, path, operation):
                continue
            try:
                tool, bindings[name] = importer.tool(name, method, path, item, operation)
                tools.append(tool)
            except Unusable as exc:
                failed.append(NotImported(f"{method.upper()} {path}", name, str(exc)))
        failed += [NotImported(path, "", why) for path, why in document.broken]
        self._bindings, self.not_imported = bindings, tuple(failed)
        if failed and not tools:
            said = (
                f"{document.where}: none of its operations can be used; {failed[0].operation}:"
                f" {failed[0].reason}"
            )
            raise CatalogError(said, hint="correct the document, or name others with include")
        self.unconfirmed = self._unbelieved(importer.loosened)
        self._schemes = schemes_of(document, self._name, self._renamed)
        return tools

    def _unbelieved(self, loosened: int) -> tuple[str, ...]:
        if not loosened:
            return ()
        what = f"{loosened} operation{'s' if loosened > 1 else ''} of {self._name}"
        how = (
            f"callwright trust {shlex.quote(escape_terminal_text(self._named))}"
            if self._named
            else "trusted=True"
        )
        return (
            (
                f"{what} declare{'s' if loosened == 1 else ''} less than the method says; not"
                f" believed before: {how}"
            ),
        )

    def _wanted(self, name: str, method: str, path: str, operation: Any) -> bool:
        raw = operation if isinstance(operation, Mapping) else {}
        said = raw.get("tags")
        tags = [t for t in said if isinstance(t, str)] if isinstance(said, list) else []
        names = (name, str(raw.get("operationId") or name))

        def matches(pattern: str) -> bool:
            return _is_operation_match(pattern, method, path, tags, names)

        return (not self._include or any(map(matches, self._include))) and not any(
            map(matches, self._exclude)
        )

    def _base(self, binding: Binding) -> str | Failure:
        """The server's URL: ``base_url``, or the selected server of operation, path or document."""
        if self._base_url:
            return self._base_url
        server = _select_server(binding.servers, self._server)
        url = _fill_server_url(server, self._server_variables) if server else "/"
        if isinstance(url, Failure):
            return url
        if not urlsplit(url).scheme:
            document_url = _as_url(self._given)
            if not document_url:
                return _build_failure(
                    f"{self._name} does not say where its server is: set base_url"
                )
            url = urljoin(document_url, url)
        if "?" in url or "#" in url:
            return _build_failure(
                f"the server's URL of {self._name} has a query or fragment: set base_url"
            )
        return url.rstrip("/")

    def place(self, tool: Tool) -> str:
        """The server's URL, and whether there is a credential for it."""
        binding = self._bindings.get(tool.name)
        base = self._base(binding) if binding else ""
        if binding is None or isinstance(base, Failure):
            return ""
        return (
            f"{base} without credential"
            if isinstance(self._credentials(binding, base), Failure)
            else base
        )

    def _credentials(self, binding: Binding, base: str) -> Credentials | Failure:
        known = self._schemes if self._trusted else self._keys.schemes(self._schemes, base)
        found = credentials_for(binding.security, known, self._environment)
        if isinstance(found, Failure) and len(known) < len(self._schemes):
            whole = credentials_for(binding.security, self._schemes, self._environment)
            found = whole if isinstance(whole, Failure) else explain_withheld(self._named, base)
        if isinstance(found, Failure):
            by_hand = {s.parameter.lower() for s in self._schemes.values() if s.how == "header"} | {
                "authorization"
            }
            return Credentials() if by_hand & set(self._headers) else found
        return found


def _build_failure(message: str) -> Failure:
    return Failure("not_executable", message, not_done=True)


def _get_host(url: str) -> str:
    """Return the host and port of an address, without any login."""
    return urlsplit(url).netloc.rpartition("@")[2]


def _as_url(document: Any) -> str:
    return (
        document
        if isinstance(document, str) and re.match(r"https?://", document, re.IGNORECASE)
        else ""
    )


def _default_name(document: Any) -> str:
    if isinstance(document, Mapping):
        info = document.get("info")
        title = str(info.get("title") or "") if isinstance(info, Mapping) else ""
        return re.sub(r"[^a-z0-9]+", "_", title.lower()).strip("_") or "openapi"
    url = _as_url(document)
    if url:
        return urlsplit(url).hostname or "openapi"
    stem = Path(document).stem
    return re.sub(r"[-_.](openapi|swagger)$", "", stem, flags=re.IGNORECASE) or stem


def _checked_base(url: str) -> str:
    if "?" in url or "#" in url:
        raise ConfigError(
            f"{url.partition('?')[0]!r} with a query or fragment cannot be a base URL",
            hint=_BASE_HINT,
        )
    return url.rstrip("/")


def _origin_entry(url: str) -> str:
    """``host:port`` of a URL the caller typed, as an entry of ``Egress.allow``."""
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme.lower() == "https" else 80)
    except ValueError:
        raise ConfigError(f"{url!r} is not a URL", hint=_BASE_HINT) from None
    if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"{url.partition('?')[0]!r} cannot be a base URL", hint=_BASE_HINT)
    return f"[{parts.hostname}]:{port}" if ":" in parts.hostname else f"{parts.hostname}:{port}"


def _is_operation_match(
    pattern: str, method: str, path: str, tags: Sequence[str], names: Sequence[str]
) -> bool:
    if pattern.startswith("tag:"):
        return any(fnmatchcase(tag, pattern[4:]) for tag in tags)
    first, _, rest = pattern.partition(" ")
    if first.lower() in METHODS:
        return first.lower() == method and (not rest or fnmatchcase(path, rest))
    if pattern.startswith("/"):
        return fnmatchcase(path, pattern)
    return any(fnmatchcase(name, pattern) for name in names)


def _select_server(servers: Sequence[JsonObject], wanted: int | str) -> JsonObject | None:
    if isinstance(wanted, str):
        return next((s for s in servers if wanted in (s.get("url"), s.get("description"))), None)
    return servers[wanted] if 0 <= wanted < len(servers) else None


def _fill_server_url(server: JsonObject, values: Mapping[str, str]) -> str | Failure:
    """The server's URL with its variables filled in: from the settings, else their defaults."""
    url: str = server["url"]
    declared = server.get("variables")
    for name in re.findall(r"\{([^{}]+)\}", url):
        rule = declared.get(name) if isinstance(declared, Mapping) else None
        rule = rule if isinstance(rule, Mapping) else {}
        value = values.get(name, rule.get("default"))
        if value is None:
            return _build_failure(
                f"the server variable {name!r} has no value: set server_variables"
            )
        choices = rule.get("enum")
        if isinstance(choices, list) and choices and str(value) not in map(str, choices):
            return _build_failure(f"the server variable {name!r} must be one of {choices}")
        url = url.replace(f"{{{name}}}", str(value))
    return url


def _build_url(base: str, request: Request, credentials: Credentials) -> str:
    # a parameter of a credential's name gives way: of two a server may take either
    extra = {k: f"{quote(k, safe='')}={quote(v, safe='')}" for k, v in credentials.query}
    own = (p for p in request.query.split("&") if unquote(p.partition("=")[0]) not in extra)
    query = "&".join(filter(None, [*own, *extra.values()]))
    return base + request.path + (f"?{query}" if query else "")


def _build_key_header(binding: Binding) -> dict[str, str]:
    key = CALL_KEY.get()
    return {binding.key_header.lower(): key} if binding.key_header and key else {}


def _build_headers(
    constant: Mapping[str, str], request: Request, credentials: Credentials
) -> dict[str, str]:
    """Arguments come first, so that neither the caller's headers nor credentials can be replaced by
    a model.
    """
    headers = {**request.headers, **constant, **dict(credentials.headers)}
    ours = {k: quote(v, safe="") for k, v in credentials.cookies}
    parts = [part.strip() for part in headers.get("cookie", "").split(";") if part.strip()]
    taken = {*ours, *(part.partition("=")[0] for part in parts)}
    pairs = [*(pair for pair in request.cookies if pair[0] not in taken), *ours.items()]
    parts += [f"{quote(name, safe='')}={value}" for name, value in pairs]
    if parts:
        headers["cookie"] = "; ".join(parts)
    return headers
