from __future__ import annotations

from callwright.nouns.types import Tool
from callwright.parsing import CallPiece, Parser

SCAN = Tool("nmap", input_schema={"properties": {"options": {"type": "string"}}})


def calls(text: str) -> list[CallPiece]:
    parser = Parser([SCAN, Tool("f")])
    return [p for p in [*parser.feed(text), *parser.close()] if isinstance(p, CallPiece)]


def test_text_is_the_value_of_the_only_parameter() -> None:
    (found,) = calls("Let me scan. [TOOL: nmap -sV x] Then we see.")
    assert (found.call.tool, found.call.arguments) == ("nmap", {"options": "-sV x"})
    assert found.problems == ("arguments are plain text",)


def test_text_for_a_tool_with_other_parameters_stays_text_for_the_gate() -> None:
    (found,) = calls("[TOOL: f one two]")
    assert found.call.arguments == "one two"


def test_json_behind_the_tag_is_read() -> None:
    (found,) = calls('[TOOL: f] {"a": "]"} [/TOOL]')
    assert (found.call.arguments, found.problems) == ({"a": "]"}, ())


def test_a_tag_at_the_end_of_a_reply_calls_only_a_tool_without_parameters() -> None:
    (found,) = calls("Now [TOOL: f]")
    assert (found.call.arguments, found.truncated) == ({}, False)
    (cut,) = calls("Now [TOOL: nmap]")
    assert cut.truncated
    (whole,) = calls("Now [TOOL: nmap] and wait.")
    assert (whole.call.arguments, whole.truncated) == ({}, False)


def test_tags_without_an_offered_tool_or_an_end_stay_text() -> None:
    for text in ("[TOOL: curl x]", "[TOOL: nmap -sV", "[TOOL: nmap -sV\n]"):
        assert calls(text) == []
