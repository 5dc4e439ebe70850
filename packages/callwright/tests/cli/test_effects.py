"""``tools effects``: a draft for --effects, of tools that declare nothing."""

from __future__ import annotations

import json
import tomllib
from math import log
from pathlib import Path
from typing import Any

import pytest

from tests.cli.endpoint import choosing, replying
from tests.cli.program import callwright

TOOLS = """
from callwright import READ, tool

@tool
def list_files(folder: str) -> list:
    '''List the files of a folder.'''
    return []

@tool
def remove_file(path: str) -> None:
    '''Remove a file for ever.'''

@tool(effects=READ)
def weather(city: str) -> str:
    '''The weather.'''
    return ""
"""


def choose(asked: str) -> dict[str, Any]:
    """The choice of a model that states probabilities, and takes what lists for a read."""
    text = json.loads(asked)["messages"][-1]["content"]
    likely = "it only" if "list_files" in text else "it deletes" if "remove" in text else ""
    lines = [line for line in text.split("\n") if line[1:3] == ") "]
    rest = 0.1 if likely else 0.3
    told = {line[0]: 0.8 if likely and likely in line else rest for line in lines}
    top = [{"token": token, "logprob": log(share)} for token, share in told.items()]
    message = {"role": "assistant", "content": "A"}
    logprobs = {"content": [{"token": "A", "logprob": -1, "top_logprobs": top}]}
    return {"index": 0, "message": message, "finish_reason": "length", "logprobs": logprobs}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "tools.py"
    path.write_text(TOOLS)
    return path


def test_the_draft_has_the_tools_that_declare_nothing(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "effects.toml"
    with choosing(choose) as url:
        done = callwright("tools", "effects", source, "--model", f"{url}#m", "--out", out)
        assert done.returncode == 0, done.stderr
        assert "2 of 2 tools classified. Review every line before you use it." in done.stdout
        assert tomllib.loads(out.read_text()) == {
            "list_files": "read",
            "remove_file": "destructive",
        }
        shown = callwright("tools", "effects", source, "--model", f"{url}#m", "--all")
        assert "weather" in shown.stdout
        out.write_text("corrected")
        again = callwright("tools", "effects", source, "--model", f"{url}#m", "--out", out)
    assert again.returncode != 0
    assert "exists" in again.stderr
    assert out.read_text() == "corrected"


def test_a_model_without_probabilities_is_an_error(source: Path) -> None:
    with replying(lambda _: "A") as url:
        done = callwright("tools", "effects", source, "--model", f"{url}#m")
    assert (done.returncode, done.stdout) == (1, "")
    assert "states no probabilities" in done.stderr


def test_nothing_is_asked_where_all_tools_declare_their_effects(tmp_path: Path) -> None:
    path = tmp_path / "tools.py"
    path.write_text(
        "from callwright import READ, tool\n\n@tool(effects=READ)\ndef a() -> str:\n    'A.'\n    return ''\n"
    )
    done = callwright("tools", "effects", path, "--model", "http://127.0.0.1:1#m")
    assert done.returncode == 0
    assert "The effects of all 1 tools are known." in done.stderr


def test_listed_tools_without_annotations_are_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    listed = [
        {"name": "list_files", "description": "List files.", "inputSchema": {"type": "object"}},
        {
            "name": "remove_all",
            "inputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": True},
        },
    ]
    path.write_text(json.dumps({"tools": listed}))
    with choosing(choose) as url:
        done = callwright("tools", "effects", path, "--model", f"{url}#m")
    assert tomllib.loads(done.stdout) == {"list_files": "read"}
