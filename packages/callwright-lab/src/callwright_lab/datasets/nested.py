"""Sources whose gold calls name each other's results: NESTFUL, ComplexFuncBench, NesTools and
Seal-Tools.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from random import Random

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import READ, Json, JsonObject, Tool
from callwright_lab.datasets.examples import (
    PlanExample,
    Source,
    example_from_calls,
    object_schema,
    read_json,
    read_lines,
)

NESTFUL_WHERE = (
    "pip install nestful-wrapper (Apache-2.0; NESTFUL v1 and ComplexFuncBench with their replies)"
)
NESTOOLS_WHERE = (
    "test_data.jsonl from github.com/hhan1018/NesTools (Apache-2.0), in <data>/nestools/"
)
SEAL_WHERE = (
    "dev.jsonl, test_in_domain.jsonl, tool.jsonl from github.com/fairyshine/Seal-Tools, in"
    " <data>/seal_tools/"
)

_DISTRACTORS = 4
_VARIABLE = re.compile(r"\$(var\d+)\b[^$]*\$")
_RESPONSE = re.compile(r"\bAPI_call_\d+\b")


def wrapper_folder() -> Path:
    """The data folder of the installed ``nestful-wrapper``; nothing of the package is imported."""
    spec = find_spec("nestful")
    if spec is None or not spec.submodule_search_locations:
        raise ConfigError("the NESTFUL data are not installed", hint=NESTFUL_WHERE)
    return Path(next(iter(spec.submodule_search_locations))).parent / "data_v1"


def iter_texts(value: Json) -> Iterator[str]:
    """Every text inside a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from iter_texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from iter_texts(inner)


def variable_needs(calls: list[JsonObject]) -> dict[int, set[int]]:
    """Return for each NESTFUL call the earlier calls that it references with ``$varN.path$``."""
    made = {str(call.get("label")): i for i, call in reversed(list(enumerate(calls)))}
    needs: dict[int, set[int]] = {}
    for i, call in enumerate(calls):
        named = {
            m[1] for text in iter_texts(call.get("arguments")) for m in _VARIABLE.finditer(text)
        }
        needs[i] = {made[n] for n in named if n in made}
    return needs


def response_needs(calls: list[JsonObject]) -> dict[int, set[int]]:
    """Return for each NesTools or Seal-Tools call the earlier calls that it references with
    ``API_call_k``.
    """
    made = {str(label): i for i, call in enumerate(calls) for label in call.get("responses") or ()}
    needs: dict[int, set[int]] = {}
    for i, call in enumerate(calls):
        named = {
            m[0] for text in iter_texts(call.get("parameters")) for m in _RESPONSE.finditer(text)
        }
        needs[i] = {made[n] for n in named if n in made}
    return needs


