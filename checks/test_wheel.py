"""What a user installs: each wheel holds every file of its package, weights and prompts included, and
nothing else.
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = {"callwright": "callwright", "callwright-lab": "callwright_lab"}


@pytest.fixture(scope="module", params=PACKAGES)
def built(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, dict[str, bytes]]:
    """A distribution and the files of the wheel built from this tree, by path."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-P", "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT / "packages" / request.param, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return request.param, {name: archive.read(name) for name in archive.namelist()}


def test_every_file_of_the_package_is_in_the_wheel_as_it_is_here(
    built: tuple[str, dict[str, bytes]],
) -> None:
    distribution, wheel = built
    source = ROOT / "packages" / distribution / "src"
    here = {
        path.relative_to(source).as_posix(): path.read_bytes()
        for path in (source / PACKAGES[distribution]).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name: wheel.get(name) for name in here} == here
    if distribution == "callwright":
        wanted = {
            "py.typed",
            "planning/__init__.py",
            "planning/data/edges.npz",
            "prompts/refine.md",
        }
        assert {f"callwright/{name}" for name in wanted} <= set(here)
    else:
        assert "callwright_lab/benchmarks/statements/scenes/01-airports.json" in here


def test_nothing_else_is_in_it(built: tuple[str, dict[str, bytes]]) -> None:
    distribution, wheel = built
    others = [name for name in wheel if not name.startswith(f"{PACKAGES[distribution]}/")]
    assert all(".dist-info/" in name for name in others)
    assert any(name.endswith("licenses/LICENSE") for name in others)


def test_both_packages_have_one_version() -> None:
    import tomllib

    import callwright
    import callwright_lab

    assert callwright_lab.__version__ == callwright.__version__
    text = (ROOT / "packages" / "callwright-lab" / "pyproject.toml").read_text(encoding="utf-8")
    assert tomllib.loads(text)["project"]["dependencies"] == [
        f"callwright=={callwright.__version__}"
    ]
