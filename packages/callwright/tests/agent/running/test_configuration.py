"""A run begins with the profile of its model, and goes on with it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from callwright import Orchestrator
from callwright.agent.journal.store import list_journals
from callwright.agent.options import Persistence
from callwright.models import OpenAIModel
from callwright.nouns.errors import ModelError
from callwright.nouns.model_profile import find_profile
from callwright.testing import FixedPlan, ScriptedModel, fake_source
from tests.agent.running.flow import FOUND, LONG, QUERY, airport, run, said
from tests.served_models import LLAMA, OLLAMA, VLLM, Pages, serving

GONE: Pages = {}


@pytest.mark.parametrize(
    ("pages", "named", "name"),
    [
        (LLAMA, "", "medium"),
        (OLLAMA, "", "medium"),
        (VLLM, "", "large"),
        (GONE, "", "small"),
        (GONE, "large", "large"),
        (VLLM, "small", "small"),
    ],
)
async def test_a_run_has_the_profile_of_what_its_endpoint_states(
    pages: Pages, named: str, name: str
) -> None:
    replies = [json.dumps(FOUND), json.dumps(said("The airport is OSL.", "r1"))]
    asked: list[str] = []
    with serving(pages, replies, asked) as url:
        model = OpenAIModel(url, mode="schema")
        done = await Orchestrator(
            [fake_source(airport(description=LONG))],
            model=model,
            planner=FixedPlan(["find_airport"]),
            model_profile=named,
        ).run(QUERY)
        await model.aclose()
    profile, started = find_profile(name), done.events[0].data
    assert started["model_profile"] == name
    assert started["limits"]["result_chars"] == profile.result_chars
    bind, answer = (json.loads(body) for body in asked)
    assert (bind["max_tokens"], answer["max_tokens"]) == (
        profile.reply_tokens,
        profile.answer_tokens,
    )
    assert (bind["temperature"], answer["temperature"]) == (0.0, 0.0)
    shown = json.dumps(bind["messages"]).count("word")
    assert shown == profile.description_chars // len("word ") - 1  # and an ellipsis
    schema = json.dumps(bind["response_format"])
    assert f'"maxItems": {profile.layer_calls}' in schema


async def test_a_model_that_states_no_size_has_the_smallest_profile() -> None:
    done = await run([airport()], {"bind": FOUND, "answer": said("OSL.", "r1")}, ["find_airport"])
    assert done.events[0].data["model_profile"] == "small"


async def test_a_resumed_run_keeps_the_profile_that_it_began_with(tmp_path: Path) -> None:
    tools = [airport(description=LONG)]
    script = {"bind": FOUND, "answer": [ModelError("gone"), said("The airport is OSL.", "r1")]}
    model = ScriptedModel(script)

    def build(profile: str) -> Orchestrator:
        planner, kept = FixedPlan(["find_airport"]), Persistence(tmp_path)
        source = [fake_source(*tools)]
        return Orchestrator(
            source, model=model, planner=planner, persistence=kept, model_profile=profile
        )

    with pytest.raises(ModelError, match="gone"):
        await build("large").run(QUERY)
    (journal,) = list_journals(tmp_path)
    done = await build("small").resume(journal)
    assert done.events[0].data["model_profile"] == "large"
    assert [request.max_tokens for request in model.requests] == [2_048, 1_600, 1_600]
