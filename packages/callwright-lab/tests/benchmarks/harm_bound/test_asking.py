"""Answers that are kept: asked once, and only for their own question."""

from __future__ import annotations

from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError, ModelError
from callwright.nouns.protocols import ChatModel
from callwright.nouns.types import Reply, ToolCall
from callwright.repair.by_model.refiner_settings import RefinerSettings
from callwright.testing import ScriptedModel
from callwright_lab.benchmarks.harm_bound.asking import AskedAnswers, MadeAnswers
from callwright_lab.benchmarks.harm_bound.proposals import Seen, see_right, see_spoiled, write_reply
from callwright_lab.parallel import SharedModel
from tests.benchmarks.harm_bound.test_proposals import make_case
from tests.test_parallel import Together

SEEN = [see_right(make_case(n)) for n in range(3)]
SETTINGS = RefinerSettings("short", refiner="mine", upstream="theirs")


def asked(
    path: Path, model: ChatModel, settings: RefinerSettings = SETTINGS, jobs: int = 1
) -> list[Reply]:
    with SharedModel(model) as shared:
        answers = AskedAnswers(path, settings, shared, jobs)
        return [reply for _, reply in answers.iter_answers(SEEN)]


def test_answers_are_asked_once_with_their_likelihoods(tmp_path: Path) -> None:
    path = tmp_path / "kept" / "replies.jsonl"
    replies = [
        Reply("a", logprobs=(-0.5, -1.0)),
        Reply("", (ToolCall("c", "tool_1", {"city": "Town1"}),)),
        Reply("b", finish_reason="length"),
    ]
    model = ScriptedModel(replies)
    first = asked(path, model)
    assert [(r.text, r.logprobs, r.finish_reason) for r in first] == [
        ("a", (-0.5, -1.0), "stop"), ("", (), "stop"), ("b", (), "length"),
    ]  # fmt: skip
    assert first[1].tool_calls == replies[1].tool_calls
    assert all(request.logprobs and request.max_tokens == 768 for request in model.requests)
    assert asked(path, ScriptedModel([])) == first


def test_an_answer_that_was_not_finished_is_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    asked(path, ScriptedModel(["a", "b", "c"]))
    path.write_text(path.read_text(encoding="utf-8")[:-20], encoding="utf-8")
    assert [r.text for r in asked(path, ScriptedModel(["d"]))] == ["a", "b", "d"]
    assert [r.text for r in asked(path, ScriptedModel([]))] == ["a", "b", "d"]


def test_several_are_asked_at_a_time_and_each_once(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    with SharedModel(Together(3)) as shared:
        answers = AskedAnswers(path, SETTINGS, shared, 3)
        found = list(answers.iter_answers([*SEEN, *SEEN]))
    assert [one for one, _ in found] == [*SEEN, *SEEN]
    assert len({reply.text for _, reply in found}) == 1
    assert len(path.read_text(encoding="utf-8").splitlines()) == 3
    assert asked(path, ScriptedModel([])) == [reply for _, reply in found[:3]]


def test_answers_before_one_that_fails_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    with pytest.raises(ModelError, match="busy"):
        asked(path, ScriptedModel(["a", ModelError("busy")]))
    assert [r.text for r in asked(path, ScriptedModel(["b", "c"]))] == ["a", "b", "c"]


def test_another_refiner_and_another_length_are_asked_anew(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    asked(path, ScriptedModel(["a", "b", "c"]))
    for settings in (
        RefinerSettings("short", refiner="other", upstream="theirs"),
        RefinerSettings("short", 4096, "mine", "theirs"),
        RefinerSettings("paper", refiner="mine", upstream="theirs"),
    ):
        assert [r.text for r in asked(path, ScriptedModel(["x", "y", "z"]), settings)] == [*"xyz"]


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_text('{"key": "k"}\n', encoding="utf-8")
    with pytest.raises(ConfigError, match=r"line 1 of .* is not a kept answer"):
        asked(path, ScriptedModel([]))


def test_answers_without_a_model_spoil_some_right_calls_and_repair_the_spoiled() -> None:
    right = [see_right(make_case(n)) for n in range(60)]
    spoiled = [one for n in range(20) if (one := see_spoiled(make_case(n))) is not None]
    made: list[tuple[Seen, Reply]] = list(MadeAnswers().iter_answers([*right, *spoiled]))
    kept = sum(reply == write_reply(one.gold) for one, reply in made[:60])
    assert 40 < kept < 60
    assert all(reply == write_reply(one.gold) for one, reply in made[60:])
