"""Reads a client's server list into entries of an ``mcpServers`` file as the gateway reads it.
Pure.

What a client writes differently is translated; what cannot be had is said, and the server is left
out or imported without it. Values of secrets are copied as they stand and never printed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from callwright.gateway.clients.places import ClientName
from callwright.language.credentials import secret_values
from callwright.nouns.types import Json, JsonObject
from callwright.tools.servers import ALLOW, DENY, name_arguments

_INPUT = re.compile(r"\$\{input:([^}]+)\}")
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_ENTRY = ("command", "args", "env", "cwd", "url", "headers")
_PLAIN = (*_ENTRY, *ALLOW, *DENY)
_UNREAD = {
    "envFile": "the variables of its envFile have to be in the gateway's environment",
    "headersHelper": "its headersHelper is not run: put the headers here",
    "sandbox": "it is started without the client's sandbox",
    "sandboxEnabled": "it is started without the client's sandbox",
}
_OAUTH = frozenset({"oauth", "auth"})
_OLD_TRANSPORT = "sse"
_ENVIRONMENT_ONLY: frozenset[ClientName] = frozenset({"claude-code", "cline"})
"""Clients whose variables are all of the environment."""


@dataclass(frozen=True, slots=True)
class ServerList:
    """The entries of one file by name, and notes for the user: what was left out, and what to do.
    ``secrets``: the servers whose entries hold a secret as it is.
    """

    servers: Mapping[str, JsonObject] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Reading:
    """The surroundings in which an entry is read. ``notes`` are added to."""

    client: ClientName
    home: Path
    project: Path | None
    notes: list[str]


def read_server_list(
    document: Json, client: ClientName, *, home: Path, project: Path | None = None
) -> ServerList:
    """The servers that a client's file names. ``project``: see :class:`.places.Place`.

    A document of another shape holds none. The gateway's own entry is left out.
    """
    reading = _Reading(client, home, project, [])
    made: dict[str, JsonObject] = {}
    for name, raw, folder in _iter_entries(document, reading):
        where = _Reading(client, home, folder, reading.notes)
        entry = _translate_entry(str(name), raw, where)
        if entry is not None and name not in made:
            made[str(name)] = entry
    secrets = tuple(name for name, entry in made.items() if _has_secret(entry))
    return ServerList(made, tuple(reading.notes), secrets)


def _iter_entries(document: Json, reading: _Reading) -> Iterator[tuple[Any, Json, Path | None]]:
    """(name, entry, folder of its project) of each server."""
    if not isinstance(document, Mapping):
        return
    key = "servers" if reading.client == "vscode" else "mcpServers"
    for name, raw in _iter_items(document.get(key)):
        yield name, raw, reading.project
    projects = document.get("projects") if reading.client == "claude-code" else None
    for folder, about in _iter_items(projects):
        held = about if isinstance(about, Mapping) else {}
        off = held.get("disabledMcpServers")
        for name, raw in _iter_items(held.get("mcpServers")):
            is_off = isinstance(off, list) and name in off
            entry = {**raw, "disabled": True} if is_off and isinstance(raw, Mapping) else raw
            yield name, entry, Path(str(folder))


def _iter_items(value: Json) -> Iterator[tuple[Any, Any]]:
    yield from value.items() if isinstance(value, Mapping) else ()


def _translate_entry(name: str, raw: Json, reading: _Reading) -> JsonObject | None:
    """Return the entry in the gateway's form, None where it cannot be used."""
    if not isinstance(raw, Mapping):
        reading.notes.append(f"{name}: it is no object, and was left out")
        return None
    refusal = _find_refusal(raw, reading.client)
    if refusal:
        reading.notes.append(f"{name}: {refusal}")
        return None
    entry: JsonObject = {key: raw[key] for key in _PLAIN if raw.get(key) not in (None, "", [], {})}
    if "url" not in entry and raw.get("serverUrl"):
        entry["url"] = raw["serverUrl"]
    entry = {key: _fill_in(name, value, reading) for key, value in entry.items()}
    if "command" in entry and "cwd" not in entry and reading.project is not None:
        entry["cwd"] = str(reading.project)
    if raw.get("disabled") is True:
        entry["disabled"] = True
    if reading.client == "cline" and _is_positive(raw.get("timeout")):
        entry["seconds"] = raw["timeout"]
    remarks = _list_remarks(name, raw, reading.client)
    reading.notes.extend(f"{name}: {note}" for note in remarks)
    return entry


