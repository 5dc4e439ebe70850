from __future__ import annotations

import pytest

from callwright.gateway.exposure.meta_tools import (
    MOST,
    Found,
    Search,
    describe_meta_tools,
    read_call,
    read_search,
    render_found,
)
from callwright.jsontext import parse
from callwright.schema.compiled import is_valid_instance


def test_both_schemas_accept_what_their_descriptions_ask_for() -> None:
    search, call = describe_meta_tools("51 tools are not listed.")
    assert search["description"].endswith("51 tools are not listed.")
    schema = search["inputSchema"]
    assert is_valid_instance(schema, {"query": "send a mail", "count": 3, "server": "mail"})
    assert not is_valid_instance(schema, {"query": "send a mail", "count": MOST + 1})
    schema = call["inputSchema"]
    assert is_valid_instance(schema, {"name": "mail__send", "arguments": {"to": "a"}})
    assert not is_valid_instance(schema, {"arguments": {}})


def test_a_search_is_read_with_its_usual_count() -> None:
    assert read_search({"query": " send a mail "}) == Search("send a mail", 8, "")
    assert read_search({"query": "x", "count": 500, "server": "mail"}) == Search("x", MOST, "mail")


@pytest.mark.parametrize("arguments", [{}, {"query": "  "}, {"query": 4}])
def test_a_search_without_words_says_what_is_missing(arguments: dict[str, object]) -> None:
    said = read_search(arguments)
    assert isinstance(said, str)
    assert "query" in said


def test_the_arguments_of_a_call_are_handed_on_as_they_are() -> None:
    given = {"to": ["a", 1, None]}
    assert read_call({"name": "mail__send", "arguments": given}) == ("mail__send", given)
    assert read_call({"name": "mail__send", "arguments": '{"to": 1}'}) == (
        "mail__send",
        '{"to": 1}',
    )


def test_arguments_beside_the_name_are_taken_where_there_are_no_others() -> None:
    assert read_call({"name": "mail__send", "to": "a"}) == ("mail__send", {"to": "a"})
    assert read_call({"name": "mail__list"}) == ("mail__list", {})


def test_arguments_under_another_key_are_taken_unless_the_tool_knows_that_key() -> None:
    given = {"name": "mail__send", "parameters": {"to": "a"}}
    assert read_call(given) == ("mail__send", {"to": "a"})
    assert read_call(given, lambda _: ("parameters",)) == (
        "mail__send",
        {"parameters": {"to": "a"}},
    )
    assert read_call({**given, "to": "b"})[1] == {"parameters": {"to": "a"}, "to": "b"}


@pytest.mark.parametrize("name", ["", None, "call_tool", "search_tools"])
def test_a_call_of_nothing_or_of_itself_is_refused_in_words(name: object) -> None:
    assert isinstance(read_call({"name": name, "arguments": {}}), str)


def test_found_tools_are_one_json_object_that_holds_what_a_call_needs() -> None:
    schema = {"type": "object", "properties": {"to": {"type": "string"}}}
    found = [
        Found("mail__send", {"description": "d" * 2_000, "inputSchema": schema}),
        Found("mail__list", {"inputSchema": {"type": "object"}}, "its last calls failed"),
    ]
    told = parse(render_found(Search("mail"), found, searched=90))
    assert [row["name"] for row in told["tools"]] == ["mail__send", "mail__list"]
    assert told["tools"][0]["inputSchema"] == schema
    assert len(told["tools"][0]["description"]) == 600
    assert told["tools"][1]["note"] == "its last calls failed"
    assert told["searched"] == 90


def test_tools_for_which_there_is_no_room_are_counted() -> None:
    big = {"type": "object", "description": "x" * 30_000}
    found = [Found(f"t{n}", {"inputSchema": big}) for n in range(5)]
    told = parse(render_found(Search("t"), found, searched=5))
    assert len(told["tools"]) == 1
    assert told["left_out"] == 4


def test_nothing_found_says_how_many_were_searched_and_what_to_do() -> None:
    said = render_found(Search("xyzzy", server="mail"), [], searched=90, hidden="80 are hidden.")
    assert "Nothing of the server mail fits 'xyzzy' among 90 tools" in said
    assert said.endswith("80 are hidden.")
