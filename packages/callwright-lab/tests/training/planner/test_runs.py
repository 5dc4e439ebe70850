"""SFT on plans and GRPO with Eq. (3), on a tiny random model."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("trl") is None or find_spec("torch") is None:
    pytest.skip("extra 'train' is not installed", allow_module_level=True)

from callwright_lab.training.checkpoints import open_model
from callwright_lab.training.planner.data import render_gold
from callwright_lab.training.planner.runs import PlanRewards, run_grpo, run_sft, select_fitting
from callwright_lab.training.planner.settings import QWEN3_0_6B
from callwright_lab.training.tuning import group_config
from tests.training.planner_case import TOY, task, tasks
from tests.training.refiner_case import tiny_model, tiny_tokenizer

pytestmark = pytest.mark.filterwarnings("ignore")  # of the libraries that train


def test_the_reward_is_eq_3_and_shows_what_the_policy_does() -> None:
    tokenizer = tiny_tokenizer()
    long = task(3, (("find", "look"), ("look", "buy")))
    examples = [task(0), long]
    number = {t.name: n for n, t in enumerate(long.tools, 1)}
    least = f'{{"DAG": "{number["find"]}->{number["look"]}"}}'
    texts = [render_gold(examples[0]), "no", least, render_gold(long)]
    ids = [[*tokenizer(text)["input_ids"], tokenizer.eos_token_id] for text in texts]
    logged: dict[str, float] = {}
    found = PlanRewards(examples, tokenizer)(ids, [0, 0, 1, 1], log_metric=logged.__setitem__)
    assert found == [10, -10, pytest.approx(5 * 2 / 3), 10]
    assert (logged["plan/exact"], logged["plan/syntax"], logged["plan/graded"]) == (0.5, 0.25, 0.75)
    assert logged["plan/edges"] == pytest.approx((1 + 0.5 + 1) / 3)
    assert logged["plan/least"] == pytest.approx(1 / 3), (
        "one plan says one arrow where gold has two"
    )


@pytest.mark.heavy
def test_sft_lowers_the_loss_of_the_plan_and_goes_on(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    losses = run_sft(
        tiny_model(tokenizer), tokenizer, tasks(), replace(TOY, sft_steps=20), tmp_path
    )
    assert len(losses) == 20
    assert losses[-1] < losses[0] - 0.5
    more = run_sft(
        tiny_model(tokenizer), tokenizer, tasks(), replace(TOY, sft_steps=22), tmp_path, resume=True
    )
    assert len(more) == 22
    assert more[:20] == losses


@pytest.mark.heavy
def test_grpo_takes_its_steps_and_its_curve_shows_every_case(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    tiny_model(tokenizer).save_pretrained(
        tmp_path / "start"
    )  # what the KL divergence is taken from is opened again
    tokenizer.save_pretrained(tmp_path / "start")
    model, _ = open_model(str(tmp_path / "start"))
    run_grpo(model, tokenizer, tasks(), replace(TOY, beta=0.04), tmp_path)
    rows = [json.loads(line) for line in (tmp_path / "curve.jsonl").read_text().splitlines()]
    steps = [r for r in rows if "reward" in r]
    assert [r["step"] for r in steps] == [1, 2]
    wanted = {
        "rewards/plan/mean",
        "plan/syntax",
        "plan/cycle",
        "plan/disconnected",
        "plan/graded",
        "plan/least",
        "kl",
    }
    assert wanted <= set(steps[0])
    assert steps[0]["plan/syntax"] == 1, "a random model writes no JSON"
    assert steps[0]["rewards/plan/mean"] == -10
    shared = replace(TOY, batch=1, attempts=1, shared=True)
    again = run_grpo(tiny_model(tokenizer), tokenizer, tasks(), shared, tmp_path / "shared")
    assert len(again) == 2


def test_trl_is_told_grpo(tmp_path: Path) -> None:
    config = group_config(replace(QWEN3_0_6B, bf16=False, vllm=False), tmp_path)
    assert (config.loss_type, config.beta, config.epsilon, config.num_generations) == (
        "grpo",
        0.04,
        0.2,
        8,
    )
    assert config.generation_batch_size == 16 * 8


def test_only_tasks_within_the_lengths_are_used() -> None:
    tokenizer = tiny_tokenizer()
    assert select_fitting(tasks(), tokenizer, replace(TOY, longest=200)) == tasks()
    assert select_fitting(tasks(), tokenizer, replace(TOY, context=10, longest=200)) == []
    assert select_fitting(tasks(), tokenizer, replace(TOY, longest=5)) == []
