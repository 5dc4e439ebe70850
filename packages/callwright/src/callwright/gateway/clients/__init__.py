"""Configurations of MCP clients: where they lie, the servers that they name, and the entry that
puts the gateway in place of them.
"""

from callwright.gateway.clients.entry import Door, make_entry
from callwright.gateway.clients.merging import Imported, merge_lists
from callwright.gateway.clients.places import CLIENTS, ClientName, Place, find_places
from callwright.gateway.clients.server_list import ServerList, read_server_list

__all__ = [
    "CLIENTS",
    "ClientName",
    "Door",
    "Imported",
    "Place",
    "ServerList",
    "find_places",
    "make_entry",
    "merge_lists",
    "read_server_list",
]
