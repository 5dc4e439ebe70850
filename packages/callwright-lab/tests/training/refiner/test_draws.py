"""Replies drawn from a refiner, and what is chosen from them."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("trl") is None or find_spec("torch") is None:
    pytest.skip("extra 'train' is not installed", allow_module_level=True)

from callwright.nouns.errors import ConfigError
from callwright_lab.training.refiner.draws import (
    Drawn,
    append_draws,
    choose_best,
    draw_replies,
    read_draws,
)
from callwright_lab.training.refiner.rewards import overlong_penalty, reward
from callwright_lab.training.refiner.task import Sample
from tests.training.refiner_case import TOY, samples, tiny_model, tiny_tokenizer


def draw_all(some: list[Sample], rollouts: int = 0, seed: int = 0) -> list[list[Drawn]]:
    tokenizer = tiny_tokenizer()
    batches: list[list[Drawn]] = []
    settings = replace(TOY, rollouts=rollouts, seed=seed)
    draw_replies(
        tiny_model(tokenizer), tokenizer, some, settings, lambda new: batches.append(list(new))
    )
    return batches


def test_every_sample_has_its_draws_graded_and_the_same_ones_every_time() -> None:
    some = samples()[:3]
    batches = draw_all(some, rollouts=2 * TOY.group)
    assert [len(batch) for batch in batches] == [2, 1], "as many at a time as the settings say"
    drawn = [one for batch in batches for one in batch]
    assert [one.sample for one in drawn] == some
    assert {len(one.replies) for one in drawn} == {len(one.rewards) for one in drawn} == {TOY.group}
    assert len({text for one in drawn for text in one.replies}) > 6, "they are drawn"
    assert drawn == [one for batch in draw_all(some, 2 * TOY.group) for one in batch]
    assert drawn != [one for batch in draw_all(some, 2 * TOY.group, seed=1) for one in batch]
    for one in drawn:
        s = one.sample
        values = [reward(t, s.upstream, s.task.gold, s.kind, s.format).value for t in one.replies]
        least = overlong_penalty(TOY.longest, TOY.free, TOY.longest)
        for value, told in zip(values, one.rewards, strict=True):
            assert value + least <= told <= value, "what is too long is punished as in DAPO"


@pytest.mark.parametrize(
    ("rewards", "differs", "best"),
    [((0.5, 1.0, 1.0), True, "b"), ((1.0, 1.0, 1.0), False, "a"), ((0.2, 0.9, 0.1), True, None)],
)
def test_prompts_are_chosen_by_their_rewards(
    rewards: tuple[float, ...], differs: bool, best: str | None
) -> None:
    one = Drawn(samples()[0], ("a", "b", "c"), rewards)
    assert one.differs is differs
    assert choose_best([one]) == ([] if best is None else [(one.sample, best)])


def test_draws_come_back_from_their_file(tmp_path: Path) -> None:
    path = tmp_path / "draws.jsonl"
    assert read_draws(path) == []
    drawn = [Drawn(s, ("a", "\n"), (0.25, 1.0)) for s in samples()[:2]]
    append_draws(path, drawn[:1])
    append_draws(path, drawn[1:])
    assert read_draws(path) == drawn
    path.write_text('{"replies": []}\n')
    with pytest.raises(ConfigError, match="stage draws"):
        read_draws(path)
