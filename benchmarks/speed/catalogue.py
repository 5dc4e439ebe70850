"""A catalogue of any size out of real tools: the same one for the same size, whoever makes it.

The first tools are real: the candidates of StableToolBench's queries and all of Seal-Tools. What is missing is made
from them source by source, as catalogues grow: a made source has a name of its own (of syllables, so the vocabulary
goes on growing as it does in life) and a tool for every one of three real sources, each with the name, the
description and the parameters of its model in part, and in part those of a tool from somewhere else.
"""

from __future__ import annotations

import random
import re
from itertools import chain
from pathlib import Path

from callwright.benchmarks.retrieval import stabletoolbench
from callwright.retrieval.terms import spoken
from callwright.training.data import read_lines
from callwright.training.data_nested import SEAL_WHERE, described_tool
from callwright.training.sources import data_root
from callwright.types import Tool

_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_ONSETS = "b br c cl d dr f fl g gr h j k kl l m n p pl qu r s st t tr v w z".split()
_VOWELS = "a e i o u ai ea io oo".split()


def real_tools(root: Path | None = None) -> list[Tool]:
    """Every real tool, by name. Raises ConfigError where the data is not there."""
    folder = root or data_root()
    candidates = stabletoolbench(folder / "stabletoolbench" / "queries").tools
    specs = read_lines(folder / "seal_tools" / "tool.jsonl", SEAL_WHERE)
    sealed = [described_tool(spec, f"seal {spec['field']}") for spec in specs]
    return sorted({tool.name: tool for tool in (*candidates, *sealed)}.values(), key=lambda t: t.name)


def queries(number: int, root: Path | None = None) -> list[str]:
    """Requests of StableToolBench, evenly taken from all of them."""
    asked = stabletoolbench((root or data_root()) / "stabletoolbench" / "queries").queries
    return [asked[i * len(asked) // number].text for i in range(number)]


def catalogue(size: int, root: Path | None = None) -> list[Tool]:
    """``size`` tools, each with a name of its own; those of a smaller catalogue are among those of a larger one."""
    rng = random.Random(7)
    real = real_tools(root)
    rng.shuffle(real)
    found = {tool.name: tool for tool in real[:size]}
    by_source: dict[str, list[Tool]] = {}
    for tool in real:
        by_source.setdefault(tool.source, []).append(tool)
    sources = [by_source[name] for name in sorted(by_source)]
    while len(found) < size:
        brand = _brand(rng)
        for model in chain(*rng.sample(sources, 3)):
            made = _made(model, rng.choice(real), brand, f"made {brand}", rng)
            found.setdefault(made.name, made)
    return list(found.values())[:size]


def changed(tools: list[Tool], share: float) -> list[Tool]:
    """That share of the tools with another description each: what a day brings."""
    rng = random.Random(11)
    picked = rng.sample(tools, max(1, round(len(tools) * share)))
    return [_made(tool, rng.choice(tools), _brand(rng), tool.source, rng, name=tool.name) for tool in picked]


def _made(model: Tool, other: Tool, brand: str, source: str, rng: random.Random, name: str = "") -> Tool:
    own, borrowed = spoken(model.name).split(), spoken(other.name).split()
    words = [*own[: max(1, len(own) - 1)], *rng.sample(borrowed, min(len(borrowed), 2))][:6]
    sentences = _SENTENCE.split(model.description)
    kept = sentences[: max(1, (len(sentences) + 1) // 2)]
    added = _SENTENCE.split(other.description)[-1:]
    ours, theirs = model.properties, other.properties
    keys = [*list(ours)[:6], *[key for key in theirs if key not in ours][: rng.randint(0, 2)]]
    schema = {"type": "object", "properties": {key: ours.get(key, theirs.get(key)) for key in keys}}
    return Tool(
        name=name or f"{'_'.join(words)}_for_{brand}",
        description=" ".join([*kept, *added, f"By {brand.capitalize()}."]),
        input_schema=schema,
        source=source,
    )


def _brand(rng: random.Random) -> str:
    return "".join(rng.choice(_ONSETS) + rng.choice(_VOWELS) for _ in range(rng.choice((2, 3, 3)))) + rng.choice(
        ("", "n", "x", "ly", "io", "hub")
    )
