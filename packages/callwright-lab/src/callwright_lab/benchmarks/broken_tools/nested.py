"""Nested requests of the broken-tools benchmark, that nobody here wrote: NesTools as tools that are
really served.

A tool of NesTools gets the parameters that it requires, replies with what its documentation says,
and a value that the gold calls pass from one tool to the next is an id that only the first can
give. Every tool has a twin: the words of its name in another order, described by what it replies.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from callwright.dataflow.flow import split_words
from callwright.jsontext import JsonError, parse
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Json, to_canonical_json
from callwright_lab.benchmarks.broken_tools.apis import MadeApi, Operation
from callwright_lab.benchmarks.broken_tools.replies import make_facts

NESTOOLS_WHERE = "NesTools' test_data.jsonl (github.com/hhan1018/NesTools), in <data>/nestools/"
APIS = ("nested", "mirrored")
_QUERIES = 80  # taken evenly
_ELSEWHERE = frozenset({"convert_currency"})  # names that the final half has
_KINDS = {"str": "text", "int": "whole", "float": "amount", "bool": "switch"}
_PASSED = re.compile(r"API_call_\d+")


@dataclass(frozen=True, slots=True)
class Nested:
    """One request. ``calls``: tool -> its gold arguments as they are sent, in their order;
    ``layers`` as deep as they depend on each other.
    """

    id: str
    text: str
    calls: Mapping[str, Mapping[str, Json]]
    layers: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class NestedWorld:
    """``families``: a tool -> it and its twin."""

    apis: tuple[MadeApi, ...]
    operations: dict[str, Operation]
    families: dict[str, tuple[str, ...]]
    requests: tuple[Nested, ...]


def read_nested(data: Path, taken: frozenset[str]) -> NestedWorld:
    """The requests whose tools bear no name that is ``taken`` or an earlier one has. Raises
    ConfigError.
    """
    try:
        lines = (data / "nestools" / "test_data.jsonl").read_bytes().splitlines()
        rows = [row for row in map(parse, lines) if _is_nested(row)]
    except (OSError, JsonError) as error:
        raise ConfigError(
            f"the nested requests cannot be read: {error}", hint=NESTOOLS_WHERE
        ) from None
    apart = list(_iter_distinct_rows(rows, {*taken, *_ELSEWHERE}))
    operations: dict[str, Operation] = {}
    families: dict[str, tuple[str, ...]] = {}
    requests: list[Nested] = []
    for row in (
        apart[place * len(apart) // _QUERIES] for place in range(min(_QUERIES, len(apart)))
    ):
        made = list(_iter_operations(row))
        operations |= {op.name: op for pair in made for op in pair}
        families |= {pair[0].family: tuple(op.name for op in pair) for pair in made}
        requests.append(_build_request(row, {first.name: first for first, _ in made}))
    apis = (
        MadeApi(api, {f[side]: operations[f[side]] for f in families.values()}, {})
        for side, api in enumerate(APIS)
    )
    return NestedWorld(tuple(apis), operations, families, tuple(requests))


def _is_nested(row: Any) -> bool:
    """Return True if one tool's reply feeds another's input and all other inputs are plain
    values.
    """
    tools = {tool["api_name"]: tool for tool in row["api"]}
    passed = 0
    for call in row["call"]:
        tool = tools.get(call["api_name"])
        if (
            tool is None
            or len(call["responses"]) != len(tool["responses"])
            or len(tools) != len(row["call"])
        ):
            return False
        for key, value in call["parameters"].items():
            held = tool["parameters"].get(key, {}).get("type")
            whole = isinstance(value, str) and _PASSED.fullmatch(value) is not None
            passed += whole
            if (
                held not in _KINDS
                or (not whole and "API_call_" in to_canonical_json(value))
                or value in ("", [])
            ):
                return False
            if not whole and not isinstance(value, _PLAIN[held]):
                return False
        if not set(tool["required"]) <= call["parameters"].keys():
            return False
    return passed > 0


_PLAIN: Mapping[str, type | tuple[type, ...]] = {
    "str": str,
    "int": int,
    "float": (int, float),
    "bool": bool,
}


def _iter_distinct_rows(rows: Sequence[Any], taken: set[str]) -> Iterator[Any]:
    for row in rows:
        names = [tool["api_name"] for tool in row["api"]]
        both = {*names, *map(_make_twin_name, names)}
        if (
            len(both) == 2 * len(names)
            and not both & taken
            and all(re.fullmatch(r"\w+", name) for name in names)
        ):
            taken |= both
            yield row


def _make_twin_name(name: str) -> str:
    said = split_words(name)
    return "_".join((*said[1:], *said[:1])) if len(said) > 1 else f"{name}_now"


def _iter_operations(row: Any) -> Iterator[tuple[Operation, Operation]]:
    passed = {
        value for call in row["call"] for value in call["parameters"].values() if _is_passed(value)
    }
    tools = {tool["api_name"]: tool for tool in row["api"]}
    kind_of: dict[str, str] = {}
    for call in row["call"]:
        tool = tools[call["api_name"]]
        takes = {
            key: _find_kind(tool, key, value, kind_of)
            for key, value in _iter_served_arguments(tool, call)
        }
        gives = []
        for told, (name, part) in zip(call["responses"], tool["responses"].items(), strict=True):
            kind_of[told] = f"id:{name}"
            plain = "n" if part["type"] in ("int", "float") else "w"
            gives.append(f"{name}:{kind_of[told] if told in passed else plain}")
        says = {key: tool["parameters"][key]["description"] for key in takes}
        about = (
            "Gives " + ", ".join(part["description"] for part in tool["responses"].values()) + "."
        )
        name, family = tool["api_name"], f"nested.{tool['api_name']}"
        yield (
            Operation(name, tool["api_description"], family, takes, gives, {}, says),
            Operation(_make_twin_name(name), about, family, takes, gives, {}, says),
        )


def _iter_served_arguments(tool: Any, call: Any) -> Iterator[tuple[str, Json]]:
    """The arguments that are served: the required ones and those that come from another tool."""
    for key, value in call["parameters"].items():
        if key in tool["required"] or _is_passed(value):
            yield key, value


def _is_passed(value: Json) -> bool:
    return isinstance(value, str) and _PASSED.fullmatch(value) is not None


def _find_kind(tool: Any, key: str, value: Json, kind_of: Mapping[str, str]) -> str:
    if isinstance(value, str) and _is_passed(value):
        return kind_of[value]
    return _KINDS[tool["parameters"][key]["type"]]


def _build_request(row: Any, operations: Mapping[str, Operation]) -> Nested:
    tools = {tool["api_name"]: tool for tool in row["api"]}
    held: dict[str, Json] = {}  # what each API_call_N came to
    layer_of: dict[str, int] = {}
    calls: dict[str, Mapping[str, Json]] = {}
    layers: dict[str, int] = {}
    for call in row["call"]:
        op = operations[call["api_name"]]
        kept = dict(_iter_served_arguments(tools[op.name], call))
        sent = {
            key: held[str(v)] if _is_passed(v) else _to_query_text(v, op.takes[key])
            for key, v in kept.items()
        }
        layer = max((1 + layer_of[str(v)] for v in kept.values() if _is_passed(v)), default=0)
        told = make_facts(op.gives, op.family, {key: str(value) for key, value in sent.items()})
        held |= dict(zip(call["responses"], told.values(), strict=True))
        layer_of |= dict.fromkeys(call["responses"], layer)
        calls[op.name], layers[op.name] = sent, layer
    return Nested(f"nested-{row['test_id']}", row["task"].strip(), calls, layers)


def _to_query_text(value: Json, kind: str) -> str:
    """A value as a query string holds it."""
    if kind == "switch":
        return "true" if value else "false"
    return str(float(value)) if kind == "amount" and isinstance(value, int | float) else str(value)
