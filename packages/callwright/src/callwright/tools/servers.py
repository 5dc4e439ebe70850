"""The ``mcpServers`` JSON that MCP clients share -> :class:`Server` values. Pure but for reading
the environment.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import pairwise, product
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from callwright.language.credentials import secret_values
from callwright.nouns.errors import CatalogError

HINT = (
    'a server is {"command": "npx", "args": ["-y", "…"], "env": {…}, "cwd": "…"} or '
    '{"url": "https://…", "headers": {…}}; "trusted": true believes its annotations'
)

ALLOW = ("allow", "includeTools")
DENY = ("deny", "disabledTools", "excludeTools")
"""Settings that list tools: our own, then those of Gemini CLI, of Kiro, Windsurf and Roo Code."""

_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_TYPES = {
    "stdio": "command",
    "http": "url",
    "streamable-http": "url",
    "streamableHttp": "url",
    "streamable_http": "url",
}


@dataclass(frozen=True, slots=True)
class Server:
    """Connection settings of one MCP server: ``command`` (stdio) or ``url`` (streamable HTTP),
    never both.

    ``trusted``: its annotations are believed. ``seconds`` is how long it may take to start and list
    its tools. ``allow`` and ``deny``: see :func:`explain_hidden`.
    """

    name: str
    command: str = ""
    args: tuple[str, ...] = field(default=(), repr=False)  # these four may hold secrets
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str = ""
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    trusted: bool = False
    seconds: float = 60.0
    allow: Sequence[str] = ()
    deny: Sequence[str] = ()
    shown: str = ""  # for messages: as configured, variables not filled in
    variables: Mapping[str, str] = field(
        default_factory=dict, repr=False
    )  # of the environment, as they were filled in

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that must not be shown: of headers, environment, arguments, the URL's query and
        the variables filled in.
        """
        queries = [dict(parse_qsl(one.partition("?")[2])) for one in (self.url, *self.args)]
        named = name_arguments(self.args)
        tables = (self.variables, self.env, self.headers, named, *queries)
        return tuple(dict.fromkeys(value for table in tables for value in secret_values(table)))


