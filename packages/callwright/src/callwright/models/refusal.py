"""Converts an endpoint's refusal into an error with a hint what to do. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from callwright.jsontext import JsonError, parse
from callwright.language import ENGLISH
from callwright.models.secret import Secret
from callwright.nouns.errors import ModelError

_CONTEXT = ENGLISH.pattern("errors.context_length")
_MAX_TEXT = 300


def build_model_error(
    name: str, base_url: str, status: int | None, text: str, key: Secret, *, retryable: bool = False
) -> ModelError:
    """The ModelError for an answer that is no reply. ``status`` None: there was no answer at
    all.
    """
    said = key.hide(_extract_message(text))
    if status is None:
        return ModelError(
            f"{name}: {said}",
            hint=f"is a server running at {base_url}? The model's URL names another",
            retryable=retryable,
        )
    if _CONTEXT.search(text) and status in (200, 400, 413, 422, 500):
        return ModelError(
            f"{name}: the prompt is longer than the model's context: {said}",
            hint="show fewer tools or shorter results, or serve the model with a larger context",
            status=status,
        )
    again = status in (408, 409, 425, 429) or status >= 500
    return ModelError(
        f"{name} answered {status}: {said}",
        hint=_choose_hint(status, base_url),
        status=status,
        retryable=again,
    )


def _choose_hint(status: int, base_url: str) -> str:
    if status in (401, 403):
        return "the key is missing or wrong: set CALLWRIGHT_API_KEY (or OPENAI_API_KEY)"
    if status == 404:
        return (
            f"asked {base_url}/chat/completions: is something like /v1 missing, or is the model's"
            " name wrong?"
        )
    if status == 429:
        return "the endpoint asks for fewer questions; it was asked again and still said so"
    return "the endpoint has trouble of its own; its log may say more" if status >= 500 else ""


def _extract_message(text: str) -> str:
    """The server's own words: OpenAI's ``error.message`` and its relatives, or the beginning of the
    body.
    """
    try:
        value: Any = parse(text)
    except JsonError:
        value = None
    if isinstance(value, Mapping):
        error = value.get("error", value)
        for found in (
            (error.get("message"), error.get("detail")) if isinstance(error, Mapping) else (error,)
        ):
            if isinstance(found, str) and found:
                return found[:_MAX_TEXT]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", text)).strip()[:_MAX_TEXT] or "nothing"
