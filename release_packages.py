#!/usr/bin/env python3
"""Build both distributions from a commit, or check that a folder holds what the commit builds.

    python3 start.py build             sdist and wheel of both into ./dist, with SHA256SUMS
    python3 start.py build --check     build again elsewhere and compare with ./dist, byte for byte

Options: ``--commit COMMIT`` (default HEAD), ``--out FOLDER`` (default dist).

The files come from git, not from the working tree: what is not committed is not built. The wheel is
built from the unpacked sdist. The same commit gives the same bytes on any machine with the same
Python, zlib and hatchling: times are the commit's (SOURCE_DATE_EPOCH), modes are normalised.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent
PACKAGES = ("callwright", "callwright-lab")
SUMS = "SHA256SUMS"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. 0 if all was built or all is equal, 1 with a sentence for each difference."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--commit", default="HEAD")
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    given = parser.parse_args(arguments)
    if given.check:
        with tempfile.TemporaryDirectory() as again:
            build_all(given.commit, Path(again))
            problems = compare_folders(given.out, Path(again))
        for said in problems:
            print(f"error: {said}", file=sys.stderr)
        print(f"{given.out}: {'not ' if problems else ''}what {given.commit} builds")
        return 1 if problems else 0
    warn_of_changes(given.commit)
    print((build_all(given.commit, given.out) / SUMS).read_text(), end="")
    return 0


def build_all(commit: str, out: Path) -> Path:
    """Build sdist and wheel of each distribution of this commit into ``out``; return ``out``.

    Other files named ``callwright*`` there are removed, so that all files of the folder belong
    together.
    """
    out.mkdir(parents=True, exist_ok=True)
    for old in (*out.glob("callwright*"), *out.glob(SUMS)):
        old.unlink()
    epoch = run_git("show", "-s", "--format=%ct", f"{commit}^{{commit}}").decode().strip()
    with tempfile.TemporaryDirectory() as folder:
        unpack_tar(run_git("archive", "--format=tar", commit, "packages"), Path(folder))
        for name in PACKAGES:
            build_package(Path(folder) / "packages" / name, out.resolve(), epoch)
    lines = [f"{compute_digest(path)}  {path.name}\n" for path in list_files(out)]
    (out / SUMS).write_text("".join(lines), newline="\n")
    return out


def build_package(source: Path, out: Path, epoch: str) -> None:
    """Build the sdist of this folder, and the wheel from the unpacked sdist."""
    run_hatchling(source, "sdist", out, epoch)
    (sdist,) = out.glob(f"{source.name.replace('-', '_')}-*.tar.gz")
    with tempfile.TemporaryDirectory() as folder:
        unpack_tar(sdist.read_bytes(), Path(folder))
        (unpacked,) = Path(folder).iterdir()
        run_hatchling(unpacked, "wheel", out, epoch)


def run_hatchling(source: Path, target: str, out: Path, epoch: str) -> None:
    command = [sys.executable, "-P", "-m", "hatchling", "build", "-t", target, "-d", str(out)]
    done = subprocess.run(
        command,
        cwd=source,
        env={**os.environ, "SOURCE_DATE_EPOCH": epoch},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"error: {source.name} ({target}) cannot be built:\n{done.stderr}")


def unpack_tar(content: bytes, folder: Path) -> None:
    safely: dict[str, Any] = (
        {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    )  # not before Python 3.11.4
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        archive.extractall(folder, **safely)


def compare_folders(found: Path, wanted: Path) -> list[str]:
    """Every difference between two folders of distributions, as a sentence."""
    names = {path.name for folder in (found, wanted) for path in list_files(folder)}
    problems = []
    for name in sorted(names | {SUMS}):
        here, there = found / name, wanted / name
        if not here.is_file():
            problems.append(f"{name} is missing in {found}")
        elif not there.is_file():
            problems.append(f"{name} in {found} is not of this commit")
        elif here.read_bytes() != there.read_bytes():
            problems.append(f"{name} in {found} differs from what the commit builds")
    return problems


def list_files(folder: Path) -> list[Path]:
    """The distributions in a folder."""
    return sorted((*folder.glob("callwright*.tar.gz"), *folder.glob("callwright*.whl")))


def compute_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def warn_of_changes(commit: str) -> None:
    """Say what of the working tree is not built."""
    if run_git("diff", "--name-only", commit, "--", "packages"):
        print(f"warning: the working tree differs from {commit}, which is built", file=sys.stderr)


def run_git(*arguments: str) -> bytes:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(f"error: git {arguments[0]} failed: {done.stderr.decode().strip()}")
    return done.stdout


if __name__ == "__main__":
    raise SystemExit(main())
