"""A search that gives a branch up and takes another: which ones, at what cost, and what of them may
be seen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright import Limits, Orchestrator, Run
from callwright.agent.journal.resume import find_journal
from callwright.agent.journal.store import Journal, read_journal
from callwright.agent.options import Interaction, Persistence, Safety
from callwright.agent.step import StepContext, Steps
from callwright.agent.strategies.dfsdt import NO_SANDBOX
from callwright.agent.strategies.strategy import Stepwise
from callwright.nouns.protocols import Capabilities, ChatRequest
from callwright.nouns.types import READ_LOCAL, UNKNOWN, WRITE, ToolCall
from callwright.testing import FakeTool, ScriptedModel, fake_source

TEXT = {"type": "string"}
QUERY = "How many people live in alpha, beta or gamma?"
WORDS = ("alpha", "beta", "gamma")
END = {"thought": "done", "action": {"tool": "finish", "reason": "done"}}
BACK = {"thought": "no", "action": {"tool": "give_up_and_restart", "reason": "a dead end"}}
SAID = {"statements": [{"text": "It is done.", "results": []}], "missing": []}


def step(name: str, **arguments: Any) -> dict[str, Any]:
    return {"thought": "next", "action": {"tool": name, "arguments": arguments}}


def look(**more: Any) -> FakeTool:
    def found(q: str) -> Any:
        return {"people": f"as many as {q}-people"}

    return FakeTool("look", {"q": TEXT}, **{"output": found, "effects": READ_LOCAL, **more})


def note(**more: Any) -> FakeTool:
    return FakeTool("note", {"text": TEXT}, **{"output": {"noted": True}, "effects": WRITE, **more})


def steps(*ways: dict[str, Any]) -> ScriptedModel:
    return ScriptedModel({"bind": list(ways), "*": SAID})


async def search(model: ScriptedModel, *tools: FakeTool, **options: Any) -> Run:
    return await Orchestrator([fake_source(*tools)], model=model, strategy="dfsdt", **options).run(
        QUERY
    )


def asked(model: ScriptedModel) -> list[str]:
    return [r.messages[-1].content for r in model.requests if r.purpose == "bind"]


def notes(run: Run) -> str:
    return "\n".join(e.data["text"] for e in run.events if e.kind == "note")


async def test_giving_up_takes_the_step_before_anew_and_the_answer_knows_the_new_branch_only() -> (
    None
):
    tool, model = look(), steps(step("look", q="alpha"), BACK, step("look", q="beta"), END)
    done = await search(model, tool)
    assert tool.calls == [{"q": "alpha"}, {"q": "beta"}]
    assert [r.arguments["q"] for r in done.results] == ["beta"]
    assert [slot.tool for slot in done.plan.slots] == ["look"]
    final = next(r for r in model.requests if r.purpose == "answer").messages[-1].content
    assert "beta-people" in final
    assert "alpha-people" not in final
    assert "the model gave up" in notes(done)


async def test_nothing_that_a_dead_branch_returned_is_shown_later_or_counts_as_seen() -> None:
    way = [step("look", q="alpha"), BACK, step("look", q="beta"), END]
    model = steps(*way)
    await search(model, look())
    assert "alpha-people" in asked(model)[1]
    assert not any("alpha-people" in question for question in asked(model)[2:])

    hidden = FakeTool("hidden", {"q": TEXT}, output={"id": "K7Q9"}, effects=READ_LOCAL)
    use = FakeTool("use", {"record_id": TEXT}, output={"people": 7}, effects=READ_LOCAL)
    model = ScriptedModel(
        {
            "bind": [step("hidden", q="alpha"), BACK, step("use", record_id="K7Q9"), END],
            "*": {"record_id": "K7Q9"},
        }
    )
    await search(model, hidden, use, limits=Limits(repairs=0))
    assert use.calls == [], "an identifier that only a dead branch returned was made up"


async def test_what_was_superseded_on_a_dead_branch_counts_again_on_the_next() -> None:
    class GoesBack(Stepwise):
        name = "goes-back"

        def steps(self, context: StepContext) -> Steps[None]:
            facts = context.facts
            (first,) = yield from context.step(ToolCall("", "look", {"q": "alpha"}), 1, {"look"})
            here = facts.mark()
            (second,) = yield from context.step(ToolCall("", "look", {"q": "beta"}), 2, {"look"})
            facts.supersede([first.id], second.id, "it says better", [first.id])
            assert facts.results == (second,)
            facts.rewind(here)
            assert facts.results == (first,)

    done = await Orchestrator([fake_source(look())], model=steps(), strategy=GoesBack()).run(QUERY)
    assert [r.arguments["q"] for r in done.results] == ["alpha"]
    assert done.stale == ()
    assert done.answer.missing == ()


async def test_the_second_child_is_shown_the_first_and_how_it_ended() -> None:
    model = steps(step("look", q="alpha"), BACK, step("look", q="beta"), END)
    await search(model, look())
    first, _, second, third = asked(model)
    assert "must differ" not in first
    assert 'look({"q":"alpha"}): ' in second
    assert "must differ" in second
    assert "must differ" not in third, "what was tried at another point is not shown"


async def test_the_same_step_is_not_taken_twice_from_one_point() -> None:
    tool = look()
    model = steps(step("look", q="alpha"), BACK, step("look", q="alpha"))
    done = await search(model, tool)
    assert tool.calls == [{"q": "alpha"}]
    assert "it was tried here before" in notes(done)


async def test_a_call_that_was_made_on_this_branch_ends_it_and_may_be_made_on_another() -> None:
    tool = look()
    model = steps(step("look", q="alpha"), step("look", q="alpha"), step("look", q="beta"), END)
    done = await search(model, tool)
    assert [r.arguments["q"] for r in done.results] == ["alpha", "beta"]
    assert "was already made" in notes(done)


async def test_no_point_has_more_than_two_children() -> None:
    model = ScriptedModel({"bind": step("nothing"), "repair": {}, "answer": SAID})
    done = await search(model, look(), limits=Limits(repairs=0))
    assert len(asked(model)) == 2
    assert done.status == "abstained"


async def test_a_refusal_is_an_observation_once_and_ends_the_branch_when_it_comes_again() -> None:
    tool = look()
    model = steps(step("look"), step("look", q="alpha"), END)
    done = await search(model, tool, limits=Limits(repairs=0))
    assert "not executed: look: " in asked(model)[1]
    assert "must differ" not in asked(model)[1]
    assert [r.arguments["q"] for r in done.results] == ["alpha"]

    model = steps(step("look"), step("look"), step("look", q="alpha"), END)
    done = await search(model, look(), limits=Limits(repairs=0))
    assert "must differ" in asked(model)[2]
    assert "this branch ends: look({})" in notes(done)


async def test_all_branches_of_a_small_world_are_taken_depth_first() -> None:
    def answers(request: ChatRequest) -> Any:
        if request.purpose != "bind":
            return SAID
        text = request.messages[-1].content
        results, _, tried = text.partition("Results so far:")[2].partition("You stood")
        known = [w for w in WORDS if f'"{w}"' in results]
        free = [w for w in WORDS if w not in known and f'"{w}"' not in tried]
        return step("look", q=free[0]) if free else step("look", q=known[0])

    tool, model = look(), ScriptedModel(answers)
    await search(model, tool, limits=Limits(turns=2))
    assert ["".join(c["q"][0] for c in tool.calls)] == ["abgbag"]


async def test_the_first_answer_ends_the_search() -> None:
    model = steps(step("look", q="alpha"), END, step("look", q="beta"))
    done = await search(model, look())
    assert [r.arguments["q"] for r in done.results] == ["alpha"]
    assert not model.exhausted


async def test_giving_up_before_any_step_ends_the_search_as_in_toolbench() -> None:
    model = steps(BACK, step("look", q="alpha"))
    done = await search(model, look())
    assert done.results == ()
    assert done.status == "abstained"


async def test_calls_and_tokens_of_dead_branchs_count() -> None:
    straight = await search(steps(step("look", q="beta"), END), look())
    round_about = await search(
        steps(step("look", q="alpha"), BACK, step("look", q="beta"), END), look()
    )
    assert (straight.cost.calls, round_about.cost.calls) == (1, 2)
    assert round_about.cost.model_calls == straight.cost.model_calls + 2
    assert round_about.cost.usage.prompt_tokens > 1.5 * straight.cost.usage.prompt_tokens
    assert [e.data["arguments"]["q"] for e in round_about.events if e.kind == "result"] == [
        "alpha",
        "beta",
    ]


async def test_where_no_branch_is_finished_the_one_that_found_most_is_answered_from() -> None:
    ways = [
        step("look", q="alpha"),
        step("look", q="beta"),
        BACK,
        BACK,
        step("look", q="gamma"),
        BACK,
    ]
    done = await search(steps(*ways), look())
    assert [r.arguments["q"] for r in done.results] == ["alpha", "beta"]
    assert "the one that found most" in notes(done)


async def test_at_the_limit_of_model_calls_the_answer_is_made_from_what_was_found() -> None:
    model = steps(
        step("look", q="alpha"), step("look", q="beta"), BACK, BACK, step("look", q="gamma"), END
    )
    done = await search(model, look(), limits=Limits(model_calls=6))
    assert done.limit == "model_calls"
    assert done.cost.model_calls == 6
    assert [r.arguments["q"] for r in done.results] == ["alpha", "beta"]


@pytest.mark.parametrize("effects", [WRITE, UNKNOWN])
async def test_outside_a_sandbox_a_branch_that_may_write_is_refused_and_logged(
    effects: Any,
) -> None:
    writes = note(effects=effects)
    model = steps(step("note", text="alpha"), step("look", q="alpha"), END)
    done = await search(model, look(), writes, safety=Safety(allow=("*",)))
    assert writes.calls == []
    assert [r.tool for r in done.results] == ["look"]
    [skip] = [e.data for e in done.events if e.kind == "skip"]
    assert (skip["tool"], skip["reason"]) == ("note", NO_SANDBOX)
    assert "only in a sandbox" in asked(model)[1]
    assert "only in a sandbox" in " ".join(done.answer.missing), "whatever the model says"


async def test_a_write_under_a_misspelt_name_does_not_leave_either() -> None:
    writes = note()
    model = ScriptedModel(
        {"bind": [step("Note", text="alpha"), END], "repair": {"text": "alpha"}, "answer": SAID}
    )
    await search(model, look(), writes)
    assert writes.calls == []


async def test_in_a_sandbox_writes_are_made_on_every_branch() -> None:
    writes = note()
    model = steps(step("note", text="alpha"), BACK, step("note", text="beta"), END)
    done = await search(model, look(), writes, safety=Safety(sandbox=True))
    assert writes.calls == [{"text": "alpha"}, {"text": "beta"}]
    assert [r.arguments["text"] for r in done.results] == ["beta"]


async def test_a_sandbox_gives_no_leave() -> None:
    writes = note(effects=UNKNOWN)
    writes.tool = type(writes.tool)(**{**_fields(writes.tool), "trusted": False})
    done = await search(
        steps(step("note", text="alpha"), END),
        look(),
        writes,
        safety=Safety(lambda proposal: False, sandbox=True),
    )
    assert writes.calls == []
    assert any("not allowed" in e.data["reason"] for e in done.events if e.kind == "skip")


def _fields(tool: Any) -> dict[str, Any]:
    return {name: getattr(tool, name) for name in tool.__dataclass_fields__}


PLAIN = (
    'Thought: look.\nAction: look\nAction Input: {"q": "alpha"}',
    'Thought: no.\nAction: Finish\nAction Input: {"return_type": "give_up_and_restart"}',
    'Thought: look.\nAction: look\nAction Input: {"q": "beta"}',
    'Thought: done.\nAction: Finish\nAction Input: {"reason": "done"}',
)


@pytest.mark.parametrize(
    ("mode", "gives_up"),
    [("text", PLAIN[1]), ("text", "I give up and restart."), ("native", "Give up: no")],
)
async def test_without_constrained_decoding_it_gives_up_in_its_own_words(
    mode: Any, gives_up: str
) -> None:
    model = ScriptedModel(
        {"bind": [PLAIN[0], gives_up, *PLAIN[2:]], "*": "It is done."}, capabilities=Capabilities()
    )
    tool = look()
    done = await search(model, tool, interaction=Interaction(mode=mode))
    assert tool.calls == [{"q": "alpha"}, {"q": "beta"}]
    assert [r.arguments["q"] for r in done.results] == ["beta"]


class Killed(BaseException):
    """The end of the process, as far as this process can stage it."""


def player(request: ChatRequest) -> Any:
    """A model that answers by what it is shown: alpha, note, give up; then beta, note, end."""
    if request.purpose != "bind":
        return SAID
    text = request.messages[-1].content
    results, _, tried = text.partition("Results so far:")[2].partition("You stood")
    if "look(" not in results:
        return step("look", q="beta" if "alpha" in tried else "alpha")
    if "note(" not in results:
        return step("note", text="alpha" if '"alpha"' in results else "beta")
    return BACK if '"alpha"' in results and "beta" not in tried else END


def recorded(folder: Path, tools: Callable[[], list[FakeTool]], model: Any) -> Orchestrator:
    return Orchestrator(
        [fake_source(*tools())],
        model=model,
        strategy="dfsdt",
        persistence=Persistence(journal=folder),
        safety=Safety(sandbox=True),
        limits=Limits(turns=6),
    )


@settings(max_examples=20)
@given(data=st.data())
def test_wherever_a_search_was_killed_it_goes_on_in_the_same_tree(
    data: st.DataObject, tmp_path_factory: Any
) -> None:
    folder = tmp_path_factory.mktemp("runs")
    written: list[str] = []

    def tools() -> list[FakeTool]:
        def keep(text: str) -> Any:
            written.append(text)
            return {"noted": True}

        return [look(), note(output=keep)]

    whole = asyncio.run(recorded(folder, tools, ScriptedModel(player)).run(QUERY))
    assert whole.cost.calls > len(whole.results) > 0, "a branch was given up"
    first = list(written)
    _, events = read_journal(find_journal(whole.id, folder), every=True)
    kept = data.draw(st.integers(1, len(events)))
    before = [e.data for e in events[:kept]]
    intents = {e.data["id"] for e in events[:kept] if e.kind == "intent"}
    results = {e.data["id"] for e in events[:kept] if e.kind == "result"}
    if intents - results:
        return  # a write in doubt: packages/callwright/tests/agent/journal/test_resume.py
    assert before
    with Journal.create(folder / "cut") as copy:
        for event in events[:kept]:
            copy(event)
    part = copy.path.rename(folder / "cut" / f"{whole.id}.run")
    written[:] = first[: len(intents)]
    orchestrator = Orchestrator(
        [fake_source(*tools())],
        model=ScriptedModel(player),
        strategy="dfsdt",
        persistence=Persistence(journal=folder / "cut"),
    )  # not told again that it is a sandbox: the run was
    done = asyncio.run(orchestrator.resume(part))
    assert written == first
    assert (done.answer, done.skips) == (whole.answer, whole.skips)
    assert [(r.id, r.arguments, r.content) for r in done.results] == [
        (r.id, r.arguments, r.content) for r in whole.results
    ]
    assert (done.cost.calls, done.cost.usage) == (whole.cost.calls, whole.cost.usage)
