from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from callwright.nouns.types import Tool, ToolCall
from callwright.parsing import DIALECTS, CallPiece, Parser, TextPiece, write_calls
from callwright.parsing.formats.families import select_readers
from callwright.parsing.formats.typed import written_key

MARKERS = [
    *sorted(select_readers(None)),
    *(write_calls([ToolCall("1", "f", {"a": "x"})], name) for name in DIALECTS),
    "</tool_call>",
    "</parameter>\n</function>",
    "&lt;/parameter>",
    "&amp;lt;function=f>",
    "&quot;",
    "&amp;#10;",
    "</arg_key>",
    "</arg_value>",
    '<|"|>',
    "<escape>",
    "<tool_call|>",
    "<｜tool▁call▁end｜>",
    "</｜DSML｜parameter>",
    "</atem:parameter>",
    "<|call|>",
    "[ARGS]",
    "[TOOL_REQUEST]",
    "[END_TOOL_REQUEST]",
    "']",
    '"}}',
    "'}",
    "'",
    '"',
    "\\",
    "\n",
    "\r",
    "\x00",
    "\x0c",
    "\x1c",
    "\u2028",
    "<think>",
    "null",
    "1",
    " x ",
]
marked = st.lists(st.sampled_from(MARKERS) | st.text(max_size=3), max_size=4).map("".join)
numbers = (
    st.integers()
    | st.integers(-(10**40), 10**40)
    | st.floats(allow_nan=False, allow_infinity=False)
)
keys = marked | st.sampled_from(
    ["a", "city", "class", "a b", "name", "arguments", "x:y", 'q"', "__debug__", ""]
)
values = st.recursive(
    st.none() | st.booleans() | numbers | marked,
    lambda v: st.lists(v, max_size=3) | st.dictionaries(keys, v, max_size=3),
    max_leaves=8,
)
arguments = st.dictionaries(keys, values, max_size=4)


def nested(depth: int) -> Any:
    value: Any = "x"
    for i in range(depth):
        value = {"k": value} if i % 2 else [value]
    return value


def _type(value: Any) -> str:
    if value is None:
        return "null"
    kinds = {
        bool: "boolean",
        int: "integer",
        float: "number",
        str: "string",
        list: "array",
        dict: "object",
    }
    return kinds[type(value)]


def _tool(name: str, *given: dict[str, Any]) -> Tool:
    properties = {k: {"type": _type(v)} for a in given for k, v in a.items()}
    return Tool(name, input_schema={"type": "object", "properties": properties})


def _parser(dialect: str, *tools: Tool) -> Parser:
    """Reads all families, or the one that is read only where it is asked for."""
    return Parser(tools, dialects=[dialect] if DIALECTS[dialect].asked else None)


def _calls(parser: Parser, text: str) -> list[CallPiece]:
    return [p for p in [*parser.feed(text), *parser.close()] if isinstance(p, CallPiece)]


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=25)
@given(given=arguments)
@example(given={})
@example(given={"a": "</tool_call>", "b": '"}}', "c": "line\nline\n"})
@example(given={"a": {"b": [1, 2.5, None, True, {"c": "x"}]}, "n": 10**30})
@example(given={"deep": nested(90), "n": -0.0, "m": 5e-324})
@example(
    given={
        "<a \"b\" c='d'>": 1,
        " edge ": 2,
        "two\nlines": 3,
        "&lt;": 4,
        "&amp;quot;": 5,
        "": 6,
        "k" * 900: 7,
    }
)
def test_what_is_written_is_read_as_it_was(dialect: str, given: dict[str, Any]) -> None:
    # an escaped key that is declared itself is that one
    assume(all(written_key(key) == key or written_key(key) not in given for key in given))
    text = write_calls([ToolCall("1", "get_weather", given)], dialect)
    found = _calls(_parser(dialect, _tool("get_weather", given)), text)
    assert [(p.call.tool, p.call.arguments) for p in found] == [("get_weather", given)]
    assert not found[0].problems
    assert not found[0].truncated


