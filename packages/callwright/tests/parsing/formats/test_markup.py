from __future__ import annotations

import pytest

from callwright.nouns.types import Tool, ToolCall
from callwright.parsing import CallPiece, Parser, TextPiece, parse_calls, write_calls
from tests.parsing.reading import TOOLS, calls, found, merged, one, pieces, rest

QWEN = "<tool_call>\n<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n<parameter=days>\n3\n</parameter>\n"
END = "</function>\n</tool_call>"
ROME = [("get_weather", {"city": "Rome", "days": 3})]


def test_parameters_take_the_types_of_the_schema() -> None:
    assert calls(QWEN + END) == ROME
    assert one(QWEN + END).problems == ()


def test_only_one_line_break_on_each_side_is_not_the_values_own() -> None:
    assert calls("<function=f><parameter=a>\n\n x \n\n</parameter></function>") == [
        ("f", {"a": "\n x \n"})
    ]
    assert calls("<function=f><parameter=a>\nx</parameter></function>") == [("f", {"a": "x"})]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (QWEN + "</tool_call>", "a closing tag is missing"),
        (
            QWEN.replace("</parameter>\n<parameter=days>", "<parameter=days>") + END,
            "a closing tag is missing",
        ),
        (QWEN.replace("3\n</parameter>", "3") + END, "a closing tag is missing"),
        (QWEN + "</function>", "the closing tag is missing"),
        (QWEN.replace("3", "three") + END, "days: a parameter is not of its declared type"),
        (QWEN + "<parameter=city>\nRome\n</parameter>\n" + END, "parameter city given twice"),
        (QWEN.replace("<function=get_weather>\n", "") + END, "the tool's name is missing"),
    ],
)
def test_slips_are_forgiven_and_listed(text: str, problem: str) -> None:
    piece = one(text)
    assert problem in piece.problems
    assert isinstance(piece.call.arguments, dict)
    assert piece.call.arguments["city"] == "Rome"
    assert rest(text) == ""


def test_the_outer_tag_may_be_missing() -> None:
    assert calls((QWEN + END).replace("<tool_call>\n", "")) == ROME


def test_a_closing_tag_inside_a_value_ends_nothing() -> None:
    for value in (
        "a </parameter> b",
        "</function> is a tag",
        "x </tool_call> y",
        "<parameter=b> is how",
        "a\n<parameter=zz>\n",
    ):
        text = f"<tool_call><function=f><parameter=a>{value}</parameter></function></tool_call>"
        assert calls(text) == [("f", {"a": value})]


def test_tags_that_stop_are_no_arguments() -> None:
    piece = one(QWEN[: QWEN.index("3")])
    assert piece.truncated
    assert piece.call.arguments == "\n<parameter=city>\nRome\n</parameter>\n<parameter=days>\n"
    assert one(
        "<function=f><parameter=a>x</parameter>"
    ).truncated  # another parameter may have been about to come


def test_all_declared_parameters_are_whole_without_the_closing_tags() -> None:
    text = "<function=get_weather><parameter=city>x</parameter><parameter=days>1</parameter>"
    assert one(text).truncated
    text += "<parameter=tags>[]</parameter>"
    assert not one(text).truncated


def test_dsml_says_itself_what_is_text() -> None:
    given = {"a": "1", "b": 1, "c": None, "d": ["x"]}
    text = write_calls([ToolCall("1", "f", given)], "dsml")
    assert calls(text) == [("f", given)]
    assert found(text)[0].dialect == "dsml"


def test_glm_pairs_survive_lost_tags() -> None:
    text = "<tool_call>get_weather\n<arg_key>city</arg_key><arg_value>a < b & c</arg_value>"
    text += "<arg_key>days</arg_key><arg_value>3"
    assert calls(text + "</tool_call>") == [("get_weather", {"city": "a < b & c", "days": 3})]
    assert one(text).truncated
    nameless = (
        "I call"
        " get_weather\nget_weather\n<arg_key>city</arg_key><arg_value>x</arg_value></tool_call>"
    )
    assert one(nameless).problems == ("the opening tag is missing",)


@pytest.mark.parametrize(
    "text", ["<function=f>x", "<function=f> x", '<function_calls>\n<invoke name="f">x']
)
def test_text_where_a_tag_should_be_ends_a_call_whole_as_streamed(text: str) -> None:
    parser = Parser(TOOLS)
    whole = merged(parser.read(text))
    assert whole == merged(pieces(text))
    assert isinstance(whole[0], CallPiece)
    assert not whole[0].truncated
    assert whole[1:] == [TextPiece("x", False)]


def test_null_between_tags_is_null_where_the_parameters_description_names_it() -> None:
    properties = {
        "day": {"type": "string", "description": "The day; null for today."},
        "note": {"type": "string"},
    }
    tool = Tool("plan", "", {"type": "object", "properties": properties, "required": []})
    text = (
        "<tool_call>\n<function=plan>\n<parameter=day>\nnull\n</parameter>\n"
        "<parameter=note>\nnull\n</parameter>\n" + END
    )
    (call,) = parse_calls(text, [tool]).calls
    assert call.arguments == {"day": None, "note": "null"}
