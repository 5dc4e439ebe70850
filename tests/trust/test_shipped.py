"""What comes with Callwright needs no confirmation, as it is."""

from __future__ import annotations

from pathlib import Path

from callwright.trust import TrustStore, digest_of
from callwright.trust.shipped import SHIPPED

ROOT = Path(__file__).resolve().parents[2]
FILES = ("examples/desk/mcp.json",)


def test_the_examples_are_trusted_as_they_are(tmp_path: Path) -> None:
    assert {digest_of((ROOT / name).read_bytes()) for name in FILES} == SHIPPED
    for name in FILES:
        assert TrustStore(tmp_path).is_trusted("document", name, digest_of((ROOT / name).read_bytes()))
