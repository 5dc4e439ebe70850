"""NESTFUL: nested sequences of calls, both layouts.

Version 1 comes with ``nestful-wrapper`` (executable, glaive and sgd parts; their calls cannot be
run here); version 2, the mathematical set of the paper's Table 2, is a file of the user's:
``nestful_data.jsonl`` with ``sample_id``, ``input``, ``output``, ``tools``, ``gold_answer``. Scores
by the published scorer: labels in references are replaced by the names of the tools they label,
calls are aligned by name, ``partial`` is the share of aligned calls that are equal, ``full`` is all
of them (``equal``: also in another order that serves). ``win`` (E.2: every call ran and the last
result is the gold answer) is given for the tasks whose gold runs here (:mod:`nestful_math`) and
gives that answer, for every reader alike; the set's coding tools are not ours, so their tasks have
none. The closing ``var_result`` of version 1 only repeats labels; it is left out on both sides.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import orjson

from callwright.jsontext import JsonError, parse_literal
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import (
    READ,
    Json,
    JsonObject,
    Message,
    Tool,
    ToolCall,
    to_canonical_json,
)
from callwright.tools.lists.tools import tool_from_wire
from callwright_lab.benchmarks.refine.nestful_math import run_sequence
from callwright_lab.benchmarks.refine.score import classify_error, has_same_calls, is_same_value
from callwright_lab.benchmarks.refine.task import Found, Score, Task
from callwright_lab.datasets.examples import object_schema, read_json, read_lines
from callwright_lab.datasets.nested import NESTFUL_WHERE, wrapper_folder

V2_WHERE = "nestful_data.jsonl from github.com/IBM/NESTFUL (data_v2, Apache-2.0); pass its path"
PARTS = {
    "executable": "executable/executable",
    "glaive": "non-executable/non-executable-glaive",
    "sgd": "non-executable/non-executable-sgd",
}
DISTRACTORS = 4  # tools of the same part that gold does not call, offered beside those it calls
_LABEL = re.compile(r"\$(var_?\d+)(?=[.$\[]|$)")

SYSTEM = """You are a helpful assistant with access to the following function calls. Your task is to produce a \
sequence of function calls necessary to generate response to the user utterance. Use the following function calls as \
required. Return only a JSON list; each call has a name, arguments and a label ($var_1, $var_2 …); the result of an \
earlier call is written $var_1.field$.
<|function_call_library|>
{tools}

Here are some examples:
{examples}"""


class Nestful:
    """Version 1 by default; ``path`` to a version 2 file makes it the mathematical set."""

    headline = "full"
    single = False

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.name = "nestful_v2" if path else "nestful"

    @cached_property
    def _tasks(self) -> tuple[Task, ...]:
        if self.path is not None:
            return tuple(_task_v2(row) for row in read_lines(self.path, V2_WHERE))
        return tuple(task for part in PARTS for task in _read_v1(part))

    def tasks(self) -> Sequence[Task]:
        return self._tasks

    def score(self, task: Task, found: Found) -> Score:
        calls = [c for c in found.calls if c.tool != "var_result"]
        part = score_partial_match(task.gold, calls)
        metrics = {
            "partial": part,
            "full": float(part == 1.0),
            "equal": float(is_equal_sequence(task.gold, calls)),
        }
        if isinstance(task.aside, dict) and task.aside["runs"]:
            answer, ran = run_sequence(calls)
            metrics["win"] = float(ran and is_same_answer(answer, task.aside["gold_answer"]))
        error = (
            ""
            if part == 1.0
            else classify_error(replace_labels(calls), replace_labels(task.gold), task.tools)
            or "order"
        )
        return Score(metrics, error)

    def ask(self, task: Task) -> ChatRequest:
        """The benchmark's prompt with three examples."""
        shown = [t for t in self.tasks() if t.id != task.id and t.category == task.category][:3]
        examples = "\n".join(f"Input: {t.query}\nOutput: {write_calls(t.gold)}" for t in shown)
        tools = orjson.dumps([_describe_tool(t) for t in task.tools]).decode()
        system = SYSTEM.format(tools=tools, examples=examples)
        return ChatRequest(
            (Message("system", system), *task.messages), purpose="bench", max_tokens=1024
        )


