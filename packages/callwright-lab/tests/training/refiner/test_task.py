"""Tasks and samples of the refiner."""

from __future__ import annotations

from callwright.nouns.types import ToolCall
from callwright.repair.by_model.guard import Upstream
from callwright.repair.by_model.refiner import build_question
from callwright_lab.training.refiner.data import Recipe, split_recipe
from callwright_lab.training.refiner.formats import Invocation
from callwright_lab.training.refiner.task import Sample, Task, split_held_out
from tests.training.refiner_case import nested_tasks, samples, xlam_tasks


def test_the_papers_prompt_holds_system_query_and_upstream_output() -> None:
    task = nested_tasks()[0]
    system, user = Sample(task, "erroneous", "format", "[BROKEN").messages("paper")
    assert system.content.startswith(
        "Your role is a highly professional tool-calling instruction corrector."
    )
    assert f'tools are: "{task.system}' in user.content
    assert f'query is: "{task.query}"' in user.content
    assert 'another model is: "[BROKEN".' in user.content
    assert user.content.endswith("output only the correct tool-calling instruction.")


def test_in_xlams_format_it_is_the_question_that_the_pipeline_asks() -> None:
    task = xlam_tasks()[0]
    made = tuple(
        ToolCall(f"call_{n}", call.name, call.arguments) for n, call in enumerate(task.gold)
    )
    native = build_question(Upstream("", made, task.tools, task.query))
    trained = Sample(task, "correct", "none", Sample(task, "correct", "none", "").answer)
    assert [m.content for m in trained.messages("paper")] == [
        m.content.strip() for m in native.messages
    ]


def test_the_short_prompt_names_tools_and_format_in_a_line_each() -> None:
    text = Sample(nested_tasks()[0], "correct", "none", "CALLS").messages("short")[1].content
    assert "find_0(word: string) -> item" in text
    assert "Format: <nested_function>[" in text
    assert text.endswith("Call: CALLS")


def test_the_answer_is_gold_in_the_tasks_format_and_read_as_right() -> None:
    for s in samples():
        reading = s.format.read(s.answer)
        assert (reading.right, reading.calls) == (True, s.task.gold)


def test_a_task_is_learned_from_or_measured_on_never_both() -> None:
    found = samples()
    learned, measured = split_held_out(found)
    assert len(learned) + len(measured) == len(found)
    tools = [{c.name for s in part for c in s.task.gold} for part in (learned, measured)]
    combinations = [
        {tuple(sorted({c.name for c in s.task.gold})) for s in part} for part in (learned, measured)
    ]
    assert not combinations[0] & combinations[1]
    assert tools[0]


def test_what_is_measured_on_calls_no_tool_that_is_learned_from() -> None:
    """Sets of tools are on one side of the split each, and two sets may have a tool in common."""
    tasks = [
        Task(f"{n}", "own", "xlam", "", "q", (), (Invocation(first, {}), Invocation(f"t{n}", {})))
        for first in ("shared", "alone")
        for n in range(20)
    ]
    apart = [Task("x", "own", "xlam", "", "q", (), (Invocation(f"u{n}", {}),)) for n in range(20)]
    held = {c.name for t in apart if t.held_out for c in t.gold}
    assert any(t.held_out for t in tasks)
    assert held
    recipe = Recipe(sources=("own",), full=0, simplified=0, held=4)
    (_, learned), (_, measured) = split_recipe(recipe, {"own": [*tasks, *apart]})
    assert {c.name for t in measured["own"] for c in t.gold} == held
    assert len(learned["own"]) == sum(not t.held_out for t in [*tasks, *apart])
    found = [Sample(task, "correct", "none", "") for task in [*tasks, *apart]]
    assert [s.task for s in split_held_out(found)[1]] == measured["own"]
