"""The judges' questions: what is asked, what is decided without asking, and what no reply can
decide.
"""

from __future__ import annotations

from typing import Any

import pytest

from callwright.models.dialogue import run_dialogue
from callwright.testing import ScriptedModel
from callwright_lab.benchmarks.judge.questions import (
    FIRST,
    SECOND,
    TIE,
    JudgeVerdict,
    Judging,
    Way,
    ask_better_run,
    ask_pass,
    ask_recovery,
    ask_solvable_pass,
    ask_winner,
)
from tests.benchmarks.trajectory_case import WEATHER, run, step


async def ask(judging: Judging, *lines: Any) -> tuple[JudgeVerdict, ScriptedModel]:
    model = ScriptedModel(list(lines))
    verdict = await run_dialogue(judging, model.complete)
    assert model.exhausted
    return verdict, model


@pytest.mark.parametrize(
    "gave_up", [run(None), run("  "), run("No idea.", given_up=True), run("give_up_and_restart")]
)
async def test_no_answer_is_unsolved_without_a_question(gave_up: Any) -> None:
    verdict, model = await ask(ask_solvable_pass(gave_up))
    assert (verdict.value, verdict.asked, model.requests) == ("Unsolved", False, [])


async def test_a_sure_verdict_on_the_answer_alone_is_the_verdict() -> None:
    verdict, model = await ask(
        ask_solvable_pass(run()), {"content": "it says so", "answer_status": "Solved"}
    )
    assert (verdict.value, verdict.reason) == ("Solved", "it says so")
    assert "rain" in model.requests[0].messages[-1].content
    assert "call: weather" not in model.requests[0].messages[-1].content


async def test_an_unsure_judge_is_shown_what_was_done() -> None:
    lines = [
        {"content": "", "answer_status": "Unsure"},
        {"content": "", "answer_status": "Unsolved"},
    ]
    verdict, model = await ask(ask_solvable_pass(run()), *lines)
    assert verdict.value == "Unsolved"
    assert "call: weather" in model.requests[1].messages[-1].content


async def test_the_pass_rate_of_table_5_sees_answer_and_chain_at_once() -> None:
    verdict, model = await ask(ask_pass(run()), {"content": "", "answer_status": "Pass"})
    assert verdict.value == "Pass"
    shown = model.requests[0].messages[-1].content
    assert "It rains in Oslo." in shown
    assert 'result: {"sky":"rain"}' in shown


async def test_the_reply_is_held_to_a_schema_that_asks_for_the_reason_first() -> None:
    _, model = await ask(ask_pass(run()), {"content": "", "answer_status": "Fail"})
    schema = model.requests[0].schema
    assert schema is not None
    assert list(schema["properties"]) == ["content", "answer_status"]
    assert schema["properties"]["answer_status"] == {"enum": ["Pass", "Fail", "Unsure"]}


async def test_a_model_that_cannot_be_held_is_read_all_the_same() -> None:
    loose = 'Sure!\n```json\n{"content": "fine", "answer_status": "pass"}\n```'
    verdict, model = await ask(ask_pass(run(), Way(constrained=False)), loose)
    assert verdict.value == "Pass"
    assert model.requests[0].schema is None


async def test_what_cannot_be_read_is_asked_again_and_then_no_verdict() -> None:
    verdict, model = await ask(ask_pass(run()), "Pass, I would say", {"answer_status": "perhaps"})
    assert verdict.value == ""
    assert model.requests[0].seed != model.requests[1].seed


async def test_repetitions_have_seeds_of_their_own() -> None:
    seeds = set()
    for seed in range(3):
        _, model = await ask(
            ask_pass(run(), Way(seed, 0.7)), {"content": "", "answer_status": "Pass"}
        )
        seeds.add(model.requests[0].seed)
        assert model.requests[0].temperature == 0.7
    assert len(seeds) == 3


async def test_the_better_one_is_named_by_its_place() -> None:
    one, other = run("It rains."), run("No idea.")
    verdict, model = await ask(ask_better_run(one, other), {"content": "", "index": 1})
    assert verdict.value == SECOND
    assert "after 1 steps" in model.requests[0].messages[-1].content
    verdict, _ = await ask(ask_winner(one, other), {"content": "", "better_answer_index": "0"})
    assert verdict.value == FIRST


async def test_the_same_run_twice_is_a_tie_without_a_question() -> None:
    verdict, model = await ask(ask_better_run(run(), run()))
    assert (verdict.value, model.requests) == (TIE, [])


async def test_recognition_and_correction_are_two_verdicts() -> None:
    wrong = step("r1", {"town": "Oslo"}, error="unknown parameter town")
    after = run("It rains.", step("r2", {"city": "Oslo"}, {"sky": "rain"}))
    said = {"content": "", "error_recognition": "Pass", "error_correction": "Pass"}
    verdict, model = await ask(ask_recovery(after.query, (WEATHER,), (), wrong, after), said)
    assert (verdict.value, verdict.more) == ("Pass", "Pass")
    shown = model.requests[0].messages[-1].content
    assert shown.index("unknown parameter town") < shown.index('"sky":"rain"')


async def test_without_recognition_there_is_no_correction() -> None:
    said = {"content": "", "error_recognition": "Fail", "error_correction": "Pass"}
    verdict, _ = await ask(
        ask_recovery("q", (WEATHER,), (), step("r1", {}, error="no"), run()), said
    )
    assert (verdict.value, verdict.more) == ("Fail", "Fail")
