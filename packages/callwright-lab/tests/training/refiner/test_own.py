"""The base model's own replies as samples."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("trl") is None or find_spec("torch") is None:
    pytest.skip("extra 'train' is not installed", allow_module_level=True)

from callwright_lab.training.refiner import command, store
from callwright_lab.training.refiner.own import (
    OWN,
    build_own_sample,
    build_own_samples,
    select_own_tasks,
)
from callwright_lab.training.refiner.sources import simplify_to_steps
from callwright_lab.training.refiner.task import Sample
from tests.training.refiner_case import (
    TOY,
    nested_tasks,
    samples,
    save_tiny_model,
    tiny_model,
    tiny_tokenizer,
    xlam_tasks,
)

pytestmark = pytest.mark.filterwarnings("ignore")  # of the libraries that train


def test_a_right_reply_is_to_be_left_alone_and_a_wrong_one_to_be_corrected() -> None:
    task, nested = xlam_tasks(1)[0], nested_tasks(1)[0]
    right = build_own_sample(task, Sample(task, "correct", "none", "").answer, "base")
    assert right is not None
    assert (right.kind, right.error, right.by) == ("correct", "none", "base")
    wrong = build_own_sample(task, "I cannot do that.", "base")
    assert wrong is not None
    assert (wrong.kind, wrong.error, wrong.upstream) == ("erroneous", OWN, "I cannot do that.")
    chained = build_own_sample(nested, Sample(nested, "correct", "none", "").answer, "base")
    assert chained is not None
    assert (chained.kind, chained.error) == ("shuffled_full", "none")
    assert build_own_sample(task, " \n", "base") is None


def test_every_task_that_fits_is_asked_in_the_order_given() -> None:
    tokenizer, tasks = tiny_tokenizer(), xlam_tasks(4)
    long = replace(tasks[1], query="far too long " * 400)
    settings = replace(TOY, context=600, rollouts=3)
    given = [tasks[0], long, tasks[2], tasks[3]]
    made = build_own_samples(tiny_model(tokenizer), tokenizer, given, settings, "base")
    found = [sample.task.id for sample in made]
    assert found == [t.id for t in (tasks[0], tasks[2], tasks[3]) if t.id in found]
    assert found
    assert {sample.by for sample in made} == {"base"}


def test_each_task_is_asked_once_and_none_in_the_simplified_format() -> None:
    task = nested_tasks(1)[0]
    steps = Sample(simplify_to_steps(task), "shuffled_simplified", "order", "")
    given = [steps, *samples(), *samples()]
    found = select_own_tasks(given, 99)
    assert len({t.id for t in found}) == len(found)
    assert not any(t.format == "order" for t in found)
    assert select_own_tasks(given, 2) == found[:2]


def test_the_stage_writes_them_beside_the_others(tmp_path: Path) -> None:
    start = save_tiny_model(tmp_path / "start")
    out = tmp_path / "out"
    out.mkdir()
    store.write_samples(out / "data.jsonl", samples())
    asked = ["--preset", "cpu", "--model", start, "--context", "2000", "--longest", "20"]
    asked += ["--free", "10", "--stages", "own", "--out", str(out)]
    assert command.main(asked) == 0
    assert not (out / "own.jsonl").exists(), "none were asked for"
    assert command.main([*asked, "--own", "3"]) == 0
    made = store.read_samples(out / "own.jsonl")
    assert made
    assert all(sample.error == OWN for sample in made)
    before = (out / "own.jsonl").read_bytes()
    assert command.main([*asked, "--own", "4", "--resume"]) == 0
    assert (out / "own.jsonl").read_bytes() == before
