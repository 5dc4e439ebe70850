"""Where clients keep their server lists, as their documentation says: Claude Code, Cline, VS Code
and Cursor, each for the user and for a project. Pure; nothing is opened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

ClientName: TypeAlias = Literal["claude-code", "cline", "vscode", "cursor"]
CLIENTS: tuple[ClientName, ...] = get_args(ClientName)

_CLINE = Path("globalStorage", "saoudrizwan.claude-dev", "settings", "cline_mcp_settings.json")


@dataclass(frozen=True, slots=True)
class Place:
    """A file that may hold a client's server list. ``project``: the folder that its relative paths
    and ``${workspaceFolder}`` mean; None for the user's own file.
    """

    client: ClientName
    path: Path
    project: Path | None = None


def find_places(
    project: Path, *, home: Path, platform: str, environ: Mapping[str, str]
) -> tuple[Place, ...]:
    """Every place to look at, the project's before the user's. ``platform`` is ``sys.platform``."""
    code = _code_folder(home, platform, environ)
    cline = environ.get("CLINE_MCP_SETTINGS_PATH")
    return (
        Place("claude-code", project / ".mcp.json", project),
        Place("claude-code", home / ".claude.json"),
        Place("vscode", project / ".vscode" / "mcp.json", project),
        Place("vscode", code / "mcp.json"),
        Place("cursor", project / ".cursor" / "mcp.json", project),
        Place("cursor", home / ".cursor" / "mcp.json"),
        Place("cline", code / _CLINE),
        Place("cline", Path(cline) if cline else _cline_home(home)),
    )


def entry_place(client: ClientName, places: Sequence[Place]) -> Path:
    """The user's own file of a client, into which the gateway's entry is put."""
    return next(one.path for one in places if one.client == client and one.project is None)


def _code_folder(home: Path, platform: str, environ: Mapping[str, str]) -> Path:
    """VS Code's folder for the user's settings."""
    if platform == "win32":
        return Path(environ.get("APPDATA") or home / "AppData" / "Roaming") / "Code" / "User"
    if platform == "darwin":
        return home / "Library" / "Application Support" / "Code" / "User"
    return Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "Code" / "User"


def _cline_home(home: Path) -> Path:
    """The settings of Cline's command line."""
    return home / ".cline" / "data" / "settings" / "cline_mcp_settings.json"
