"""The servers file: the ``mcpServers`` object that MCP clients share, with the gateway's own
settings beside each server's.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, get_args

from callwright.gateway.oauth.resource import OAuthResource, read_oauth
from callwright.gateway.session.policy import SECONDS, ServerPolicy
from callwright.nouns.errors import CatalogError, ConfigError
from callwright.tools.declared_effects import KINDS, DeclaredEffects
from callwright.tools.lists.json_document import json_value, read_bytes
from callwright.tools.servers import (
    ALLOW,
    DENY,
    Server,
    expand_variables,
    list_enabled,
    read_patterns,
    servers_from_config,
)
from callwright.tools.trust import normalize_location

HINT = (
    'a server is {"command": …}, {"url": …}, {"openapi": "document.yaml"} or {"python":'
    ' "module_or_file.py"}; beside it may stand allow, deny, approve, effects, trusted, calls,'
    " seconds, pinned and prefix"
)
_START_SECONDS = 30.0
_Clients = Literal["command", "args", "env", "cwd", "url", "headers", "type", "disabled"]
_Places = Literal["openapi", "base_url", "python", "prefix"]
_Limits = Literal["approve", "effects", "trusted", "calls", "seconds", "pinned"]
_SETTINGS = [*get_args(_Clients), *get_args(_Places), *get_args(_Limits), *ALLOW, *DENY]
_NEAR = 0.8  # of difflib, from which two keys count as the same


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerEntry:
    """One entry of the file. ``server`` is an MCP server's; ``source`` names a document or module,
    as :func:`callwright.tools.sources.sources_of` reads it; ``error``: why the entry cannot be
    used, which costs the others nothing. ``notes``: settings that nobody reads.
    """

    policy: ServerPolicy
    server: Server | None = None
    source: str = ""
    base_url: str = ""
    error: str = ""
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.policy.name

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that must not be shown."""
        return self.server.secrets if self.server is not None else ()


@dataclass(frozen=True, slots=True)
class ServersFile:
    """All entries that are not disabled, in order. ``place`` is the file; ``oauth``: what clients
    have to prove where the gateway is a protected resource.
    """

    entries: Sequence[ServerEntry] = field(default_factory=tuple)
    place: str = ""
    oauth: OAuthResource | None = None

    def find(self, name: str) -> ServerEntry:
        """The entry of this name. Raises ConfigError."""
        for entry in self.entries:
            if entry.name == name:
                return entry
        names = ", ".join(entry.name for entry in self.entries)
        raise ConfigError(f"the servers file has no server {name!r}", hint=f"it has: {names}")


def read_servers_file(path: Path, environ: Mapping[str, str] | None = None) -> ServersFile:
    """Read a servers file. Raises ConfigError where it is none, or names no server."""
    try:
        raw = json_value(read_bytes(path), str(path))
    except CatalogError as error:
        raise ConfigError(error.message, hint=error.hint or HINT) from None
    servers = raw.get("mcpServers", raw.get("servers")) if isinstance(raw, Mapping) else None
    if not isinstance(servers, Mapping):
        raise ConfigError(f'{path} has no object "mcpServers"', hint=HINT)
    known = os.environ if environ is None else environ
    oauth = read_oauth(raw["oauth"], known) if raw.get("oauth") is not None else None
    found = read_servers(servers, path.parent, environ)
    return replace(found, place=normalize_location(path), oauth=oauth)


def read_servers(
    servers: Mapping[str, Any], folder: Path, environ: Mapping[str, str] | None = None
) -> ServersFile:
    """Read an ``mcpServers`` object. Paths are in ``folder``. An entry that cannot be used keeps
    the reason. Raises ConfigError where there is none at all.
    """
    try:
        names = list_enabled(servers)
    except CatalogError as error:
        raise ConfigError(error.message, hint=HINT) from None
    return ServersFile(tuple(_read_entry(name, servers[name], folder, environ) for name in names))


