from __future__ import annotations

import base64
import json
import math
from types import SimpleNamespace
from typing import Any

import pytest
from mcp_types import CallToolResult

from callwright.nouns.types import ToolOutput
from callwright.tools.mcp.results import (
    CONNECTION_CLOSED,
    REQUEST_TIMEOUT,
    UNREADABLE,
    content_of,
    failure_of,
    is_session_over,
    output_of,
    read_code,
)


def result(*content: dict[str, Any], **more: Any) -> CallToolResult:
    return CallToolResult.model_validate({"content": list(content), **more})


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def test_structured_content_comes_before_text() -> None:
    assert content_of(result(text("20 degrees"), structuredContent={"degrees": 20})) == {
        "degrees": 20
    }


@pytest.mark.parametrize(
    ("given", "content"),
    [
        ([text("plain")], "plain"),
        ([text('{"a": 1}')], {"a": 1}),
        ([text("[1, 2]")], [1, 2]),
        ([text("{not json")], "{not json"),
        ([text("42")], "42"),  # a bare number stays what the server wrote
        ([text("a"), text("b")], "a\nb"),
        ([], None),
    ],
)
def test_text_stays_text_or_becomes_the_json_it_spells(
    given: list[dict[str, Any]], content: Any
) -> None:
    assert content_of(result(*given)) == content


def test_bulk_is_summarised_and_resources_keep_their_text() -> None:
    data = base64.b64encode(b"x" * 1000).decode()
    found = content_of(
        result(
            text("see"),
            {"type": "image", "data": data, "mimeType": "image/png"},
            {"type": "audio", "data": data, "mimeType": "audio/wav"},
            {
                "type": "resource",
                "resource": {"uri": "file:///a", "mimeType": "text/plain", "text": "hello"},
            },
            {"type": "resource", "resource": {"uri": "file:///b", "blob": data}},
            {"type": "resource_link", "uri": "file:///c", "name": "c"},
        )
    )
    assert found == [
        "see",
        {"type": "image", "mimeType": "image/png", "bytes": 1000},
        {"type": "audio", "mimeType": "audio/wav", "bytes": 1000},
        {"type": "resource", "uri": "file:///a", "mimeType": "text/plain", "text": "hello"},
        {"type": "resource", "uri": "file:///b", "bytes": 1000},
        {"type": "resource_link", "uri": "file:///c", "name": "c"},
    ]


def test_an_error_result_is_a_failure_with_the_servers_words() -> None:
    output = output_of(result(text("no such city"), isError=True))
    assert output.failure is not None
    assert (output.failure.kind, output.failure.message) == ("tool_error", "no such city")
    silent = output_of(result(isError=True))
    assert silent.failure is not None
    assert silent.failure.message


@pytest.mark.parametrize(
    ("code", "kind"), [(CONNECTION_CLOSED, "unavailable"), (REQUEST_TIMEOUT, "timeout")]
)
def test_a_lost_answer_leaves_the_outcome_unknown(code: int, kind: str) -> None:
    lost = failure_of(code, "gone", lost=True)
    assert (lost.kind, lost.outcome_unknown, lost.not_done, lost.retryable) == (
        kind,
        True,
        False,
        True,
    )


def test_an_answer_that_cannot_be_read_leaves_the_outcome_unknown() -> None:
    assert failure_of(UNREADABLE, "too long").outcome_unknown
    assert not failure_of(UNREADABLE, "too long").not_done


def test_a_result_without_an_end_to_its_depth_is_a_failure() -> None:
    deep = "[" * 500 + "]" * 500
    for given in (result(text(deep)), result(structuredContent={"a": json.loads(deep)})):
        failure = output_of(given).failure
        assert failure is not None
        assert "200 levels" in failure.message


@pytest.mark.parametrize("code", [CONNECTION_CLOSED, REQUEST_TIMEOUT])
def test_a_servers_own_error_is_the_tools_whatever_its_code(code: int) -> None:
    failure = failure_of(code, "no such city")
    assert (failure.kind, failure.retryable, failure.detail) == (
        "tool_error",
        False,
        {"code": code},
    )


def test_other_errors_are_the_tools_own() -> None:
    failure = failure_of(-32602, "unknown tool")
    assert (failure.kind, failure.not_done, failure.detail) == (
        "tool_error",
        True,
        {"code": -32602},
    )
    assert not failure_of(-32603, "internal error").not_done
    assert failure_of(-32603, "bad request", status=400).not_done
    assert failure_of(-32603, "slow down", status=429).retryable


@pytest.mark.parametrize(
    ("code", "message", "done"),
    [
        (-32600, "Unexpected content type: text/html", False),
        (-32600, "server answered a request with 202 Accepted", False),
        (-32600, "Session terminated", True),
        (-32602, "Unexpected content type: of the article", True),
    ],
)
def test_an_answer_that_the_sdk_cannot_read_is_no_refusal(
    code: int, message: str, done: bool
) -> None:
    failure = failure_of(read_code(code, message), message)
    assert (failure.not_done, failure.outcome_unknown) == (done, not done)


def test_what_a_parser_says_of_an_answer_is_not_repeated() -> None:
    said = failure_of(UNREADABLE, "Failed to parse: 4 validation errors for X\n input_value=b'k'")
    assert said.message.endswith("it is no JSON-RPC message")
    assert failure_of(UNREADABLE, "it is longer than 5 bytes").message.endswith("than 5 bytes")


@pytest.mark.parametrize(
    ("code", "status", "is_modern", "is_over"),
    [
        (-32600, 404, False, True),
        (-32001, 404, False, True),
        (-32002, 404, False, False),  # the server's own: the call may have been carried out
        (-32601, 404, False, False),
        (-32600, 404, True, False),
        (-32600, 400, False, False),
        (-32001, None, False, False),
    ],
)
def test_a_session_is_over_where_a_server_of_sessions_says_so(
    code: int, status: int | None, is_modern: bool, is_over: bool
) -> None:
    session = SimpleNamespace(discover_result={} if is_modern else None)
    assert is_session_over(SimpleNamespace(session=session), code, status) is is_over


def test_a_number_that_json_lacks_is_null_as_in_results_of_functions() -> None:
    content = {"a": [math.nan, -math.inf, 1.5], "b": {"c": math.inf}}
    made = output_of(result(structuredContent=content))
    assert made == ToolOutput({"a": [None, None, 1.5], "b": {"c": None}})
