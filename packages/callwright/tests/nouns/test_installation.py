"""Hints name a command that installs here, wherever here is: each case is a folder laid out as the
installer leaves it. `checks/test_install.py` runs the commands.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import venv
from pathlib import Path
from typing import Any

import pytest

import callwright
from callwright.nouns.installation import (
    LAB,
    ShellCommand,
    find_clone,
    render_install_hint,
    render_library_hint,
    render_upgrade_hint,
)

HERE = Path(callwright.__file__).parent
CORE_WHEEL = "callwright-1.2.3-py3-none-any.whl"
LAB_WHEEL = "callwright_lab-1.2.3-py3-none-any.whl"


class Place:
    """An environment in which a copy of the package is installed as ``origin`` says."""

    def __init__(self, folder: Path, *, prefix: str = "venv") -> None:
        self.prefix = folder / prefix
        venv.EnvBuilder().create(self.prefix)
        windows = os.name == "nt"
        self.python = self.prefix / ("Scripts/python.exe" if windows else "bin/python")
        (self.site,) = self.prefix.rglob("site-packages")
        (self.site / "callwright").mkdir()
        shutil.copytree(HERE / "nouns", self.site / "callwright" / "nouns")
        shutil.copy(HERE / "__init__.py", self.site / "callwright" / "__init__.py")
        self.programs = folder / "programs"
        self.programs.mkdir()

    def record(self, name: str, origin: dict[str, Any] | None) -> None:
        folder = self.site / f"{name.replace('-', '_')}-1.2.3.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2.3\n")
        if origin is not None:
            (folder / "direct_url.json").write_text(json.dumps(origin))

    def add_program(self, name: str) -> Path:
        path = self.programs / name
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
        return path

    def __call__(self, expression: str = "render_install_hint('proxy')") -> str:
        """What an expression gives here, in an environment without any variable of ours."""
        code = f"from callwright.nouns.installation import *; print({expression})"
        done = subprocess.run(
            [str(self.python), "-P", "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={"PATH": str(self.programs)},
        )
        return done.stdout.strip()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    made.add_program("uv")
    return made


def file_origin(path: Path, **more: Any) -> dict[str, Any]:
    return {"url": path.as_uri(), **(more or {"archive_info": {}})}


def install(place: Place, *words: str) -> str:
    return shlex.join(["uv", "pip", "install", "--python", str(place.python), *words])


def test_in_a_clone_the_folder_is_installed_again_with_the_extra() -> None:
    clone = find_clone()
    assert clone is not None
    core, lab = clone / "packages" / "callwright", clone / "packages" / "callwright-lab"
    assert core / "src" / "callwright" == HERE
    assert render_install_hint("mcp").endswith(shlex.join(["-e", f"{core}[mcp]"]))
    both = shlex.join(["-e", str(core), "-e", f"{lab}[train]"])
    assert render_install_hint("train", LAB).endswith(both)
    assert render_upgrade_hint() == f"git -C {clone} pull"
    assert isinstance(render_install_hint("mcp"), ShellCommand)


def test_from_an_index_the_same_version_is_named(place: Place) -> None:
    place.record("callwright", None)
    assert place() == install(place, "callwright[proxy]==1.2.3")
    lab = "render_install_hint('train', 'callwright-lab')"
    assert place(lab) == install(place, "callwright-lab[train]==1.2.3")
    assert place("render_upgrade_hint()") == install(place, "--upgrade", "callwright")


def test_from_a_wheel_the_file_is_named(place: Place, tmp_path: Path) -> None:
    wheel, lab = tmp_path / "some place" / CORE_WHEEL, tmp_path / "some place" / LAB_WHEEL
    wheel.parent.mkdir()
    wheel.touch()
    lab.touch()
    place.record("callwright", file_origin(wheel))
    assert place() == install(place, f"{wheel}[proxy]")
    assert place("render_install_hint(package='callwright-lab')") == install(place, str(lab))
    assert "newer version" in place("render_upgrade_hint()")


def test_a_file_that_is_gone_is_said_to_be_gone(place: Place, tmp_path: Path) -> None:
    wheel = tmp_path / CORE_WHEEL
    place.record("callwright", file_origin(wheel))
    begins = f"put {CORE_WHEEL} into {tmp_path}, then: "
    assert place() == begins + install(place, f"{wheel}[proxy]")
    assert place("render_install_hint(package='callwright-lab')").startswith(f"put {LAB_WHEEL} ")


@pytest.mark.parametrize("editable", [True, False])
def test_from_a_folder_the_folder_is_named(place: Place, tmp_path: Path, editable: bool) -> None:
    folder, lab = tmp_path / "packages" / "callwright", tmp_path / "packages" / "callwright-lab"
    folder.mkdir(parents=True)
    place.record("callwright", file_origin(folder, dir_info={"editable": editable}))
    words = ["-e"] if editable else []
    assert place() == install(place, *words, f"{folder}[proxy]")
    place.record("callwright-lab", file_origin(lab, dir_info={}))
    named = place("render_install_hint('bench', 'callwright-lab')")
    assert named.endswith(install(place, f"{lab}[bench]"))
    assert named.startswith("put callwright-lab into ")


def test_from_a_repository_and_from_a_web_address_both_are_named(place: Place) -> None:
    vcs = {"vcs": "git", "commit_id": "abc", "requested_revision": "main"}
    origin = {"url": "https://example.org/c.git", "vcs_info": vcs, "subdirectory": "packages/callwright"}  # fmt: skip
    place.record("callwright", origin)
    wanted = (
        "callwright[proxy] @ git+https://example.org/c.git@abc#subdirectory=packages/callwright"
    )
    assert place() == install(place, wanted)
    lab = "callwright-lab @ git+https://example.org/c.git@abc#subdirectory=packages/callwright-lab"
    assert place("render_install_hint(package='callwright-lab')") == install(place, lab)
    web = {"url": f"https://example.org/{LAB_WHEEL}", "archive_info": {}}
    place.record("callwright-lab", web)
    named = f"callwright-lab[bench] @ https://example.org/{LAB_WHEEL}"
    assert place("render_install_hint('bench', 'callwright-lab')") == install(place, named)


def test_the_program_is_one_that_installs_into_this_environment(place: Place) -> None:
    """A ``pip`` of another environment is not named."""
    place.record("callwright", None)
    python = shlex.quote(str(place.python))
    pip = place.add_program("pip")
    assert place().startswith("uv pip install --python ")
    (place.programs / "uv").unlink()
    assert place().startswith(f"{python} -m ensurepip && {python} -m pip install 'callwright[")
    (place.site / "pip").mkdir()
    (place.site / "pip" / "__init__.py").touch()
    assert place().startswith(f"{python} -m pip install ")
    pip.rename(place.python.with_name("pip"))
    place.programs = place.python.parent
    assert place() == shlex.join(["pip", "install", "callwright[proxy]==1.2.3"])
    (place.prefix / "pipx_metadata.json").touch()
    assert place().startswith("pipx runpip callwright install ")


def test_what_uvx_made_for_one_command_is_made_again_with_the_extra(tmp_path: Path) -> None:
    place = Place(tmp_path, prefix="archive-v0/a1b2")
    wheel = tmp_path / CORE_WHEEL
    wheel.touch()
    (tmp_path / LAB_WHEEL).touch()
    place.record("callwright", file_origin(wheel))
    assert place() == f"uvx --from {shlex.quote(f'{wheel}[proxy]')} callwright …"
    lab = place("render_install_hint('bench', 'callwright-lab')")
    named = shlex.quote(f"{tmp_path / LAB_WHEEL}[bench]")
    assert lab == f"uvx --from {wheel} --with {named} callwright …"


def test_other_libraries_are_installed_by_the_same_program() -> None:
    found = render_library_hint("--upgrade", "apsw")
    assert found.endswith("install --upgrade apsw") or "install --python" in found


def test_in_the_container_image_a_new_image_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLWRIGHT_IMAGE_EXTRAS", "proxy")
    begins = "docker build --build-arg EXTRAS=proxy,"
    assert render_install_hint("mcp") == f"{begins}mcp --tag callwright ."
    assert render_library_hint("numpy") == f"{begins}all --tag callwright ."
    monkeypatch.setenv("CALLWRIGHT_IMAGE_EXTRAS", "")
    assert "EXTRAS=mcp " in render_install_hint("mcp")
