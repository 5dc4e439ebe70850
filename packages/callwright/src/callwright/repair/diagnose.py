"""Why a call failed, and whether its arguments are to blame. Only then may a model be asked to
change them.

Tools fail in many dresses: exceptions, HTTP errors, a status of 200 with an error inside, nothing
at all. An envelope ``{"error": …, "response": …}`` is judged by its response: the error text is
often a mere label.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from callwright.jsontext import JsonError, parse_lenient
from callwright.language import ENGLISH
from callwright.nouns.errors import REFUSED_STATUSES, Failure, FailureKind
from callwright.nouns.types import Json, JsonObject, Tool, ToolResult, to_canonical_json
from callwright.repair.empty_result import is_blank
from callwright.repair.learned_overlay import SchemaOverlay, overlay_from_error
from callwright.repair.outcome import with_outcome

_ERROR_KEYS = (
    "error",
    "errors",
    "error_message",
    "errorMessage",
    "exception",
    "fault",
    "err",
    "detail",
)
_MESSAGE_KEYS = (
    "message",
    "error_description",
    "description",
    "detail",
    "reason",
    "msg",
    "title",
    "error",
    "info",
)
_STATUS_KEYS = ("status", "statusCode", "status_code", "code", "cod")
_FALSE_FLAGS = ("success", "ok", "succeeded", "isSuccess")
_TRUE_FLAGS = ("isError", "is_error")  # of MCP's CallToolResult and Anthropic's tool_result
_HTTP_KEYS = ("status", "statusCode", "status_code")
_TELLING = frozenset({*_ERROR_KEYS, *_STATUS_KEYS, *_FALSE_FLAGS, *_TRUE_FLAGS, "message", "msg"})
_BAD_WORDS = ENGLISH.words("errors.bad_status")
_NO_ERROR = ENGLISH.words("errors.no_error")
_GOOD_STATUS = ENGLISH.pattern("errors.good_status")
_BLAMELESS = frozenset(
    {"auth", "rate_limit", "unavailable", "timeout", "egress", "not_executable", "cancelled"}
)
_RETRYABLE = frozenset({"rate_limit", "unavailable", "timeout"})
_LABELS = ENGLISH.pattern("errors.labels_alone")
_TOLD_KINDS: tuple[FailureKind, ...] = ("rate_limit", "auth", "timeout", "unavailable", "crashed")
_KINDS = tuple((kind, ENGLISH.pattern(f"failures.{kind}")) for kind in _TOLD_KINDS)
_SAYS_ERROR = ENGLISH.pattern("failures.says_error")
_REFUSES_VALUE = ENGLISH.pattern("failures.refuses_value")
_BEGINS_WITH_ERROR_KEY = ENGLISH.pattern("errors.begins_with_key")
_REPLACED = ENGLISH.pattern("failures.replaced")
_A_TOOL = ENGLISH.pattern("failures.tool")
_NAMES_ERROR = re.compile(r"""\s*\{\s*["']errors?["']\s*:\s*["']([^"'\\]{3,300})["']""")
_BEGINS_AS_ERROR = ENGLISH.pattern("failures.begins")


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Diagnosis of an execution. ``failure`` is None if nothing is wrong.

    ``points_at_arguments``: changing them may help. ``overlay``: what the error says beyond the
    tool's schema. ``message`` is the error text for a repair prompt; ``path`` is the argument it is
    about, if that is known.
    """

    failure: Failure | None
    points_at_arguments: bool = False
    overlay: SchemaOverlay | None = None
    message: str = ""
    path: str = ""


_FINE = Diagnosis(None)


def diagnose(result: ToolResult, tool: Tool) -> Diagnosis:
    """Read a result: failed, failed although it says it did not, empty, or fine."""
    failure = result.failure or failure_in(result.content)
    if failure is None or (
        result.failure is None and failure.kind == "empty" and tool.effects.may_write
    ):
        return _FINE  # a tool that changes something may well have nothing to say about it
    failure = with_outcome(failure, tool.effects)
    text = _render_error(failure)
    overlay = (
        overlay_from_error(text, tool, result.arguments) if failure.kind not in _BLAMELESS else None
    )
    path = f"/{overlay.changes[0].key}" if overlay else ""
    return Diagnosis(
        failure,
        points_at_arguments(failure) and not is_replaced(text, tool.name),
        overlay,
        text,
        path,
    )


def is_replaced(error: str, tool: str) -> bool:
    """Return True if an error says that the tool itself no longer exists: renamed, replaced,
    retired.
    """
    return _REPLACED.search(error) is not None and (
        tool in error or _A_TOOL.search(error) is not None
    )


def points_at_arguments(failure: Failure) -> bool:
    """401, 403, 429, 5xx, timeouts and what was never executed are not the arguments' fault. All
    else may be.
    """
    if failure.kind in _BLAMELESS or failure.outcome_unknown:
        return False
    status = failure.status or 0
    if status in (401, 403, 408, 425, 429) or status >= 500:
        return False
    return failure.kind != "too_large"


def failure_in(content: Json) -> Failure | None:
    """The failure that a delivered content is, or None for a content that is a result."""
    value = _parse_content(content)
    if is_blank(value):
        return Failure("empty", "the tool returned an empty result", detail=content)
    if isinstance(value, dict):
        if _is_error_envelope(value):
            return _read_error_envelope(value)
        said = _error_of(value)
        made = _build_failure(said, _find_http_status(value), content) if said else None
        return replace(made, not_done=True) if made is not None and _is_refused(value) else made
    if isinstance(value, str):
        if _reads_as_error(value):
            return _build_failure(value, None, content)
        named = _NAMES_ERROR.match(value)  # a value too long or too broken to be read whole
        if named is not None and not _LABELS.match(named[1]):
            return _build_failure(named[1], None, content)
    return None


def _parse_content(content: Json) -> Json:
    """The value inside a text, where the text is JSON or a Python literal; a long or cut one stays
    text.
    """
    if isinstance(content, str) and content.lstrip()[:1] in ("{", "["):
        try:
            repaired = parse_lenient(content)
        except JsonError:
            return content
        return content if repaired.truncated or repaired.is_mark else repaired.value
    return content


def _is_error_envelope(value: JsonObject) -> bool:
    return value.keys() == {"error", "response"} and isinstance(value["error"], str)


def _read_error_envelope(value: JsonObject) -> Failure | None:
    """The failure in an envelope of error and response. The response decides; the error alone counts
    only where there is no response.
    """
    label = value["error"].strip()
    inner = _parse_content(value["response"])
    if not is_blank(inner):
        found = failure_in(inner)
        if found is not None:
            return found
        if isinstance(inner, str) and label and _cut_error(inner):
            return _build_failure(inner, None, value)
        return None
    if label.lower() in _NO_ERROR:
        return Failure("empty", "the tool returned an empty result", detail=value)
    return _build_failure(label, None, value)


def _cut_error(text: str) -> bool:
    """Return True if a text that could not be read as a value is an error. Data that was cut off is
    still data.
    """
    if text.lstrip()[:1] in ("{", "["):
        return _BEGINS_WITH_ERROR_KEY.match(text) is not None
    return len(text) <= 600 and _SAYS_ERROR.search(text[:300]) is not None


def _error_of(value: JsonObject) -> str:
    """The error that an object reports about itself, or ""."""
    if _TELLING.isdisjoint(value):
        return ""
    for key in _ERROR_KEYS:
        if key in value and (said := _extract_error_text(value[key])):
            if key == "detail" and not _validation_detail(value[key]) and len(value) > 1:
                continue
            beside = _first_text(value, ("message", "error_description", "description"))
            return f"{said}: {beside}" if beside and beside != said and beside not in said else said
    if any(value.get(flag) is True for flag in _TRUE_FLAGS):
        said = _first_text(value, _MESSAGE_KEYS) or _join_content(value.get("content"))
        return said or to_canonical_json(value)[:400]
    status = _find_http_status(value)
    if (
        any(value.get(flag) is False for flag in _FALSE_FLAGS)
        or _bad_status(value)
        or (status or 0) >= 400
    ):
        return _first_text(value, _MESSAGE_KEYS) or to_canonical_json(value)[:400]
    if set(value) <= {"message", "msg", *_STATUS_KEYS, "path", "timestamp"}:
        said = _first_text(value, ("message", "msg"))
        return (
            said
            if _SAYS_ERROR.search(said) or (_is_refusal_message(said) and not _good_status(value))
            else ""
        )
    return ""


def _join_content(content: Json) -> str:
    """The text of the content of a result: a text, or blocks of which some are text."""
    if isinstance(content, str):
        return content.strip()
    blocks = content if isinstance(content, list) else []
    texts = (block.get("text") for block in blocks if isinstance(block, dict))
    return "\n".join(text for text in texts if isinstance(text, str))


def _is_refusal_message(said: str) -> bool:
    """Return True if a message that is the whole reply refuses a value, or explains why nobody is
    served.
    """
    return _REFUSES_VALUE.match(said) is not None or (
        len(said) <= 200 and _classify_error(said, None) != "error_payload"
    )


def _extract_error_text(value: Json) -> str:
    """Return the message of an ``error`` member; "" if it reports no error."""
    if isinstance(value, str):
        return "" if value.strip().lower() in _NO_ERROR else value.strip()
    if isinstance(value, dict) and value:
        where = value.get("loc")
        if (
            isinstance(where, list) and where and isinstance(value.get("msg"), str)
        ):  # pydantic, FastAPI
            return f"{where[-1]}: {value['msg']}"
        return _first_text(value, _MESSAGE_KEYS) or to_canonical_json(value)[:400]
    if isinstance(value, list) and value:
        return (
            "; ".join(filter(None, map(_extract_error_text, value[:5])))
            or to_canonical_json(value)[:400]
        )
    return "the tool reports an error" if value is True else ""


def _validation_detail(value: Json) -> bool:
    """FastAPI's ``detail``: a list of {loc, msg}, or a sentence."""
    return (
        isinstance(value, list) and bool(value) and isinstance(value[0], dict) and "msg" in value[0]
    )


def _first_text(value: JsonObject, keys: tuple[str, ...]) -> str:
    return next((v.strip() for k in keys if isinstance(v := value.get(k), str) and v.strip()), "")


def _find_http_status(value: JsonObject) -> int | None:
    """An HTTP status that the object states, 400 to 599 only: many APIs use ``code`` for other
    things.
    """
    for key in _STATUS_KEYS:
        stated = value.get(key)
        if isinstance(stated, str) and stated.isdigit():
            stated = int(stated)
        if isinstance(stated, int) and not isinstance(stated, bool) and 400 <= stated <= 599:
            return stated
    return None


def _is_refused(value: JsonObject) -> bool:
    """Return True if an error states an HTTP status by which the request was refused (RFC 9110,
    section 15.5), and nothing that the call may have made.
    """
    stated = {value.get(key) for key in _HTTP_KEYS if isinstance(value.get(key), int)}
    return value.keys() <= _TELLING and len(stated) == 1 and not stated.isdisjoint(REFUSED_STATUSES)


def _good_status(value: JsonObject) -> bool:
    """Return True if any status in the reply reports success."""
    stated = [value[key] for key in _STATUS_KEYS if key in value]
    return any(_GOOD_STATUS.fullmatch(str(one).strip()) for one in stated)


def _bad_status(value: JsonObject) -> bool:
    stated = value.get("status")
    return isinstance(stated, str) and stated.strip().lower() in _BAD_WORDS


def _reads_as_error(text: str) -> bool:
    """Only a short text that begins like an error is one: articles about errors are results."""
    return len(text) <= 600 and _BEGINS_AS_ERROR.match(text) is not None


def _build_failure(said: str, status: int | None, detail: Json) -> Failure:
    kind = _classify_error(said, status)
    message = (
        "the tool reported an unnamed error"
        if _LABELS.match(said) and kind == "error_payload"
        else said[:1_000]
    )
    return Failure(kind, message, retryable=kind in _RETRYABLE, status=status, detail=detail)


def _classify_error(said: str, status: int | None) -> FailureKind:
    if status in (401, 403):
        return "auth"
    if status == 429:
        return "rate_limit"
    if status in (408, 504):
        return "timeout"
    if status is not None and status >= 500:
        return "unavailable"
    head = said[:600]
    return next((kind for kind, pattern in _KINDS if pattern.search(head)), "error_payload")


def _render_error(failure: Failure) -> str:
    """The error as the tool worded it, with what its detail adds."""
    inner = failure_in(failure.detail) if failure.kind == "tool_error" and failure.detail else None
    said = inner.message if inner is not None and inner.kind != "empty" else ""
    return failure.message if not said or said in failure.message else f"{failure.message}\n{said}"