def iter_leaf_texts(value: Json) -> Iterator[str]:
    """Every text and number inside a JSON value, as text."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from iter_leaf_texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from iter_leaf_texts(inner)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)


def value_needs(query: str, calls: list[JsonObject]) -> dict[int, set[int]]:
    """Return for each ComplexFuncBench call the earlier calls from which it takes a value.

    A value counts if an earlier reply holds it as a whole value and the query does not give it.
    References are resolved first. Short words and small numbers prove nothing. The first reply that
    holds a value is its origin.
    """
    query = query.lower()
    replies = [set(iter_leaf_texts(call.get("response"))) for call in calls]
    by_label = {str(call.get("label")): call.get("response") for call in calls}
    needs: dict[int, set[int]] = {}
    for i, call in enumerate(calls):
        needs[i] = set()
        for text in iter_leaf_texts(call.get("arguments")):
            for value in _resolve_references(text, by_label):
                if _is_distinctive(value) and value.lower() not in query:
                    origin = next((j for j in range(i) if value in replies[j]), None)
                    if origin is not None:
                        needs[i].add(origin)
    return needs


def _resolve_references(text: str, replies: dict[str, Json]) -> Iterator[str]:
    """The text itself, or the values its ``$varN.path$`` references stand for."""
    found = list(_VARIABLE.finditer(text))
    if not found:
        yield text
    for match in found:
        value = replies.get(match[1])
        for key in match[0].strip("$").split(".")[1:]:
            name, _, index = key.partition("[")
            value = _step_into(value, name)
            if index.rstrip("]").isdigit():
                value = _step_into(value, int(index.rstrip("]")))
        yield from iter_leaf_texts(value)


def _step_into(value: Json, key: str | int) -> Json:
    if isinstance(value, list):
        if isinstance(key, int):
            return value[key] if key < len(value) else None
        return _step_into(value[0], key) if value else None
    return value.get(key) if isinstance(value, dict) and isinstance(key, str) else None


_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d\d:\d\d")


def _is_distinctive(value: str) -> bool:
    """Return True if a value is specific enough to prove its origin when an earlier reply holds it.
    Dates, short words and small numbers are not.
    """
    if _DATE.fullmatch(value):
        return False
    digits = sum(c.isdigit() for c in value)
    return (
        digits >= 4 or (len(value) >= 5 and (digits > 0 or not value.isalpha())) or len(value) >= 12
    )


def _catalogue_tool(spec: JsonObject, source: str) -> Tool:
    inputs = spec.get("query_parameters") or {}
    return Tool(
        name=spec["name"],
        description=spec.get("description") or "",
        input_schema=object_schema(
            inputs, [k for k, v in inputs.items() if v.get("required") is True]
        ),
        output_schema=object_schema(out) if (out := spec.get("output_parameters")) else None,
        effects=READ,
        source=source,
    )


Needs = Callable[[str, list[JsonObject]], dict[int, set[int]]]


def _wrapper_examples(
    source: str, part: str, data: Path, needs: Needs | None = None
) -> Iterator[PlanExample]:
    find = needs or (lambda _, calls: variable_needs(calls))
    rows = read_json(data.with_name(data.name + "-data.json"), NESTFUL_WHERE)
    spec = read_json(data.with_name(data.name + "-spec.json"), NESTFUL_WHERE)
    catalogue = {s["name"]: _catalogue_tool(s, source) for s in spec}
    for number, row in enumerate(rows):
        calls = [c for c in row["output"] if c["name"] != "var_result"]
        names = [c["name"] for c in calls]
        if not names or not set(names) <= set(catalogue):
            continue
        tools = [catalogue[n] for n in names]
        id = f"{part}-{number}"
        yield example_from_calls(
            id, source, row["input"].strip(), tools, names, find(row["input"], calls)
        )


def read_nestful(root: Path) -> Iterator[PlanExample]:
    """NESTFUL v1: executable, glaive and sgd parts. ``root`` is not used: the data come with the
    package.
    """
    del root
    folder = wrapper_folder()
    yield from _wrapper_examples("nestful", "nestful-exe", folder / "executable" / "executable")
    for part in ("glaive", "sgd"):
        path = folder / "non-executable" / f"non-executable-{part}"
        yield from _wrapper_examples("nestful", f"nestful-{part}", path)


def read_complexfuncbench(root: Path) -> Iterator[PlanExample]:
    """ComplexFuncBench with dependencies recovered from its real replies (:func:`value_needs`).

    nestful-wrapper replaced values by references automatically and only in some places: a quarter
    of its plans have no dependency left although identifiers plainly come from earlier replies, and
    some references stand for what the query says itself. ``complexfuncbench_refs`` has the
    references as published.
    """
    del root
    path = wrapper_folder() / "complexfuncbench" / "complexfuncbench"
    yield from _wrapper_examples("complexfuncbench", "complexfuncbench", path, value_needs)


@dataclass(frozen=True, slots=True)
class RealReply:
    """A call of ComplexFuncBench that was really made. ``request`` is the number of its row."""

    request: int
    query: str
    tool: str
    arguments: JsonObject
    reply: Json


def read_complexfuncbench_replies() -> Iterator[RealReply]:
    """The calls of ComplexFuncBench with the replies that they really got. Left out are empty
    replies, and calls that take a value from an earlier reply.
    """
    data = wrapper_folder() / "complexfuncbench" / "complexfuncbench-data.json"
    for number, row in enumerate(read_json(data, NESTFUL_WHERE)):
        yield from iter_real_replies(number, row)


def iter_real_replies(number: int, row: JsonObject) -> Iterator[RealReply]:
    """The usable replies of one row; see :func:`read_complexfuncbench_replies`."""
    for call in row["output"]:
        arguments = call.get("arguments") or {}
        refers = any(_VARIABLE.search(text) for text in iter_texts(arguments))
        if call["name"] != "var_result" and call.get("response") and not refers:
            yield RealReply(number, row["input"].strip(), call["name"], arguments, call["response"])


def read_complexfuncbench_refs(root: Path) -> Iterator[PlanExample]:
    """ComplexFuncBench with the references that nestful-wrapper publishes, right or not."""
    del root
    path = wrapper_folder() / "complexfuncbench" / "complexfuncbench"
    yield from _wrapper_examples("complexfuncbench_refs", "complexfuncbench", path)


def described_tool(spec: JsonObject, source: str) -> Tool:
    """A tool as NesTools and Seal-Tools write it (``api_name``, ``parameters``, ``required``,
    ``responses``).
    """
    return Tool(
        name=spec["api_name"],
        description=spec.get("api_description") or "",
        input_schema=object_schema(spec.get("parameters"), spec.get("required") or ()),
        output_schema=object_schema(out) if (out := spec.get("responses")) else None,
        source=source,
    )


def nestools_example(row: JsonObject, number: int = 0) -> PlanExample | None:
    """One row of NesTools; None where it calls none of its tools. ``number`` is its id where it
    names none.
    """
    tools = [described_tool(spec, "nestools") for spec in row["api"]]
    calls = [c for c in row["call"] if c["api_name"] in {t.name for t in tools}]
    if not calls:
        return None
    names = [c["api_name"] for c in calls]
    id = f"nestools-{row.get('test_id', number)}"
    return example_from_calls(id, "nestools", row["task"], tools, names, response_needs(calls))


def read_nestools(root: Path) -> Iterator[PlanExample]:
    """NesTools: nested calls; all listed tools are offered, those never called as distractors."""
    rows = read_lines(root / "nestools" / "test_data.jsonl", NESTOOLS_WHERE)
    yield from filter(None, map(nestools_example, rows))


def seal_catalogue(path: Path) -> dict[str, Tool]:
    """The tools of Seal-Tools' ``tool.jsonl`` by name."""
    return {
        spec["api_name"]: described_tool(spec, "seal_tools")
        for spec in read_lines(path, SEAL_WHERE)
    }