def score_partial_match(gold: Sequence[ToolCall], calls: Sequence[ToolCall]) -> float:
    """The share of aligned calls that are equal, labels replaced by tool names: 1.0 is the whole
    sequence.
    """
    want, have = replace_labels(gold), replace_labels(calls)
    pairs = align_calls(want, have)
    return (
        sum(a is not None and b is not None and _is_same_call(a, b) for a, b in pairs) / len(pairs)
        if pairs
        else 0.0
    )


def is_equal_sequence(gold: Sequence[ToolCall], calls: Sequence[ToolCall]) -> bool:
    """The same calls with the same references, in gold's order or another that serves: every
    reference looks back.

    The published scorer knows one order only, also of calls that do not need each other.
    """
    if not has_same_calls(replace_labels(calls), replace_labels(gold)):
        return False
    labels = [get_label(call, n) for n, call in enumerate(calls, 1)]
    named = [
        {m[1].replace("_", "") for m in _LABEL.finditer(to_canonical_json(c.arguments))}
        for c in calls
    ]
    return all(not needs & set(labels[n:]) - set(labels[:n]) for n, needs in enumerate(named))


def _is_same_call(a: ToolCall, b: ToolCall) -> bool:
    return a.tool == b.tool and is_same_value(a.arguments, b.arguments, numbers=True)


def align_calls(
    want: Sequence[ToolCall], have: Sequence[ToolCall]
) -> list[tuple[ToolCall | None, ToolCall | None]]:
    """Pairs as the published scorer makes them: one to one where there are as many, else by name
    from the left, where a wanted call that the next one is not waits for nobody.
    """
    if len(want) == len(have):
        return list(zip(want, have, strict=True))
    pairs: list[tuple[ToolCall | None, ToolCall | None]] = []
    place = 0
    for call in want:
        if place < len(have) and have[place].tool == call.tool:
            pairs.append((call, have[place]))
            place += 1
        else:
            pairs.append((call, None))
    return pairs + [(None, call) for call in have[place:]]


def replace_labels(calls: Sequence[ToolCall]) -> list[ToolCall]:
    """The calls with every ``$varN`` in their arguments replaced by the name of the tool it
    labels.
    """
    names = {get_label(call, n): call.tool for n, call in enumerate(calls, 1)}
    made = []
    for call in calls:
        arguments = (
            call.arguments
            if isinstance(call.arguments, str)
            else _replace_value_labels(call.arguments, names)
        )
        made.append(ToolCall(call.id, call.tool, arguments, call.slot))
    return made


def get_label(call: ToolCall, number: int) -> str:
    """Return the label by which later calls refer to this one. ``var1`` and ``var_1`` are the same
    label. A call without a label takes the one of its position.

    Our parser keeps a label as the call's ``slot``, gold has it as its id.
    """
    found = _LABEL.search(f"${(call.slot or call.id).strip('$')}$")
    return (found[1] if found else f"var{number}").replace("_", "")


def _replace_value_labels(value: Json, names: dict[str, str]) -> Json:
    if isinstance(value, str):
        text = _LABEL.sub(lambda m: "$" + names.get(m[1].replace("_", ""), m[1]), value)
        return text + "$" if text.startswith("$") and not text.endswith("$") else text
    if isinstance(value, dict):
        return {k: _replace_value_labels(v, names) for k, v in value.items()}
    return [_replace_value_labels(v, names) for v in value] if isinstance(value, list) else value


def is_same_answer(answer: Json, gold: Json) -> bool:
    """Exactly the gold answer (E.2), but for a float's last digits: or rounded to the places that
    gold shows.
    """
    if isinstance(answer, bool) or isinstance(gold, bool) or not _has_only_numbers(answer, gold):
        return to_canonical_json(answer) == to_canonical_json(gold)
    if math.isclose(answer, gold, rel_tol=1e-9, abs_tol=1e-12):
        return True
    places = len(str(gold).partition(".")[2]) if "e" not in str(gold).lower() else 0
    return places > 1 and round(answer, places) == gold


def _has_only_numbers(*values: Json) -> bool:
    return all(isinstance(v, int | float) for v in values)


