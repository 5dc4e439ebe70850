from __future__ import annotations

from pathlib import Path

from callwright.gateway.pins.profile_store import ProfileStore
from callwright.gateway.session.profile import Profile
from callwright.tools.trust import TrustStore

PROFILE = Profile(frozenset({"prompts"}), {"prompts": [{"name": "greet"}], "resources": []})


def test_a_profile_outlives_the_process(tmp_path: Path) -> None:
    trust = TrustStore(tmp_path)
    assert ProfileStore("a", trust).get("mail") is None
    ProfileStore("a", trust).put("mail", PROFILE)
    assert ProfileStore("a", trust).get("mail") == PROFILE
    assert ProfileStore("b", trust).get("mail") is None


def test_what_cannot_be_kept_is_known_until_the_process_ends(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = ProfileStore("a", TrustStore(tmp_path / "file" / "trust"))
    store.put("mail", PROFILE)
    assert store.get("mail") == PROFILE


def test_a_damaged_file_is_nothing_known(tmp_path: Path) -> None:
    trust = TrustStore(tmp_path)
    ProfileStore("a", trust).put("mail", PROFILE)
    for path in tmp_path.glob("offered-*.json"):
        path.write_text("{}")
    assert ProfileStore("a", trust).get("mail") is None