def _read_entry(
    name: str, raw: Any, folder: Path, environ: Mapping[str, str] | None
) -> ServerEntry:
    try:
        if not isinstance(raw, Mapping):
            raise ConfigError(f"mcpServers {name!r} is not an object", hint=HINT)
        policy = _read_policy(name, raw)
        for key in ("openapi", "python"):
            if isinstance(raw.get(key), str) and raw[key]:
                known = os.environ if environ is None else environ
                said = expand_variables(name, {**raw}, known)
                source = _resolve_place(said[key], folder)
                base_url = str(said.get("base_url") or "")
                notes = _note_unread(name, raw)
                return ServerEntry(policy=policy, source=source, base_url=base_url, notes=notes)
        # "seconds" is a call's time; what a server may take to start is our own affair
        plain = {key: value for key, value in raw.items() if key != "seconds"}
        plain["seconds"] = _START_SECONDS
        (server,) = servers_from_config({name: plain}, folder=folder, environ=environ)
    except (CatalogError, ConfigError) as error:
        return ServerEntry(policy=ServerPolicy(name=name, prefix=name), error=str(error))
    return ServerEntry(policy=policy, server=server, notes=_note_unread(name, raw))


def _note_unread(name: str, raw: Mapping[str, Any]) -> tuple[str, ...]:
    """A line for each setting that looks like ours and is none. Clients have others of their own."""
    return tuple(
        f"mcpServers {name!r}: there is no setting {key[:40]!r}; did you mean {near[0]!r}?"
        for key in map(str, raw)
        if key not in _SETTINGS and (near := get_close_matches(key, _SETTINGS, 1, _NEAR))
    )


def _resolve_place(text: str, folder: Path) -> str:
    """A path beside the file, with the options behind it, or what is none as it stands."""
    path, mark, options = text.partition("?")
    beside = folder / Path(path).expanduser()
    return f"{beside}{mark}{options}" if "://" not in text and beside.exists() else text


def _read_policy(name: str, raw: Mapping[str, Any]) -> ServerPolicy:
    return ServerPolicy(
        name=name,
        prefix=_read_text(name, "prefix", raw.get("prefix", name)),
        allow=read_patterns(name, raw, *ALLOW),
        deny=read_patterns(name, raw, *DENY),
        approve=read_patterns(name, raw, "approve"),
        effects=_read_effects(name, raw.get("effects")),
        # a module runs in this process: what it declares is as good as its code
        trusted=_read_flag(name, raw.get("trusted", isinstance(raw.get("python"), str))),
        vouched=isinstance(raw.get("openapi"), str),
        calls=_read_count(name, raw.get("calls")),
        seconds=_read_seconds(name, raw.get("seconds", SECONDS)),
        pinned=read_patterns(name, raw, "pinned"),
    )


def _read_flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise ConfigError(f"mcpServers {name!r}: trusted must be true or false", hint=HINT)
    return value


def _read_text(name: str, key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ConfigError(f"mcpServers {name!r}: {key} must be a text", hint=HINT)
    return value


def _read_effects(name: str, value: Any) -> DeclaredEffects:
    if value is None:
        return DeclaredEffects()
    if not isinstance(value, Mapping):
        raise ConfigError(
            f"mcpServers {name!r}: effects must be an object", hint='{"get_*": "read"}'
        )
    wrong = [pattern for pattern, kind in value.items() if kind not in KINDS]
    if wrong:
        said = f"mcpServers {name!r}: the effects of {wrong[0]!r} must be one of {', '.join(KINDS)}"
        raise ConfigError(said)
    return DeclaredEffects(tuple((pattern, KINDS[kind]) for pattern, kind in value.items()))


def _read_count(name: str, value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ConfigError(f"mcpServers {name!r}: calls must be a number of calls an hour")
    return value


def _read_seconds(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        raise ConfigError(f"mcpServers {name!r}: seconds must be a positive number")
    return float(value)
