"""Agreement of our checker with the suite's own: on every gold reply, and on spoiled ones."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import orjson

from callwright.jsontext import parse
from callwright.nouns.errors import ConfigError
from callwright_lab.benchmarks.acebench import suite
from callwright_lab.benchmarks.acebench.scoring import judge_text
from callwright_lab.benchmarks.acebench.spoiling import iter_spoiled, write_gold
from callwright_lab.benchmarks.comparison.side import SideProcess
from callwright_lab.datasets.acebench import WHERE, AceRow

SPOILED = 500
"""Spoiled replies of each language."""


class SuiteChecker:
    """The suite's own evaluation, in a process beside ours. A context manager. Raises ConfigError
    where the checkout is none or the process breaks off.
    """

    def __init__(self, checkout: Path) -> None:
        if not (checkout / "eval_main.py").is_file():
            raise ConfigError(f"{checkout} is no checkout of ACEBench", hint=WHERE)
        self._checkout = checkout.resolve()

    def __enter__(self) -> SuiteChecker:
        command = [sys.executable, "-I", str(Path(suite.__file__)), str(self._checkout)]
        self._process = SideProcess(command, self._checkout)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.close()

    def judge_reply(self, row: AceRow, text: str) -> Any:
        """``right``, and ``raised`` where the suite's own code broke off."""
        prompt = {"id": row.id, "question": row.question, "function": [*row.functions]}
        asked = {
            "category": row.category,
            "prompt": prompt,
            "answer": {"id": row.id, "ground_truth": row.gold},
            "result": text,
        }
        try:
            line = self._process.ask(orjson.dumps(asked))  # the order of keys matters to the suite
        except OSError as exc:
            raise ConfigError(f"the suite's process cannot be reached: {exc}") from exc
        if not line:
            raise ConfigError("the suite's process ended", hint="what it said last stands above")
        return parse(line)


@dataclass(slots=True)
class Agreement:
    """Counts of a comparison. ``apart`` says of each reply that was judged differently what it
    was; ``raised`` counts those on which the suite's own code broke off, which is wrong by ours.
    """

    gold: int = 0
    gold_right: int = 0
    spoiled: int = 0
    spoiled_right: int = 0
    raised: int = 0
    apart: list[str] = field(default_factory=list)

    def render_summary(self) -> str:
        """One sentence."""
        return (
            f"{self.gold} gold replies ({self.gold_right} right by the suite) and {self.spoiled}"
            f" spoiled ones ({self.spoiled_right} right): judged differently"
            f" {len(self.apart)}; the suite's code broke off on {self.raised}"
        )


def compare_checkers(checker: SuiteChecker, rows: Sequence[AceRow], spoiled: int) -> Agreement:
    """Judge every gold reply of the rows and so many spoiled ones by both."""
    found = Agreement()
    for row, kind, text in _iter_gold(rows):
        found.gold += 1
        found.gold_right += _compare_one(checker, row, kind, text, found)
    for row, kind, text in iter_spoiled(rows, spoiled):
        found.spoiled += 1
        found.spoiled_right += _compare_one(checker, row, kind, text, found)
    return found


def _iter_gold(rows: Iterable[AceRow]) -> Iterator[tuple[AceRow, str, str]]:
    for row in rows:
        for candidate in range(max(1, len(row.gold_calls))):
            yield row, f"gold {candidate}", write_gold(row, candidate)


def _compare_one(
    checker: SuiteChecker, row: AceRow, kind: str, text: str, found: Agreement
) -> bool:
    """Judge one reply by both and note a difference. Returns the suite's verdict."""
    theirs, ours = checker.judge_reply(row, text), judge_text(row, text)
    right: bool = theirs["right"]
    found.raised += "raised" in theirs
    if right != (not ours):
        said = theirs.get("raised", "right" if right else "wrong")
        found.apart.append(f"{row.language} {row.id} {kind}: suite {said}; ours {ours!r}: {text}")
    return right
