"""ReAct text (RETO A.6): ``Thought:``, ``Action:``, ``Action Input:``, ``Final Answer:``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from callwright.jsontext.scan import first_span

_ACTION = re.compile(
    r"^[ \t>*]*Action(?:[ \t]*\d+)?[ \t]*:[ \t*`]*(?P<name>[^\n`*({\[]+?)[ \t*`]*(?=$|\n|\(|\{)",
    re.M,
)
_INPUT = re.compile(r"\s*\**Action[ \t_]*Input(?:[ \t]*\d+)?[ \t]*:\**", re.I)
_NEXT = re.compile(
    r"^[ \t>*]*(?:Thought|Action|Observation|Human|User|Assistant|Final Answer)\b[^:\n]{0,12}:",
    re.M,
)
RESULT = r"\**Observation(?:[ \t]*\d+)?\**[ \t]*:"
"""An expression for the label of what an action returned."""
_FINAL = re.compile(r"^[ \t>*]*Final[ \t]+Answer[ \t]*:\**[ \t]*", re.M | re.I)


@dataclass(frozen=True, slots=True)
class Step:
    """One action: ``text[start:end]``. ``arguments`` is text; ``closed`` where its JSON value is
    complete.
    """

    name: str
    arguments: str
    start: int
    end: int
    closed: bool


def iter_steps(text: str) -> Iterator[Step]:
    """The actions of a reply, in order. An action without input has the arguments ""."""
    at = 0
    while (found := _ACTION.search(text, at)) is not None:
        step = _read_step(text, found)
        yield step
        at = max(step.end, found.end())


def final_answer(text: str) -> tuple[int, str] | None:
    """Return the position of ``Final Answer:`` and the text after it; None if there is none."""
    found = _FINAL.search(text)
    return (found.start(), text[found.end() :].strip()) if found else None


def _read_step(text: str, found: re.Match[str]) -> Step:
    name = found["name"].strip().strip("\"'")
    begin = found.end()
    given = _INPUT.match(text, begin)
    if given is None and text[begin : begin + 1] not in ("(", "{"):
        return Step(name, "", found.start(), begin, False)
    begin = given.end() if given else begin
    rest = text[begin:]
    lead = len(rest) - len(rest.lstrip(" \t\r\n`("))
    if rest.lstrip(" \t\r\n`(").removeprefix("json").lstrip()[:1] in ("{", "["):
        span = first_span(text, begin)
        assert span is not None
        called = given is None and text[begin] == "(" and text[span.end : span.end + 1] == ")"
        return Step(
            name, text[span.start : span.end], found.start(), span.end + called, span.closed
        )
    stop = _NEXT.search(text, begin + lead)
    line = text.find("\n", begin + lead)
    end = min(
        e for e in (stop.start() if stop else len(text), line if line >= 0 else len(text)) if e >= 0
    )
    return Step(name, text[begin:end].strip(), found.start(), end, line >= 0 or stop is not None)
