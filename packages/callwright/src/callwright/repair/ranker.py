"""A small trained ranker for the choices the rules make: which tool, which parameter, keep or drop.

What is seen of a choice is a row of numbers (:func:`tool_features` and its siblings); what is
thought of it comes from gradient-boosted trees in a JSON file, added up in plain Python. A choice
is only made where the best candidate is sure enough and leads the next by enough; both bounds were
set on tools the trees never saw. docs/lab-parts.md says what it is worth.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from rapidfuzz.distance import JaroWinkler
from rapidfuzz.fuzz import partial_ratio, token_sort_ratio

from callwright.dataflow.flow import STOP, content_words, find_verb_kind, split_words
from callwright.jsontext import JsonError, parse
from callwright.language.tokens import squash_name
from callwright.nouns.errors import WeightsError
from callwright.nouns.thresholds import threshold
from callwright.nouns.types import Json, JsonObject, Tool, to_canonical_json
from callwright.nouns.wire_names import EditRules
from callwright.repair.provenance.grounding import classify_value
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.repair.rules.names import Match, score_likeness
from callwright.repair.rules.parameters import name_likeness

FORMAT = 1
SHIPPED = "data/ranker.json"
RULE = EditRules.TOOL_RANKED
_WRITING = frozenset({"make", "change", "act", "remove"})
CONFIDENCE = threshold("callwright.repair", "ranker.confidence")

TOOL = (
    "likeness", "letters", "sorted_words", "partial", "name_in_own", "own_in_name", "name_in_description",
    "verb_same", "verb_other", "contained", "keys_known", "required_given", "own_asked", "described_asked",
)  # fmt: skip
PARAMETER = (
    "likeness", "letters", "key_in_own", "own_in_key", "key_in_description", "contained", "type_fits",
    "option", "required", "missing_required", "unknown_keys", "value_in_description", "same_last_word",
)  # fmt: skip
KEEP = (
    "held", "derived", "invented", "identifier", "boolean", "number", "option", "is_default", "key_asked",
    "value_asked", "length", "described_asked", "optional_share",
)  # fmt: skip
FEATURES: Mapping[str, tuple[str, ...]] = {"tool": TOOL, "parameter": PARAMETER, "keep": KEEP}


@dataclass(frozen=True, slots=True)
class Trees:
    """One task's trees and bounds. A node is [feature, threshold, left, right], a leaf a number."""

    features: tuple[str, ...]
    trees: tuple[tuple[Any, ...], ...]
    least: float
    lead: float
    bias: float = 0.0

    def probability(self, row: Sequence[float]) -> float:
        """The probability that a candidate is the right one."""
        total = self.bias + sum(_walk_tree(tree, row) for tree in self.trees)
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))

    def choose(self, rows: Sequence[Sequence[float]]) -> tuple[int, float] | None:
        """The candidate that is sure enough and far enough ahead, and its probability; None for no
        choice.
        """
        ranked = sorted(((self.probability(row), -i) for i, row in enumerate(rows)), reverse=True)
        if not ranked or ranked[0][0] < self.least:
            return None
        if len(ranked) > 1 and ranked[0][0] - ranked[1][0] < self.lead:
            return None
        return -ranked[0][1], ranked[0][0]


@dataclass(frozen=True, slots=True)
class Ranker:
    """The trained tasks by name, and the card that says what they were trained on."""

    tasks: Mapping[str, Trees] = field(default_factory=dict)
    card: JsonObject = field(default_factory=dict)

    def tool(
        self, name: str, arguments: JsonObject | str, tools: Sequence[Tool], query: str
    ) -> tuple[Tool, float] | None:
        """The offered tool that a name, keys and request mean; None where none is sure enough."""
        trees = self.tasks.get("tool")
        found = (
            trees.choose([tool_features(name, arguments, t, query) for t in tools])
            if trees
            else None
        )
        return None if found is None else (tools[found[0]], found[1])


