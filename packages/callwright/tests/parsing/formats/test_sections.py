from __future__ import annotations

from callwright.parsing.formats import sections
from callwright.parsing.marker_set import MarkerSet
from callwright.parsing.pieces import Block, Meant, Steps
from callwright.parsing.scanner import Scanner
from callwright.parsing.tool_vocabulary import ToolVocabulary
from callwright.parsing.values import NO_END, run_reader


def _call(tape: Scanner, _offer: ToolVocabulary, _block: Block) -> Steps[Meant | None]:
    text, end = yield from tape.until(MarkerSet([";", "<", "."]))
    return Meant(text, {}, truncated=not end) if text else None


def read(text: str) -> tuple[Block | None, str]:
    tape = Scanner(text, ended=True)
    marks = {"begin": MarkerSet(["<"]), "end": MarkerSet([";"]), "outer_end": MarkerSet(["."])}
    found = run_reader(
        sections.take_section_calls(tape, ToolVocabulary(), Block("kimi"), _call, **marks)
    )
    return found, tape.text[tape.at :]


def test_calls_follow_each_other_to_the_end_of_their_section() -> None:
    block, rest = read("a; <b;. more")
    assert block is not None
    assert ([c.tool for c in block.calls], rest) == (["a", "b"], " more")
    assert not any(c.problems for c in block.calls)


def test_a_marker_that_is_missing_is_a_problem_and_a_call_that_stops_ends_it() -> None:
    block, _ = read("a<b;<c")
    assert block is not None
    assert [(c.tool, c.problems, c.truncated) for c in block.calls] == [
        ("a", [NO_END], False),
        ("b", [], False),
        ("c", [], True),
    ]
    assert read("<") == (None, "<")
