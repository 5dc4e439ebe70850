"""What a user installs: the wheel holds every file of the package, weights and prompts included, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a wheel built from this tree, by path."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-P", "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    with zipfile.ZipFile(built) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_every_file_of_the_package_is_in_the_wheel_as_it_is_here(wheel: dict[str, bytes]) -> None:
    source = ROOT / "src"
    here = {
        path.relative_to(source).as_posix(): path.read_bytes()
        for path in (source / "callwright").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name: wheel.get(name) for name in here} == here
    assert {"callwright/py.typed", "callwright/planning/__init__.py", "callwright/prompts/refine.md"} <= set(here)


def test_nothing_else_is_in_it(wheel: dict[str, bytes]) -> None:
    others = [name for name in wheel if not name.startswith("callwright/")]
    assert all(".dist-info/" in name for name in others)
    assert any(name.endswith("licenses/LICENSE") for name in others)