def match_by_ranker(
    name: str,
    arguments: JsonObject | str,
    tools: Sequence[Tool],
    query: str,
    ranker: Ranker | None = None,
) -> Match | None:
    """Return the ranker's match for a name that the rules could not resolve. Only a tool known not
    to write is taken. Without ``ranker`` the shipped one is used; None if none is shipped.
    """
    found = ranker or load()
    chosen = found.tool(name, arguments, tools, query) if found is not None else None
    if chosen is None or chosen[0].effects.may_write or _meant_to_write(name, chosen[0]):
        return None
    return Match(chosen[0], RULE, CONFIDENCE)


def _meant_to_write(name: str, tool: Tool) -> bool:
    """Return True if the name says that something is made, changed or removed, and the tool's name
    says otherwise.
    """
    return find_verb_kind(name) in _WRITING and find_verb_kind(name) != find_verb_kind(tool.name)


def load(path: Path | None = None) -> Ranker | None:
    """The ranker of a file, or the shipped one; None where none is shipped. WeightsError for
    another format.
    """
    return (
        _load_shipped()
        if path is None
        else parse_ranker(path.read_text(encoding="utf-8"), str(path))
    )


@cache
def _load_shipped() -> Ranker | None:
    place = files("callwright.repair").joinpath(SHIPPED)
    return parse_ranker(place.read_text(encoding="utf-8"), SHIPPED) if place.is_file() else None


def parse_ranker(text: str, name: str) -> Ranker:
    """The ranker that a JSON text describes."""
    try:
        value = parse(text)
    except JsonError as exc:
        raise WeightsError(
            f"{name} is no JSON: {exc}",
            hint="train it again: python -m callwright_lab.training.ranker.repair_ranker",
        ) from exc
    if (
        not isinstance(value, dict)
        or value.get("format") != FORMAT
        or not isinstance(value.get("tasks"), dict)
    ):
        raise WeightsError(
            f"{name} is no ranker of format {FORMAT}", hint="train it again with this version"
        )
    tasks = {
        task: _read_trees(task, spec, name)
        for task, spec in value["tasks"].items()
        if task in FEATURES
    }
    return Ranker(tasks, value.get("card") or {})


def _read_trees(task: str, spec: JsonObject, name: str) -> Trees:
    if tuple(spec.get("features") or ()) != FEATURES[task]:
        raise WeightsError(
            f"{name} was trained on other features for {task!r}",
            hint="train it again with this version",
        )
    made = tuple(
        tuple(tuple(n) if isinstance(n, list) else n for n in tree) for tree in spec["trees"]
    )
    return Trees(FEATURES[task], made, spec["least"], spec["lead"], spec.get("bias", 0.0))


def _walk_tree(tree: Sequence[Any], row: Sequence[float]) -> float:
    at = 0
    while True:
        node = tree[at]
        if not isinstance(node, tuple):
            return float(node)
        at = node[2] if row[node[0]] <= node[1] else node[3]


def _compute_overlap(some: frozenset[str], others: frozenset[str]) -> float:
    return len(some & others) / len(some) if some else 0.0


def _select_telling_words(text: str) -> frozenset[str]:
    return frozenset(w for w in split_words(text) if w not in STOP)


def tool_features(
    name: str, arguments: JsonObject | str, tool: Tool, query: str
) -> tuple[float, ...]:
    """Return the features of "this name means this tool", in the order of :data:`TOOL`."""
    keys = frozenset(map(squash_name, arguments)) if isinstance(arguments, dict) else frozenset()
    given, own, about = (
        _select_telling_words(name),
        _select_telling_words(tool.name),
        content_words(tool.description),
    )
    asked = content_words(query[-4_000:])
    a, b = squash_name(name), squash_name(tool.name)
    mine, theirs = find_verb_kind(name), find_verb_kind(tool.name)
    required = frozenset(map(squash_name, tool.required))
    return (
        score_likeness(name, tuple(arguments) if isinstance(arguments, dict) else (), query, tool),
        JaroWinkler.similarity(a, b),
        token_sort_ratio(" ".join(split_words(name)), " ".join(split_words(tool.name))) / 100,
        partial_ratio(a, b) / 100,
        _compute_overlap(given, own),
        _compute_overlap(own, given),
        _compute_overlap(given, about),
        float(bool(mine) and mine == theirs),
        float(bool(mine) and bool(theirs) and mine != theirs),
        float(bool(a) and (a in b or b in a)),
        _compute_overlap(keys, frozenset(map(squash_name, tool.properties))) if keys else -1.0,
        _compute_overlap(required, keys) if required else -1.0,
        _compute_overlap(own, asked),
        _compute_overlap(about, asked),
    )


