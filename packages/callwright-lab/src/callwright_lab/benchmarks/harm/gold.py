"""Calls that are known to be right, from public data sets: what the harm rate is measured over.

Each :class:`GoldCase` is one reply's worth of calls with the tools that were offered and what the
user had said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from callwright.jsontext import JsonError, parse, parse_lenient
from callwright.nouns.errors import CatalogError, ConfigError
from callwright.nouns.types import Json, JsonObject, Message, Tool, ToolCall
from callwright.tools.lists.tools import tool_from_wire
from callwright_lab.datasets.examples import read_json, read_lines
from callwright_lab.datasets.nested import read_seal_offers

BFCL_WHERE = (
    "pip download bfcl-eval --no-deps, unzip it, and give the folder bfcl_eval/data with --bfcl"
)
DATA_WHERE = "give the folder that holds the data sets with --data or $CALLWRIGHT_DATA"
BFCL_PARTS = (
    "simple_python", "simple_java", "simple_javascript", "multiple", "parallel", "parallel_multiple",
    "live_simple", "live_multiple", "live_parallel", "live_parallel_multiple",
)  # fmt: skip
_TOOL_TYPES = {"dict": "object", "float": "number", "tuple": "array", "any": None}
_LISTED = re.compile(
    r"^\d+\. (?:Name: )?(?P<name>[^\n:]+)(?:\nDescription: |: )(?P<about>.*?)\nParameters:"
    r" (?P<keys>\{.*?\})\s*?$",
    re.M | re.S,
)
_CALLS = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.S)


@dataclass(frozen=True, slots=True)
class GoldCase:
    """One reply that is right: ``calls`` answer ``query`` (``messages`` came before it) with
    ``tools`` in view.
    """

    id: str
    source: str
    query: str
    tools: tuple[Tool, ...]
    calls: tuple[ToolCall, ...]
    messages: tuple[Message, ...] = ()


def bfcl_cases(folder: Path) -> Iterator[GoldCase]:
    """BFCL v4, single turn, one case a row: the first accepted value of every parameter, ""
    (absent) last.

    Names and type words as published (``dict``, dots in names); what a row accepts besides is not
    used here.
    """
    for part in BFCL_PARTS:
        questions = read_lines(folder / f"BFCL_v4_{part}.json", BFCL_WHERE)
        answers = read_lines(folder / "possible_answer" / f"BFCL_v4_{part}.json", BFCL_WHERE)
        gold = {row["id"]: row["ground_truth"] for row in answers}
        for row in questions:
            if row["id"] in gold:
                turns = [Message(m["role"], m["content"]) for m in row["question"][0]]
                tools = tuple(tool_from_wire(_standardise_function(f)) for f in row["function"])
                calls = [
                    (name, _choose_values(args))
                    for call in gold[row["id"]]
                    for name, args in call.items()
                ]
                query = turns[-1].content
                yield GoldCase(
                    row["id"], "bfcl", query, tools, _number_calls(calls), tuple(turns[:-1])
                )


def seal_cases(root: Path) -> Iterator[GoldCase]:
    """Seal-Tools, dev and in-domain test; the gold tools among four others drawn with a fixed
    seed.
    """
    for row, offered in read_seal_offers(root):
        tools = tuple(tool_from_wire(spec) for spec in offered)
        calls = [(c["api"], c["parameters"]) for c in row["calling"]]
        yield GoldCase(row["id"], "seal_tools", row["query"], tools, _number_calls(calls))


def nestools_cases(root: Path) -> Iterator[GoldCase]:
    """NesTools: nested calls; everything the row lists is offered."""
    for row in read_lines(root / "nestools" / "test_data.jsonl", DATA_WHERE):
        tools = tuple(tool_from_wire(spec) for spec in row["api"])
        known = {t.name for t in tools}
        calls = [(c["api_name"], c["parameters"]) for c in row["call"]]
        if all(name in known for name, _ in calls):
            yield GoldCase(
                f"nestools-{row['test_id']}", "nestools", row["task"], tools, _number_calls(calls)
            )


def api_bank_cases(root: Path) -> Iterator[GoldCase]:
    """API-Bank in ToolRL's form, levels 1-3. Gold calls of tools that are not offered are left
    out.
    """
    for level in (1, 2, 3):
        rows = read_json(root / "api_bank" / f"level-{level}.json", DATA_WHERE)
        for number, row in enumerate(rows):
            answer = row["answer"] if isinstance(row["answer"], list) else [row["answer"]]
            calls = [(c["name"], c["parameters"]) for c in answer]
            case = _build_prompted_case(
                f"api_bank-{level}-{number}", "api_bank", row["system"], row["user"], calls
            )
            if case is not None:
                yield case


def rlla_cases(root: Path) -> Iterator[GoldCase]:
    """ToolRL's SFT mix of ToolACE, Hammer and xLAM: the calls between its ``<tool_call>`` tags, one
    JSON a line.
    """
    for number, row in enumerate(read_json(root / "rlla" / "rlla_sft.json", DATA_WHERE)):
        found = _CALLS.search(row["output"])
        calls: list[tuple[str, JsonObject]] = []
        for line in found[1].splitlines() if found else ():
            try:
                call = parse(line)
            except JsonError:
                calls = []
                break
            calls.append((call["name"], call["parameters"]))
        case = _build_prompted_case(
            f"rlla-{number}", "rlla", row["instruction"], row["input"], calls
        )
        if case is not None:
            yield case


def all_cases(data: Path, bfcl: Path | None) -> list[GoldCase]:
    """Every case of every source that is there. Raises ConfigError where none is."""
    found: list[GoldCase] = []
    readers = [bfcl_cases(bfcl)] if bfcl else []
    readers += [seal_cases(data), nestools_cases(data), api_bank_cases(data), rlla_cases(data)]
    for reader in readers:
        try:
            found += reader
        except ConfigError:
            continue
    if not found:
        raise ConfigError(
            "no data set with gold calls was found", hint=f"{DATA_WHERE}; {BFCL_WHERE}"
        )
    return found


def parse_prompted_tools(system: str) -> tuple[Tool, ...]:
    """The tools that ToolRL's system prompt lists (``1. Name: … Description: … Parameters:
    {…}``).
    """
    made = []
    for found in _LISTED.finditer(system):
        try:
            keys = parse_lenient(found["keys"]).value
        except JsonError:
            continue
        keys = {k: _without_empty_default(v) for k, v in keys.items()}
        try:
            spec = {
                "name": found["name"].strip(),
                "description": found["about"].strip(),
                "parameters": keys,
            }
            made.append(tool_from_wire(spec))
        except CatalogError:
            continue
    return tuple(made)


def _without_empty_default(part: Json) -> Json:
    return (
        {k: v for k, v in part.items() if k != "default" or v != ""}
        if isinstance(part, dict)
        else part
    )


def _build_prompted_case(
    id: str, source: str, system: str, user: str, calls: list[tuple[str, JsonObject]]
) -> GoldCase | None:
    tools = parse_prompted_tools(system)
    known = {t.name for t in tools}
    if not calls or not all(name in known and isinstance(args, dict) for name, args in calls):
        return None
    return GoldCase(id, source, user, tools, _number_calls(calls))


def _number_calls(calls: list[tuple[str, JsonObject]]) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(f"call_{n}", name, args) for n, (name, args) in enumerate(calls, 1))


def _choose_values(accepted: Mapping[str, Any]) -> JsonObject:
    """One accepted value for each parameter; parameters that may be left out and have no other
    value are.
    """
    made = {}
    for key, options in accepted.items():
        kept = [o for o in options if o != ""] if isinstance(options, list) else [options]
        if kept:
            made[key] = _unwrap_value(kept[0])
    return made


def _unwrap_value(value: Json) -> Json:
    """Objects inside BFCL's answers list the accepted values of every key once more."""
    if isinstance(value, dict):
        return _choose_values({k: v if isinstance(v, list) else [v] for k, v in value.items()})
    if isinstance(value, list):
        return [_unwrap_value(v) for v in value]
    return value


def _standardise_function(function: Json) -> Json:
    """BFCL's type words as JSON Schema's; Java's and JavaScript's own words say nothing about a
    JSON value.
    """
    return {**function, "parameters": _standard_schema(function["parameters"])}


def _standard_schema(schema: Json) -> Json:
    if isinstance(schema, list):
        return [_standard_schema(s) for s in schema]
    if not isinstance(schema, dict):
        return schema
    made = {
        k: v if k in ("enum", "default", "required") else _standard_schema(v)
        for k, v in schema.items()
    }
    kind = schema.get("type")
    if isinstance(kind, str):
        plain = {"string", "integer", "number", "boolean", "array", "object"}
        kind = _TOOL_TYPES.get(kind, kind if kind in plain else None)
        made["type"] = kind
        if kind is None:
            del made["type"]
    return made
