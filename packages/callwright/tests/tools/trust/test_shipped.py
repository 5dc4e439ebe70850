"""What comes with Callwright needs no confirmation, as it is."""

from __future__ import annotations

from pathlib import Path

from callwright.jsontext import parse
from callwright.tools.trust import TrustStore, digest_of
from callwright.tools.trust.shipped import SHIPPED
from tests.places import ROOT

FILES = ("examples/desk/mcp.json",)


def test_the_examples_are_trusted_as_they_are(tmp_path: Path) -> None:
    digests = {digest_of(parse((ROOT / name).read_bytes())) for name in FILES}
    assert digests == SHIPPED, (
        "an example has changed: put its digest into"
        " packages/callwright/src/callwright/tools/trust/shipped.py"
    )
    assert all(
        TrustStore(tmp_path).is_trusted("document", "anywhere", digest) for digest in digests
    )
