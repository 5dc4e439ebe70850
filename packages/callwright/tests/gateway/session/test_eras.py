from __future__ import annotations

from callwright.gateway.session.eras import adapt_result, adapt_tool
from tests.gateway.session.offers import tool


def test_a_result_of_2026_is_read_by_an_older_client() -> None:
    result = {
        "resultType": "complete",
        "content": [{"type": "text", "text": "3"}],
        "structuredContent": {"sum": 3},
        "ttlMs": 5,
    }
    assert adapt_result(result, False) == {
        "content": [{"type": "text", "text": "3"}],
        "structuredContent": {"sum": 3},
    }


def test_a_structured_result_that_is_no_object_becomes_text_where_there_is_none() -> None:
    made = adapt_result({"content": [], "structuredContent": [1, 2]}, False)
    assert made == {"content": [{"type": "text", "text": "[1,2]"}]}
    kept = adapt_result(
        {"content": [{"type": "text", "text": "both"}], "structuredContent": 5}, False
    )
    assert kept == {"content": [{"type": "text", "text": "both"}]}
    null = adapt_result({"content": [], "structuredContent": None}, False)
    assert null["content"] == []


def test_a_result_of_an_older_server_says_of_which_type_it_is() -> None:
    assert adapt_result({"content": []}, True) == {"resultType": "complete", "content": []}
    read = adapt_result({"contents": []}, True)
    assert (read["ttlMs"], read["cacheScope"]) == (0, "private")
    given = adapt_result({"contents": [], "ttlMs": 9, "cacheScope": "public"}, True)
    assert (given["ttlMs"], given["cacheScope"]) == (9, "public")
    assert adapt_result({"resultType": "task"}, True)["resultType"] == "task"


def test_a_schema_of_results_that_are_no_objects_is_for_newer_clients() -> None:
    listed = tool("list", outputSchema={"type": "array"})
    assert adapt_tool(listed, True) == listed
    assert "outputSchema" not in adapt_tool(listed, False)
    plain = tool("get", outputSchema={"type": "object"})
    assert adapt_tool(plain, False) == plain
