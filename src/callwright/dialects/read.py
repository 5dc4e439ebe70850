"""A reply's text -> its calls, whichever of the known formats it is written in."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from callwright.dialects import hermes, react
from callwright.dialects.objects import Found, read_object
from callwright.dialects.parsed import Finish, Parsed
from callwright.jsontext import JsonError, mend
from callwright.jsontext.scan import first_span
from callwright.types import Json, JsonObject, Tool, ToolCall

FINISH = "Finish"  # the name by which models say that they are done (RETO A.6)
_FENCES = re.compile(r"```[ \t]*\w*[ \t]*\n?|```")
_ARGUMENTS = re.compile(r"""["'](?:arguments|parameters|args|params|input|action_input|tool_input)["']\s*:\s*""")
_NAME = re.compile(r"""["'](?:name|tool|tool_name|action)["']\s*:\s*["']([^"'\n]{1,200})["']""")
_MAX_VALUES = 64


def parse_calls(text: str, tools: Iterable[Tool] = ()) -> Parsed:
    """Read a reply. Hermes tags, ReAct lines, then JSON calls (bare, fenced or amid prose), in this order.

    Names are taken as written, known or not (the gate says so); ids are ``call_1``, ``call_2`` … in order. Arguments
    that are no JSON object stay text. A call of ``Finish`` and ``Final Answer:`` become ``finish``, never a call.
    """
    names = frozenset(tool.name for tool in tools)
    for reader in (_hermes, _react, _json):
        found = reader(text, names)
        if found is not None:
            return found
    answer = react.final_answer(text)
    if answer is not None:
        return Parsed((), text[: answer[0]].strip(), Finish(answer[1]), "react")
    return Parsed(text=text.strip())


def _hermes(text: str, names: Collection[str]) -> Parsed | None:
    pairs: list[tuple[str, JsonObject | str]] = []
    rest, at, cut_off = [], 0, False
    for block in hermes.blocks(text):
        rest.append(text[at : block.start])
        at = block.end
        found, broken = _value_calls(block.body, names)
        cut_off = broken
        pairs += found.calls if found else []
    if not at:
        return None
    return _finished(pairs, "".join([*rest, text[at:]]), "hermes", cut_off)


def _react(text: str, _names: Collection[str]) -> Parsed | None:
    pairs: list[tuple[str, JsonObject | str]] = []
    rest, at, cut_off = [], 0, False
    for step in react.steps(text):
        rest.append(text[at : step.start])
        at = step.end
        pairs.append((step.name, _arguments(step.arguments)))
        cut_off = not step.closed and step.arguments.startswith(("{", "["))
    if not at:
        return None
    tail = text[at:]
    answer = react.final_answer(tail)
    parsed = _finished(pairs, "".join([*rest, tail[: answer[0]] if answer else tail]), "react", cut_off)
    if answer and parsed.finish is None:
        return Parsed(parsed.calls, parsed.text, Finish(answer[1]), "react", "", cut_off)
    return parsed


def _json(text: str, names: Collection[str]) -> Parsed | None:
    """Calls among the bracketed values of the text. Values that mean something else are prose."""
    pairs: list[tuple[str, JsonObject | str]] = []
    rest, at, any_found, cut_off, reason = [], 0, False, False, ""
    for _ in range(_MAX_VALUES):
        span = first_span(text, at)
        if span is None:
            break
        found, broken = _value_calls(text[span.start : span.end], names)
        if found is None:
            rest.append(text[at : span.end])
        else:
            rest.append(text[at : span.start])
            pairs += found.calls
            any_found, cut_off, reason = True, broken, reason or found.reason
        at = span.end
    if not any_found:
        return None
    return _finished(pairs, _FENCES.sub("", "".join([*rest, text[at:]])), "json", cut_off, reason)


def _value_calls(text: str, names: Collection[str]) -> tuple[Found | None, bool]:
    """The calls of one bracketed value, and whether it stops in the middle."""
    try:
        mended = mend(text)
    except JsonError:
        return _torn(text), False
    found = read_object(mended.value, names)
    if not mended.truncated:
        return found, False
    torn = _torn(text) or (Found(found.calls[:-1]) if found is not None else None)
    return torn, torn is not None


def _torn(text: str) -> Found | None:
    """A single call whose value cannot be read: its name, and its arguments as the text they are."""
    name, arguments = _NAME.search(text), _ARGUMENTS.search(text)
    if name is None or arguments is None:
        return None
    return Found([(name[1], text[arguments.end() :].strip() or "{")])


def _arguments(text: str) -> JsonObject | str:
    """The object that a text is, mended only where nothing is missing; otherwise the text, for the gate to judge."""
    try:
        mended = mend(text)
    except JsonError:
        return text
    return mended.value if isinstance(mended.value, dict) and not mended.problems else text


def _finished(
    pairs: list[tuple[str, JsonObject | str]], text: str, dialect: str, truncated: bool, reason: str = ""
) -> Parsed:
    """Ids given, ``Finish`` told apart from the calls."""
    calls: list[ToolCall] = []
    finish: Finish | None = None
    for name, arguments in pairs:
        if name == FINISH:
            finish = finish or _finish(arguments)
        else:
            calls.append(ToolCall(f"call_{len(calls) + 1}", name, arguments))
    return Parsed(tuple(calls), text.strip(), finish, dialect, reason, truncated)


def _finish(arguments: JsonObject | str) -> Finish:
    value: Json = arguments
    if isinstance(value, str):
        try:
            value = mend(value).value
        except JsonError:
            return Finish(str(arguments))
    if not isinstance(value, dict):
        return Finish(str(value))
    answer = value.get("final_answer", value.get("answer", ""))
    return Finish(answer if isinstance(answer, str) else str(answer), str(value.get("return_type", "give_answer")))
