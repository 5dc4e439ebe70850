"""A catalogue of any size out of real tools, with vectors: the same one for the same size, whoever
makes it.

The first tools are real: the candidates of StableToolBench's queries and all of Seal-Tools. What is
missing is made from them source by source, as catalogues grow: a made source has a name of its own
(of syllables, so the vocabulary goes on growing as it does in life) and a tool for every one of
three real sources, each with the name, the description and the parameters of its model in part, and
in part those of a tool from somewhere else.

Encoding 100,000 texts takes a quarter of an hour, so a made tool's vector is mixed as well: of its
model's, the other tool's, and the difference of two more. The shares fit 7,704 made tools that were
really encoded (0.58 and 0.43, a rest of length 0.64).
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from callwright.nouns.protocols import Encoder
from callwright.nouns.types import Tool
from callwright.retrieval.document import Document, build_document
from callwright.retrieval.terms import humanize_name
from callwright_lab.datasets.examples import read_lines
from callwright_lab.datasets.nested import SEAL_WHERE, described_tool
from callwright_lab.datasets.sources import data_root
from callwright_lab.training.ranker.retrieval_data import read_stabletoolbench

MODEL, OTHER, REST = 0.58, 0.43, 0.48  # the difference of two real vectors is 1.33 long

_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_ONSETS = "b br c cl d dr f fl g gr h j k kl l m n p pl qu r s st t tr v w z".split()
_VOWELS = "a e i o u ai ea io oo".split()
_ENDS = ("", "n", "x", "ly", "io", "hub")

_Parts = tuple[str, str, str, str]  # names: model, other, and two for the rest


class Catalogue:
    """``tools`` in the order in which they came; :meth:`changed` gives some of them anew."""

    def __init__(self, size: int, root: Path | None = None) -> None:
        """The tools of a smaller catalogue are the first of a larger one. ConfigError where the
        data is not there.
        """
        rng = random.Random(7)
        self._real = real_tools(root)
        rng.shuffle(self._real)
        made = _made_tools(self._real, rng)
        found: dict[str, Tool] = {tool.name: tool for tool in self._real[:size]}
        self._parts: dict[str, _Parts] = {}
        while len(found) < size:
            tool, parts = next(made)
            if found.setdefault(tool.name, tool) is tool:
                self._parts[tool.name] = parts
        self.tools = list(found.values())

    def changed(self, tools: Sequence[Tool], share: float) -> list[Tool]:
        """That share of the tools, each with another description: what a day brings."""
        rng = random.Random(11)
        picked = rng.sample(tools, round(len(tools) * share))
        return [
            _mixed(tool, rng.choice(self._real), _brand(rng), tool.source, rng, name=tool.name)
            for tool in picked
        ]

    def vectors(self, documents: Sequence[Document], encoder: Encoder) -> np.ndarray[Any, Any]:
        """Vectors of tools of this catalogue: encoded where the tool is real, mixed where it was
        made.
        """
        real = dict(
            zip((tool.name for tool in self._real), encoder.encode(self._texts()), strict=True)
        )
        found = [
            real[d.name] if d.name in real else _of_parts(real, self._parts[d.name])
            for d in documents
        ]
        return np.array(found, np.float32)

    def _texts(self) -> list[str]:
        return [build_document(tool).text for tool in self._real]


def real_tools(root: Path | None = None) -> list[Tool]:
    """Every real tool, by name. Raises ConfigError where the data is not there."""
    folder = root or data_root()
    candidates = read_stabletoolbench(folder / "stabletoolbench" / "queries").tools
    specs = read_lines(folder / "seal_tools" / "tool.jsonl", SEAL_WHERE)
    sealed = [described_tool(spec, f"seal {spec['field']}") for spec in specs]
    return sorted(
        {tool.name: tool for tool in (*candidates, *sealed)}.values(), key=lambda t: t.name
    )


def queries(number: int, root: Path | None = None) -> list[str]:
    """Requests of StableToolBench, evenly taken from all of them."""
    asked = read_stabletoolbench((root or data_root()) / "stabletoolbench" / "queries").queries
    return [asked[i * len(asked) // number].text for i in range(number)]


def _made_tools(real: Sequence[Tool], rng: random.Random) -> Iterator[tuple[Tool, _Parts]]:
    by_source: dict[str, list[Tool]] = {}
    for tool in real:
        by_source.setdefault(tool.source, []).append(tool)
    sources = [by_source[name] for name in sorted(by_source)]
    while True:
        brand = _brand(rng)
        for model in chain(*rng.sample(sources, 3)):
            other, one, another = rng.sample(real, 3)
            parts = (model.name, other.name, one.name, another.name)
            yield _mixed(model, other, brand, f"made {brand}", rng), parts


def _of_parts(real: Mapping[str, np.ndarray[Any, Any]], parts: _Parts) -> np.ndarray[Any, Any]:
    model, other, one, another = (real[name] for name in parts)
    mixed = MODEL * model + OTHER * other + REST * (one - another)
    return np.asarray(mixed / np.linalg.norm(mixed))


def _mixed(
    model: Tool, other: Tool, brand: str, source: str, rng: random.Random, name: str = ""
) -> Tool:
    own, borrowed = humanize_name(model.name).split(), humanize_name(other.name).split()
    words = [*own[: max(1, len(own) - 1)], *rng.sample(borrowed, min(len(borrowed), 2))][:6]
    sentences = _SENTENCE.split(model.description)
    kept = sentences[: max(1, (len(sentences) + 1) // 2)]
    added = _SENTENCE.split(other.description)[-1:]
    ours, theirs = model.properties, other.properties
    keys = [*list(ours)[:6], *[key for key in theirs if key not in ours][: rng.randint(0, 2)]]
    return Tool(
        name=name or f"{'_'.join(words)}_for_{brand}",
        description=" ".join([*kept, *added, f"By {brand.capitalize()}."]),
        input_schema={
            "type": "object",
            "properties": {key: ours.get(key, theirs.get(key)) for key in keys},
        },
        source=source,
    )


def _brand(rng: random.Random) -> str:
    syllables = (rng.choice(_ONSETS) + rng.choice(_VOWELS) for _ in range(rng.choice((2, 3, 3))))
    return "".join(syllables) + rng.choice(_ENDS)
