"""The local cache: where files lie, one writer at a time, and nothing half-written under a final
name.

A file is gathered as ``NAME.part`` and renamed when its sha256 is the pinned one. Beside it lies
``NAME.ok``: size, modification time and digest of what was verified, so that a gigabyte is hashed
once and not at every start; a file that was changed, or put there by hand, is hashed again.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from callwright.nouns.errors import WeightsError
from callwright.weights.registry import Weight

Progress = Callable[[int, int, str], None]
"""Called with (bytes done, bytes in all, what is being done). An exception it raises ends the
download; what has arrived so far is kept and the next attempt goes on from there.
"""

CHUNK = 1 << 20
_LOCK_POLL_SECONDS = 0.1


def cache_dir() -> Path:
    """``CALLWRIGHT_CACHE``, else the platform's cache directory for "callwright". Not created
    here.
    """
    if chosen := os.environ.get("CALLWRIGHT_CACHE"):
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        return (
            Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local")
            / "callwright"
            / "Cache"
        )
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/callwright"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "callwright"


def get_weight_path(weight: Weight) -> Path:
    """Return the path of the complete file."""
    return cache_dir() / "weights" / weight.filename


def sha256_of(path: Path, length: int | None = None) -> str:
    """Hex sha256 of the file, or of its first ``length`` bytes."""
    total = hashlib.sha256()
    left = path.stat().st_size if length is None else length
    with path.open("rb") as file:
        while left > 0 and (block := file.read(min(CHUNK, left))):
            total.update(block)
            left -= len(block)
    return total.hexdigest()


def is_whole(path: Path, weight: Weight, *, stamp: bool = True) -> bool:
    """Return True if the file equals the pinned one byte for byte. Only content that was not
    verified before is hashed.

    ``stamp=False`` leaves no ``.ok`` beside the file, for places that are not ours to write to.
    """
    try:
        stat = path.stat()
    except OSError:
        return False
    if stat.st_size != weight.size:
        return False
    beside = path.with_name(path.name + ".ok")
    wanted = f"{stat.st_size} {stat.st_mtime_ns} {weight.sha256}"
    with suppress(OSError, UnicodeDecodeError):
        if beside.read_text(encoding="utf-8") == wanted:
            return True
    if sha256_of(path) != weight.sha256:
        return False
    if stamp:
        with suppress(OSError):  # a read-only cache is hashed every time
            beside.write_text(wanted, encoding="utf-8")
    return True


def accept_file(part: Path, weight: Weight) -> Path:
    """Give a gathered file its final name. Raises WeightsError, and removes it, if it is not the
    pinned one.
    """
    found = sha256_of(part)
    if part.stat().st_size != weight.size or found != weight.sha256:
        part.unlink()
        raise WeightsError(
            f"{weight.name}: the sha256 of what arrived is {found[:16]}…, pinned is"
            f" {weight.sha256[:16]}…",
            hint=(
                "it was thrown away; try again, and if this repeats, the source offers another file"
            ),
        )
    with part.open("rb") as file:
        os.fsync(file.fileno())
    final = get_weight_path(weight)
    os.replace(part, final)
    is_whole(final, weight)
    return final


def make_room(weight: Weight, part: Path) -> None:
    """Create the cache directory and see that the rest of the file fits. Raises WeightsError."""
    with convert_write_errors(weight):
        part.parent.mkdir(parents=True, exist_ok=True)
    there = part.stat().st_size if part.exists() else 0
    largest = max((p.size for p in weight.parts), default=0)
    free, needed = shutil.disk_usage(part.parent).free, weight.size - there + largest
    if free < needed:
        raise _disk_full(weight, f"{needed / 1e6:.0f} MB are needed, {free / 1e6:.0f} MB are free")


@contextmanager
def convert_write_errors(weight: Weight) -> Iterator[None]:
    """Turn an OSError of our own files into a WeightsError that says what to do."""
    try:
        yield
    except OSError as exc:
        if exc.errno in (errno.ENOSPC, errno.EDQUOT):
            raise _disk_full(weight, "the disk is full") from exc
        raise WeightsError(
            f"{weight.name}: cannot write to {get_weight_path(weight).parent}: {exc.strerror or exc}",
            hint="choose another directory with CALLWRIGHT_CACHE",
        ) from exc


def _disk_full(weight: Weight, why: str) -> WeightsError:
    return WeightsError(
        f"{weight.name} does not fit into {get_weight_path(weight).parent}: {why}",
        hint=(
            "free some space or choose another directory with CALLWRIGHT_CACHE; what has arrived is"
            " kept"
        ),
    )


@contextmanager
def hold_weight_lock(weight: Weight, progress: Progress) -> Iterator[None]:
    """Only one thread of one process at a time gathers a file. The lock dies with its process."""
    path = get_weight_path(weight).with_name(weight.filename + ".lock")
    lock = FileLock(path, thread_local=False)
    with convert_write_errors(weight):
        path.parent.mkdir(parents=True, exist_ok=True)
        held = _try_lock(lock, 0)
    while not held:
        progress(0, weight.size, f"{weight.name}: another process is fetching it")
        held = _try_lock(lock, _LOCK_POLL_SECONDS)
    try:
        yield
    finally:
        lock.release()


def _try_lock(lock: FileLock, seconds: float) -> bool:
    try:
        lock.acquire(timeout=seconds)
    except Timeout:
        return False
    return True
