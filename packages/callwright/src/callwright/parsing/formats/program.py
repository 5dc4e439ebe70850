"""Rounds of Tool-MVR's agent (Table 17): ``<thought>`` and then ``<execute>``, ``<final_answer>``
or ``<given_up>``.

What stands in ``<execute>`` is a program. Its calls are read here without running it: as the format
writes them, one ``print(f(a='x'))`` a line, or wherever they stand in other Python. What only a run
can tell (an argument that is an expression) stays text.
"""

from __future__ import annotations

import ast
import builtins
import re
import warnings
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from callwright.nouns.types import ToolCall
from callwright.parsing import names
from callwright.parsing.body import FENCES
from callwright.parsing.formats import pythonic
from callwright.parsing.marker_set import MarkerSet
from callwright.parsing.pieces import Block, Meant, Reading, Steps
from callwright.parsing.scanner import Scanner
from callwright.parsing.tool_vocabulary import ToolVocabulary
from callwright.parsing.values import NO_END

MARKER = "<execute>"
STOPS = ("</execute>", "</final_answer>", "</given_up>", "\nObservation")
"""Where a reply in this format is over, for the endpoint."""

_CLOSE = MarkerSet(["</execute>"])
_PRINT = MarkerSet(["print("])
_INFO = re.compile(r"[\w+\-]*")
_NOT_TOOLS = frozenset(dir(builtins))
_MAX_CODE = 100_000
_MAX_CALLS = 64
_PARTS = re.compile(
    r"<(?P<tag>execute|final_answer|given_up)>(?P<text>.*?)(?:</(?P=tag)>|\Z)", re.DOTALL
)
_THOUGHT = re.compile(
    r"<thought>(.*?)(?:</thought>|(?=<(?:execute|final_answer|given_up)>)|\Z)", re.DOTALL
)
_FENCED = re.compile(r"\A\s*```[\w+\-]*[ \t]*\n(.*?)(?P<end>\n?```\s*)?\Z", re.DOTALL)
_BARE = re.compile(r"```(?:python|py)[ \t]*\n(.*?)(?P<end>```|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Round:
    """One reply: a thought, and either a program or an end. ``answer`` is None where the agent goes
    on or gave up; ``given_up`` is why it did, None where it did not. None of all three: the reply
    is not in the format.

    ``ending`` of what it holds: ``closed``, by its tag or fence; ``open``, so that only who ended
    the reply can tell whether it is whole; ``torn``, in the middle of a fence.
    """

    thought: str = ""
    code: str | None = None
    answer: str | None = None
    given_up: str | None = None
    ending: Literal["closed", "open", "torn"] = "closed"


def read_round(text: str) -> Round:
    """The first round of a reply; what a model went on to invent behind it is not read.

    A program in a plain code fence counts, and an end tag may be missing: stop sequences swallow
    it.
    """
    found = _PARTS.search(text)
    thought = _THOUGHT.search(text)
    if found is None:
        bare = _BARE.search(text)
        if bare is None:
            return Round((thought[1] if thought else text).strip())
        said = (thought[1] if thought else text[: bare.start()]).strip()
        return Round(said, bare[1].strip("\n"), ending="closed" if bare["end"] else "torn")
    before = thought[1] if thought and thought.start() < found.start() else text[: found.start()]
    thought_text, inner = before.strip(), found["text"].strip("\n")
    ending: Literal["closed", "open"] = (
        "closed" if found[0].endswith(f"</{found['tag']}>") else "open"
    )
    if found["tag"] == "execute":
        fenced = _FENCED.match(inner)
        if fenced is None:
            return Round(thought_text, inner.strip(), ending=ending)
        whole = ending == "closed" or fenced["end"]
        return Round(thought_text, fenced[1].rstrip(), ending="closed" if whole else "torn")
    if found["tag"] == "given_up":
        return Round(thought_text, given_up=inner.strip(), ending=ending)
    return Round(thought_text, answer=inner.strip(), ending=ending)


def write_round(made: Round) -> str:
    """The round as the format has it."""
    parts = [f"<thought>\n{made.thought}\n</thought>"] if made.thought else []
    if made.code is not None:
        parts.append(f"<execute>\n```python\n{made.code}\n```\n</execute>")
    if made.answer is not None:
        parts.append(f"<final_answer>\n{made.answer}\n</final_answer>")
    if made.given_up is not None:
        parts.append(f"<given_up>\n{made.given_up}\n</given_up>")
    return "\n".join(parts)


def read(tape: Scanner, offer: ToolVocabulary, marker: str) -> Reading:
    """The calls of one program; None where it has none, or is no Python."""
    tape.at += len(marker)
    char = yield from tape.space()
    if char == "`" and (yield from tape.marker(FENCES)):
        tape.at += 3
        yield from tape.take(_INFO)
    calls: list[Meant] = []
    while True:
        char = yield from tape.space()
        if char == "`" and (yield from tape.marker(FENCES)):
            tape.at += 3
            continue
        if char == "<" and (yield from tape.marker(_CLOSE)):
            tape.at += len("</execute>")
            return Block("toolmvr", calls) if calls else None
        if not char:
            if calls and not calls[-1].truncated:
                calls[-1].problems.append(NO_END)
            return Block("toolmvr", calls) if calls else None
        call = (yield from _take_line_call(tape, offer)) if len(calls) < _MAX_CALLS else None
        if call is None:
            return (yield from _take_program_calls(tape, offer, marker))
        calls.append(call)


def _take_line_call(tape: Scanner, offer: ToolVocabulary) -> Steps[Meant | None]:
    """``print(f(…))`` or ``f(…)``; None where something else stands there."""
    printed = yield from tape.marker(_PRINT)
    if printed and not (yield from names.find_name(tape, offer, pythonic.OPENS)):
        tape.at += len(printed)
        yield from tape.space()
    else:
        printed = ""
    name = (yield from names.find_name(tape, offer, pythonic.OPENS)) or ""
    if name:
        tape.at += len(name)
    else:
        name = yield from names.take_name(tape, offer, pythonic.OPENS)
        if name not in offer.tools and (name in _NOT_TOOLS or not name.isidentifier()):
            return None
    if (yield from tape.char()) != "(":
        return None
    call = yield from pythonic.take_call(tape, name, offer)
    if pythonic.EXPRESSION in call.problems:  # it may hold another call
        return None
    if printed and not call.truncated:
        if (yield from tape.space()) != ")":
            return None
        tape.at += 1
    return call


def _take_program_calls(tape: Scanner, offer: ToolVocabulary, marker: str) -> Steps[Block | None]:
    """The calls of a program that is more than calls, one a line."""
    yield from tape.until(_CLOSE, _MAX_CODE)
    code = tape.raw().removeprefix(marker)
    ended = bool((yield from tape.marker(_CLOSE)))
    if ended:
        tape.at += len("</execute>")
    fenced = _FENCED.match(code)
    calls = find_calls(fenced[1] if fenced else code, offer)
    if calls and not ended:
        calls[-1].problems.append(NO_END)
    return Block("toolmvr", calls) if calls else None


def find_calls(code: str, offer: ToolVocabulary) -> list[Meant]:
    """The calls of functions that a program neither defines nor has from Python, in the order they
    are made.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code.strip("\n"))
        own = {
            node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)
        }
        found = sorted(
            _iter_call_nodes(tree, own, offer),
            key=lambda node: (node.end_lineno or 0, node.end_col_offset or 0),
        )
        return [_build_call(node, code.strip("\n"), offer) for node in found[:_MAX_CALLS]]
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return []


def has_computed_argument(code: str, tools: Container[str]) -> bool:
    """Return True if a program passes anything but literals to a call of these tools. The arguments
    read from it are then no values.
    """
    return not all(
        map(is_literal, list_argument_nodes(code, tools))
    )  # also of **{"no name": 1}, which is how such keys are said


def list_argument_nodes(code: str, tools: Container[str]) -> list[ast.expr]:
    """The arguments of every call of one of these tools, wherever it stands."""
    return [value for call in tool_calls(code, tools) for value in get_call_values(call)]


def get_call_values(call: ast.Call) -> tuple[ast.expr, ...]:
    """The arguments of one call, by place and then by name."""
    return (*call.args, *(keyword.value for keyword in call.keywords))


def tool_calls(code: str, tools: Container[str]) -> list[ast.Call]:
    """Every call of one of these tools, wherever it stands."""
    nodes = (node for statement in parse_program(code) for node in ast.walk(statement))
    return [
        n
        for n in nodes
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in tools
    ]


def parse_program(code: str) -> list[ast.stmt]:
    """The statements of a program; none where it is no Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def is_literal(node: ast.expr) -> bool:
    """Return True if an expression is a literal value."""
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError, MemoryError):
        return False
    return True


def _iter_call_nodes(tree: ast.AST, own: set[str], offer: ToolVocabulary) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            name = node.func.id
            if name in offer.tools or (name not in own and name not in _NOT_TOOLS):
                yield node


def _build_call(node: ast.Call, code: str, offer: ToolVocabulary) -> Meant:
    assert isinstance(node.func, ast.Name)
    text = ast.get_source_segment(code, node) or ""
    return pythonic.read_call(node.func.id, text[len(node.func.id) :].strip(), offer)


def write(calls: Sequence[ToolCall]) -> str:
    lines = "\n".join(f"print({call})" for call in pythonic.write_value(calls))
    return f"<execute>\n```python\n{lines}\n```\n</execute>"
