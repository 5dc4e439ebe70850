"""A few rows in StableToolBench's form."""

from __future__ import annotations

import json
from pathlib import Path


def _api(tool: str, name: str, about: str) -> dict[str, object]:
    return {
        "tool_name": tool,
        "api_name": name,
        "api_description": about,
        "required_parameters": [],
        "optional_parameters": [],
    }


TRACK, PRICE = (
    _api("Post", "Track", "Where a parcel is"),
    _api("Post", "Price", "What sending costs"),
)
SONGS = _api("Music", "Songs", "Songs of an artist")


def write(folder: Path) -> Path:
    """The rows in two files, one a group; one query needs what nobody offers."""
    one = [
        {
            "query": "Track my parcel.",
            "api_list": [TRACK, PRICE],
            "relevant APIs": [["Post", "Track"]],
        },
        {"query": "Nobody offers it.", "api_list": [TRACK], "relevant APIs": [["Post", "Missing"]]},
    ]
    two = [
        {
            "query": "Songs of an artist, please.",
            "api_list": [SONGS],
            "relevant APIs": [["Music", "Songs"], ["Post", "Price"]],
        }
    ]
    (folder / "G1.json").write_text(json.dumps(one))
    (folder / "G2.json").write_text(json.dumps(two))
    return folder
