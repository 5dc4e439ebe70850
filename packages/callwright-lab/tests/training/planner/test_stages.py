"""The three stages, each driven by hand: what is asked, what is taken, what is sent back, what is
dropped and why.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from callwright.models.dialogue import BlockingModel
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Reply
from callwright.planning.arrows import write_arrows
from callwright_lab.training.planner.drafts import Draft, drawn, from_json, to_json
from callwright_lab.training.planner.stages import (
    Stage,
    generate_plan,
    generate_query,
    generate_workflow,
    next_stage,
    through,
)
from tests.training.plan_case import catalogue, planning_model

DRAFT = drawn(catalogue(), "sft", "medium", 1)


def played(stage: Stage, draft: Draft, *replies: str) -> tuple[Draft, list[ChatRequest]]:
    """The draft that a stage returns after these replies, and every question."""
    dialogue = stage(draft)
    asked = [next(dialogue)]
    for reply in replies:
        try:
            asked.append(dialogue.send(Reply(reply)))
        except StopIteration as done:
            return done.value, asked
    raise AssertionError("the stage asks for more")


def test_a_workflow_is_designed_over_the_tools_that_were_drawn() -> None:
    done, (asked,) = played(
        generate_workflow, DRAFT, '{"goal": "to see a hotel", "DAG": "1->2, 1->3"}'
    )
    assert done.workflow is not None
    assert (write_arrows(done.workflow, DRAFT.tools), done.goal, done.dropped) == (
        "1->2, 1->3",
        "to see a hotel",
        "",
    )
    text = asked.messages[-1].content
    assert all(f"{n}. {t.name}(" in text for n, t in enumerate(DRAFT.tools, 1))
    assert f"Use {DRAFT.wanted - 1} to {DRAFT.wanted} of the tools" in asked.messages[0].content
    assert asked.temperature > 0
    assert (asked.schema or {})["properties"].keys() == {"goal", "DAG"}


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("1->2", "syntax: the reply is not JSON"),
        ('{"DAG": "1->2, 2->1"}', "cycle: these slots wait for each other"),
        ('{"DAG": "1->99"}', "unknown_tool: there is no tool '#99'"),
        ('{"DAG": "1->2, 3->4"}', "disconnected: not all of its tools"),
        ('{"DAG": "1"}', "few: 2 tools are the least, and it uses 1"),
    ],
)
def test_a_workflow_that_cannot_be_used_is_sent_back_once_and_then_dropped_with_its_reason(
    reply: str, why: str
) -> None:
    done, asked = played(generate_workflow, DRAFT, reply, reply)
    assert done.dropped.startswith(f"workflow: {why}")
    assert [m.role for m in asked[1].messages] == ["system", "user", "assistant", "user"]
    assert why in asked[1].messages[-1].content
    repaired, _ = played(generate_workflow, DRAFT, reply, '{"goal": "x", "DAG": "1->2"}')
    assert (repaired.dropped, repaired.workflow is not None) == ("", True)


DESIGNED, _ = played(generate_workflow, DRAFT, '{"goal": "to see a hotel", "DAG": "1->2, 1->3"}')


def test_a_request_is_written_from_the_workflow_and_its_tools_alone() -> None:
    done, (asked,) = played(
        generate_query, DESIGNED, '```json\n{"query": "Show me\\n a hotel."}\n```'
    )
    assert done.query == "Show me a hotel."
    text = asked.messages[-1].content
    assert "to see a hotel" in text
    assert "1->2, 1->3" in text
    assert [t.name in text for t in DRAFT.tools] == [True] * 3 + [False] * (len(DRAFT.tools) - 3)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "syntax: not a JSON object"),
        (f"Call {DRAFT.tools[-1].name} now.", f"leak: it names the tool {DRAFT.tools[-1].name}"),
        ("First step 1, then step 2.", "leak: it speaks of tools (step 1)"),
        ("word " * 400, "long: 1999 characters"),
    ],
)
def test_a_request_that_gives_the_answer_away_is_sent_back_and_then_dropped(
    text: str, why: str
) -> None:
    reply = json.dumps({"query": text})
    done, asked = played(generate_query, DESIGNED, reply, reply)
    assert done.dropped.startswith(f"query: {why}")
    assert len(asked) == 2


def test_the_label_is_solved_from_the_request_alone_without_the_workflow() -> None:
    ready = replace(DESIGNED, query="Show me a hotel.")
    done, (asked,) = played(generate_plan, ready, '{"intent": "a hotel", "DAG": "2->3"}')
    assert done.plan is not None
    assert (write_arrows(done.plan, DRAFT.tools), done.intent, done.finished) == (
        "2->3",
        "a hotel",
        True,
    )
    text = "".join(m.content for m in asked.messages)
    assert "to see a hotel" not in text
    assert "1->2, 1->3\n" not in asked.messages[-1].content
    assert all(t.name in text for t in DRAFT.tools), (
        "tools that the workflow left out are offered too"
    )
    assert asked.temperature == 0
    single, _ = played(generate_plan, ready, '{"intent": "", "DAG": "2"}')
    assert single.plan is not None, "a request may turn out to need one tool"
    apart, _ = played(generate_plan, ready, *['{"intent": "", "DAG": "2, 3"}'] * 2)
    assert apart.dropped.startswith("plan: disconnected")


def test_stages_follow_each_other_and_end_with_a_label_or_a_reason() -> None:
    assert next_stage(DRAFT) is generate_workflow
    assert next_stage(DESIGNED) is generate_query
    assert next_stage(replace(DESIGNED, query="x")) is generate_plan
    assert next_stage(replace(DESIGNED, query="x", plan=DESIGNED.workflow)) is None
    assert next_stage(replace(DRAFT, dropped="workflow: cycle")) is None


def test_a_row_goes_through_all_stages_with_a_blocking_model() -> None:
    scripted = planning_model()
    with BlockingModel(scripted) as model:
        line = through(json.dumps(to_json(DRAFT)), model)
        assert through(line, model) == line, "what is finished is not asked about again"
    done = from_json(json.loads(line))
    assert done.tools == DRAFT.tools
    assert (done.dropped, done.finished, done.by, len(scripted.requests)) == (
        "",
        True,
        "planning",
        3,
    )
    assert done.tokens > 0
    assert all(r.schema for r in scripted.requests)


def test_a_model_that_decodes_by_no_schema_is_given_none() -> None:
    replies = iter(
        ['{"goal": "", "DAG": "1->2"}', '{"query": "Show me."}', '{"intent": "", "DAG": "1->2"}']
    )
    scripted = planning_model(lambda _: next(replies), schemas=False)
    with BlockingModel(scripted) as model:
        assert from_json(json.loads(through(json.dumps(to_json(DRAFT)), model))).finished
    assert [r.schema for r in scripted.requests] == [None] * 3
