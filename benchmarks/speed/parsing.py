"""Reading calls beside what a user would write or install instead: ``python
benchmarks/speed/parsing.py``.

Each pair is timed in turns in one process (CPU time, median of the ratios of many short turns), so
that the ratios stand on a busy machine. Peers: a regular expression and orjson for clean calls,
json-repair for broken arguments, and whichever of partial-json-parser, dirtyjson, json5 and
fast-json-repair is installed, for what is cut off. Markdown.
"""

from __future__ import annotations

import argparse
import importlib
import json
import random
import re
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import json_repair
import orjson

from callwright import Tool
from callwright.jsontext import JsonError, parse_lenient
from callwright.nouns.types import JsonObject, ToolCall
from callwright.parsing import CallPiece, Parser, parse_calls, write_calls

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}
TOOLS = tuple(
    Tool(name, input_schema=SCHEMA)
    for name in ("get_weather", "book_hotel", "search_web", "send_mail")
)
CALL = ToolCall("call_1", "get_weather", {"city": "Oslo", "days": 3})
HEADS = {  # what somebody who knows the format of his model writes
    "hermes": r"<tool_call>\s*(?P<body>\{.*?\})\s*</tool_call>",
    "jamba": r"<tool_calls>\s*(?P<body>\[.*?\])\s*</tool_calls>",
    "fenced": r"```json\s*(?P<body>[\[{].*?)\s*```",
    "llama_json": r"\A\s*(?P<body>\{.*\})\s*\Z",
    "mistral": r"\[TOOL_CALLS\]\s*(?P<body>\[.*\])",
    "mistral_args": (
        r"\[TOOL_CALLS\](?P<name>[\w.-]+)\[ARGS\](?P<body>\{.*?\})(?=\[TOOL_CALLS\]|\Z)"
    ),
    "deepseek_v31": (
        r"<｜tool▁call▁begin｜>(?P<name>[\w.-]+)<｜tool▁sep｜>(?P<body>\{.*?\})<｜tool▁call▁end｜>"
    ),
    "kimi": (
        r"<\|tool_call_begin\|>functions\.(?P<name>[\w.-]+):\d+<\|tool_call_argument_begin\|>"
        r"(?P<body>\{.*?\})<\|tool_call_end\|>"
    ),
    "harmony": (
        r"to=functions\.(?P<name>[\w.-]+)"
        r" <\|constrain\|>json<\|message\|>(?P<body>\{.*?\})<\|call\|>"
    ),
}


def by_hand(pattern: str) -> Callable[[str], tuple[list[ToolCall], str]]:
    """The calls and the text beside them, with one regular expression and orjson: what
    ``parse_calls`` gives.
    """
    compiled = re.compile(pattern, re.DOTALL)

    def read(text: str) -> tuple[list[ToolCall], str]:
        calls: list[ToolCall] = []
        for found in compiled.finditer(text):
            value = orjson.loads(found["body"])
            if "name" in compiled.groupindex:
                value = {"name": found["name"], "arguments": value}
            for entry in value if isinstance(value, list) else [value]:
                given = entry["arguments"] if "arguments" in entry else entry["parameters"]
                calls.append(ToolCall(f"call_{len(calls) + 1}", entry["name"], given))
        return calls, compiled.sub("", text).strip()

    return read


def ratio(
    ours: Callable[[], object], theirs: Callable[[], object], turns: int, each: int
) -> tuple[float, float, float]:
    """(median of ours / theirs over the turns, microseconds of ours, of theirs)."""
    pairs = [(_spent(ours, each), _spent(theirs, each)) for _ in range(turns)]
    median = statistics.median
    return median(a / b for a, b in pairs), median(a for a, _ in pairs), median(b for _, b in pairs)


def _each(work: Callable[[str], object], texts: Sequence[str]) -> list[object]:
    return [work(text) for text in texts]


def _spent(work: Callable[[], object], each: int) -> float:
    started = time.process_time_ns()
    for _ in range(each):
        work()
    return (time.process_time_ns() - started) / 1000 / each


