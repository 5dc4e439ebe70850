"""``callwright gateway import``: the server lists of MCP clients become one servers file."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from callwright.gateway.clients import (
    ClientName,
    Door,
    Imported,
    Place,
    ServerList,
    find_places,
    make_entry,
    merge_lists,
    read_server_list,
)
from callwright.gateway.clients.entry import KEY_VARIABLE
from callwright.gateway.clients.places import entry_place
from callwright.jsontext import JsonError, parse, parse_lenient
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import JsonObject
from callwright.tools.trust import escape_terminal_text

_STDOUT = Path("-")
_LONGEST = 64_000_000  # bytes: Claude Code keeps more than servers in its file


def import_lists(clients: Sequence[str], project: Path, output: Path) -> int:
    """Read the lists of these clients and write the servers file; what it has already stays. 1 where
    no server was found. Raises ConfigError.
    """
    home = Path.home()
    lists: list[tuple[Place, ServerList]] = []
    for place in _find_places(project):
        document = _read_document(place.path) if place.client in clients else None
        if document is None and place.client in clients and place.path.exists():
            print(f"note: {_show_path(place.path)} cannot be read as JSON", file=sys.stderr)
        if document is not None:
            found = read_server_list(document, place.client, home=home, project=place.project)
            lists.append((place, found))
            print(f"read: {len(found.servers)} of {_show_path(place.path)}", file=sys.stderr)
    present = _read_present(output)
    made = merge_lists(lists, present.get("mcpServers", {}))
    for note in made.notes:
        print(f"note: {escape_terminal_text(note)}", file=sys.stderr)
    if not made.servers:
        looked = ", ".join(dict.fromkeys(_show_path(p.path) for p in _find_places(project)))
        print(f"no server was found; looked at: {looked}", file=sys.stderr)
        return 1
    _write_servers({**present, "mcpServers": dict(made.servers)}, output)
    _tell_next(made, clients, output)
    return 0


_WHO_APPROVES = (
    "the gateway has its user approve calls that may write; where the client asks before every call"
    ' itself, add "--consent", "client" to the arguments'
)


def print_entry(client: ClientName, servers: Path, url: str) -> int:
    """Print what puts the gateway into a client, and say where."""
    door = Door(url=url, wants_key=bool(os.environ.get(KEY_VARIABLE)))
    if not url:
        program = shutil.which("callwright") or "callwright"
        door = Door((program, "gateway", "--servers", str(servers.expanduser().resolve())))
    print(_render_document(make_entry(client, door)))
    place = entry_place(client, _find_places(Path()))
    print(f"put it into {_show_path(place)}, in place of the servers there", file=sys.stderr)
    if not url:
        print(_WHO_APPROVES, file=sys.stderr)
    return 0


def _find_places(project: Path) -> tuple[Place, ...]:
    return find_places(
        project.expanduser().resolve(),
        home=Path.home(),
        platform=sys.platform,
        environ=os.environ,
    )


def _read_document(path: Path) -> Any:
    """The JSON of a client's file, with comments where it has some; None where it has none."""
    try:
        with path.open("rb") as file:
            raw = file.read(_LONGEST + 1)
    except OSError:
        return None
    if len(raw) > _LONGEST:
        raise ConfigError(f"{path} is longer than {_LONGEST} bytes")
    with suppress(JsonError):
        return parse(raw)
    with suppress(JsonError):
        return parse_lenient(raw.decode("utf-8", "replace")).value
    return None


def _read_present(output: Path) -> JsonObject:
    """The content that the servers file has already. Raises ConfigError where it is another kind of file."""
    if output == _STDOUT or not output.exists():
        return {}
    found = _read_document(output)
    if not isinstance(found, dict) or not isinstance(found.get("mcpServers", {}), dict):
        raise ConfigError(
            f"{output} is no servers file, and is left as it is", hint="--output names another"
        )
    return found


def _write_servers(document: JsonObject, output: Path) -> None:
    """Write the file so that only its owner can read it: entries may hold secrets."""
    text = _render_document(document)
    if output == _STDOUT:
        print(text)
        return
    part = output.with_name(f".{output.name}.{os.getpid()}.part")
    try:
        with open(part, "w", encoding="utf-8", opener=_open_private) as file:
            file.write(f"{text}\n")
        part.replace(output)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise ConfigError(f"{output} cannot be written: {error.strerror or error}") from None


def _tell_next(made: Imported, clients: Sequence[str], output: Path) -> None:
    if output == _STDOUT:
        return
    count = len(made.added)
    print(f"added: {count} server{'s' * (count != 1)}, in {_show_path(output)}", file=sys.stderr)
    for client in clients:
        print(
            f"next: callwright gateway import --print-config {client} -o {_show_path(output)}",
            file=sys.stderr,
        )


def _render_document(document: JsonObject) -> str:
    import orjson

    return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode()


def _show_path(path: Path) -> str:
    return escape_terminal_text(str(path))


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
