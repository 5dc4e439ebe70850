"""What is written of the rows: no lesson twice, no error too often, no request in two parts."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.storage import lines
from callwright_lab.reflection.row import Reflected, row_of
from callwright_lab.reflection.selection import (
    assign_part,
    balance_errors,
    deduplicate_rows,
    select_rows,
)
from callwright_lab.training.toolmvr.data import assign_part as trained_part
from callwright_lab.training.toolmvr.data import read_rows
from tests.reflection.test_row import LAYOUTS, rows


@given(rows(), st.text("abc", max_size=3))
def test_the_same_error_and_correction_are_one_lesson_wherever_they_were_met(
    row: Reflected, query: str
) -> None:
    elsewhere = replace(
        row, before=replace(row.before, id="t2", query=query), reflection="Otherwise said."
    )
    (call,) = row.right
    other = replace(row, right=(replace(call, tool="another"),))
    assert deduplicate_rows([row, elsewhere, other, row]) == [row, other]
    reflected = replace(elsewhere, by="run")
    assert deduplicate_rows([row, other, reflected]) == [reflected, other], (
        "what a model said is worth more than the rule"
    )


def test_programs_that_call_the_same_and_fail_otherwise_are_two_lessons(coded: Reflected) -> None:
    other = replace(coded, wrong=replace(coded.wrong, code="print(x['name'])"))
    assert deduplicate_rows([coded, other, coded]) == [coded, other]


@given(st.lists(st.sampled_from(["a", "b", "c"]), max_size=12), st.integers(1, 4), rows())
def test_of_each_error_at_most_so_many_stay_in_their_order(
    errors: list[str], each: int, row: Reflected
) -> None:
    many = [
        replace(row, error=error, before=replace(row.before, id=str(n)))
        for n, error in enumerate(errors)
    ]
    kept = balance_errors(many, each)
    assert [one for one in many if one in kept] == kept
    for error in "abc":
        assert sum(one.error == error for one in kept) == min(each, errors.count(error))
    assert balance_errors(many, None) == many


@given(rows(), st.text(max_size=20), st.floats(0, 1))
def test_all_rows_of_a_request_are_in_one_part_which_by_default_is_that_of_training(
    row: Reflected, query: str, held: float
) -> None:
    one = replace(row, before=replace(row.before, query=query))
    other = replace(one, before=replace(one.before, id="other", steps=()), error="other")
    assert assign_part(one, held) == assign_part(other, held)
    assert assign_part(one) == trained_part(one.before)
    assert (assign_part(one, 0), assign_part(one, 1)) == ("train", "test")


def test_the_share_that_is_held_out_is_the_one_asked_for() -> None:
    row = Reflected(*_least())
    for share in (0.05, 1 / 6, 0.4):
        parts = [
            assign_part(replace(row, before=replace(row.before, query=f"q{n}")), share)
            for n in range(4_000)
        ]
        assert parts.count("test") / len(parts) == pytest.approx(share, abs=0.02)


def _least() -> Any:
    from callwright.nouns.trajectory import Step, Trajectory

    return Trajectory("t", "q", ()), Step(), "r", (), "calling", "e"


@pytest.mark.parametrize("layout", LAYOUTS)
@given(made=rows())
def test_training_reads_every_row_with_its_part_error_and_correction(
    layout: str, made: Reflected, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("rows") / "r.jsonl"
    lines.write_rows(path, [select_rows(made, layout)])
    (row,) = read_rows([path])
    assert (row.kind, row.part, row.error) == ("R", assign_part(made), made.error)
    assert [(c.tool, c.arguments) for c in row.right] == [(c.tool, c.arguments) for c in made.right]
    learned = [m for m in row.messages if m["role"] == "assistant" and not m["no_loss"]]
    assert learned == [row.messages[-1]]
    assert row_of(select_rows(made, layout)).error == made.error


@pytest.mark.skipif(find_spec("transformers") is None, reason="extra 'train' is not installed")
def test_only_the_last_message_of_a_program_row_carries_loss_token_by_token(
    coded: Reflected, tmp_path: Path
) -> None:
    from callwright_lab.training.toolmvr.mask import IGNORED, tokenize_row
    from tests.training.refiner_case import tiny_tokenizer

    lines.write_rows(tmp_path / "r.jsonl", [select_rows(coded, "toolbench-vr")])
    (row,) = read_rows([tmp_path / "r.jsonl"])
    tokenizer = tiny_tokenizer()
    found = tokenize_row(tokenizer, row.messages)
    learned = tokenizer.decode([label for label in found.labels if label != IGNORED])
    assert learned == row.messages[-1]["content"] + tokenizer.eos_token
    assert coded.reflection in learned
    assert coded.program in learned
    assert coded.wrong.code not in learned
