from __future__ import annotations

from callwright.gateway.session.profile import ProcessProfiles, Profile


def test_a_profile_is_kept_for_its_server() -> None:
    profiles = ProcessProfiles()
    assert profiles.get("a") is None
    made = Profile(frozenset({"prompts"}), {"prompts": [{"name": "trip"}]}, "Be kind.")
    profiles.put("a", made)
    assert profiles.get("a") == made
    assert made.get("prompts") == [{"name": "trip"}]
    assert made.get("resources") == ()
