"""Requests and which of the tools offered they need: what the planned graph's selection of tools
learns from.

Two kinds. Candidates as published: StableToolBench's queries, each with the operations of a few
APIs and those that answer it. And plans whose tools are known, offered among tools of the same
source that they do not call: some taken at random, some because they are about the same things, for
nobody confuses a hotel with a barcode.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from callwright.dataflow.flow import GENERIC, get_profile
from callwright.jsontext import parse
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Tool
from callwright_lab.datasets.examples import PlanExample, shuffle_tools
from callwright_lab.datasets.toolbench_tools import tool_from_toolbench
from callwright_lab.training.ranker.retrieval_data import STABLETOOLBENCH_WHERE

CANDIDATES = "stabletoolbench_queries"
OFFERED_MORE = (1, 2, 3, 4, 6, 8)  # how many further tools, one of these


@dataclass(frozen=True, slots=True)
class Choice:
    """A request, the tools offered, and the names of those it needs."""

    id: str
    source: str
    query: str
    tools: tuple[Tool, ...]
    needed: frozenset[str]

    @property
    def combination(self) -> str:
        """One text per set of tools needed: what the splits are grouped by, as for plans."""
        return "\n".join(sorted(self.needed))

    def bare(self) -> Choice:
        """The same where no tool declares its output."""
        return replace(self, tools=tuple(replace(t, output_schema=None) for t in self.tools))


def stabletoolbench_choices(folder: Path) -> list[Choice]:
    """StableToolBench's solvable queries, each with its own candidates. ConfigError where there is
    none.

    A query is left out whose relevant tools are not all among its candidates.
    """
    made: list[Choice] = []
    for path in sorted(folder.glob("*.json")):
        for number, row in enumerate(parse(path.read_bytes())):
            tools = {
                (api["tool_name"], api["api_name"]): tool_from_toolbench(api)
                for api in row["api_list"]
            }
            relevant = [(tool, api) for tool, api in row["relevant APIs"]]
            if relevant and all(key in tools for key in relevant):
                id = f"{path.stem}-{number}"
                offered, needed = (
                    shuffle_tools(id, tools.values()),
                    frozenset(tools[key].name for key in relevant),
                )
                made.append(Choice(id, CANDIDATES, row["query"], offered, needed))
    if not made:
        raise ConfigError(f"{folder} holds no StableToolBench queries", hint=STABLETOOLBENCH_WHERE)
    return made


def build_choices(examples: Sequence[PlanExample]) -> list[Choice]:
    """The plans of one source, each offered among tools it does not call; every second one declares
    no outputs.
    """
    near = _Neighbours(examples)
    made: list[Choice] = []
    for e in examples:
        draw = random.Random(f"choice {e.id}")
        more = draw.choice(OFFERED_MORE)
        alike = near.of(e, draw.randint(0, more), draw)
        names = {t.name for t in (*e.tools, *alike)}
        rest = [t for t in near.pool if t.name not in names]
        others = draw.sample(rest, min(more - len(alike), len(rest)))
        choice = Choice(
            e.id,
            e.source,
            e.query,
            shuffle_tools(e.id, (*e.tools, *alike, *others)),
            frozenset(e.gold),
        )
        made.append(choice if draw.random() < 0.5 else choice.bare())
    return made


class _Neighbours:
    """The tools of a source by the telling words of their names, to find those that are about the
    same things.
    """

    def __init__(self, examples: Iterable[PlanExample]) -> None:
        named = {t.name: t for e in examples for t in e.tools}
        self.pool = [named[name] for name in sorted(named)]
        self._of: dict[str, list[int]] = {}
        for k, tool in enumerate(self.pool):
            for word in _collect_subject_words(tool):
                self._of.setdefault(word, []).append(k)

    def of(self, example: PlanExample, count: int, draw: random.Random) -> list[Tool]:
        """Up to ``count`` tools that share the most words with those of an example; ties are
        drawn.
        """
        have = {t.name for t in example.tools}
        shared: Counter[int] = Counter()
        for word in sorted({w for t in example.tools for w in _collect_subject_words(t)}):
            shared.update(k for k in self._of.get(word, ()) if self.pool[k].name not in have)
        order = sorted(
            shared,
            key=lambda k: (-shared[k] / len(_collect_subject_words(self.pool[k])), draw.random()),
        )
        return [self.pool[k] for k in order[:count]]


def _collect_subject_words(tool: Tool) -> frozenset[str]:
    return get_profile(tool).subject - GENERIC