def clean(turns: int) -> list[str]:
    rows = [
        "| clean reply with one short call | µs | regex and orjson µs | ratio |",
        "|---|---|---|---|",
    ]
    ratios = []
    for dialect, pattern in HEADS.items():
        text, hand = write_calls([CALL], dialect), by_hand(pattern)
        assert hand(text)[0] == list(parse_calls(text, TOOLS).calls) == [CALL], dialect
        shared, ours, theirs = ratio(
            partial(parse_calls, text, TOOLS), partial(hand, text), turns, 200
        )
        ratios.append(shared)
        rows.append(f"| {dialect} | {ours:.1f} | {theirs:.1f} | {shared:.2f} |")
    return [*rows, f"| median | | | {statistics.median(ratios):.2f} |", ""]


WORDS = (
    "Oslo São Paulo it's fine O'Hara 12:30 a,b [draft] {x} true None 5.0 naïve C:\\temp"
    " https://x.org/?a=1".split()
)


def given(source: random.Random, depth: int = 0) -> Any:
    """Arguments as tools take them."""
    kind = source.random()
    if depth and kind < 0.55:
        return " ".join(source.sample(WORDS, source.randint(1, 4)))
    if depth and kind < 0.8:
        return source.choice([1, 0, -7, 3.25, 10**6, True, False, None])
    if depth and kind < 0.9:
        return [given(source, depth + 1) for _ in range(source.randint(0, 3))] if depth < 3 else []
    keys = source.sample(
        ["city", "start_date", "max", "isActive", "user_id", "filters", "note"],
        source.randint(1, 4),
    )
    return {key: given(source, depth + 1) for key in keys} if depth < 3 else {}


def outside(text: str, change: Callable[[str], str]) -> str:
    """The text changed outside of its strings."""
    return "".join(
        part if part.startswith('"') else change(part)
        for part in re.split(r'("(?:[^"\\]|\\.)*")', text)
        if part
    )


def unquoted(text: str) -> str:
    return re.sub(r'"(\w+)":', r"\1:", text)


SPOILED: dict[str, Callable[[JsonObject, str], str]] = {
    "single quotes": lambda value, _: str(value),
    "Python words": lambda _, text: outside(
        text, lambda p: p.replace("true", "True").replace("false", "False").replace("null", "None")
    ),
    "trailing comma": lambda _, text: text[:-1] + ",}",
    "comment": lambda _, text: text[:-1] + " // as asked\n}",
    "fence": lambda _, text: f"```json\n{text}\n```",
    "prose around": lambda _, text: f"Here you are: {text} Anything else?",
    "surplus bracket": lambda _, text: text + "}",
    "bare keys": lambda _, text: unquoted(text),
    "raw line breaks": (
        lambda value, _: json.dumps({**value, "note": "a\nb"}, ensure_ascii=False).replace(
            "\\n", "\n"
        )
    ),
    "missing comma": lambda _, text: outside(text, lambda p: p.replace(", ", " ", 1)),
}


def broken(turns: int, count: int) -> list[str]:
    """Broken arguments repaired to what they were: how often, and how fast, beside json-repair."""
    source = random.Random(7)
    rows = [
        "| broken arguments | repaired | json-repair | µs | its µs | ratio |",
        "|---|---|---|---|---|---|",
    ]
    totals, ratios = [0, 0, 0], []
    for kind, spoil in SPOILED.items():
        values = [given(source) for _ in range(count)]
        texts = [spoil(value, json.dumps(value, ensure_ascii=False)) for value in values]
        if kind == "raw line breaks":
            values = [{**value, "note": "a\nb"} for value in values]
        ours = sum(_repair(text) == value for text, value in zip(texts, values, strict=True))
        theirs = sum(_repaired(text) == value for text, value in zip(texts, values, strict=True))
        shared, mine, its = ratio(
            partial(_each, _repair, texts), partial(_each, _repaired, texts), turns, 1
        )
        ratios.append(shared)
        totals = [totals[0] + ours, totals[1] + theirs, totals[2] + count]
        rows.append(
            f"| {kind} | {ours}/{count} | {theirs}/{count} | {mine / count:.1f} | {its / count:.1f}"
            f" | {shared:.2f} |"
        )
    rows.append(
        f"| all | {totals[0]}/{totals[2]} | {totals[1]}/{totals[2]} | | |"
        f" {statistics.median(ratios):.2f} |"
    )
    return [*rows, ""]


