"""Errors say what happened and what to do next, and the tree at the top of the module is the real
one.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from callwright.nouns import errors
from callwright.nouns.errors import (
    CallwrightError,
    CatalogError,
    Failure,
    MissingExtra,
    ToolError,
    Violation,
    build_read_error,
    convert_errors,
)


def test_the_tree_drawn_in_the_docstring_is_the_tree_in_the_code() -> None:
    drawn = {line.split()[1] for line in (errors.__doc__ or "").splitlines() if "── " in line}
    real = {
        cls.__name__
        for cls in CallwrightError.__subclasses__()
        if cls.__module__ == errors.__name__
    }
    assert drawn == real


def test_the_hint_is_part_of_the_text() -> None:
    assert "packages/callwright[mcp]'" in str(MissingExtra("MCP servers", "mcp"))
    of_another = MissingExtra("training", "train", "callwright-lab")
    assert "packages/callwright-lab[train]'" in str(of_another)


def test_a_foreign_exception_is_named_with_the_boundary_it_crossed() -> None:
    with (
        pytest.raises(CatalogError, match=r"openapi petstore: KeyError: 'paths'") as caught,
        convert_errors(CatalogError, "openapi petstore"),
    ):
        {}["paths"]
    assert isinstance(caught.value.__cause__, KeyError)


def test_our_own_errors_and_a_tool_authors_pass_the_boundary_unchanged() -> None:
    for error in (ToolError("no such row"), CallwrightError("x")):
        with pytest.raises(type(error)) as caught, convert_errors(CatalogError, "somewhere"):
            raise error
        assert caught.value is error


def test_findings_are_json_ready() -> None:
    assert Violation("schema", "m", "/a", "type", "integer", "x").to_dict()["keyword"] == "type"
    assert Failure("timeout", "m", retryable=True).to_dict()["retryable"] is True


def test_a_file_that_cannot_be_read_is_said_with_what_to_do_next(tmp_path: Path) -> None:
    said = {}
    (tmp_path / "latin.txt").write_bytes("Größe".encode("latin-1"))
    for name in ("missing.txt", ".", "latin.txt"):
        path = tmp_path / name
        try:
            path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            made = build_read_error(path, error)
            said[name] = made.hint
            assert str(path) in made.message
            assert "Errno" not in str(made)
    assert said == {
        "missing.txt": f"is it written right? It was looked for from {Path.cwd()}",
        ".": "it is a folder: name a file in it",
        "latin.txt": "save it as UTF-8",
    }
