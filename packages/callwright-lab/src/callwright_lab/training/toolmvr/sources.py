"""Verified trajectories to learn from, of sources whose licences allow it: rounds with replies,
thoughts by rule.

* ``nestools``, ``seal_tools``: gold calls. What a call returns is the label by which later calls
  name it, as an opaque handle: a value really comes from the result before it.
* ``complexfuncbench``: gold calls with the real replies, shortened; a trajectory ends before the
  first call that needs what the shortening took away.
* ``toolbench``: ToolBench's example searches that ended in an answer.

Rows in which :func:`callwright_lab.verify.dataset.rules.find_defects` finds a defect are left out. The
runs of ToolEval are not here: as published they hold neither whole arguments nor replies.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from callwright.grounding.answer.summary import fit_content
from callwright.jsontext import JsonError, parse
from callwright.nouns.errors import ConfigError
from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import Json, JsonObject, Tool, ToolCall, ToolResult, to_canonical_json
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.tools.lists.tools import tool_from_wire
from callwright_lab.datasets.examples import read_json
from callwright_lab.datasets.nested import NESTFUL_WHERE, wrapper_folder
from callwright_lab.reflection.thoughts import write_call_thought
from callwright_lab.transcripts import Transcript, read_files
from callwright_lab.verify.dataset.precision import is_defect
from callwright_lab.verify.dataset.rules import find_defects

_REFERENCE = re.compile(r"\$(var\d+)((?:[.\[][^$]*)?)\$")
MOST_SHOWN = 400  # characters of a reply


def read_source(name: str, root: Path) -> Iterator[Trajectory]:
    """The verified trajectories of one source, thoughts and all. ConfigError for an unknown name or
    missing files.
    """
    if name not in SOURCES:
        raise ConfigError(f"there is no source {name!r}", hint=f"sources: {', '.join(SOURCES)}")
    for transcript in SOURCES[name](root):
        if not _is_sound(transcript):
            continue
        made = transcript.trajectory
        steps = tuple(
            step if step.thought else replace(step, thought=write_call_thought(made, at))
            for at, step in enumerate(made.steps)
        )
        if steps:
            yield replace(made, steps=steps)


def _is_sound(transcript: Transcript) -> bool:
    """Return True if a row has no defect. A missing answer does not count, because gold calls end
    without one.
    """
    return not any(is_defect(d.kind) for d in find_defects(transcript) if d.kind != "no_answer")


def _build_gold_reader(*paths: str) -> Callable[[Path], Iterator[Transcript]]:
    def read(root: Path) -> Iterator[Transcript]:
        found = [t for path in paths for _, t in read_files(root / path).transcripts]
        pool = {tool.name: tool for t in found for tool in t.trajectory.tools}
        for transcript in found:
            if _is_sound(transcript):
                made = _add_distractors(
                    _answer_gold_calls(transcript.trajectory), list(pool.values())
                )
                yield replace(transcript, trajectory=made, origin=None)

    return read


def _answer_gold_calls(trajectory: Trajectory) -> Trajectory:
    """Gold calls with what their labels stand for as replies; answers of gold there are none."""
    steps = []
    for step in trajectory.steps:
        (call,) = step.calls
        try:
            content = parse(step.shown) if step.shown else {}
        except JsonError:
            content = step.shown
        arguments = call.arguments if isinstance(call.arguments, dict) else {}
        result = ToolResult(call.id, call.tool, arguments, content, simulated="model")
        steps.append(replace(step, results=(result,), shown=""))
    return replace(trajectory, steps=tuple(steps))


def _add_distractors(trajectory: Trajectory, pool: Sequence[Tool], most: int = 2) -> Trajectory:
    """With up to ``most`` other tools on offer, drawn by the id; where the source offers others, as
    it is.
    """
    called = {call.tool for call in trajectory.calls}
    if {tool.name for tool in trajectory.tools} != called:
        return trajectory
    rng = random.Random(f"offer {trajectory.id}")
    others = [tool for tool in pool if tool.name not in called]
    tools = [*trajectory.tools, *rng.sample(others, min(len(others), rng.randint(0, most)))]
    rng.shuffle(tools)
    return replace(trajectory, tools=tuple(tools))


def _iter_searches(root: Path) -> Iterator[Transcript]:
    for _, transcript in read_files(root / "toolbench_example" / "answer").transcripts:
        if transcript.trajectory.answer:
            yield replace(transcript, trajectory=_shorten_trajectory(transcript.trajectory))


def _iter_complexfuncbench(root: Path) -> Iterator[Transcript]:
    del root  # the data come with the package
    path = wrapper_folder() / "complexfuncbench" / "complexfuncbench"
    specs = read_json(path.with_name(path.name + "-spec.json"), NESTFUL_WHERE)
    catalogue = {tool.name: tool for tool in map(_catalogue_tool, specs)}
    for number, row in enumerate(
        read_json(path.with_name(path.name + "-data.json"), NESTFUL_WHERE)
    ):
        made = nested_trajectory(f"complexfuncbench-{number}", row, catalogue)
        if made is not None:
            yield Transcript(made)


def nested_trajectory(id: str, row: JsonObject, catalogue: Mapping[str, Tool]) -> Trajectory | None:
    """One row of ComplexFuncBench with its references resolved and its replies shortened; None
    where it has no call whose values are all known.
    """
    query = row["input"].strip()
    replies: dict[str, Json] = {}
    sources = ProvenanceIndex(query)
    steps: list[Step] = []
    tools: dict[str, Tool] = {}
    for call in row["output"]:
        if call["name"] == "var_result" or call["name"] not in catalogue:
            break
        arguments = resolve_references(call["arguments"], replies)
        name = f"call_{len(steps) + 1}"
        if not _is_grounded(arguments, sources, steps):
            break
        replies[str(call.get("label"))] = call.get("response")
        result = ToolResult(name, call["name"], arguments, _shorten_reply(call.get("response")))
        sources.add_result(result)
        tools[call["name"]] = catalogue[call["name"]]
        steps.append(Step("", (ToolCall(name, call["name"], arguments),), (result,)))
    return Trajectory(id, query, tuple(tools.values()), tuple(steps)) if steps else None


def resolve_references(value: Json, replies: Mapping[str, Json]) -> Any:
    """Arguments with the values that their ``$varN.path$`` stand for; what cannot be resolved stays
    as it is.
    """
    if isinstance(value, dict):
        return {k: resolve_references(v, replies) for k, v in value.items()}
    if isinstance(value, list):
        return [resolve_references(v, replies) for v in value]
    found = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
    if found is None or found[1] not in replies:
        return value
    content = replies[found[1]]
    for key in [k for k in found[2].replace("[", ".").replace("]", "").split(".") if k]:
        content = _lookup_member(content, key)
    return value if content is None else content


def _lookup_member(content: Json, key: str) -> Json:
    if isinstance(content, list):
        if key.isdigit():
            return content[int(key)] if int(key) < len(content) else None
        return _lookup_member(content[0], key) if content else None
    return content.get(key) if isinstance(content, dict) else None


def _is_grounded(arguments: JsonObject, sources: ProvenanceIndex, steps: Sequence[Step]) -> bool:
    """Return True if every distinctive value is in the task or in what was shown. An unresolved
    reference makes the result False.
    """
    for value in arguments.values():
        if isinstance(value, str) and "$var" in value:
            return False
        if (
            steps
            and isinstance(value, str | float)
            and len(str(value)) > 6
            and not sources.holds(value)
        ):
            return False
    return True


def _shorten_reply(content: Json) -> Json:
    """A reply of at most so many characters, still JSON where thinning it is enough."""
    text = fit_content(content, to_canonical_json(content), MOST_SHOWN, frozenset())
    try:
        return parse(text)
    except JsonError:
        return text


def _shorten_trajectory(trajectory: Trajectory) -> Trajectory:
    steps = tuple(
        replace(
            step, results=tuple(replace(r, content=_shorten_reply(r.content)) for r in step.results)
        )
        for step in trajectory.steps
    )
    return replace(trajectory, steps=steps)


def _catalogue_tool(spec: JsonObject) -> Tool:
    inputs = spec.get("query_parameters") or {}
    required = [k for k, v in inputs.items() if v.get("required") is True]
    plain = {k: {x: y for x, y in v.items() if x != "required"} for k, v in inputs.items()}
    schema = {"type": "object", "properties": plain, "required": required}
    return tool_from_wire(
        {"name": spec["name"], "description": spec.get("description") or "", "parameters": schema}
    )


SOURCES: Mapping[str, Callable[[Path], Iterator[Transcript]]] = {
    "nestools": _build_gold_reader("nestools/test_data.jsonl"),
    "seal_tools": _build_gold_reader("seal_tools/dev.jsonl", "seal_tools/test_in_domain.jsonl"),
    "complexfuncbench": _iter_complexfuncbench,
    "toolbench": _iter_searches,
}
"""Where verified trajectories come from, by name; Apache-2.0 all of them."""
