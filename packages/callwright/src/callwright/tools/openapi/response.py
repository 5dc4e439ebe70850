"""Converts an HTTP response into the result of a tool call: content, or a Failure with the server's
message. Pure.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from callwright.http import HttpResponse, failure_for_status, retry_after
from callwright.jsontext import JsonError, parse
from callwright.nouns.errors import Failure
from callwright.nouns.redaction import redact_secrets
from callwright.nouns.types import Json, Simulated, ToolOutput
from callwright.tools.openapi.binding import is_json

SIMULATED_HEADER = "x-callwright-simulated"
"""A virtual tool server says in this header who answered in the tool's place; see
``types.Simulated``.
"""

BINARY_KEYS = {"content_type", "size", "base64"}
"""The members of a result that stands for a body that is neither JSON nor text."""

_MESSAGE_KEYS = (
    *(
        "message",
        "error_description",
        "detail",
        "title",
        "status_message",
        "error",
        "reason",
        "errors",
    ),
    "msg",  # pydantic, FastAPI
)
_MESSAGE_CHARS = 500
_BEGINNING = 120  # characters of an answer that cannot be read
_LINES = (
    *("application/x-ndjson", "application/ndjson", "application/jsonl"),
    *("application/x-jsonl", "application/jsonlines", "application/x-jsonlines"),
    "application/stream+json",  # Spring
)
_TEXTUAL = (
    "text/",
    "application/xml",
    *("application/yaml", "application/x-yaml", "application/toml", "application/sql"),
    "application/javascript",
    "application/x-www-form",
)


def output_of(response: HttpResponse, what: str, secrets: Sequence[str], now: float) -> ToolOutput:
    """``what`` names the operation in errors; ``secrets`` are taken out of whatever the server
    echoes.
    """
    said = response.headers.get(SIMULATED_HEADER)
    if said == "recorded":
        how: Simulated = "recorded"
    elif said == "nearest":
        how = "nearest"
    elif said:
        how = "model"
    else:
        how = ""
    return replace(_output_of(response, what, secrets, now), simulated=how)


def _output_of(response: HttpResponse, what: str, secrets: Sequence[str], now: float) -> ToolOutput:
    if not response.ok:
        return ToolOutput(failure=_build_failure(response, what, secrets, now))
    if not response.body:
        made = {k: v for k, v in response.headers.items() if k == "location"}  # where it is
        return ToolOutput(content=redact_secrets({"status": response.status, **made}, secrets))
    if response.content_type in _LINES or response.content_type.endswith("json-seq"):
        return ToolOutput(content=redact_secrets(_parse_lines(response), secrets))
    if is_json(response.content_type):
        try:
            return ToolOutput(content=redact_secrets(_parse_body(response), secrets))
        except JsonError as exc:
            begins = redact_secrets(" ".join(response.text.split())[:_BEGINNING], secrets)
            reason = (
                f"{what} answered {response.status} with broken JSON: {exc}; it begins: {begins}"
            )
            return ToolOutput(
                failure=Failure("tool_error", reason, outcome_unknown=True, status=response.status)
            )
    if (
        not response.content_type
        or response.content_type.startswith(_TEXTUAL)
        or response.content_type.endswith(("+xml", "+yaml"))
    ):
        return ToolOutput(content=redact_secrets(response.text, secrets))
    data = b64encode(response.body).decode()
    return ToolOutput(
        content={"content_type": response.content_type, "size": len(response.body), "base64": data}
    )


def _parse_lines(response: HttpResponse) -> list[Json]:
    """The JSON values of a body that holds several: one a line, or one after each record separator
    (RFC 7464). What is no JSON stays text.
    """
    found: list[Json] = []
    is_sequence = response.content_type.endswith("json-seq")
    for part in response.text.removeprefix("\ufeff").split("\x1e" if is_sequence else "\n"):
        if line := part.strip():
            try:
                found.append(parse(line))
            except JsonError:
                found.append(line)
    return found


def _parse_body(response: HttpResponse) -> Json:
    """The JSON of a body: in UTF-8, or in the charset that its type declares; a byte order mark is
    passed over (RFC 8259, 8.1). Raises JsonError.
    """
    try:
        return parse(response.body)
    except JsonError:
        text = response.text.removeprefix("\ufeff")
        if text.encode("utf-8", "replace") == response.body:
            raise
        return parse(text)


def _build_failure(
    response: HttpResponse, what: str, secrets: Sequence[str], now: float
) -> Failure:
    body: Json = None
    if is_json(response.content_type) or response.body[:1] in (b"{", b"["):
        try:
            body = redact_secrets(_parse_body(response), secrets)
        except JsonError:
            body = None
    said = _extract_message(body) if body is not None else ""
    if not said and response.content_type in ("text/plain", ""):
        said = redact_secrets(response.text.strip(), secrets)
    text = f"{what} answered {response.status}" + (f": {_shorten_text(said)}" if said else "")
    waits = retry_after(response.headers, now)
    failure = failure_for_status(response.status, text, retry_after=waits, acted=response.acted)
    return failure if body is None or failure.detail is not None else replace(failure, detail=body)


def _extract_message(body: Json) -> str:
    """Return the message in an error body: RFC 9457 problems and the habits of common APIs."""
    if isinstance(body, str):
        return body
    if isinstance(body, list):
        return "; ".join(filter(None, (_extract_message(item) for item in body[:5])))
    if not isinstance(body, Mapping):
        return ""
    found: list[str] = []
    for key in _MESSAGE_KEYS:
        text = _extract_message(body.get(key)) if not isinstance(body.get(key), bool) else ""
        if text and text not in found:
            found.append(text)
    field: Any = body.get("field") or body.get("param") or body.get("loc")
    where = ".".join(str(p) for p in field) if isinstance(field, list) else field
    said = "; ".join(found) or _join_field_errors(body)
    return (f"{where}: " if isinstance(where, str) and said else "") + said


def _join_field_errors(body: Mapping[str, Any]) -> str:
    """``{"date": ["Enter a valid date."]}``: what is wrong with each field, as Django REST
    framework says it.
    """
    if not all(
        isinstance(value, list) and all(isinstance(v, str) for v in value)
        for value in body.values()
    ):
        return ""
    return "; ".join(f"{field}: {' '.join(said)}" for field, said in list(body.items())[:5] if said)


def _shorten_text(text: str) -> str:
    return text if len(text) <= _MESSAGE_CHARS else text[: _MESSAGE_CHARS - 1] + "…"