@pytest.mark.parametrize("dialect", DIALECTS)
def test_half_a_surrogate_pair_is_no_character_of_an_argument(dialect: str) -> None:
    """No JSON, file or connection can carry one: it is replaced, and that is a problem named. The
    text keeps it.
    """
    halves = {"a": "x\ud83dy", "b": "\ude00", "c": "\ud83d\ude00"}
    text = write_calls([ToolCall("1", "get_weather", halves)], dialect, text="Ok.")
    parser = _parser(dialect, _tool("get_weather", halves))
    pieces = [*parser.feed(text), *parser.close()]
    assert "".join(p.text if isinstance(p, TextPiece) else p.raw for p in pieces) == text
    (found,) = [p for p in pieces if isinstance(p, CallPiece)]
    assert found.call.arguments == {"a": "x\ufffdy", "b": "\ufffd", "c": "\U0001f600"}
    assert "half a character replaced" in found.problems


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=10)
@given(first=arguments, second=arguments)
def test_several_calls_are_read_in_order(
    dialect: str, first: dict[str, Any], second: dict[str, Any]
) -> None:
    calls = [
        ToolCall("1", "f_one", first),
        ToolCall("2", "g_two", second),
        ToolCall("3", "f_one", first),
    ]
    text = write_calls(calls, dialect, text="Let me see.")
    pieces = _calls(_parser(dialect, _tool("f_one", first), _tool("g_two", second)), text)
    assert [(p.call.tool, p.call.arguments) for p in pieces] == [
        (c.tool, c.arguments) for c in calls
    ]
    assert [p.call.id for p in pieces] == ["call_1", "call_2", "call_3"]


characters = st.sampled_from(
    list("abXZ09 _-./:()[]{}<>\"'`*=,;&|#@!?$%^~+\\éß名\u2003日")
) | st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"])
ODD_NAMES = [
    "Search Managers",
    "web-search::v2",
    "Get User's Posts",
    "/v1/users/{id}",
    "f()",
    "functions.f",
    "all",
    "to",
]
odd_names = st.sampled_from(ODD_NAMES) | st.lists(
    characters | st.sampled_from(["</", "call:", "[ARGS]"]), min_size=1
).map("".join).filter(lambda name: name.strip() == name and any(c.isalpha() for c in name))


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=15)
@given(name=odd_names, ending=st.sampled_from(["", " x", "x", "(", "2"]))
@example(name="Search Managers", ending=" x")
@example(name="`web`", ending="")
@example(name="9 lives", ending="'")
@example(name="x" * 300, ending="")
def test_an_offered_name_is_read_whatever_its_characters(
    dialect: str, name: str, ending: str
) -> None:
    """The others offered may begin like it."""
    other = name + ending if ending else "another"
    calls = [ToolCall("1", name, {"a": "x y"}), ToolCall("2", other, {}), ToolCall("3", name, {})]
    tools = [_tool(name, {"a": ""}), _tool(other, {"a": ""})]
    text = write_calls(calls, dialect, text="Ok.")
    found = _calls(_parser(dialect, *tools), text)
    assert [(p.call.tool, p.call.arguments) for p in found] == [
        (c.tool, c.arguments) for c in calls
    ]
    parser = _parser(dialect, *tools)
    pieces = [p for char in text for p in parser.feed(char)] + parser.close()
    assert [p for p in pieces if isinstance(p, CallPiece)] == found


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_family_recognises_its_own_writing(dialect: str) -> None:
    calls = [ToolCall("1", "f_one", {"a": "x", "n": 1}), ToolCall("2", "f_one", {"a": "y", "n": 2})]
    found = _calls(
        Parser([_tool("f_one", {"a": "", "n": 1})], dialects=[dialect]), write_calls(calls, dialect)
    )
    assert [p.call.arguments for p in found] == [c.arguments for c in calls]
    assert {p.dialect for p in found} == {
        DIALECTS[dialect].reads_as or dialect
    } or dialect == "llama_json"


def test_a_family_nobody_knows_is_refused_with_the_list() -> None:
    with pytest.raises(ValueError, match="there are hermes"):
        write_calls([], "morse")
    with pytest.raises(ValueError, match="no such dialect: morse"):
        Parser(dialects=["morse"])


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_calls_are_no_text(dialect: str) -> None:
    assert write_calls([], dialect) == ""
    assert write_calls([], dialect, text="Hello") == "Hello"


def test_every_family_names_its_shape_and_source() -> None:
    for name, family in DIALECTS.items():
        assert (family.name, bool(family.shape), bool(family.source)) == (name, True, True)
