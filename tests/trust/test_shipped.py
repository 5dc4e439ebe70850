"""What comes with Callwright needs no confirmation, as it is."""

from __future__ import annotations

from pathlib import Path

from callwright.jsontext import parse
from callwright.trust import TrustStore, digest_of
from callwright.trust.shipped import SHIPPED

ROOT = Path(__file__).resolve().parents[2]
FILES = ("examples/desk/mcp.json",)


def test_the_examples_are_trusted_as_they_are(tmp_path: Path) -> None:
    digests = {digest_of(parse((ROOT / name).read_bytes())) for name in FILES}
    assert digests == SHIPPED, "an example has changed: put its digest into src/callwright/trust/shipped.py"
    assert all(TrustStore(tmp_path).is_trusted("document", "anywhere", digest) for digest in digests)
