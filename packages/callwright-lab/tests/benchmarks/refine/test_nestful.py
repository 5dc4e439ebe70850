"""NESTFUL: both layouts, labels by the tools they name, a win only where calls ran."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from callwright.nouns.types import ToolCall
from callwright_lab.benchmarks.refine.nestful import (
    Nestful,
    align_calls,
    get_label,
    is_equal_sequence,
    is_same_answer,
    replace_labels,
    score_partial_match,
    write_calls,
)
from callwright_lab.benchmarks.refine.task import Found

NUMBER = {"description": "a number", "type": "int or float"}
TWO = {"arg_0": NUMBER, "arg_1": NUMBER}
ROW = {
    "sample_id": "s1",
    "input": "Twice three, less one?",
    "output": [
        {"name": "multiply", "label": "$var_1", "arguments": {"arg_0": 2, "arg_1": 3}},
        {
            "name": "subtract",
            "label": "$var_2",
            "arguments": {"arg_0": "$var_1.result$", "arg_1": 1},
        },
    ],
    "tools": [
        {"name": n, "description": n, "parameters": TWO, "output_parameter": {"result": NUMBER}}
        for n in ("add", "multiply", "subtract")
    ],
    "gold_answer": 5,
}


@pytest.fixture
def exam(tmp_path: Path) -> Nestful:
    other = {
        **ROW,
        "sample_id": "s2",
        "output": json.dumps(ROW["output"]),
        "tools": json.dumps(ROW["tools"]),
    }
    path = tmp_path / "nestful_data.jsonl"
    path.write_text(json.dumps(ROW) + "\n" + json.dumps(other) + "\n")
    return Nestful(path)


def calls(*rows: tuple[str, str, dict[str, object]]) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(*row) for row in rows)


def test_the_mathematical_layout_is_read_whether_its_lists_are_lists_or_text(exam: Nestful) -> None:
    first, second = exam.tasks()
    assert first.gold == second.gold
    assert [t.name for t in second.tools] == ["add", "multiply", "subtract"]
    assert first.tools[0].output_schema is not None
    assert "result" in first.tools[0].output_schema["properties"]
    score = exam.score(first, Found(first.gold))
    assert score.metrics == {"partial": 1.0, "full": 1.0, "equal": 1.0, "win": 1.0}


def test_another_label_is_the_same_sequence(exam: Nestful) -> None:
    task = exam.tasks()[0]
    other = calls(
        ("var7", "multiply", {"arg_0": 2, "arg_1": 3}),
        ("$var9", "subtract", {"arg_0": "$var7.result", "arg_1": 1}),
    )
    assert exam.score(task, Found(other)).metrics["full"] == 1.0


def test_another_way_to_the_answer_wins_without_being_the_sequence(exam: Nestful) -> None:
    task = exam.tasks()[0]
    other = calls(("var_1", "add", {"arg_0": 2, "arg_1": 3}))
    score = exam.score(task, Found(other))
    assert score.metrics == {"partial": 0.0, "full": 0.0, "equal": 0.0, "win": 1.0}


def test_a_sequence_that_cannot_run_is_lost(exam: Nestful) -> None:
    task = exam.tasks()[0]
    dangling = calls(("var_1", "add", {"arg_0": "$var_5.result$", "arg_1": 3}))
    for found in (Found(dangling), Found(), Found(calls(("var_1", "teleport", {"arg_0": 1})))):
        assert exam.score(task, found).metrics == {
            "partial": 0.0,
            "full": 0.0,
            "equal": 0.0,
            "win": 0.0,
        }


@pytest.mark.parametrize(
    ("name", "answer"),
    [("sort_words", "a"), ("add", 7)],
    ids=["a tool that is not ours", "another answer than ours"],
)
def test_there_is_no_win_where_gold_itself_does_not_run_to_its_answer(
    tmp_path: Path, name: str, answer: object
) -> None:
    output = [{"name": name, "label": "$var_1", "arguments": {"arg_0": 2, "arg_1": 3}}]
    path = tmp_path / "nestful_data.jsonl"
    path.write_text(json.dumps({**ROW, "output": output, "gold_answer": answer}))
    exam = Nestful(path)
    (task,) = exam.tasks()
    assert "win" not in exam.score(task, Found(task.gold)).metrics


@pytest.mark.parametrize(
    ("answer", "gold", "same"),
    [(40, 40.0, True), (0.1 + 0.2, 0.3, True), (2 / 3, 0.67, True), (0.46, 0.5, False), (40.3, 40.0, False),
     (True, 1, False), ("a", "a", True)],
)  # fmt: skip
def test_an_answer_is_the_gold_one_exactly_or_as_gold_is_rounded(
    answer: object, gold: object, same: bool
) -> None:
    assert is_same_answer(answer, gold) is same


def test_a_missing_call_costs_its_share() -> None:
    gold = calls(("var1", "a", {}), ("var2", "b", {"x": "$var1.y$"}), ("var3", "c", {}))
    assert score_partial_match(gold, gold[1:]) == pytest.approx(
        1 / 3
    )  # b's reference names nothing any more
    assert score_partial_match(gold, gold) == 1.0
    assert score_partial_match(gold, gold[::-1]) == pytest.approx(1 / 3)
    assert score_partial_match(gold, ()) == 0.0


def test_alignment_is_by_name_from_the_left() -> None:
    a, b, c = calls(("1", "a", {}), ("2", "b", {}), ("3", "c", {}))
    assert align_calls([a, b, c], [a, c]) == [(a, a), (b, None), (c, c)]
    assert align_calls([a], [b, a]) == [(a, None), (None, b), (None, a)]


def test_labels_are_read_however_they_are_written() -> None:
    assert [get_label(ToolCall(i, "t", {}), 4) for i in ("var_2", "$var2", "var2$", "call_1")] == [
        "var2"
    ] * 3 + ["var4"]
    _, second = replace_labels(calls(("var_1", "a", {}), ("var_2", "b", {"x": ["$var_1.f[0].g$"]})))
    assert second.arguments == {"x": ["$a.f[0].g$"]}
    assert json.loads(write_calls(calls(("var1", "a", {}))))[0]["label"] == "$var1"


def test_the_prompt_shows_other_tasks(exam: Nestful) -> None:
    plain = exam.ask(exam.tasks()[0]).messages[0].content
    assert "Twice three" in plain  # the other task has the same text


def test_version_one_scores_full_marks_with_its_gold() -> None:
    pytest.importorskip("nestful", reason="extra 'bench' is not installed")
    exam = Nestful()
    assert len(exam.tasks()) == 300
    assert all(exam.score(t, Found(t.gold)).right for t in exam.tasks())
    assert all({c.tool for c in t.gold} < {x.name for x in t.tools} for t in exam.tasks())


def test_independent_calls_may_stand_in_any_order_but_a_reference_looks_back() -> None:
    a, b, c = calls(("var1", "a", {}), ("var2", "b", {}), ("var3", "c", {"x": "$var1.y$"}))
    assert is_equal_sequence([a, b, c], [b, a, c])
    assert is_equal_sequence([a, b, c], [a, c, b])
    assert not is_equal_sequence([a, b, c], [c, a, b])
    assert not is_equal_sequence([a, b, c], [a, b])
