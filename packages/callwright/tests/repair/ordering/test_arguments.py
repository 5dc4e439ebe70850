"""What a missing call is given: only what is plainly there (seen through the call that is
added).
"""

import pytest

from callwright.nouns.types import READ, JsonObject, Tool, ToolCall
from callwright.repair.ordering.sequence import order


def provider(**properties: JsonObject) -> Tool:
    out = {"type": "object", "properties": {"token": {"type": "string"}}}
    return Tool(
        "find_token",
        "",
        {"type": "object", "properties": properties, "required": [*properties]},
        out,
        READ,
    )


USE = Tool(
    "use",
    "",
    {"type": "object", "properties": {"token": {"type": "string"}, "user": {"type": "string"}}},
)


def given(tool: Tool, query: str, **others: object) -> object:
    """The arguments of the call added, or why none was."""
    done = order(
        [ToolCall("var2", "use", {"token": "$var1.token$", **others})], [tool, USE], query=query
    )
    added = [c.arguments for c in done.calls if c.tool == tool.name]
    return added[0] if added else done.problems[0].message


TEXT: JsonObject = {"type": "string"}


@pytest.mark.parametrize(
    ("tool", "query", "expected"),
    [
        (provider(query=TEXT), "Look up 'Blue Note'", {"query": "Blue Note"}),
        (provider(city=TEXT), "What is the token of Porto?", {"city": "Porto"}),
        (provider(term={"type": "integer"}), "For a term of 36 months and 5 people", {"term": 36}),
        (provider(email=TEXT), "Ask ann@example.org for it", {"email": "ann@example.org"}),
        (provider(unit={"enum": ["metric", "imperial"]}), "in metric units", {"unit": "metric"}),
        (provider(kind={"const": "a"}), "", {"kind": "a"}),
        (provider(nickname=TEXT), "My nickname is ann_7, ok?", {"nickname": "ann_7"}),
    ],
)
def test_a_value_that_only_one_thing_can_be_is_taken(
    tool: Tool, query: str, expected: JsonObject
) -> None:
    assert given(tool, query) == expected


def test_what_another_call_has_under_the_same_name_is_taken_if_the_request_holds_it() -> None:
    assert given(provider(user=TEXT), "for ann", user="ann") == {"user": "ann"}
    assert "'user' is not known" in str(given(provider(user=TEXT), "for her", user="ann"))


@pytest.mark.parametrize(
    ("tool", "query"),
    [
        (provider(query=TEXT), "Compare 'Blue Note' with 'Red Note'"),
        (provider(amount={"type": "integer"}), "36 months, 5 people"),
        (provider(language=TEXT), "Translate 'Hello' to French"),
        (provider(city=TEXT, country=TEXT), "What is the token of Porto?"),
        (provider(unit={"enum": ["metric", "imperial"]}), "metric or imperial"),
        (provider(query=TEXT), ""),
    ],
)
def test_what_is_not_plain_is_not_filled_in(tool: Tool, query: str) -> None:
    assert "is not known" in str(given(tool, query))
