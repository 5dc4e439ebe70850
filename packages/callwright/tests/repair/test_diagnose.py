from __future__ import annotations

from typing import Any

import pytest

from callwright.nouns.errors import Failure, FailureKind
from callwright.nouns.types import READ, Json, Tool, ToolResult
from callwright.repair.diagnose import diagnose, failure_in, is_replaced, points_at_arguments

TOOL = Tool(
    "movies",
    input_schema={
        "type": "object",
        "properties": {"genre": {"type": "string"}, "year": {"type": "string"}},
    },
    effects=READ,
)
ARGUMENTS = {"genre": "Comedy", "year": "2000-2019"}


def result(content: Json = None, failure: Failure | None = None) -> ToolResult:
    return ToolResult("r1", "movies", ARGUMENTS, content, failure)


@pytest.mark.parametrize(
    ("content", "kind", "message"),
    [
        ({"error": "no such genre"}, "error_payload", "no such genre"),
        ({"error": {"code": 7, "message": "no such genre"}}, "error_payload", "no such genre"),
        ({"errors": [{"message": "a"}, {"message": "b"}]}, "error_payload", "a; b"),
        (
            {"error": "invalid_request", "error_description": "no genre"},
            "error_payload",
            "invalid_request: no genre",
        ),
        ({"success": False, "message": "no such genre"}, "error_payload", "no such genre"),
        ({"status": "error", "message": "bad year"}, "error_payload", "bad year"),
        (
            {"isError": True, "content": [{"type": "text", "text": "no such genre"}]},
            "error_payload",
            "no such genre",
        ),
        (
            {"type": "tool_result", "is_error": True, "content": "kein Genre"},
            "error_payload",
            "kein Genre",
        ),
        ({"isError": True, "content": [3]}, "error_payload", '{"content":[3],"isError":true}'),
        ({"status": 400, "title": "Bad Request", "traceId": "|x"}, "error_payload", "Bad Request"),
        (
            {"detail": [{"loc": ["query", "year"], "msg": "Field required"}]},
            "error_payload",
            "year: Field required",
        ),
        (
            {"message": "Endpoint '/x' does not exist"},
            "error_payload",
            "Endpoint '/x' does not exist",
        ),
        ({"message": "unrecognized genre: 20"}, "error_payload", "unrecognized genre: 20"),
        (
            {"message": "Unknown service 'prime video'."},
            "error_payload",
            "Unknown service 'prime video'.",
        ),
        ({"message": "No such genre: 20", "status": "done"}, "error_payload", "No such genre: 20"),
        ({"msg": "API doesn't exists"}, "error_payload", "API doesn't exists"),
        (
            {"message": "This endpoint is disabled for your subscription"},
            "auth",
            "This endpoint is disabled for your subscription",
        ),
        ("Error: year is invalid", "error_payload", "Error: year is invalid"),
        ({"error": "Too many requests"}, "rate_limit", "Too many requests"),
        ({"status": "401", "msg": "Authentication required"}, "auth", "Authentication required"),
        ({"error": "service unavailable"}, "unavailable", "service unavailable"),
        ({"error": "request timed out"}, "timeout", "request timed out"),
        (
            {"status": "error", "message": "the archive is offline"},
            "unavailable",
            "the archive is offline",
        ),
        ({"error": "down for maintenance until 6"}, "unavailable", "down for maintenance until 6"),
        ([], "empty", "the tool returned an empty result"),
        ("", "empty", "the tool returned an empty result"),
        (None, "empty", "the tool returned an empty result"),
        # ToolBench's two fields: the response decides, the error is often a mere label
        (
            {"error": "Message error...", "response": "{'error': 'bad year'}"},
            "error_payload",
            "bad year",
        ),
        (
            {"error": "", "response": "{'message': 'genre must be an integer: X'}"},
            "error_payload",
            "genre must be an integer: X",
        ),
        (
            {"error": "request invalid. status_code=500", "response": ""},
            "unavailable",
            "request invalid. status_code=500",
        ),
        (
            {"error": "", "response": "{'message': 'unknown service all'}"},
            "error_payload",
            "unknown service all",
        ),
        ({"error": "", "response": ""}, "empty", "the tool returned an empty result"),
        (
            '{"error": "", "response": "{\'success\': False, \'msg\': \'no\'}"}',
            "error_payload",
            "no",
        ),
    ],
)
def test_a_delivered_failure_is_found(content: Json, kind: FailureKind, message: str) -> None:
    found = diagnose(result(content), TOOL)
    assert found.failure is not None
    assert (found.failure.kind, found.failure.message) == (kind, message)


