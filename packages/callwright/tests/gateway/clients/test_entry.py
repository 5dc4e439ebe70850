from __future__ import annotations

from pathlib import Path

import pytest

from callwright.gateway.clients.entry import Door, make_entry
from callwright.gateway.clients.places import CLIENTS, ClientName
from callwright.gateway.clients.server_list import read_server_list

STARTED = Door(("/opt/bin/callwright", "gateway", "--servers", "/home/u/mcp.json"))
SERVED = Door(url="http://127.0.0.1:8788/mcp", wants_key=True)


@pytest.mark.parametrize("client", CLIENTS)
def test_the_entry_is_read_back_as_the_gateway_by_its_own_client(client: ClientName) -> None:
    found = read_server_list(make_entry(client, STARTED), client, home=Path("/"))
    assert found.notes == ("callwright: it is this gateway, and was left out",)
    found = read_server_list(make_entry(client, SERVED), client, home=Path("/"))
    assert found.servers["callwright"]["url"] == SERVED.url


def test_cline_is_told_the_transport_or_it_takes_another() -> None:
    entry = make_entry("cline", SERVED)["mcpServers"]["callwright"]
    assert entry["type"] == "streamableHttp"


def test_vs_code_asks_for_the_key_and_its_list_is_called_servers() -> None:
    made = make_entry("vscode", SERVED)
    assert made["inputs"][0]["id"] == "callwright-gateway-key"
    said = made["servers"]["callwright"]["headers"]["Authorization"]
    assert said == "Bearer ${input:callwright-gateway-key}"


def test_without_a_key_no_header_is_written() -> None:
    made = make_entry("cursor", Door(url="http://127.0.0.1:8788/mcp"))
    assert made == {"mcpServers": {"callwright": {"url": "http://127.0.0.1:8788/mcp"}}}
