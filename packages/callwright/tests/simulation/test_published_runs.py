"""Readers of published runs: the first that knows a file's layout reads it."""

from __future__ import annotations

from pathlib import Path

from callwright.nouns.types import Tool
from callwright.simulation.published_runs import Runs, first_known


def test_the_first_reader_that_finds_tools_is_believed() -> None:
    known = Runs(tools=(Tool("find"),), cut=1)
    readers = [lambda _: Runs(unknown=9), lambda _: known, lambda _: Runs(tools=(Tool("other"),))]
    assert first_known(Path("runs.json"), readers) is known


def test_a_file_that_nobody_knows_has_no_runs() -> None:
    assert first_known(Path("runs.json"), []) == Runs()


def test_runs_add_up_and_say_what_was_left_out() -> None:
    both = Runs(tools=(Tool("a"),), cut=1) + Runs(tools=(Tool("b"),), cut=1, unknown=2)
    assert [t.name for t in both.tools] == ["a", "b"]
    said = list(both.problems("folder"))
    assert said[0].startswith("folder: 2 replies left out")
    assert said[1].startswith("folder: 2 calls left out")
