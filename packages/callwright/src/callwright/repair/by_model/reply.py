"""Parses a refiner's reply leniently: the formats of the paper (Tool-use Refiner, Appendices B and
C).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from callwright.jsontext import JsonError, parse_lenient
from callwright.nouns.types import Json, JsonObject, Tool, ToolCall
from callwright.parsing import parse_calls

TAGS = ("func_call", "function_list", "nested_function", "order_func")
_THOUGHT = re.compile(r"\A.*?</think>|\A\s*<think>.*", re.S)
_BODY = re.compile(rf"<({'|'.join(TAGS)})>(.*?)(</\1>|\Z)", re.S)
_NAME = ("name", "api_name", "api")
_ARGUMENTS = ("arguments", "parameters")


@dataclass(frozen=True, slots=True)
class RefinerReply:
    """``calls`` in order; a call's id is its label (several: blanks between), else ``call_1`` ….

    ``steps`` are the names of ``<order_func>``, those of one step together; ``tag`` is "" for
    another format; ``none``: the reply says plainly that nothing is to be called (``[]``).
    """

    calls: tuple[ToolCall, ...] = ()
    steps: tuple[tuple[str, ...], ...] = ()
    tag: str = ""
    truncated: bool = False
    none: bool = False


def read_reply(text: str, tools: Sequence[Tool] = ()) -> RefinerReply:
    """Read a refiner's reply. Never raises; a reply that holds no calls has none."""
    text = _THOUGHT.sub("", text, count=1)
    found = _BODY.search(text)
    if found is None:
        return _parse_other_format(text, tools)
    tag, body, closed = found[1], _strip_code_fence(found[2]), bool(found[3])
    if tag == "function_list":
        read = _parse_other_format(body, tools)
        return RefinerReply(read.calls, (), tag, read.truncated or not closed, read.none)
    try:
        parsed = parse_lenient(body)
    except JsonError:
        read = _parse_other_format(body, tools)
        return RefinerReply(read.calls, (), tag, read.truncated or not closed)
    cut = parsed.truncated or not closed
    if tag == "order_func":
        return RefinerReply((), _parse_steps(parsed.value), tag, cut)
    items = parsed.value if isinstance(parsed.value, list) else [parsed.value]
    calls = tuple(c for n, item in enumerate(items) if (c := _parse_call(item, n)) is not None)
    return (
        RefinerReply(calls, (), tag, cut, not items)
        if len(calls) == len(items)
        else RefinerReply((), (), tag, cut)
    )


def _parse_other_format(text: str, tools: Sequence[Tool]) -> RefinerReply:
    parsed = parse_calls(text, tools)
    return RefinerReply(
        parsed.calls, (), "", parsed.truncated, not parsed.calls and text.strip() == "[]"
    )


def _strip_code_fence(body: str) -> str:
    body = body.strip()
    if body.startswith("```"):
        body = body.partition("\n")[2].rstrip().removesuffix("```")
    return body


def _parse_call(item: Json, number: int) -> ToolCall | None:
    if not isinstance(item, dict):
        return None
    name = next((item[k] for k in _NAME if isinstance(item.get(k), str)), None)
    arguments: Json = next((item[k] for k in _ARGUMENTS if k in item), {})
    if name is None or not isinstance(arguments, dict | str):
        return None
    return ToolCall(_read_label(item) or f"call_{number + 1}", name, arguments)


def _read_label(item: JsonObject) -> str:
    responses = item.get("responses")
    if isinstance(responses, list):
        return " ".join(str(r) for r in responses)
    label = item.get("label", item.get("id"))
    return label if isinstance(label, str) else ""


def _parse_steps(value: Json) -> tuple[tuple[str, ...], ...]:
    steps: list[tuple[str, ...]] = []
    for item in value if isinstance(value, list) else []:
        if isinstance(item, str):
            steps.append((item,))
        elif isinstance(item, dict) and isinstance(item.get("tool_list"), list):
            steps.append(tuple(str(name) for name in item["tool_list"]))
    return tuple(steps)
