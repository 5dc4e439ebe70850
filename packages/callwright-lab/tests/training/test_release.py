"""What trained weights may be passed on, where they may lie, and the command on their card."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.training.release import (
    add_options,
    render_command,
    require_place,
    require_sources,
)

PACKAGE = Path("package") / "edges.npz"


def test_weights_of_sources_that_forbid_it_are_kept_or_not_made() -> None:
    with pytest.raises(ConfigError, match="trained on ultratool must not be passed on") as caught:
        require_sources(["nestools", "ultratool"], private=False)
    assert "--private" in caught.value.hint
    assert require_sources(["nestools", "ultratool"], private=True) is True
    assert require_sources(["nestools"], private=True) is False
    with pytest.raises(ConfigError, match="no data source 'nothing'"):
        require_sources(["nothing"], private=True)


def test_private_weights_are_not_shipped_however_the_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in (PACKAGE.parent, tmp_path / "package", tmp_path / "elsewhere" / ".." / "package"):
        with pytest.raises(ConfigError, match="--private weights cannot be shipped"):
            require_place(folder, "edges", PACKAGE, private=True)
    require_place(tmp_path / "elsewhere", "edges", PACKAGE, private=True)


def test_weights_of_execution_order_are_not_shipped() -> None:
    with pytest.raises(ConfigError, match="weights of sequence labels cannot be shipped"):
        require_place(PACKAGE.parent, "edges", PACKAGE, private=False, labels="sequence")


def test_what_is_shipped_has_the_name_that_is_loaded() -> None:
    with pytest.raises(ConfigError, match="'mine' would lie beside them unread") as caught:
        require_place(PACKAGE.parent, "mine", PACKAGE, private=False)
    assert "--name edges" in caught.value.hint
    require_place(PACKAGE.parent, "edges", PACKAGE, private=False)
    require_place(Path("runs"), "mine", PACKAGE, private=False)


def test_the_options_name_a_folder_or_the_package() -> None:
    parser = argparse.ArgumentParser()
    add_options(parser, PACKAGE, "edges")
    found = parser.parse_args(["--ship"])
    assert (found.out, found.name, found.private) == (PACKAGE.parent, "edges", False)
    found = parser.parse_args(["--out", "here", "--name", "mine", "--private"])
    assert (found.out, found.name, found.private) == (Path("here"), "mine", True)


def test_the_command_on_a_card_holds_no_folder_of_this_machine() -> None:
    given = [
        "--sources",
        "nestools",
        "--data",
        "/home/me",
        "--scores",
        "a.json",
        "b.json",
        "--out=/x",
        "--rounds",
        "9",
    ]
    assert (
        render_command("edges", given)
        == "callwright train layers --model edges --sources nestools --rounds 9"
    )
