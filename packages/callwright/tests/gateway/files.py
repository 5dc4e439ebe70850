"""Servers files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def write_servers(folder: Path, servers: dict[str, Any], **beside: Any) -> Path:
    """A servers file in a folder."""
    path = folder / "mcp.json"
    path.write_text(json.dumps({"mcpServers": servers, **beside}))
    return path
