"""Several clients' server lists -> one ``mcpServers`` file. Pure.

The same server under the same name is imported once. Another one under a name that is taken gets
the client's name behind it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from callwright.gateway.clients.places import Place
from callwright.gateway.clients.server_list import ServerList
from callwright.nouns.types import JsonObject, to_canonical_json


@dataclass(frozen=True, slots=True)
class Imported:
    """The servers of the file that is to be written, those among them that are new, and notes."""

    servers: Mapping[str, JsonObject] = field(default_factory=dict)
    added: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def merge_lists(
    lists: Sequence[tuple[Place, ServerList]], present: Mapping[str, JsonObject]
) -> Imported:
    """Add each list's servers to those that the file has already, which stay as they are."""
    servers, notes = dict(present), list[str]()
    added: list[str] = []
    for place, found in lists:
        for name, entry in found.servers.items():
            if _is_there(entry, name, servers):
                continue
            free = _find_free(name, place, servers)
            servers[free] = entry
            added.append(free)
            if free != name:
                notes.append(f"{name} of {place.path} is called {free}: the name is another's")
        notes += [f"{place.path}: {note}" for note in found.notes]
        notes += [f"{place.path}: {name} holds a secret as it is" for name in found.secrets]
    return Imported(servers, tuple(added), tuple(notes))


def _is_there(entry: JsonObject, name: str, servers: Mapping[str, JsonObject]) -> bool:
    wanted = to_canonical_json(entry)
    return any(
        to_canonical_json(there) == wanted
        for other, there in servers.items()
        if other == name or other.startswith(f"{name}-")
    )


def _find_free(name: str, place: Place, servers: Mapping[str, JsonObject]) -> str:
    if name not in servers:
        return name
    number, free = 1, f"{name}-{place.client}"
    while free in servers:
        number += 1
        free = f"{name}-{place.client}-{number}"
    return free
