from __future__ import annotations

import jsonschema_rs
import pytest

from callwright.nouns.errors import CatalogError
from callwright_lab.datasets.toolbench_tools import (
    change_name,
    is_toolbench,
    standardise,
    tool_from_toolbench,
)

API = {
    "category_name": "Data",
    "tool_name": "Simple YouTube Search",
    "api_name": "Search",
    "api_description": "Make youtube search",
    "required_parameters": [
        {"name": "query", "type": "STRING", "description": "", "default": "cats"}
    ],
    "optional_parameters": [
        {"name": "type", "type": "ENUM", "description": "", "default": ""},
        {"name": "from", "type": "DATE (YYYY-MM-DD)", "description": "earliest", "default": ""},
        {"name": "safesearch", "type": "BOOLEAN", "description": "", "default": "false"},
    ],
    "method": "GET",
    "template_response": {
        "results": [
            {
                "id": "str",
                "views": "int",
                "tags": ["list of str with length 4"],
                "nsfw": "bool",
                "_list_length": 19,
            }
        ]
    },
}


def test_an_api_becomes_a_tool_under_toolbenchs_own_name() -> None:
    tool = tool_from_toolbench(API)
    assert tool.name == "search_for_simple_youtube_search"
    assert tool.required == ("query",)
    assert list(tool.properties) == ["query", "type", "is_from", "safesearch"]
    assert tool.properties["is_from"] == {
        "type": "string",
        "format": "date",
        "description": "earliest",
    }
    assert tool.effects.read_only
    jsonschema_rs.meta.validate(tool.input_schema)


def test_the_sample_value_of_a_form_is_an_example_and_no_default() -> None:
    query = tool_from_toolbench(API).properties["query"]
    assert query["examples"] == ["cats"]
    assert "default" not in query


def test_the_response_template_becomes_the_output_schema() -> None:
    output = tool_from_toolbench(API).output_schema
    assert output is not None
    item = output["properties"]["results"]["items"]["properties"]
    assert item["views"] == {"type": "integer"}
    assert item["tags"] == {
        "type": "array",
        "items": {"type": "array", "items": {"type": "string"}},
    } or item["tags"] == {
        "type": "array",
        "items": {"type": "string"},
    }
    assert "_list_length" not in item
    jsonschema_rs.meta.validate(output)


def test_names_are_made_as_toolbench_makes_them() -> None:
    assert standardise("NBA & ABA/2022  Stats!") == "nba_aba_2022_stats"
    assert standardise("1800 Printing") == "get_1800_printing"
    assert (change_name("from"), change_name("to")) == ("is_from", "to")


def test_an_entry_is_recognised_by_its_parameter_lists_and_needs_a_name() -> None:
    assert is_toolbench(API)
    assert not is_toolbench({"name": "a", "parameters": {}})
    with pytest.raises(CatalogError, match="no name"):
        tool_from_toolbench({"required_parameters": []})
    for parameter in (1, {"type": "STRING"}):
        with pytest.raises(CatalogError, match="'A' has a parameter without a name"):
            tool_from_toolbench({"api_name": "A", "required_parameters": [parameter]})
