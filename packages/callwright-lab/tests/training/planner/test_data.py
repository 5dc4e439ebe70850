"""The rows of a planner's run: parted by gold tools, whole on disk, asked in the words of the
planner's prompt.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright.planning.arrows import read_reply
from callwright_lab.datasets.files import gold_plan
from callwright_lab.training.planner.data import (
    PARTS,
    build_chat,
    mix_distractors,
    read_rows,
    render_gold,
    report_rows,
    select_connected,
    split_parts,
    write_rows,
)
from tests.training.planner_case import task, tasks


def test_no_set_of_gold_tools_is_in_two_parts() -> None:
    rows = split_parts(tasks(60))
    assert sum(len(rows[part]) for part in PARTS) == 60
    assert all(rows[part] for part in PARTS)
    seen = [{e.combination for e in rows[part]} for part in PARTS]
    assert sum(map(len, seen)) == len(set().union(*seen))


def test_tools_that_gold_never_calls_are_mixed_in() -> None:
    given = tasks(40)
    made = mix_distractors(given, 2)
    more = [len(m.tools) - len(e.tools) for e, m in zip(given, made, strict=True)]
    assert set(more) == {0, 1, 2}
    assert [(m.gold, m.edges) for m in made] == [(e.gold, e.edges) for e in given]
    assert mix_distractors(given, 2) == made
    assert [len(m.tools) for m in mix_distractors(given, 0)] == [len(e.tools) for e in given]


def test_rows_are_whole_on_disk(tmp_path: Path) -> None:
    rows = split_parts(tasks(20))
    write_rows(tmp_path / "data.jsonl", rows)
    back = read_rows(tmp_path / "data.jsonl")
    assert {part: [(e.id, e.edges, e.query) for e in back[part]] for part in PARTS} == {
        part: [(e.id, e.edges, e.query) for e in rows[part]] for part in PARTS
    }


def test_rows_that_are_absent_or_wrong_are_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no rows in") as raised:
        read_rows(tmp_path / "data.jsonl")
    assert "stage data" in raised.value.hint
    write_rows(tmp_path / "data.jsonl", {"test": [task(1)]})
    text = (tmp_path / "data.jsonl").read_text()
    (tmp_path / "data.jsonl").write_text(text + text.replace('"test"', '"rest"'))
    with pytest.raises(ConfigError, match=r"line 2 .* is not a row of a plan"):
        read_rows(tmp_path / "data.jsonl")


def test_a_planner_is_asked_with_numbered_tools_and_answers_with_gold() -> None:
    example = task(3)
    asked = build_chat(example)
    assert [m["role"] for m in asked] == ["system", "user"]
    assert all(f"{n}. {t.name}(" in asked[1]["content"] for n, t in enumerate(example.tools, 1))
    plan = read_reply(render_gold(example), example.tools)
    assert set(plan.edges) == set(gold_plan(example).edges)  # type: ignore[union-attr]


def test_what_hangs_together_is_told_from_what_does_not() -> None:
    apart = task(1, (("find", "look"), ("buy", "other_1")))
    assert select_connected([task(0), apart, task(4, ())]) == [task(0), task(4, ())]
    assert "| test | toy | 2 | 4.00 | 3.00 | 1.50 | 0.50 |" in report_rows(
        {"test": [task(0), apart]}
    )
