"""An output is filled in by one question, repaired and checked, and asked about once more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel, field_validator

from callwright.grounding import facts_of
from callwright.grounding.output import Evidence, Output, fill_output, open_output
from callwright.nouns.protocols import ChatRequest, ReplyMode
from callwright.nouns.types import Edit, Reply, ToolCall, ToolResult
from callwright.prompts.run_prompt import RunPrompt
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.testing import ScriptedModel

QUERY = "How many people live in Oslo, and since when?"
RESULTS = (
    ToolResult("r1", "people", {"city": "Oslo"}, {"city": "Oslo", "people": 717710}),
    ToolResult("r2", "age", {"city": "Oslo"}, {"founded": "1040-05-01"}),
)
EVIDENCE = Evidence(facts_of(QUERY, RESULTS), ProvenanceIndex(QUERY, (), RESULTS))


@dataclass
class City:
    city: str
    people: int
    founded: str | None = None


GOOD = {"city": "Oslo", "people": 717710, "founded": "1040-05-01"}


async def fill(
    kind: Any, *replies: Any, mode: ReplyMode = "schema", questions: int = 1
) -> tuple[Output, tuple[Edit, ...], list[ChatRequest]]:
    model = ScriptedModel(list(replies))
    prompt = RunPrompt(QUERY, ("- people(city: string)",), ("r1: people() -> 717710",))
    steps = fill_output(open_output(kind), EVIDENCE, prompt, mode, questions=questions)
    try:
        request = next(steps)
        while True:
            request = steps.send(await model.complete(request))
    except StopIteration as done:
        assert model.exhausted
        output, edits = done.value
        return output, edits, model.requests


async def test_a_right_reply_is_the_output_as_it_is() -> None:
    found, _edits, (asked,) = await fill(City, GOOD)
    assert found == Output(GOOD, City(**GOOD))
    assert asked.purpose == "answer.output"
    assert asked.schema is not None
    assert asked.messages[-1].content.endswith(f"The user asked: {QUERY}")
    assert "people (integer, required)" in asked.messages[-1].content


@pytest.mark.parametrize(
    ("reply", "rules"),
    [
        ('Here it is:\n```json\n{"city": "Oslo", "people": 717710,}\n```', []),
        ({"city": "Oslo", "people": "717710"}, ["text_to_number"]),
        ({"City": "Oslo", "people": 717710}, ["rename_key"]),
        ({"city": "Oslo", "people": 717710, "more": 1}, ["drop_unknown"]),
        ({"name": "Answer", "arguments": {"city": "Oslo", "people": 717710}}, []),
    ],
)
async def test_a_broken_reply_is_repaired_and_its_edits_are_listed(
    reply: Any, rules: list[str]
) -> None:
    found, edits, _ = await fill(City, reply, mode="text")
    assert found.loaded == City("Oslo", 717710)
    assert [edit.rule for edit in edits] == rules


async def test_a_native_call_is_read_too() -> None:
    found, _, (asked,) = await fill(City, ToolCall("1", "Answer", GOOD), mode="native")
    assert found.loaded == City(**GOOD)
    assert [tool.name for tool in asked.tools] == ["Answer"]
    assert asked.tool_choice == "required"


async def test_an_invented_value_of_an_optional_field_is_null() -> None:
    found, edits, requests = await fill(City, {**GOOD, "founded": "1048-01-01"}, questions=0)
    assert found.loaded == City("Oslo", 717710, None)
    assert [(e.path, e.before, e.after, e.rule) for e in edits] == [
        ("/founded", "1048-01-01", None, "answer.withdrawn")
    ]
    assert len(requests) == 1


async def test_the_model_is_asked_once_more_and_told_what_is_wrong() -> None:
    found, edits, (first, again) = await fill(City, {**GOOD, "people": 99}, GOOD)
    assert found.loaded == City(**GOOD)
    told = again.messages[-1].content
    assert "/people: 99 stands in no result" in told
    assert '"people": 99' in told
    assert told.startswith(first.messages[-1].content.partition("All tool executions")[0])
    assert "repair_model" in [edit.rule for edit in edits]


@pytest.mark.parametrize(
    ("replies", "lacking"),
    [
        ([{"city": "Oslo", "people": None}] * 2, "/people: no result states a value"),
        ([{"city": "Oslo"}] * 2, "/people: no result states a value"),
        ([{**GOOD, "people": 99}] * 2, "/people: 99 stands in no result; r1 people is 717,710"),
        (["I do not know."] * 2, "the reply holds no JSON object of the form that was asked for"),
        (
            [{"city": "Oslo", "people": "many"}] * 2,
            "/people: 'people' must be integer, not 'many'.",
        ),
    ],
)
async def test_a_required_field_without_a_value_is_named_and_nothing_is_invented(
    replies: list[Any], lacking: str
) -> None:
    found, _edits, _ = await fill(City, *replies)
    assert (found.value, found.loaded) == (None, None)
    assert found.lacking == (lacking,)


async def test_a_worse_second_reply_does_not_replace_the_first() -> None:
    found, _edits, _ = await fill(City, {**GOOD, "founded": "1048-01-01"}, "No idea", mode="text")
    assert found.loaded == City("Oslo", 717710)
    found, _edits, _ = await fill(
        City, {"city": "Oslo", "people": 99}, {"city": "Rome", "people": 99}
    )
    assert found.lacking == ("/people: 99 stands in no result; r1 people is 717,710",)


async def test_an_invented_member_of_a_list_is_left_out() -> None:
    found, edits, _ = await fill(list[int], {"value": [717710, 5, 6]}, questions=0)
    assert found.loaded == [717710]
    assert [edit.path for edit in edits] == ["/value/1", "/value/2"]
    found, edits, _ = await fill(int, {"value": None}, questions=0)
    assert found.lacking == ("no result states a value",)


class Big(BaseModel):
    people: int

    @field_validator("people")
    @classmethod
    def is_big(cls, people: int) -> int:
        if people < 1_000_000:
            raise ValueError("a big city has a million")
        return people


async def test_a_check_of_the_type_itself_is_a_problem_like_another() -> None:
    found, _, (_, again) = await fill(Big, {"people": 717710}, {"people": 717710})
    assert found.loaded is None
    assert "Big refuses it" in found.lacking[0]
    assert "a big city has a million" in again.messages[-1].content


async def test_a_reply_that_was_cut_off_is_no_output() -> None:
    cut = Reply('{"city": "Oslo", "people": 7177', finish_reason="length")
    found, _edits, _ = await fill(City, cut, questions=0)
    assert found.loaded is None


def test_an_output_has_as_many_tokens_as_it_is_given() -> None:
    prompt = RunPrompt(QUERY, ("- people(city: string)",), ("r1: people() -> 717710",))
    for most in (1_024, 4_096):
        steps = fill_output(open_output(City), EVIDENCE, prompt, "schema", max_tokens=most)
        first = next(steps)
        again = steps.send(Reply("{}"))
        assert first.max_tokens == again.max_tokens == most
    assert next(fill_output(open_output(City), EVIDENCE, prompt, "schema")).max_tokens == 1_024