def seal_example(row: JsonObject, catalogue: Mapping[str, Tool]) -> PlanExample | None:
    """One row of Seal-Tools; None where it calls a tool that is not in the catalogue."""
    names = [c["api"] for c in row["calling"]]
    if not set(names) <= set(catalogue):
        return None
    tools, needs = [catalogue[n] for n in names], response_needs(row["calling"])
    return example_from_calls(f"seal-{row['id']}", "seal_tools", row["query"], tools, names, needs)


def read_seal_offers(root: Path) -> Iterator[tuple[JsonObject, list[JsonObject]]]:
    """The rows of Seal-Tools, dev and in-domain test, each with the tools that are offered: those
    that it calls among four others, drawn by its id. Rows of tools that the catalogue lacks are
    left out.
    """
    folder = root / "seal_tools"
    pool = {spec["api_name"]: spec for spec in read_lines(folder / "tool.jsonl", SEAL_WHERE)}
    names = sorted(pool)
    for part in ("dev", "test_in_domain"):
        for row in read_lines(folder / f"{part}.jsonl", SEAL_WHERE):
            called = [call["api"] for call in row["calling"]]
            if all(name in pool for name in called):
                draw = Random(row["id"])
                drawn = draw.sample(names, min(_DISTRACTORS, len(names)))
                offered = list({name: pool[name] for name in (*called, *drawn)}.values())
                draw.shuffle(offered)
                yield row, offered


def read_seal_tools(root: Path) -> Iterator[PlanExample]:
    """Seal-Tools, dev and in-domain test. Most queries need several tools that do not depend on
    each other.
    """
    folder = root / "seal_tools"
    catalogue = seal_catalogue(folder / "tool.jsonl")
    for part in ("dev", "test_in_domain"):
        for row in read_lines(folder / f"{part}.jsonl", SEAL_WHERE):
            if made := seal_example(row, catalogue):
                yield made


SOURCES = (
    Source("nestful", read_nestful, "Apache-2.0", True, NESTFUL_WHERE),
    Source("complexfuncbench", read_complexfuncbench, "Apache-2.0", True, NESTFUL_WHERE),
    Source("complexfuncbench_refs", read_complexfuncbench_refs, "Apache-2.0", True, NESTFUL_WHERE),
    Source("nestools", read_nestools, "Apache-2.0", True, NESTOOLS_WHERE),
    Source("seal_tools", read_seal_tools, "Apache-2.0", True, SEAL_WHERE),
)