def _repair(text: str) -> Any:
    try:
        found = parse_lenient(text)
    except JsonError:
        return None
    return None if found.truncated else found.value


def _repaired(text: str) -> Any:
    return json_repair.loads(text)


def peers() -> dict[str, Callable[[str], Any]]:
    """Libraries that complete or forgive, as their documentation says to call them."""
    found: dict[str, Callable[[str], Any]] = {"json-repair": json_repair.loads}
    for module, name in (
        ("partial_json_parser", "loads"),
        ("dirtyjson", "loads"),
        ("json5", "loads"),
        ("fast_json_repair", "loads"),
    ):
        try:
            found[module.replace("_", "-")] = getattr(importlib.import_module(module), name)
        except ImportError:
            continue
    return found


def cut_off(count: int) -> list[str]:
    """Calls that stop inside their arguments: how many come out as a call with an object for
    arguments.
    """
    source = random.Random(11)
    texts = []
    for _ in range(count):
        text = json.dumps({"name": "get_weather", "arguments": given(source)}, ensure_ascii=False)
        texts.append(text[: source.randint(text.index("arguments") + 13, len(text) - 2)])
    rows = ["| cut-off arguments passed as whole | of | share |", "|---|---|---|"]
    whole = sum(_passed(text) for text in texts)
    rows.append(f"| this project | {count} | {100 * whole / count:.1f} % |")
    for name, loads in peers().items():
        passed = sum(_closed(loads, text) for text in texts)
        rows.append(f"| {name} | {count} | {100 * passed / count:.1f} % |")
    return [*rows, ""]


def _passed(text: str) -> bool:
    found = Parser(TOOLS).read(f"<tool_call>{text}")
    return any(
        isinstance(p, CallPiece) and isinstance(p.call.arguments, dict) and not p.truncated
        for p in found
    )


def _closed(loads: Callable[[str], Any], text: str) -> bool:
    try:
        value = loads(text)
    except Exception:  # whatever it raises, it did not pass the call on
        return False
    return isinstance(value, dict) and isinstance(value.get("arguments"), dict)


def streamed(turns: int) -> list[str]:
    """Microseconds a delta of four characters, at the beginning and at the end of long replies."""
    kinds = {
        "plain text": "The quick brown fox jumps over the lazy dog, as far as we know.\n",
        "code": "for (i = 0; i < n; i++) { x[i] = f(a[i], `b`); }\n",
        "inside a call": "a value that goes on and on ",
        "many calls": write_calls([CALL], "hermes") + "\n",
    }
    rows = [
        "| streamed in deltas of 4 characters | first 10,000 | last 10,000 of 100,000 | ratio |",
        "|---|---|---|---|",
    ]
    for name, scrap in kinds.items():
        early, late = zip(*(_deltas(name, scrap) for _ in range(max(3, turns // 10))), strict=True)
        a, b = statistics.median(early), statistics.median(late)
        rows.append(f"| {name} | {a:.2f} µs | {b:.2f} µs | {b / a:.2f} |")
    return [*rows, ""]


def _deltas(name: str, scrap: str) -> tuple[float, float]:
    parser = Parser(TOOLS)
    if name == "inside a call":
        parser.feed('<tool_call>{"name": "get_weather", "arguments": {"city": "')
    text = scrap * (400_000 // len(scrap) + 1)
    pieces = [text[i : i + 4] for i in range(0, 400_000, 4)]
    spent = []
    for start in range(0, len(pieces), 10_000):
        began = time.process_time_ns()
        for piece in pieces[start : start + 10_000]:
            parser.feed(piece)
        spent.append((time.process_time_ns() - began) / 1000 / 10_000)
    return spent[0], spent[-1]


def main(arguments: Sequence[str] | None = None) -> int:
    """All four tables to standard output."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument(
        "--turns", type=int, default=60, help="turns of each pair (default: %(default)s)"
    )
    options.add_argument(
        "--count",
        type=int,
        default=100,
        help="broken arguments of each kind (default: %(default)s)",
    )
    chosen = options.parse_args(arguments)
    for lines in (
        clean(chosen.turns),
        broken(max(3, chosen.turns // 10), chosen.count),
        cut_off(10 * chosen.count),
        streamed(chosen.turns),
    ):
        sys.stdout.write("\n".join(lines) + "\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