def servers_from_config(
    servers: Mapping[str, Any],
    *,
    folder: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> tuple[Server, ...]:
    """The servers of one configuration, those with ``"disabled": true`` left out.

    ``${NAME}`` and ``${NAME:-default}`` come from ``environ`` (default: the process's). A relative
    ``cwd`` and the default one are in ``folder``, the configuration's own. Raises CatalogError
    naming the server and the setting.
    """
    known = os.environ if environ is None else environ
    return tuple(
        _parse_server(name, servers[name], folder, known) for name in list_enabled(servers)
    )


def list_enabled(servers: Mapping[str, Any]) -> list[str]:
    """The names of the servers that are not disabled. Raises CatalogError where there is none."""
    found = [
        name
        for name, raw in servers.items()
        if not (isinstance(raw, Mapping) and raw.get("disabled") is True)
    ]
    if not found:
        raise CatalogError("the configuration names no MCP server", hint=HINT)
    return found


def _parse_server(name: str, raw: Any, folder: Path | None, environ: Mapping[str, str]) -> Server:
    if not isinstance(raw, Mapping):
        raise CatalogError(f"mcpServers {name!r} is not an object", hint=HINT)
    said = expand_variables(name, dict(raw), environ)
    kind = said.get("type", said.get("transport"))
    if kind is not None and _TYPES.get(str(kind)) not in said:
        raise CatalogError(
            (
                f"mcpServers {name!r}: type {kind!r} is not spoken"
                if kind not in _TYPES
                else f"mcpServers {name!r}: type {kind!r} needs {_TYPES[str(kind)]!r}"
            ),
            hint="stdio and streamable HTTP are spoken; the older SSE transport is not",
        )
    url = str(said.get("url") or said.get("serverUrl") or "")
    command = str(said.get("command") or "")
    place = said.get("openapi") or said.get("python")
    if place and not url and not command:
        raise CatalogError(
            f"mcpServers {name!r} is a document or module, which only the gateway reads here",
            hint=f"name it itself: --tools {place}",
        )
    if bool(url) == bool(command):
        raise CatalogError(f"mcpServers {name!r} needs either a command or a url", hint=HINT)
    return Server(
        name=name,
        command=command,
        args=_parse_texts(name, "args", said.get("args", [])),
        env=_parse_table(name, "env", said.get("env")),
        cwd=_resolve_cwd(said.get("cwd"), folder) if command else "",
        url=url,
        headers=_parse_table(name, "headers", said.get("headers")),
        trusted=said.get("trusted") is True,
        seconds=_parse_seconds(name, said.get("seconds", 60.0)),
        allow=read_patterns(name, raw, *ALLOW),
        deny=read_patterns(name, raw, *DENY),
        shown=(
            " ".join(map(str, (raw["command"], *raw.get("args", ()))))
            if command
            else str(raw.get("url", ""))
        ),
        variables={v: environ[v] for v in _find_variables(raw) if v in environ},
    )


def read_patterns(name: str, raw: Mapping[str, Any], *keys: str) -> tuple[str, ...]:
    """The patterns of tools under these settings of the server ``name``; true stands for all.
    Raises CatalogError.
    """
    found: list[str] = []
    for key in (key for key in keys if raw.get(key) is not None):
        value = ["*"] if raw[key] is True else raw[key]
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise CatalogError(
                f"mcpServers {name!r}: {key} must be a list of names of tools", hint='["get_*"]'
            )
        found += value
    return tuple(found)


def explain_hidden(server: str, tool: str, allow: Sequence[str], deny: Sequence[str]) -> str:
    """Return the reason why a tool of a server does not exist; "" where it does. Both lists are
    shell patterns on the server's own names: one of ``allow`` has to fit, unless there is none, and
    none of ``deny``.
    """
    if is_matched(tool, deny):
        return f'"deny" of the server {server!r} in the servers file names it'
    if allow and not is_matched(tool, allow):
        return f'"allow" of the server {server!r} in the servers file does not name it'
    return ""


def list_idle(lists: Mapping[str, Sequence[str]], names: Collection[str]) -> Iterator[str]:
    """The patterns of these lists that fit none of a server's tools, as sentences: their words
    are likely misspelled.
    """
    for key, patterns in lists.items():
        for pattern in patterns:
            if not any(fnmatchcase(name, pattern) for name in names):
                yield f'"{key}" names {pattern[:80]!r}, and the server has no such tool'


def is_matched(name: str, patterns: Sequence[str]) -> bool:
    """Return True if one of these shell patterns fits a name."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def expand_variables(name: str, value: Any, environ: Mapping[str, str]) -> Any:
    """A setting of the server ``name`` with ``${NAME}`` and ``${NAME:-default}`` filled in. Raises
    CatalogError for a variable that is not set.
    """
    if isinstance(value, Mapping):
        return {k: expand_variables(name, v, environ) for k, v in value.items()}
    if isinstance(value, list):
        return [expand_variables(name, v, environ) for v in value]
    return (
        _VARIABLE.sub(lambda m: _get_variable(name, m, environ), value)
        if isinstance(value, str)
        else value
    )


def _find_variables(value: Any) -> set[str]:
    """The names of the environment variables that a setting refers to."""
    if isinstance(value, Mapping):
        return set().union(*map(_find_variables, value.values()))
    if isinstance(value, list):
        return set().union(*map(_find_variables, value))
    return {found[1] for found in _VARIABLE.finditer(value)} if isinstance(value, str) else set()


def _get_variable(name: str, match: re.Match[str], environ: Mapping[str, str]) -> str:
    found = environ.get(match[1]) or match[2]
    if found is None:
        raise CatalogError(
            f"mcpServers {name!r} needs the environment variable {match[1]}",
            hint=f"export {match[1]}=…, or give a default with ${{{match[1]}:-…}}",
        )
    return found


def name_arguments(args: Sequence[str]) -> dict[str, str]:
    """The values in a program's arguments by their names: ``--key=value``, ``--key value``,
    ``KEY=value``, ``Name: value``.
    """
    made = {one: other for one, other in pairwise(args) if one.startswith("-")}
    for one, sign in product(args, "=:"):
        key, _, value = one.partition(sign)
        made[key] = value.strip() or made.get(key, "")
    return made


def _parse_texts(name: str, what: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise CatalogError(f"mcpServers {name!r}: {what} must be a list", hint=HINT)
    return tuple(str(item) for item in value)


def _parse_table(name: str, what: str, value: Any) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise CatalogError(f"mcpServers {name!r}: {what} must be an object of texts", hint=HINT)
    return {str(k): str(v) for k, v in value.items()}


def _resolve_cwd(value: Any, folder: Path | None) -> str:
    given = Path(str(value)).expanduser() if value else None
    if folder is None:
        return str(given or "")
    return str(folder.resolve() / given if given else folder.resolve())


def _parse_seconds(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        raise CatalogError(f"mcpServers {name!r}: seconds must be a positive number")
    return float(value)