@pytest.mark.parametrize(
    "content",
    [
        {"isError": False, "content": [{"type": "text", "text": "Comedy"}]},
        {"movie": "Khesari", "year": 2000},
        [{"movie": "Khesari"}],
        {"error": None, "data": 1},
        {"error": "", "response": "{'a': 1}"},
        {
            "error": "Message error...",
            "response": "{'result': [{'title': 'Fido', 'overview': 'cut off he",
        },
        {
            "error": "Message error...",
            "response": "{'result': [{'title': 'Fido', 'overview': 'One boy's friend must fail",
        },
        {"status": "ok", "data": []},
        {"status": "failed_over", "items": [1]},
        {"items": []},
        {"message": "Hello"},
        {"message": "Unknown Pleasures was recorded in Stockport"},
        {"message": "unknown genre: 20", "year": 2000},  # more than a message: data
        {"message": "Your old key is retired; try again later to see it gone", "status": "success"},
        {"message": "Forbidden Planet " + "and its robot " * 20},
        {"title": "Error handling in Python", "status": "published"},
        {"detail": "a long description", "price": 3},
        {"success": True, "errors": []},
        0,
        False,
        (
            '{"error": "Message error...", "response": "{\'result\': [{\'title\': \'Fido\','
            " 'overview': 'Tim"
        ),
        "It must be said that errors are required reading.",
        "An article about exceptions. " * 50,
    ],
)
def test_a_result_is_not_mistaken_for_a_failure(content: Json) -> None:
    assert diagnose(result(content), TOOL).failure is None


def test_silence_of_a_tool_that_writes_is_no_failure() -> None:
    assert diagnose(result(None), Tool("delete")).failure is None
    assert diagnose(result({"error": "no"}), Tool("delete")).failure is not None


@pytest.mark.parametrize(
    ("failure", "blamed"),
    [
        (Failure("tool_error", "bad", status=400), True),
        (Failure("tool_error", "bad", status=404), True),
        (Failure("tool_error", "TypeError: x"), True),
        (Failure("error_payload", "bad"), True),
        (Failure("empty", ""), True),
        (Failure("auth", "", status=401), False),
        (Failure("auth", "", status=403), False),
        (Failure("rate_limit", "", status=429), False),
        (Failure("unavailable", "", status=503), False),
        (Failure("tool_error", "", status=500), False),
        (Failure("timeout", ""), False),
        (Failure("too_large", ""), False),
        (Failure("egress", ""), False),
        (Failure("not_executable", ""), False),
        (Failure("cancelled", ""), False),
        (Failure("tool_error", "", outcome_unknown=True), False),
    ],
)
def test_only_what_arguments_can_cause_points_at_them(failure: Failure, blamed: bool) -> None:
    assert points_at_arguments(failure) is blamed
    assert diagnose(result(failure=failure), TOOL).points_at_arguments is blamed


def test_the_error_teaches_an_overlay_and_names_the_argument() -> None:
    found = diagnose(result({"error": "Invalid year format - year should be 4 digits."}), TOOL)
    assert found.path == "/year"
    assert found.overlay is not None
    assert found.overlay.changes[0].value == r"^\d{4}$"


def test_the_body_of_an_http_error_is_read_as_well() -> None:
    failure = Failure(
        "tool_error",
        "HTTP 422",
        status=422,
        detail={"detail": [{"loc": ["year"], "msg": "Field required"}]},
    )
    assert diagnose(result(failure=failure), TOOL).message == "HTTP 422\nyear: Field required"


@pytest.mark.parametrize(
    ("said", "replaced"),
    [
        ("movies was renamed to films", True),
        ("this endpoint is retired, use films", True),
        ("Tool 'movies' no longer exists", True),
        ("the genre Comedy is no longer available", False),
        ("no such genre", False),
    ],
)
def test_arguments_are_not_blamed_where_the_tool_itself_is_gone(said: str, replaced: bool) -> None:
    found = diagnose(result({"error": said}), TOOL)
    assert is_replaced(said, "movies") == replaced
    assert found.points_at_arguments != replaced


def test_a_fine_result_has_no_diagnosis() -> None:
    found = diagnose(result({"a": 1}), TOOL)
    assert (found.failure, found.points_at_arguments, found.overlay) == (None, False, None)


@pytest.mark.parametrize(
    "content", [{"error": [[[]]]}, {"errors": {}}, {"error": 0}, {"status": None}, {1: 2}, [None]]
)
def test_strange_contents_do_not_crash_it(content: Any) -> None:
    failure_in(content)
