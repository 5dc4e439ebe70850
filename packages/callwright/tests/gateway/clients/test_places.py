from __future__ import annotations

from pathlib import Path

import pytest

from callwright.gateway.clients.places import CLIENTS, entry_place, find_places

HOME, PROJECT = Path("/home/u"), Path("/work/p")


def paths(platform: str, **environ: str) -> list[str]:
    found = find_places(PROJECT, home=HOME, platform=platform, environ=environ)
    return [place.path.as_posix() for place in found]


def test_every_client_is_looked_for_in_its_own_places() -> None:
    found = paths("linux")
    assert "/work/p/.mcp.json" in found
    assert "/home/u/.claude.json" in found
    assert "/work/p/.vscode/mcp.json" in found
    assert "/home/u/.config/Code/User/mcp.json" in found
    assert "/work/p/.cursor/mcp.json" in found
    assert "/home/u/.cursor/mcp.json" in found
    assert (
        "/home/u/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings"
        "/cline_mcp_settings.json" in found
    )
    assert "/home/u/.cline/data/settings/cline_mcp_settings.json" in found


@pytest.mark.parametrize(
    ("platform", "environ", "folder"),
    [
        ("darwin", {}, "/home/u/Library/Application Support/Code/User/mcp.json"),
        ("win32", {"APPDATA": "/roaming"}, "/roaming/Code/User/mcp.json"),
        ("linux", {"XDG_CONFIG_HOME": "/config"}, "/config/Code/User/mcp.json"),
        ("linux", {"CLINE_MCP_SETTINGS_PATH": "/cline.json"}, "/cline.json"),
    ],
)
def test_each_system_has_its_own_folder(
    platform: str, environ: dict[str, str], folder: str
) -> None:
    assert folder in paths(platform, **environ)


def test_the_entry_goes_into_the_user_s_own_file() -> None:
    found = find_places(PROJECT, home=HOME, platform="linux", environ={})
    assert {entry_place(client, found).is_relative_to(HOME) for client in CLIENTS} == {True}
