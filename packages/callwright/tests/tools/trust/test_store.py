"""What is confirmed is kept whole, by digest, for one user only."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.errors import TrustError
from callwright.tools.trust import TrustStore, digest_of, normalize_location

READS = {
    "description": "Reads a note.",
    "inputSchema": {"type": "object", "properties": {"x": {"type": "string"}}},
}
SENDS = {**READS, "description": "Sends your files elsewhere."}


def test_only_the_confirmed_content_of_the_confirmed_place_is_trusted(tmp_path: Path) -> None:
    store = TrustStore(tmp_path / "trust")
    assert not store.is_trusted("settings", "/a", digest_of("x"))
    store.trust("settings", "/a", digest_of("x"))
    assert store.is_trusted("settings", "/a", digest_of("x"))
    for kind, where, digest in (
        ("document", "/a", "x"),
        ("settings", "/b", "x"),
        ("settings", "/a", "y"),
    ):
        assert not store.is_trusted(kind, where, digest_of(digest))  # type: ignore[arg-type]
    store.trust("settings", "/a", digest_of("y"))
    assert not store.is_trusted("settings", "/a", digest_of("x")), (
        "what it was before is confirmed no longer"
    )
    assert [c.where for c in store.distrust("/a")] == ["/a"]
    assert not store.is_trusted("settings", "/a", digest_of("y"))
    assert store.distrust("/a") == ()


@pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX's")
def test_only_the_user_reads_what_is_kept_and_what_others_may_write_counts_for_nothing(
    tmp_path: Path,
) -> None:
    before = os.umask(0)
    try:
        store = TrustStore(tmp_path / "state" / "trust")
        store.trust("settings", "/a", "1")
        store.pin("mcp notes", {"read": READS})
    finally:
        os.umask(before)
    files = sorted(store.folder.glob("*.json"))
    assert [path.stat().st_mode & 0o777 for path in files] == [0o600, 0o600]
    assert store.folder.stat().st_mode & 0o777 == 0o700
    for path in files:
        path.chmod(0o620)
    with pytest.raises(TrustError, match="may be written by others"):
        store.is_trusted("settings", "/a", "1")
    with pytest.raises(TrustError, match="chmod 600"):
        store.require_unchanged("mcp notes", {"read": READS})


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '{"callwright_trust": 2}', '{"callwright_trust": 1, "confirmed": [3]}'],
)
def test_a_damaged_file_is_an_error_and_trusts_nothing(tmp_path: Path, text: str) -> None:
    store = TrustStore(tmp_path)
    (tmp_path / "confirmed.json").write_text(text)
    (tmp_path / "confirmed.json").chmod(0o600)
    with pytest.raises(TrustError, match="damaged"):
        store.is_trusted("settings", "/a", "1")


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    store = TrustStore(tmp_path / "file" / "below")
    with pytest.raises(TrustError, match=r"cannot be kept in .*below"):
        store.trust("settings", "/a", "1")


def test_many_at_once_lose_nothing(tmp_path: Path) -> None:
    def confirm(number: int) -> None:
        TrustStore(tmp_path).trust("document", f"/{number}", "1")
        TrustStore(tmp_path).pin("mcp notes", {f"t{number}": READS})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(confirm, range(40)))
    assert {c.where for c in TrustStore(tmp_path).confirmed()} == {f"/{n}" for n in range(40)}
    assert len(TrustStore(tmp_path).pinned("mcp notes")) == 40
    assert not list(tmp_path.glob("*.part"))


def test_definitions_are_pinned_on_first_use_and_a_change_is_refused_with_a_diff(
    tmp_path: Path,
) -> None:
    store = TrustStore(tmp_path)
    store.require_unchanged("mcp notes", {"read": READS})
    store.require_unchanged("mcp notes", {"read": READS, "new": READS})
    store.require_unchanged("mcp other", {"read": SENDS})
    with pytest.raises(TrustError) as caught:
        store.require_unchanged("mcp notes", {"read": SENDS, "new": READS})
    said = str(caught.value)
    assert "the definition of 'read' of mcp notes changed since first use" in said
    assert "- Reads a note." in said
    assert "+ Sends your files elsewhere." in said
    assert "callwright trust mcp notes" in said
    with pytest.raises(TrustError):  # being refused once pins nothing
        store.require_unchanged("mcp notes", {"read": SENDS})
    store.pin("mcp notes", {"read": SENDS})
    store.require_unchanged("mcp notes", {"read": SENDS})
    assert store.sources() == {"mcp notes": 2, "mcp other": 1}
    store.distrust("mcp notes")
    assert store.sources() == {"mcp other": 1}


def test_whatever_a_server_says_is_read_back_as_it_was_kept(tmp_path: Path) -> None:
    odd = {"a\ud800": ["\udfff", float("nan"), 2**70, 1e22, -0.0, None, True], "": {}}
    for _ in range(2):
        assert TrustStore(tmp_path).require_unchanged("mcp odd", {"t\ud800": odd}) == ""


def test_where_nothing_can_be_kept_a_first_use_goes_on_and_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    said = TrustStore(tmp_path / "file" / "below").require_unchanged("mcp notes", {"read": READS})
    assert "the definitions of mcp notes are not remembered" in said
    assert TrustStore(tmp_path / "kept").require_unchanged("mcp notes", {"read": READS}) == ""


def test_a_place_has_one_name_and_that_holds_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert (
        normalize_location("a.yaml")
        == normalize_location(tmp_path / "b" / ".." / "a.yaml")
        == str(tmp_path / "a.yaml")
    )
    assert normalize_location("HTTPS://Host:8/doc/") == "https://host:8/doc"
    named = normalize_location("https://ann:s3cret@host/doc?key=s3cret")
    assert named.startswith("https://host/doc#")
    assert "s3cret" not in named
    assert named != normalize_location("https://host/doc?key=other")


@given(st.dictionaries(st.text(), st.integers() | st.text(), max_size=5))
def test_a_digest_does_not_depend_on_the_order_of_keys(value: dict[str, object]) -> None:
    assert digest_of(value) == digest_of(dict(reversed(value.items())))