def write_calls(calls: Sequence[ToolCall]) -> str:
    """The calls in the benchmark's own layout."""
    rows = [
        {"name": c.tool, "arguments": c.arguments, "label": "$" + c.id.strip("$")} for c in calls
    ]
    return orjson.dumps(rows).decode()


def _describe_tool(tool: Tool) -> JsonObject:
    found: JsonObject = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.input_schema,
    }
    if tool.output_schema:
        found["output_parameters"] = tool.output_schema.get("properties", {})
    return found


def _parse_calls(rows: Sequence[JsonObject]) -> tuple[ToolCall, ...]:
    """Gold calls; a call's label is its id."""
    kept = [row for row in rows if row["name"] != "var_result"]
    return tuple(
        ToolCall(
            str(row.get("label") or f"var{n}").strip("$"), row["name"], row.get("arguments") or {}
        )
        for n, row in enumerate(kept, 1)
    )


def _read_v1(part: str) -> list[Task]:
    stem = wrapper_folder() / PARTS[part]
    rows = read_json(stem.with_name(stem.name + "-data.json"), NESTFUL_WHERE)
    specs = read_json(stem.with_name(stem.name + "-spec.json"), NESTFUL_WHERE)
    catalogue = {spec["name"]: _tool_v1(spec) for spec in specs}
    made = []
    for number, row in enumerate(rows):
        gold = _parse_calls(row["output"])
        if gold and {c.tool for c in gold} <= catalogue.keys():
            tools = _select_offered_tools(catalogue, gold, number)
            message = Message("user", row["input"].strip())
            made.append(Task(f"{part}-{number}", "nestful", part, (message,), tools, gold))
    return made


def _select_offered_tools(
    catalogue: dict[str, Tool], gold: Sequence[ToolCall], number: int
) -> tuple[Tool, ...]:
    """The called tools and a few others, in the catalogue's order, which says nothing of the
    calls'.
    """
    called = {c.tool for c in gold}
    spare = [name for name in catalogue if name not in called]
    start = 7 * number % max(1, len(spare))
    chosen = called | set((spare[start:] + spare[:start])[:DISTRACTORS])
    return tuple(tool for name, tool in catalogue.items() if name in chosen)


def _tool_v1(spec: JsonObject) -> Tool:
    inputs = spec.get("query_parameters") or {}
    outputs = spec.get("output_parameters")
    return Tool(
        name=spec["name"],
        description=spec.get("description") or "",
        input_schema=object_schema(
            inputs, [k for k, v in inputs.items() if v.get("required") is True]
        ),
        output_schema=object_schema(outputs) if outputs else None,
        effects=READ,
        source="nestful",
    )


def _task_v2(row: JsonObject) -> Task:
    """``output`` and ``tools`` are lists, or their JSON text, as the published copies differ."""
    output, tools = (_parse_list(row[key]) for key in ("output", "tools"))
    message = Message("user", str(row["input"]).strip())
    offered = tuple(_tool_v2(spec) for spec in tools)
    gold, wanted = _parse_calls(output), _parse_answer(row["gold_answer"])
    answer, ran = run_sequence(gold)
    aside = {"gold_answer": wanted, "runs": ran and is_same_answer(answer, wanted)}
    return Task(str(row["sample_id"]), "nestful_v2", "v2", (message,), offered, gold, aside)


def _parse_list(value: Json) -> list[JsonObject]:
    listed: list[JsonObject] = orjson.loads(value) if isinstance(value, str) else value
    return listed


def _parse_answer(value: Json) -> Json:
    """The answer as a value: the published copies give it as itself, as JSON text or as a Python
    literal.
    """
    try:
        return parse_literal(value) if isinstance(value, str) else value
    except JsonError:
        return value


def _tool_v2(spec: JsonObject) -> Tool:
    made = tool_from_wire({k: v for k, v in spec.items() if not k.startswith("output")})
    outputs = spec.get("output_parameters") or spec.get("output_parameter") or {}
    schema = object_schema(outputs.get("properties", outputs))
    return Tool(made.name, made.description, made.input_schema, schema, READ, "nestful")