def _find_refusal(raw: Mapping[str, Any], client: ClientName) -> str:
    """Return why an entry cannot be imported; "" where it can."""
    url, command = raw.get("url") or raw.get("serverUrl"), raw.get("command")
    kind = str(raw.get("type") or raw.get("transport") or raw.get("transportType") or "")
    if _is_gateway(raw):
        return "it is this gateway, and was left out"
    if kind == _OLD_TRANSPORT:
        return (
            "it speaks the older SSE transport, which the gateway does not, and was left out; has it"
            " an address for streamable HTTP?"
        )
    if not url and not command:
        return "it has neither a command nor a url, and was left out"
    found = "" if client in _ENVIRONMENT_ONLY else next(_iter_foreign(raw), "")
    return f"only {client} can fill in {found}; it was left out" if found else ""


def _is_gateway(raw: Mapping[str, Any]) -> bool:
    args = raw.get("args")
    words = [str(word) for word in args] if isinstance(args, list) else []
    program = PurePath(str(raw.get("command") or "")).stem
    return "gateway" in words and (program == "callwright" or "callwright" in words)


def _iter_foreign(value: Json) -> Iterator[str]:
    """The variables that only the client can fill in. Editors write those of the environment as
    ``${env:NAME}``.
    """
    if isinstance(value, str):
        for found in _VARIABLE.finditer(value):
            is_named = found[1].startswith(("env:", "input:"))
            if not is_named and found[1] not in _describe_folders(Path(), Path()):
                yield found[0]
    for part in _list_parts(value):
        yield from _iter_foreign(part)


def _describe_folders(folder: Path, home: Path) -> dict[str, str]:
    """The variables of editors that the gateway can fill in."""
    return {
        "workspaceFolder": str(folder),
        "workspaceFolderBasename": folder.name,
        "userHome": str(home),
        "pathSeparator": "/",
        "/": "/",
    }


def _list_parts(value: Json) -> list[Any]:
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, list) else []


def _fill_in(name: str, value: Json, reading: _Reading) -> Json:
    """The value with the client's own variables in the gateway's spelling."""
    if isinstance(value, Mapping):
        return {str(key): _fill_in(name, part, reading) for key, part in value.items()}
    if isinstance(value, list):
        return [_fill_in(name, part, reading) for part in value]
    if not isinstance(value, str):
        return value
    known = _describe_folders(reading.project or reading.home, reading.home)
    value = _VARIABLE.sub(lambda found: known.get(found[1], found[0]), value)
    return _INPUT.sub(lambda found: _name_input(name, found[1], reading), value)


def _name_input(name: str, asked: str, reading: _Reading) -> str:
    """A value that VS Code asks the user for becomes a variable of the environment."""
    variable = re.sub(r"\W+", "_", asked).strip("_").upper() or "INPUT"
    variable = f"_{variable}" if variable[0].isdigit() else variable
    note = f"{name}: VS Code asks for {asked!r}; the gateway takes it from the variable {variable}"
    if note not in reading.notes:
        reading.notes.append(note)
    return f"${{{variable}}}"


def _list_remarks(name: str, raw: Mapping[str, Any], client: ClientName) -> Iterator[str]:
    yield from (said for key, said in _UNREAD.items() if raw.get(key))
    if any(raw.get(key) for key in _OAUTH):
        yield f"it wants a login: callwright gateway login {name}"
    approved = raw.get("autoApprove") or raw.get("alwaysAllow")
    if approved:
        yield "calls that the client made unasked are subject to the gateway's own rules"
    has_type = raw.get("type") or raw.get("transportType")
    if client == "cline" and raw.get("url") and not has_type:
        yield "Cline takes an untyped url for the older SSE transport; check that it is not"


def _is_positive(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def _has_secret(entry: Mapping[str, Any]) -> bool:
    args = entry.get("args")
    named = name_arguments([str(one) for one in args]) if isinstance(args, list) else None
    tables = (entry.get("env"), entry.get("headers"), named)
    return any(
        "${" not in value
        for table in tables
        if isinstance(table, Mapping)
        for value in secret_values({str(key): str(text) for key, text in table.items()})
    )
