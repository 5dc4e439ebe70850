from __future__ import annotations

from callwright.models import OpenAIModel, Secret


def test_a_secret_shows_itself_only_when_asked() -> None:
    secret = Secret("abc")
    assert "abc" not in f"{secret} {secret!r} {[secret]}"
    assert secret.reveal() == "abc"
    assert secret.hide("xabcx") == "x[secret]x"
    assert not Secret("")


def test_a_model_names_its_key_for_redaction_and_none_where_it_has_none() -> None:
    assert OpenAIModel("http://localhost:1/v1", api_key="sk-1").secrets == ("sk-1",)
    assert OpenAIModel("http://localhost:1/v1").secrets == ()
