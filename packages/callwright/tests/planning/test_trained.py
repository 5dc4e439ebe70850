"""A planner that is a language model: asked once, in a loop of its own, its plan sound or
refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from callwright import Orchestrator
from callwright.nouns.errors import ModelError, PlanError
from callwright.nouns.protocols import Capabilities
from callwright.nouns.types import Tool
from callwright.planning import open_planner
from callwright.planning.trained import TrainedPlanner
from callwright.testing import FakeTool, ScriptedModel, fake_source

TOOLS = [Tool("find"), Tool("look"), Tool("pay")]


@pytest.fixture
def planners() -> Iterator[list[TrainedPlanner]]:
    made: list[TrainedPlanner] = []
    yield made
    for planner in made:
        planner.close()


def planner(made: list[TrainedPlanner], *lines: object, schemas: bool = True) -> TrainedPlanner:
    model = ScriptedModel(list(lines), name="small", capabilities=Capabilities(json_schema=schemas))  # type: ignore[arg-type]
    made.append(TrainedPlanner(model))
    return made[-1]


def test_the_plan_holds_the_tools_that_the_model_chose(planners: list[TrainedPlanner]) -> None:
    one = planner(planners, {"DAG": "1->3"})
    plan = one.plan("Pay for it.", TOOLS)
    assert ([s.tool for s in plan.slots], plan.edges, one.name) == (
        ["find", "pay"],
        (("find", "pay"),),
        "small",
    )
    (asked,) = one.model.requests  # type: ignore[attr-defined]
    assert asked.schema
    assert asked.messages[-1].content.endswith("Request: Pay for it.")


def test_a_model_that_decodes_by_no_schema_is_given_none(planners: list[TrainedPlanner]) -> None:
    one = planner(planners, '<think>\n\n</think>\n\n{"DAG": "2"}', schemas=False)
    assert [s.tool for s in one.plan("q", TOOLS).slots] == ["look"]
    assert one.model.requests[0].schema is None  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("Sure!", "wrote no plan: the reply is not JSON"),
        ('{"DAG": "1->2, 2->1"}', "wait for each other"),
        ('{"DAG": "9"}', "no tool '#9'"),
    ],
)
def test_a_reply_without_a_plan_that_can_run_is_an_error(
    planners: list[TrainedPlanner], reply: str, said: str
) -> None:
    with pytest.raises(PlanError, match=said):
        planner(planners, reply).plan("q", TOOLS)


def test_what_the_model_raises_comes_through(planners: list[TrainedPlanner]) -> None:
    with pytest.raises(ModelError, match="died"):
        planner(planners, ModelError("the endpoint died")).plan("q", TOOLS)


async def test_it_can_be_asked_while_a_loop_runs_and_by_several_threads(
    planners: list[TrainedPlanner],
) -> None:
    one = planner(planners, *[{"DAG": "1->2"}] * 9)
    assert len(one.plan("q", TOOLS).slots) == 2
    with ThreadPoolExecutor(4) as pool:
        assert {p.edges for p in pool.map(lambda _: one.plan("q", TOOLS), range(8))} == {
            (("find", "look"),)
        }


def test_a_model_may_be_asked_for_steps_and_is_told_what_cannot_run(
    planners: list[TrainedPlanner],
) -> None:
    wrong = {
        "steps": [
            {"step": 1, "tool": "find", "after": [2]},
            {"step": 2, "tool": "pay", "after": [1]},
        ]
    }
    right = {
        "steps": [
            {"step": 1, "tool": "find", "after": []},
            {"step": 2, "tool": "pay", "after": [1]},
        ]
    }
    model = ScriptedModel([wrong, right], name="small")
    planners.append(TrainedPlanner(model, "steps"))
    plan = planners[0].plan("Pay for it.", TOOLS)
    assert (plan.edges, planners[0].name) == ((("find", "pay"),), "dag:small")
    assert len(model.requests) == 2


@pytest.mark.parametrize(("spec", "name"), [("", "planner"), ("dag:", "dag:")])
def test_a_models_address_is_a_planner(spec: str, name: str) -> None:
    one = open_planner(f"{spec}http://127.0.0.1:9/v1#planner")
    assert isinstance(one, TrainedPlanner)
    assert name in one.name
    one.close()


def test_a_run_names_its_planner_so_that_a_resume_opens_the_same() -> None:
    """It named the model of it alone, which no resume could open."""
    spec = "dag:http://127.0.0.1:9/v1#small"
    planner = open_planner(spec)
    assert isinstance(planner, TrainedPlanner)
    try:
        setup = Orchestrator(
            [fake_source(FakeTool("find", {}))], model=ScriptedModel([]), planner=planner
        )
        assert (planner.name, setup._specification()["planner"]) == ("dag:small", spec)
    finally:
        planner.close()
