from __future__ import annotations

from typing import Any

import pytest
from mcp_types import JSONRPCRequest, JSONRPCResponse, ListToolsResult
from mcp_types.methods import validate_server_result

from callwright.tools.mcp.pages import MAX_PAGES, ToolPages

OBJECT = {"type": "object"}


def tool(name: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": OBJECT, **more}


def listed(
    pages: ToolPages, tools: list[Any], *, cursor: str = "", after: str = ""
) -> dict[str, Any]:
    """The answer to one ``tools/list`` as the SDK gets it."""
    asked: dict[str, Any] = {"cursor": cursor} if cursor else {}
    pages.note_sent(JSONRPCRequest(jsonrpc="2.0", id=7, method="tools/list", params=asked))
    answer = JSONRPCResponse(
        jsonrpc="2.0", id=7, result={"tools": tools, **({"nextCursor": after} if after else {})}
    )
    pages.admit(answer)
    return answer.result


def of_version(version: str) -> ToolPages:
    made = ToolPages()
    made.note_sent(JSONRPCRequest(jsonrpc="2.0", id=0, method="initialize", params={}))
    made.admit(JSONRPCResponse(jsonrpc="2.0", id=0, result={"protocolVersion": version}))
    return made


@pytest.mark.parametrize("version", ["2024-11-05", "2025-06-18", "2025-11-25"])
def test_what_cannot_be_used_is_left_out_with_its_name_and_the_rest_stays(version: str) -> None:
    deep: Any = {}
    for _ in range(300):
        deep = {"properties": {"a": deep}}
    bad: list[Any] = [
        5,
        None,
        {"description": "none"},
        {"name": 5, "inputSchema": OBJECT},
        {"name": "no_schema"},
        tool("no_object", inputSchema=5),
        tool("no_text", description={"a": 1}),
        tool("no_properties", inputSchema={"type": "object", "properties": {"type": "object"}}),
        tool("no_hints", annotations=[1]),
        tool("deep", inputSchema=deep),
        tool("long", description="x" * 3_000_000),
        tool("twice", description="another"),
    ]
    pages = of_version(version)
    page = listed(pages, [tool("first"), tool("twice"), *bad, tool("last")])
    validate_server_result("tools/list", version, page)
    assert [t.name for t in ListToolsResult.model_validate(page, by_name=False).tools] == [
        "first",
        "twice",
        "last",
    ]
    assert len(pages.problems) == len(bad)
    for name in (
        "entry 3",
        "no_schema",
        "no_object",
        "no_text",
        "no_properties",
        "no_hints",
        "deep",
        "long",
        "twice",
    ):
        assert sum(repr(name) in problem for problem in pages.problems) == 1, name
    assert all(len(problem) < 400 for problem in pages.problems)


def test_a_right_page_is_untouched() -> None:
    pages = of_version("2025-06-18")
    given = [
        tool("a", title="A", annotations={"readOnlyHint": True}),
        tool("b", outputSchema=OBJECT),
    ]
    assert listed(pages, given, after="2") == {"tools": given, "nextCursor": "2"}
    assert pages.problems == []


def test_a_page_that_is_none_is_left_to_the_sdk() -> None:
    pages = of_version("2025-06-18")
    for result in ({"tools": "none"}, {}):
        pages.note_sent(JSONRPCRequest(jsonrpc="2.0", id=7, method="tools/list"))
        answer = JSONRPCResponse(jsonrpc="2.0", id=7, result=result)
        pages.admit(answer)
        assert answer.result == result


def test_a_list_without_an_end_is_cut_with_a_note() -> None:
    def read(pages: ToolPages, size: int, length: int) -> int:
        cursor, count = "", 0
        for number in range(1, 1_000_000):
            page = listed(
                pages,
                [tool(f"t{number}_{i}", description="d" * length) for i in range(size)],
                cursor=cursor,
                after=str(number),
            )
            count += len(page["tools"])
            cursor = page.get("nextCursor", "")
            if not cursor:
                break
        return count

    endless = ToolPages()
    assert read(endless, 1, 10) == MAX_PAGES
    assert endless.problems == [
        f"only the first {MAX_PAGES} tools are used: the list does not end after 200 pages"
    ]
    many = ToolPages(max_tools=25)
    assert read(many, 10, 10) == 25
    assert many.problems == ["only the first 25 tools are used: the server lists more than 25"]
    heavy = ToolPages(max_bytes=5_000)
    assert read(heavy, 10, 1_000) == 4
    assert "longer than 5000 bytes" in heavy.problems[0]


def test_a_list_that_is_asked_for_again_begins_anew() -> None:
    pages = ToolPages(max_tools=2)
    for _ in range(3):
        assert len(listed(pages, [tool("a"), tool("b")])["tools"]) == 2
        assert pages.problems == []


def test_other_answers_pass() -> None:
    pages = ToolPages()
    pages.note_sent(JSONRPCRequest(jsonrpc="2.0", id=1, method="tools/call", params={"name": "a"}))
    answer = JSONRPCResponse(jsonrpc="2.0", id=1, result={"tools": [5]})
    pages.admit(answer)
    pages.admit(ValueError("of the transport"))
    assert answer.result == {"tools": [5]}
