"""The tool that copies trained weights into the packages: what passes, and what is refused."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from release_weights import PLACES, SOURCE, main, problems_of


@pytest.mark.parametrize("name", PLACES)
def test_what_is_shipped_passes(name: str) -> None:
    assert problems_of(SOURCE / PLACES[name] / f"{name}.json") == []


def test_the_names_are_those_that_the_core_loads() -> None:
    from callwright.planning import edges, graph, layers
    from callwright.retrieval import ranker

    loaded = [edges.SHIPPED, edges.WITH_ENCODER, graph.SHIPPED, layers.SHIPPED, ranker.SHIPPED]
    assert {path.relative_to(SOURCE).as_posix() for path in loaded} == {
        f"{place}/{name}.npz" for name, place in PLACES.items()
    }


def trained(folder: Path, name: str = "edges", card: Mapping[str, Any] | None = None) -> Path:
    """Weights as training writes them, with these members of the card changed."""
    folder.mkdir(exist_ok=True)
    arrays = b"arrays of " + name.encode()
    (folder / f"{name}.npz").write_bytes(arrays)
    whole = {
        "name": name,
        "sha256": hashlib.sha256(arrays).hexdigest(),
        "labels": "dependency",
        "data": {"nestools": {"licence": "Apache-2.0"}},
        "command": "callwright train layers --model edges",
        "private": False,
    }
    (folder / f"{name}.json").write_text(json.dumps(whole | dict(card or {})))
    return folder


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for place in PLACES.values():
        shutil.copytree(SOURCE / place, tmp_path / "package" / place, dirs_exist_ok=True)
    return tmp_path / "package"


def test_weights_and_card_are_copied(
    tmp_path: Path, package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = trained(tmp_path / "runs")
    assert main([str(folder), "--check"], package) == 0
    there = package / "planning" / "data" / "edges.npz"
    assert there.read_bytes() != (folder / "edges.npz").read_bytes()
    assert main([str(folder)], package) == 0
    assert there.read_bytes() == (folder / "edges.npz").read_bytes()
    assert there.with_suffix(".json").read_bytes() == (folder / "edges.json").read_bytes()
    assert capsys.readouterr().out.splitlines() == [
        "right: edges -> planning/data",
        "copied: edges -> planning/data",
    ]


@pytest.mark.parametrize(
    ("card", "said"),
    [
        ({"sha256": "0"}, "the arrays are not those of the card"),
        ({"private": True}, "forbids to pass it on"),
        ({"labels": "sequence"}, "learned sequence labels"),
        ({"name": "needed"}, "its card is that of 'needed'"),
        ({"data": {}}, "does not name the licence of all data"),
        ({"data": [{"source": "x"}]}, "does not name the licence of all data"),
        ({"command": ""}, "does not name the command"),
    ],
)
def test_what_must_not_be_shipped_is_refused(
    tmp_path: Path,
    package: Path,
    capsys: pytest.CaptureFixture[str],
    card: dict[str, Any],
    said: str,
) -> None:
    trained(trained(tmp_path / "runs", "needed"), "edges", card)
    before = (package / "planning" / "data" / "needed.npz").read_bytes()
    assert main([str(tmp_path / "runs")], package) == 1
    assert said in capsys.readouterr().err
    assert (package / "planning" / "data" / "needed.npz").read_bytes() == before, "all or nothing"


def test_a_folder_of_something_else_is_refused(
    tmp_path: Path, package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path)], package) == 1
    trained(tmp_path / "mine", "mine")
    assert main([str(tmp_path / "mine")], package) == 1
    (trained(tmp_path / "half") / "edges.npz").unlink()
    assert main([str(tmp_path / "half")], package) == 1
    (trained(tmp_path / "torn") / "edges.json").write_text("{")
    assert main([str(tmp_path / "torn")], package) == 1
    told = capsys.readouterr().err
    for said in (
        "holds no NAME.json",
        "nothing loads weights named 'mine'",
        "edges.json is a card without edges.npz",
        "edges.json is no JSON",
    ):
        assert said in told