def parameter_features(
    key: str, value: Json, wanted: str, tool: Tool, unknown: int, missing: Sequence[str]
) -> tuple[float, ...]:
    """Return the features of "this unknown key means this parameter", in the order of
    :data:`PARAMETER`.

    ``unknown`` is how many keys of the call are unknown, ``missing`` which parameters the call
    lacks.
    """
    part = tool.properties.get(wanted)
    part = part if isinstance(part, dict) else {}
    said = part.get("description")
    about = said if isinstance(said, str) else ""
    given, own, told = (
        _select_telling_words(key),
        _select_telling_words(wanted),
        content_words(about),
    )
    a, b = squash_name(key), squash_name(wanted)
    values = content_words(value) if isinstance(value, str) else frozenset()
    options = part.get("enum")
    return (
        name_likeness(key, wanted, about),
        JaroWinkler.similarity(a, b),
        _compute_overlap(given, own),
        _compute_overlap(own, given),
        _compute_overlap(given, told),
        float(bool(a) and (a in b or b in a)),
        type_fits(value, part.get("type")),
        (
            float(isinstance(options, list) and value in options)
            if isinstance(options, list)
            else -1.0
        ),
        float(wanted in tool.required),
        float(min(4, sum(m in tool.required for m in missing))),
        float(min(4, unknown)),
        _compute_overlap(values, told),
        float(split_words(key)[-1:] == split_words(wanted)[-1:]),
    )


def keep_features(
    key: str, value: Json, tool: Tool, arguments: JsonObject, sources: ProvenanceIndex
) -> tuple[float, ...]:
    """Return the features of "this optional argument was asked for", in the order of
    :data:`KEEP`.
    """
    part = tool.properties.get(key)
    part = part if isinstance(part, dict) else {}
    verdict = (
        classify_value(key, value, part, sources) if not isinstance(value, dict | list) else ""
    )
    held = sources.holds(value) if isinstance(value, dict | list) else verdict == "held"
    asked = content_words(sources.query[-4_000:])
    said = part.get("description")
    told = content_words(said) if isinstance(said, str) else frozenset()
    optional = [k for k in tool.properties if k not in tool.required]
    used = sum(k in arguments for k in optional)
    return (
        float(held),
        float(verdict == "derived"),
        float(verdict == "invented"),
        float(verdict in ("identifier", "placeholder")),
        float(isinstance(value, bool)),
        float(isinstance(value, int | float) and not isinstance(value, bool)),
        float(isinstance(part.get("enum"), list)),
        float("default" in part and to_canonical_json(part["default"]) == to_canonical_json(value)),
        _compute_overlap(_select_telling_words(key), asked),
        _compute_overlap(content_words(value), asked) if isinstance(value, str) else -1.0,
        float(min(60, len(to_canonical_json(value)))),
        _compute_overlap(told, asked),
        used / len(optional) if optional else 0.0,
    )


def type_fits(value: Json, kind: Json) -> float:
    """1 where a value is of a JSON Schema type, 0.5 where it can be written as one or the type is
    open, else 0.
    """
    if not isinstance(kind, str):
        return 0.5
    made = {
        "string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list, "object": dict,
    }.get(kind, object)  # fmt: skip
    if isinstance(value, bool) and kind != "boolean":
        return 0.0
    if isinstance(value, made):  # type: ignore[arg-type]
        return 1.0
    if kind == "string":
        return 0.5 if isinstance(value, int | float) else 0.0
    if kind in ("integer", "number") and isinstance(value, str):
        return 0.5 if value.strip().lstrip("-").replace(".", "", 1).isdigit() else 0.0
    return 0.0
