"""What models wrote after a wrong action, judged by code."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import ToolCall, to_json
from callwright.parsing.formats import program
from callwright_lab.reflection.row import record
from callwright_lab.training.toolmvr.data import Row, build_records, read_rows, save_records
from callwright_lab.training.toolmvr.reflections import iter_reflections
from callwright_lab.training.toolmvr.report import (
    Measured,
    grade_correction,
    read_scores,
    render_report,
)
from tests.training.toolmvr_case import bought


def rows_of(folder: Path) -> dict[str, Row]:
    """Every reflection on one trajectory, by its error."""
    save_records(folder / "rows.jsonl", map(record, iter_reflections(bought())))
    return {row.error: row for row in read_rows([folder / "rows.jsonl"])}


@pytest.fixture(name="rows")
def _rows(tmp_path: Path) -> dict[str, Row]:
    return rows_of(tmp_path)


def said(*calls: ToolCall) -> str:
    return f"<thought>\nAgain.\n</thought>\n{program.write(calls)}"


def test_the_verified_call_is_a_correction_and_the_wrong_one_again_is_nothing(
    rows: dict[str, Row],
) -> None:
    for row in rows.values():
        gold = grade_correction(row, row.messages[-1]["content"])
        assert (gold.exact, gold.again, gold.accepted, gold.recognised, gold.corrected) == (
            True, False, True, True, True,
        ), row.error  # fmt: skip
        again = grade_correction(row, row.messages[-3]["content"])
        assert (again.exact, again.again, again.accepted, again.recognised, again.corrected) == (
            False, True, False, False, False,
        ), row.error  # fmt: skip
        none = grade_correction(row, "I do not know.")
        assert not any(
            (none.form, none.tool, none.exact, none.again, none.recognised, none.corrected)
        )


def test_recognising_an_error_and_repair_it_are_told_apart(rows: dict[str, Row]) -> None:
    row = rows["required_missing"]
    tool, given = row.right[0].tool, dict(row.right[0].arguments)
    another = grade_correction(
        row, said(ToolCall("", tool, {**given, next(iter(given)): "something else"}))
    )
    assert (another.recognised, another.accepted, another.corrected) == (True, True, False)
    refused = grade_correction(row, said(ToolCall("", tool, {"nonsense": 1})))
    assert (refused.recognised, refused.accepted) == (True, False), (
        "another attempt, which the gate refuses"
    )
    elsewhere = grade_correction(row, said(ToolCall("", "no_such_tool", given)))
    assert (elsewhere.recognised, elsewhere.accepted) == (False, False)


def test_what_the_gate_repairs_without_loss_and_letter_case_are_no_other_call(
    rows: dict[str, Row],
) -> None:
    row = rows["required_missing"]
    (right,) = row.right
    shouted = {k: v.upper() if isinstance(v, str) else v for k, v in dict(right.arguments).items()}
    found = grade_correction(row, said(ToolCall("", right.tool, shouted)))
    assert (found.exact, found.corrected) == (False, True)


def test_only_as_many_calls_as_a_round_makes_count_and_none_of_a_torn_program(
    rows: dict[str, Row],
) -> None:
    row = rows["required_missing"]
    guesses = [ToolCall("", row.right[0].tool, {"city": f"guess {n}"}) for n in range(2)]
    assert not grade_correction(row, said(*guesses, *row.right)).corrected, (
        "the third call of a round is never made"
    )
    assert grade_correction(row, said(guesses[0], *row.right)).corrected
    torn = said(*row.right).partition("\n```\n</execute>")[0]
    assert not grade_correction(row, torn).form


def test_errors_are_calling_or_planning_errors_and_rows_of_others_may_not_say(
    rows: dict[str, Row],
) -> None:
    assert {row.fault for error, row in rows.items() if error != "repeated"} == {"calling"}
    assert rows["repeated"].fault == "planning"


def test_an_error_that_not_even_the_verified_call_repairs_counts_for_no_correction(
    rows: dict[str, Row],
) -> None:
    row = rows["required_missing"]
    gate_refuses = replace(row, right=(replace(row.right[0], arguments={"nonsense": 1}),))
    found = grade_correction(gate_refuses, said(*gate_refuses.right))
    assert (found.exact, found.corrected, found.repairable) == (True, False, False)
    text = render_report(
        {
            "a": Measured(1.0, 1.0, (found, grade_correction(row, "no"))),
            "b": Measured(1.0, 1.0, (found, found)),
        }
    )
    assert "| a | all | 1/2 = 50 % (9 – 91) | 0/2 = 0 % (0 – 66) | 0/1 = 0 % (0 – 79) |" in text


def test_the_report_can_be_made_of_the_replies_alone(rows: dict[str, Row], tmp_path: Path) -> None:
    found = {
        "untrained": Measured(
            3.0, 4.0, tuple(grade_correction(row, "no") for row in rows.values())
        ),
        "V and R": Measured(
            1.0, 1.5, tuple(grade_correction(r, r.messages[-1]["content"]) for r in rows.values())
        ),
    }
    old = to_json(found)
    for one in old.values():  # as runs wrote them before there was more to say of a reply
        one["corrected"] = [{k: c[k] for k in ("id", "error", "text")} for c in one["corrected"]]
    (tmp_path / "scores.json").write_text(json.dumps(old))
    again = read_scores(tmp_path / "scores.json", list(rows.values()))
    assert again == found
    text, count = render_report(again), len(rows)
    assert f"| V and R | 1.000 | 1.500 | {count} | 100.0% | 100.0% | 100.0% | 0.0% |" in text
    assert "| untrained | +1.000 | +1.000 to +1.000 |" in text
    assert f"| V and R | all | {count}/{count} = 100 %" in text
    assert f"| untrained | all | 0/{count} = 0 %" in text
    assert "| untrained | planning | 1 | +100.0 | +100.0 to +100.0 |" in text


def test_scores_of_other_rows_or_none_are_refused(rows: dict[str, Row], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no scores can be read"):
        read_scores(tmp_path / "scores.json", [])
    row = rows["repeated"]
    found = {"a model": Measured(1.0, 1.0, (grade_correction(replace(row, id="another"), "no"),))}
    (tmp_path / "scores.json").write_text(json.dumps(to_json(found)))
    with pytest.raises(ConfigError, match="a row 'another'"):
        read_scores(tmp_path / "scores.json", [row])


def test_rows_of_the_stage_data_say_their_kind_of_error(tmp_path: Path) -> None:
    save_records(tmp_path / "data.jsonl", build_records(map(bought, range(3)), context=4000))
    found = [row for row in read_rows([tmp_path / "data.jsonl"]) if row.kind == "R"]
    assert found
    assert all(row.fault and row.wrong and row.right and row.tools for row in found)
