from __future__ import annotations

from callwright.models import Secret


def test_a_secret_shows_itself_only_when_asked() -> None:
    secret = Secret("abc")
    assert "abc" not in f"{secret} {secret!r} {[secret]}"
    assert secret.reveal() == "abc"
    assert secret.hide("xabcx") == "x[secret]x"
    assert not Secret("")
