"""The builder of both distributions: the same commit gives the same bytes, and all that a user
needs is in them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from release_packages import PACKAGES, SUMS, build_all, compare_folders, list_files, main

ROOT = Path(__file__).resolve().parent.parent


def run_git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=folder, capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout.strip()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The commit's distributions."""
    return build_all("HEAD", tmp_path_factory.mktemp("built"))


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another folder with the same commit."""
    folder = tmp_path_factory.mktemp("elsewhere") / "a clone"
    run_git(ROOT, "clone", "--quiet", "--shared", "--no-checkout", str(ROOT), str(folder))
    run_git(folder, "checkout", "--quiet", run_git(ROOT, "rev-parse", "HEAD"))
    return folder


def build_in(folder: Path, out: Path, more: Mapping[str, str], umask: str) -> Path:
    """Run the program of a clone under another umask and environment."""
    command = ["sh", "-c", f'umask {umask}; exec "$@"', "sh", sys.executable, "-P"]
    shutil.copy(ROOT / "release_packages.py", folder)
    subprocess.run(
        [*command, "release_packages.py", "--out", str(out)],
        cwd=folder,
        env={**os.environ, **more},
        check=True,
        capture_output=True,
        timeout=300,
    )
    return out


def test_one_commit_gives_the_same_bytes_in_another_folder_umask_and_time_zone(
    built: Path, clone: Path, tmp_path: Path
) -> None:
    stray = clone / "packages" / "callwright" / "src" / "callwright" / "stray.py"
    stray.write_text("not committed\n")
    more = {"TZ": "Pacific/Kiritimati", "PYTHONHASHSEED": "7", "LC_ALL": "C"}
    again = build_in(clone, tmp_path / "again", more, "077")
    assert compare_folders(again, built) == []
    assert len(list_files(built)) == 4


def test_every_time_in_them_is_that_of_the_commit(built: Path) -> None:
    epoch = int(run_git(ROOT, "show", "-s", "--format=%ct", "HEAD"))
    even = datetime.fromtimestamp(epoch - epoch % 2, tz=UTC)  # a zip counts two seconds
    times = {even.timetuple()[:6], datetime.fromtimestamp(epoch, tz=UTC).timetuple()[:6]}
    for path in list_files(built):
        if path.suffix == ".whl":
            with zipfile.ZipFile(path) as wheel:
                assert {one.date_time for one in wheel.infolist()} <= times
                assert {one.external_attr >> 16 & 0o777 for one in wheel.infolist()} == {0o644}
        else:
            with tarfile.open(path) as sdist:
                assert {one.mtime for one in sdist} == {epoch}
                assert {(one.uid, one.gid, one.uname) for one in sdist} == {(0, 0, "")}


def test_the_sdist_holds_the_package_and_its_tests(built: Path) -> None:
    for name in PACKAGES:
        (path,) = built.glob(f"{name.replace('-', '_')}-*.tar.gz")
        with tarfile.open(path) as sdist:
            found = {one.name.partition("/")[2] for one in sdist}
        listed = run_git(ROOT, "ls-tree", "-r", "--name-only", "HEAD", f"packages/{name}")
        committed = {line.removeprefix(f"packages/{name}/") for line in listed.splitlines()}
        assert committed <= found
        assert found - committed <= {"PKG-INFO", ".gitignore"}


def test_the_sums_are_those_that_sha256sum_checks(built: Path) -> None:
    lines = (built / SUMS).read_text().splitlines()
    assert [line.split("  ")[1] for line in lines] == [path.name for path in list_files(built)]
    for line in lines:
        digest, name = line.split("  ")
        assert hashlib.sha256((built / name).read_bytes()).hexdigest() == digest


@pytest.mark.heavy
def test_a_folder_is_compared_file_by_file(
    built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(built, tmp_path / "dist")
    assert main(["--check", "--out", str(tmp_path / "dist")]) == 0
    wheel, sdist, *_ = list_files(tmp_path / "dist")
    wheel.write_bytes(wheel.read_bytes() + b"\n")
    sdist.rename(sdist.with_name("callwright-9.tar.gz"))
    assert main(["--check", "--out", str(tmp_path / "dist")]) == 1
    said = capsys.readouterr().err
    assert f"error: {wheel.name} in {tmp_path / 'dist'} differs from what the commit builds" in said
    assert f"error: {sdist.name} is missing" in said
    assert "error: callwright-9.tar.gz in" in said


def test_old_distributions_leave_the_folder(built: Path, tmp_path: Path) -> None:
    shutil.copytree(built, tmp_path / "dist")
    (tmp_path / "dist" / "callwright-0.0.1-py3-none-any.whl").touch()
    (tmp_path / "dist" / "notes.txt").touch()
    build_all("HEAD", tmp_path / "dist")
    assert compare_folders(tmp_path / "dist", built) == []
    assert (tmp_path / "dist" / "notes.txt").exists()


def test_an_unknown_commit_is_said(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="error: git show failed"):
        build_all("no-such-commit", tmp_path)
