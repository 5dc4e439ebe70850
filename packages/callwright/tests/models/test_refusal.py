from __future__ import annotations

import pytest

from callwright.models import Secret
from callwright.models.refusal import build_model_error

NO_KEY = Secret("")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"error": {"message": "no such model"}}', "no such model"),
        ('{"error": "plain"}', "plain"),
        ('{"detail": "Not Found"}', "Not Found"),
        ("<html><h1>502</h1> Bad\n Gateway</html>", "502 Bad Gateway"),
        ("", "nothing"),
    ],
)
def test_the_servers_own_words_are_found(text: str, said: str) -> None:
    assert (
        build_model_error("m", "http://h/v1", 400, text, NO_KEY).message
        == f"m answered 400: {said}"
    )


@pytest.mark.parametrize(
    ("status", "again"), [(400, False), (401, False), (404, False), (429, True), (503, True)]
)
def test_only_what_may_pass_is_retryable(status: int, again: bool) -> None:
    error = build_model_error("m", "http://h/v1", status, "x", NO_KEY)
    assert (error.retryable, error.status) == (again, status)


@pytest.mark.parametrize(
    "text",
    [
        "This model's maximum context length is 4096 tokens",
        (
            '{"error": {"code": 400, "message": "exceeds the context size", "type":'
            ' "exceed_context_size_error"}}'
        ),
        '{"error": {"code": "context_length_exceeded", "message": "x"}}',
    ],
)
def test_a_prompt_too_long_is_told_from_other_refusals(text: str) -> None:
    assert (
        "longer than the model's context"
        in build_model_error("m", "http://h/v1", 400, text, NO_KEY).message
    )


def test_no_answer_names_the_address_and_no_key_is_shown() -> None:
    error = build_model_error(
        "m", "http://h/v1", None, "refused with k3y", Secret("k3y"), retryable=True
    )
    assert "http://h/v1" in error.hint
    assert "k3y" not in str(error)
    assert error.retryable
