"""DAPO on TRL: dynamic sampling, each prompt computed once, steps that are really taken."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

if find_spec("trl") is None or find_spec("torch") is None:
    pytest.skip("extra 'train' is not installed", allow_module_level=True)

import torch
from datasets import Dataset

from callwright_lab.training.generation import decode_reply
from callwright_lab.training.refiner.dapo import DapoTrainer, OverlongPenalty, packed_logits
from callwright_lab.training.refiner.runs import RefinerReward, build_chat
from callwright_lab.training.tuning import group_config
from tests.training.refiner_case import TOY, samples, tiny_model, tiny_tokenizer

pytestmark = pytest.mark.filterwarnings("ignore")  # of the libraries that train


class Lottery:
    """A reward by the length of the reply; for some prompts all replies earn the same."""

    __name__ = "lottery"

    def __init__(self, flat: set[int]) -> None:
        self.flat = flat
        self.seen: list[int] = []

    def __call__(self, completion_ids: list[list[int]], sample: list[int], **_: Any) -> list[float]:
        self.seen += sample
        return [
            0.5 if i in self.flat else sum(ids) % 97 / 97
            for ids, i in zip(completion_ids, sample, strict=True)
        ]


def trainer(tmp_path: Path, reward: Any, **settings: Any) -> DapoTrainer:
    tokenizer = tiny_tokenizer()
    toy = replace(TOY, **settings)
    rows = [{"prompt": build_chat(s, "short"), "sample": i} for i, s in enumerate(samples())]
    return DapoTrainer(
        tiny_model(tokenizer),
        [reward],
        args=group_config(toy, tmp_path),
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
        attempts=toy.attempts,
        shared=toy.shared,
        rollouts=toy.rollouts,
        curve=tmp_path / "curve.jsonl",
    )


@pytest.mark.heavy
def test_groups_without_signal_are_dropped_and_replaced(tmp_path: Path) -> None:
    flat = {0, 1, 2, 3}
    reward = Lottery(flat)
    run = trainer(tmp_path, reward, attempts=40, steps=3)
    before = [p.clone() for p in run.model.parameters()]
    run.train()
    rows = [json.loads(line) for line in (tmp_path / "curve.jsonl").read_text().splitlines()]
    steps = [r for r in rows if "reward" in r]
    assert len(steps) == 3
    assert all(r["dapo/filled"] == 1 and r["dapo/spread"] > 0 for r in steps)
    assert set(reward.seen) & flat, "the flat prompts were never drawn, so nothing was tested"
    assert any(r["dapo/dropped"] > 0 and r["dapo/sampled"] > 2 for r in steps)
    assert any(not torch.equal(a, b) for a, b in zip(before, run.model.parameters(), strict=True))


@pytest.mark.heavy
def test_sampling_ends_at_the_cap_and_nothing_is_learned_without_signal(tmp_path: Path) -> None:
    reward = Lottery(set(range(99)))
    run = trainer(tmp_path, reward, attempts=5, steps=1)
    before = [p.clone() for p in run.model.parameters()]
    run.train()
    assert len(reward.seen) == 5 * TOY.group
    assert all(torch.equal(a, b) for a, b in zip(before, run.model.parameters(), strict=True))


def test_each_prompt_once_gives_the_numbers_of_separate_rows(tmp_path: Path) -> None:
    run = trainer(tmp_path, Lottery(set()), shared=True)
    plain = trainer(tmp_path, Lottery(set()))
    plain.model.load_state_dict(run.model.state_dict())
    torch.manual_seed(3)
    prompts = [torch.randint(0, 200, (n,)) for n in (7, 4)]
    rows, masks = [], []
    for i in (0, 1, 0, 1):
        length = int(torch.randint(1, 6, ()))
        reply = torch.randint(0, 200, (length,))
        fill, after = 7 - len(prompts[i]), 5 - length
        rows.append(
            torch.cat([torch.zeros(fill).long(), prompts[i], reply, torch.zeros(after).long()])
        )
        masks.append(torch.tensor([0] * fill + [1] * (len(prompts[i]) + length) + [0] * after))
    ids, mask = torch.stack(rows), torch.stack(masks)
    one = run._get_per_token_logps_and_entropies(run.model, ids, mask, 5, compute_entropy=True)
    two = plain._get_per_token_logps_and_entropies(plain.model, ids, mask, 5, compute_entropy=True)
    seen = mask[:, 7:].bool()
    for a, b in zip(one[:2], two[:2], strict=True):
        assert torch.allclose(a[seen], b[seen], atol=1e-4)


def test_replies_from_one_prefill_are_those_of_the_whole_prompt(tmp_path: Path) -> None:
    run = trainer(tmp_path, Lottery(set()), shared=True)
    run.temperature, run.generation_config.do_sample = 0.0, False
    prompt = list(range(20, 60))
    replies = run._continue(run.model, [prompt], 3)
    plain = run.model.generate(
        input_ids=torch.tensor([prompt]), generation_config=run.generation_config
    )
    wanted = plain[0, len(prompt) :].tolist()
    assert replies[0] == replies[1] == replies[2] == wanted[: len(replies[0])]


@pytest.mark.parametrize(("groups", "together"), [(0, [1, 1, 1]), (2, [2, 1]), (9, [3])])
def test_some_prompts_at_a_time_are_sampled_from_in_their_order(
    tmp_path: Path, groups: int, together: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the replies of one prompt together, as TRL takes them."""
    run = trainer(tmp_path, Lottery(set()), shared=True, rollouts=groups * TOY.group)
    asked = []

    def continue_all(_: object, prompts: list[list[int]], count: int) -> list[list[int]]:
        asked.append(len(prompts))
        return [[*prompt, n] for prompt in prompts for n in range(count)]

    monkeypatch.setattr(run, "_continue", continue_all)
    prompts = [[10], [20, 21], [30]]
    given = [prompt for prompt in prompts for _ in range(TOY.group)]
    found, _ = run._generate_single_turn(given, None, {}, TOY.group)
    assert found == [[*prompt, n] for prompt in prompts for n in range(TOY.group)]
    assert asked == together


