"""What refiners score, and against each other."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("trl") is None or find_spec("torch") is None:
    pytest.skip("extra 'train' is not installed", allow_module_level=True)

from callwright_lab.training.refiner.runs import run_sft
from callwright_lab.training.refiner.scores import (
    Graded,
    compare_refiners,
    generate_replies,
    measure_refiner,
    render_table,
)
from tests.training.refiner_case import TOY, samples, tiny_model, tiny_tokenizer

pytestmark = pytest.mark.filterwarnings("ignore")  # of the libraries that train


def test_the_right_answer_scores_full_marks_and_the_upstreams_own_less() -> None:
    tokenizer, found = tiny_tokenizer(), samples()
    upstream = measure_refiner(None, tokenizer, found, TOY)
    assert [g.kind for g in upstream] == [s.kind for s in found]
    assert all(
        (g.reward == 1) == (g.kind == "correct")
        for g in upstream
        if not g.kind.startswith("shuffled")
    )
    model = measure_refiner(tiny_model(tokenizer), tokenizer, found, TOY)
    assert not any(g.reward == 1 for g in model)
    assert all(g.worse for g in model if g.kind == "correct")
    text = render_table({"upstream": upstream, "random": model})
    assert "| upstream | correct | 2 | 1.000 | 1.000 to 1.000 | 1.000 | 0.000 |" in text
    assert f"| random | all | {len(found)} |" in text
    assert "| random | 9 | +" in compare_refiners(
        {"upstream": upstream, "random": model}, "upstream"
    )


def test_replies_do_not_depend_on_what_is_asked_beside_them() -> None:
    tokenizer, found = tiny_tokenizer(), samples()
    model = tiny_model(tokenizer)
    for weights in model.parameters():
        weights.data *= (
            10 if weights.ndim > 1 else 1
        )  # so that what was asked matters to a random model
    alone = generate_replies(model, tokenizer, found, replace(TOY, rollouts=1))
    assert len({len(s.messages("short")[1].content) for s in found[:4]}) > 1, (
        "of one length, nothing is padded"
    )
    assert generate_replies(model, tokenizer, found, replace(TOY, rollouts=4)) == alone
    assert len(set(alone)) > 1


@pytest.mark.heavy
def test_a_model_that_learned_one_answer_by_heart_gets_full_marks(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    one = [samples()[-1]]
    model = tiny_model(tokenizer)
    settings = replace(TOY, sft_steps=150, sft_rate=1e-2, longest=200, free=100)
    run_sft(model, tokenizer, one, settings, tmp_path)
    assert [
        (g.reward, g.worse, g.text) for g in measure_refiner(model, tokenizer, one, settings)
    ] == [(1, False, one[0].answer)]


def test_one_refiner_against_another_is_a_paired_difference_with_its_interval() -> None:
    mine = [
        Graded(str(i), "correct", "rule", reward, False, "")
        for i, reward in enumerate((1.0, 1.0, 0.5, 0.0))
    ]
    other = [replace(g, reward=g.reward - 0.25 if g.reward else 0.25) for g in mine]
    row = compare_refiners({"mine": mine, "other": other}, "mine").splitlines()[-1]
    assert row == "| other | 4 | +0.125 | -0.125 to +0.250 | 3, 1 |"
