"""The base model's own replies as samples."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("trl") is None or find_spec("torch") is None:
    pytest.skip("extra 'train' is not installed", allow_module_level=True)

from callwright.nouns.errors import ModelError
from callwright.nouns.protocols import Capabilities, ChatRequest, Watcher
from callwright.nouns.types import Reply
from callwright_lab.training.refiner import command, store
from callwright_lab.training.refiner.own import (
    OWN,
    ask_own_samples,
    build_own_sample,
    build_own_samples,
    select_own_tasks,
)
from callwright_lab.training.refiner.sources import simplify_to_steps
from callwright_lab.training.refiner.task import Sample, Task, split_held_out
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


class Upstream:
    """An endpoint that hands calls over to one task, writes text to another, and is busy once."""

    name = "upstream"

    def __init__(self, tasks: list[Task]) -> None:
        self.tasks, self.asked, self.busy = {t.query: t for t in tasks}, [], {tasks[-1].id}

    async def capabilities(self) -> Capabilities:
        return Capabilities(native_tools=True)

    async def complete(self, request: ChatRequest, watch: Watcher | None = None) -> Reply:
        task = self.tasks[request.messages[-1].content]
        self.asked.append((task.id, [m.role for m in request.messages], request.tools))
        if task.id in self.busy:
            self.busy.clear()
            raise ModelError("busy", retryable=True)
        if len(self.asked) % 2:
            return Reply("", task.calls)
        return Reply("I cannot do that.", ())

    async def aclose(self) -> None:
        return None


def test_an_endpoint_is_asked_with_the_tools_and_its_calls_are_shown_as_the_pipeline_does() -> None:
    conventional, nested = xlam_tasks(3), nested_tasks(1)
    tasks = [*conventional[:2], *nested, conventional[2]]
    upstream, made = Upstream(tasks), []
    assert asyncio.run(ask_own_samples(upstream, tasks, 64, made.append)) == 2
    assert [tools for _, _, tools in upstream.asked] == [
        *(t.tools for t in conventional[:2]), (), conventional[2].tools,
    ]  # fmt: skip
    assert upstream.asked[2][1] == ["system", "user"]
    right = Sample(tasks[0], "correct", "none", "").answer
    assert [(s.kind, s.upstream) for s in made] == [
        ("correct", right),
        ("erroneous", "I cannot do that."),
    ]
    assert {s.by for s in made} == {"upstream"}


def test_an_ended_run_asks_only_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = [s for s in samples() if s.task.format == "xlam"]
    store.write_samples(tmp_path / "data.jsonl", given)
    tasks = select_own_tasks(split_held_out(given)[0], 99)
    upstream = Upstream(tasks)
    upstream.busy = {tasks[0].id}
    monkeypatch.setattr(command, "open_model", lambda *_: upstream)
    asked = ["--preset", "cpu", "--stages", "own", "--own", "99", "--own-model", "any"]
    asked += ["--out", str(tmp_path)]
    assert command.main(asked) == 0
    first = len(upstream.asked)
    assert command.main(asked) == 0
    assert next(id for id, _, _ in upstream.asked[first:]) == tasks[0].id, "only the busy ones"
    assert len(upstream.asked) < 2 * first
    found = store.read_samples(tmp_path / "own.jsonl")
    assert len({s.task.id for s in found}) == len(found)
    assert tasks[0].id in {s.task.id for s in found}


@pytest.mark.parametrize("is_retryable", [True, False])
def test_a_dead_endpoint_ends_the_stage_and_leaves_it_unfinished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_retryable: bool
) -> None:
    class Dead(Upstream):
        async def complete(self, request: ChatRequest, watch: Watcher | None = None) -> Reply:
            raise ModelError("cannot connect", retryable=is_retryable)

    given = [s for s in samples() if s.task.format == "xlam"]
    store.write_samples(tmp_path / "data.jsonl", given)
    monkeypatch.setattr(command, "open_model", lambda *_: Dead([s.task for s in given]))
    asked = ["--preset", "cpu", "--stages", "own", "--own", "9", "--own-model", "any"]
    with pytest.raises(ModelError, match="cannot connect"):
        command.main([*asked, "--out", str(tmp_path)])
    assert not (tmp_path / "own.jsonl").exists()
