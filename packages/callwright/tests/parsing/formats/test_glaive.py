from __future__ import annotations

from callwright.nouns.types import Tool
from callwright.parsing import CallPiece, Parser


def calls(text: str) -> list[CallPiece]:
    parser = Parser([Tool("f")])
    return [p for p in [*parser.feed(text), *parser.close()] if isinstance(p, CallPiece)]


def test_arguments_in_single_quotes_are_json_as_it_stands() -> None:
    text = r"""<functioncall> {"name": "f", "arguments": '{"a": "say \"it's\" {x}\n", "b": [1]}'} <|endoftext|>"""
    (found,) = calls(text)
    assert found.call.arguments == {"a": 'say "it\'s" {x}\n', "b": [1]}
    assert not found.problems


def test_arguments_as_an_object_and_a_closing_tag_are_read_too() -> None:
    (found,) = calls('<functioncall> {"name": "f", "arguments": {"a": 1}}</functioncall>')
    assert (found.call.arguments, found.raw[-15:]) == ({"a": 1}, "</functioncall>")


def test_what_stops_inside_the_quotes_is_never_completed() -> None:
    (found,) = calls("""<functioncall> {"name": "f", "arguments": '{"a": "x'""")
    assert found.truncated
    assert isinstance(found.call.arguments, str)


def test_no_object_is_no_call() -> None:
    assert calls("<functioncall> is the tag") == []
