"""Bamboogle*: twenty tools, three formats, three accuracies."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from callwright.nouns.types import ToolCall
from callwright_lab.benchmarks.refine.bamboogle import (
    KINDS,
    TOOLS,
    BamboogleStar,
    read_celebrities,
)
from callwright_lab.benchmarks.refine.task import Found, Task

EXAM = BamboogleStar(51)
TASK: Task = next(t for t in EXAM.tasks() if t.category == "pythonic")
TEXT = "[{}]".format(
    ", ".join(
        f"{c.tool}({', '.join(f'{k}={v!r}' for k, v in dict(c.arguments).items())})"
        for c in TASK.gold
    )  # type: ignore[arg-type]
)
LESS = replace(TASK.gold[1], arguments={"information_type": "birthplace"})


def test_there_is_a_tool_for_every_kind_of_question_and_for_what_is_known_first() -> None:
    assert len(KINDS) == 17
    assert len({t.name for t in TOOLS}) == 20
    assert {t.category for t in EXAM.tasks()} == {"tagged", "pythonic", "tool_use"}
    assert len({t.id for t in EXAM.tasks()}) == 51


def test_every_sample_shows_its_format_and_gold_scores_full_marks() -> None:
    for task in EXAM.tasks():
        assert EXAM.score(task, Found(task.gold)).metrics == {
            "toolname": 1.0,
            "parameter": 1.0,
            "full": 1.0,
        }
        assert "output_birthplace" in task.messages[0].content
        assert EXAM.ask(task).messages == task.messages


@pytest.mark.parametrize(
    ("raw", "calls", "scores", "error"),
    [
        (TEXT, (), (1, 1, 1), ""),
        (f"Sure:\n{TEXT}", TASK.gold, (1, 1, 0), "format"),
        ("", TASK.gold, (1, 1, 1), ""),
        ("", TASK.gold[::-1], (1, 1, 0), "order"),
        ("", (*TASK.gold, TASK.gold[0]), (1, 1, 0), "extra_call"),
        ("", (TASK.gold[0], LESS), (1, 0, 0), "missing_argument"),
        ("", (TASK.gold[0], ToolCall("2", "find_moon", {})), (0, 0, 0), "unknown_tool"),
        ("nothing", (), (0, 0, 0), "no_call"),
    ],
)  # fmt: skip
def test_name_parameters_and_format_are_counted_apart(
    raw: str, calls: tuple[ToolCall, ...], scores: tuple[int, int, int], error: str
) -> None:
    score = EXAM.score(TASK, Found(calls, raw))
    assert tuple(score.metrics[k] for k in ("toolname", "parameter", "full")) == scores
    assert score.error == error


def test_questions_of_the_published_file_are_taken_where_it_is(tmp_path: Path) -> None:
    rows = [
        {
            "category": "birthplace_tld",
            "Question": "What is the top-level domain of the birthplace of Ada Byron?",
        },
        {
            "category": "birthdate_uspresident",
            "Question": "Who was president of the US when Ada Byron was born?",
        },
        {"category": "something_else", "Question": "What is the birthplace of Ada Byron?"},
    ]
    path = tmp_path / "cc.json"
    path.write_text(json.dumps({"data": rows}))
    assert [r[:2] for r in read_celebrities(path)] == [
        ("birthplace_tld", "Ada Byron"),
        ("birthdate_uspresident", "Ada Byron"),
    ]
    first, second = BamboogleStar(path=path).tasks()
    assert first.gold[0].arguments == {"celebrity_name": "Ada Byron"}
    assert second.query == rows[1]["Question"]