@pytest.mark.heavy
def test_a_shared_run_takes_steps_and_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    run = trainer(tmp_path, Lottery(set()), shared=True, steps=2)
    run.train()
    drawn = json.loads((tmp_path / "checkpoint-2" / "refill.json").read_text())["drawn"]
    again = trainer(tmp_path, Lottery(set()), shared=True, steps=3)
    again.train(resume_from_checkpoint=True)
    assert again.state.global_step == 3
    assert again._drawn >= drawn


def test_packed_replies_do_not_see_each_other() -> None:
    tokenizer = tiny_tokenizer()
    model = tiny_model(tokenizer).eval()
    prompt, one, two = torch.arange(5), torch.arange(9, 13), torch.arange(30, 33)
    together = packed_logits(model, prompt, [one, two])
    assert torch.allclose(together[len(one) :], packed_logits(model, prompt, [two]), atol=1e-5)


def test_the_reward_reads_what_special_tokens_say() -> None:
    tokenizer, found = tiny_tokenizer(), samples()
    reward = RefinerReward(found, tokenizer)
    ids = [tokenizer(s.answer)["input_ids"] + [tokenizer.eos_token_id] for s in found]
    assert reward(ids, list(range(len(found)))) == [1.0] * len(found)
    glaive = '<functioncall> {"name": "a", "arguments": {}} <|endoftext|>'
    assert (
        decode_reply(tokenizer, tokenizer(glaive)["input_ids"] + [tokenizer.eos_token_id]) == glaive
    )


def test_the_penalty_counts_tokens_as_trls_own_does() -> None:
    from trl.rewards import get_soft_overlong_punishment

    lengths = [[1] * n for n in (0, 64, 65, 80, 96, 97, 200)]
    assert OverlongPenalty(64, 96)(lengths) == get_soft_overlong_punishment(96, 32)(
        completion_ids=lengths
    )
    assert OverlongPenalty(2, 4)([[1], [1, 2, 3], [1] * 9]) == [0, -0.5, -1]
