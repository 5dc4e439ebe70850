"""LLMCompiler's way: steps are on their way while the plan is being written, then it is judged what
came.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright import Limits, Orchestrator, Run
from callwright.agent.journal.resume import find_journal
from callwright.agent.journal.store import Journal, list_journals, read_journal
from callwright.agent.options import Persistence, Safety
from callwright.nouns.errors import JournalError, ModelError
from callwright.nouns.protocols import Capabilities, ChatRequest, Watcher
from callwright.nouns.trace import Event
from callwright.nouns.types import READ, WRITE, Reply
from callwright.testing import FakeTool, ScriptedModel, fake_source

TEXT, NUMBER = {"type": "string"}, {"type": "number"}
QUERY = "When does the sun set in Oslo? Note it."
PLAN = (
    '1. find_place(city="Oslo")\n2. sun_times(latitude=$1.latitude)\n3. note(text="At'
    ' ${2.sunset}")\n4. join()\n'
)
MORE = '1. note(text="Oslo")\n2. join()\n'
SAID = 'Action: Finish\nAction Input: {"final_answer": "22:40 [r2]"}'


def tools(done: list[str] | None = None, hold: asyncio.Event | None = None) -> list[FakeTool]:
    kept: list[str] = [] if done is None else done

    def noted(text: str) -> Any:
        kept.append(text)
        return {"noted": text}

    return [
        FakeTool("find_place", {"city": TEXT}, output={"latitude": 59.9}, effects=READ, hold=hold),
        FakeTool("sun_times", {"latitude": NUMBER}, output={"sunset": "22:40"}, effects=READ),
        FakeTool("note", {"text": TEXT}, output=noted, effects=WRITE),
    ]


def says(*judgements: str, plans: tuple[str, ...] = (PLAN, MORE, MORE)) -> ScriptedModel:
    return ScriptedModel(
        {"plan": [*plans], "join": [*judgements], "*": SAID}, capabilities=Capabilities()
    )


async def run(model: Any, offered: list[FakeTool], **options: Any) -> Run:
    return await Orchestrator(
        [fake_source(*offered)], model=model, strategy="compiler", **options
    ).run(QUERY)


async def test_a_plan_is_carried_out_and_judged_and_answered() -> None:
    model, (place, sun, note) = says("Finish"), (offered := tools())
    done = await run(model, offered)
    assert [r.purpose for r in model.requests] == ["plan", "join", "answer"]
    assert [place.calls, sun.calls, note.calls] == [
        [{"city": "Oslo"}],
        [{"latitude": 59.9}],
        [{"text": "At 22:40"}],
    ]
    assert [slot.id for slot in done.plan.slots] == ["find_place", "sun_times", "note"]
    assert '"sunset":"22:40"' in model.requests[1].messages[-1].content


class Slowly:
    """A model that goes on writing its plan only when the first step of it has been called."""

    name = "slowly"

    def __init__(self, first: FakeTool, rest: ScriptedModel) -> None:
        self.first, self.rest = first, rest

    async def capabilities(self) -> Capabilities:
        return Capabilities()

    async def complete(self, request: ChatRequest, watch: Watcher | None = None) -> Reply:
        if request.purpose != "plan" or watch is None:
            return await self.rest.complete(request, watch)
        head, _, tail = PLAN.partition("\n")
        watch(head + "\n")
        await self.first.begun()
        for piece in tail:
            watch(piece)
        return Reply(PLAN)

    async def aclose(self) -> None:
        await self.rest.aclose()


async def test_a_step_is_on_its_way_before_the_plan_is_whole() -> None:
    offered = tools()
    async with asyncio.timeout(10):
        done = await run(Slowly(offered[0], says("Finish")), offered)
    assert [r.tool for r in done.results] == ["find_place", "sun_times", "note"]


@pytest.mark.parametrize("end", ["</thinking>\n", ""])
async def test_a_step_that_is_only_considered_is_not_made(end: str) -> None:
    thoughts = f'<thinking>\n1. note(text="Oslo")\n2. join()\nThat would be wrong.\n{end}'
    model, offered = says("Finish", plans=(thoughts + (end and PLAN), PLAN)), tools()
    done = await run(model, offered)
    assert [r.tool for r in done.results] == ["find_place", "sun_times", "note"]
    assert offered[2].calls == [{"text": "At 22:40"}]


async def test_what_is_missing_leads_to_another_plan_which_sees_the_results() -> None:
    model, offered = says("Replan: the note says no city", "Finish"), tools()
    done = await run(model, offered)
    second = [r for r in model.requests if r.purpose == "plan"][1].messages[-1].content
    assert "the note says no city" in second
    assert '"sunset":"22:40"' in second
    assert [c["text"] for c in offered[2].calls] == ["At 22:40", "Oslo"]
    assert [slot.id for slot in done.plan.slots] == ["find_place", "sun_times", "note", "note#2"]


async def test_there_are_three_plans_at_most() -> None:
    more = tuple(f'1. note(text="{n}")\n2. join()\n' for n in range(3))
    model = says("Replan: a", "Replan: b", plans=more)
    await run(model, tools())
    assert [r.purpose for r in model.requests].count("plan") == 3
    assert [r.purpose for r in model.requests].count("join") == 2


async def test_under_a_schema_plan_and_judgement_are_json() -> None:
    plan = {
        "steps": [{"step": 1, "tool": "find_place", "after": [], "arguments": {"city": "Oslo"}}]
    }
    said = {"statements": [{"text": "Oslo is there.", "results": ["r1"]}], "missing": []}
    model = ScriptedModel(
        {"plan": [plan], "join": [{"thought": "", "judgement": "finish"}], "*": said}
    )
    done = await run(model, tools())
    assert [r.schema is not None for r in model.requests if r.purpose in ("plan", "join")] == [
        True,
        True,
    ]
    assert [r.tool for r in done.results] == ["find_place"]


BROKEN = PLAN.replace("2. sun_times", "2. sunset")
LOST = '1. nowhere(x="1")\n2. find_place(city="${1.y}")\n3. join()\n'


async def test_an_unsound_plan_is_sent_back_and_what_was_sound_of_it_is_not_called_again() -> None:
    model, (place, sun, note) = says("Finish", plans=(BROKEN, PLAN)), (offered := tools())
    done = await run(model, offered)
    assert [r.purpose for r in model.requests] == ["plan", "plan", "join", "answer"]
    said, wrong = (message.content for message in model.requests[1].messages[-2:])
    assert said == BROKEN
    assert "there is no tool 'sunset'; the tools are find_place, sun_times, note" in wrong
    assert "carried out already; write it again as it is: find_place" in wrong
    assert [place.calls, sun.calls, note.calls] == [
        [{"city": "Oslo"}],
        [{"latitude": 59.9}],
        [{"text": "At 22:40"}],
    ]
    assert [slot.id for slot in done.plan.slots] == ["find_place", "sun_times", "note"]
    assert done.skips == ()
    assert done.cost.model_calls == 4


async def test_a_write_that_the_next_reply_spells_in_another_way_is_made_once() -> None:
    """It was taken for an equal write beside it, and made twice."""
    about = {"text": TEXT, "tone": {**TEXT, "default": "plain"}}
    note = FakeTool("note", about, required=["text"], output={"noted": True}, effects=WRITE)
    broken = '1. note(text="Oslo")\n2. sunset(text=$1.noted)\n3. join()\n'
    model = says("Finish", plans=(broken, '1. note(text="Oslo", tone="plain")\n2. join()\n'))
    await run(model, [note])
    assert note.calls == [{"text": "Oslo"}]


async def test_it_is_sent_back_twice_then_its_sound_part_is_taken_and_what_rests_on_the_rest_is_filled_late() -> (
    None
):
    model = ScriptedModel(
        {
            "plan": [LOST] * 3,
            "join": "Finish",
            "bind": 'Useful: find_place\nAction: find_place\nAction Input: {"city": "Oslo"}',
            "*": SAID,
        },
        capabilities=Capabilities(),
    )
    offered = tools()
    done = await run(model, offered)
    assert offered[0].calls == [{"city": "Oslo"}]
    assert [s.tool for s in done.skips] == ["nowhere"]
    assert next(e.data["text"] for e in done.events if e.kind == "note").startswith(
        "the plan is unsound"
    )


async def test_replies_without_a_plan_end_in_an_answer() -> None:
    model, offered = says(plans=("I cannot.",) * 3), tools()
    done = await run(model, offered)
    assert [r.purpose for r in model.requests] == ["plan", "plan", "plan"]
    assert done.results == ()
    assert done.status == "abstained"


async def test_a_reply_that_lost_the_plan_takes_nothing_back_of_what_was_read_before() -> None:
    model, offered = says("Finish", plans=(LOST + BROKEN, "Sorry.", "Sorry.")), tools()
    done = await run(model, offered)
    assert [r.tool for r in done.results] == ["find_place"] * len(offered[0].calls)


async def test_a_step_waits_for_one_that_is_written_behind_it() -> None:
    text = (
        '1. note(text="At ${2.sunset}")\n2. sun_times(latitude=$3.latitude)\n3.'
        ' find_place(city="Oslo")\n'
    )
    model, offered = says("Finish", plans=(text,)), tools()
    done = await run(model, offered)
    assert [r.purpose for r in model.requests] == ["plan", "join", "answer"], "it is sound"
    assert [slot.id for slot in done.plan.slots] == ["find_place", "sun_times", "note"]
    assert offered[2].calls == [{"text": "At 22:40"}]


@pytest.mark.parametrize(
    ("text", "called"), [("1->2", ["find_place", "sun_times"]), ("1. join()", [])]
)
async def test_the_papers_form_and_a_plan_without_a_step_are_plans(
    text: str, called: list[str]
) -> None:
    def answer(request: ChatRequest) -> str:
        if request.purpose == "bind":
            tool, given = "find_place", '{"city": "Oslo"}'
            if '"latitude":59.9' in request.messages[-1].content:
                tool, given = "sun_times", '{"latitude": 59.9}'
            return f"Useful: {tool}\nAction: {tool}\nAction Input: {given}"
        return {"plan": text, "join": "Finish"}.get(request.purpose, SAID)

    model = ScriptedModel(answer, capabilities=Capabilities())
    done = await run(model, tools())
    assert [r.purpose for r in model.requests].count("plan") == 1
    assert [r.tool for r in done.results] == called


async def test_a_frozen_plan_is_repaired_before_it_is_frozen() -> None:
    model, offered = says(plans=(BROKEN, PLAN)), tools()
    done = await run(model, offered, safety=Safety(freeze="arguments"))
    assert [r.purpose for r in model.requests] == ["plan", "plan", "answer"]
    assert "carried out already" not in model.requests[1].messages[-1].content, (
        "nothing is, before it is whole"
    )
    assert [r.tool for r in done.results] == ["find_place", "sun_times", "note"]


async def test_what_is_asked_again_counts_as_every_question_does() -> None:
    model, offered = says(plans=(BROKEN, PLAN)), tools()
    done = await run(model, offered, limits=Limits(model_calls=2))
    assert done.limit == "model_calls"
    assert [r.tool for r in done.results] == ["find_place"], "what was sound is on its way by then"


async def test_a_limit_waits_for_what_is_on_its_way() -> None:
    model, offered = says(plans=(PLAN,)), tools()
    done = await run(model, offered, limits=Limits(model_calls=2))
    assert done.limit == "model_calls"
    assert len(done.results) == 3


class Dies(ScriptedModel):
    """Writes all of its plan but the end, and is gone as soon as the last step has been called."""

    def __init__(self, last: FakeTool) -> None:
        super().__init__({}, capabilities=Capabilities())
        self._last = last

    async def complete(self, request: ChatRequest, watch: Watcher | None = None) -> Reply:
        assert watch is not None
        watch(PLAN[: PLAN.index("4.")])
        await self._last.begun()
        raise ModelError("gone")


async def test_steps_of_a_plan_whose_writer_died_are_kept_and_it_is_not_written_again(
    tmp_path: Path,
) -> None:
    noted: list[str] = []
    first = tools(noted)
    with pytest.raises(ModelError, match="gone"):
        await run(Dies(first[2]), first, persistence=Persistence(journal=tmp_path))
    [path] = list_journals(tmp_path)
    for judgements in (["Finish"], []):  # the second time all of it is on record
        again = says(*judgements, plans=())
        setup = Orchestrator(
            [fake_source(*tools(noted))],
            model=again,
            strategy="compiler",
            persistence=Persistence(journal=tmp_path),
        )
        done = await setup.resume(path)
        assert [r.tool for r in done.results] == ["find_place", "sun_times", "note"]
        assert noted == ["At 22:40"]


def cut(path: Path, folder: Path, kept: int) -> Path:
    with Journal.create(folder) as copy:
        for event in read_journal(path, every=True)[1][:kept]:
            copy(event)
    return copy.path.rename(folder / path.name)


@settings(max_examples=30)
@given(part=st.floats(0, 1), broken=st.booleans())
def test_wherever_it_ended_it_goes_on_and_no_write_is_repeated(
    part: float, broken: bool, tmp_path_factory: Any
) -> None:
    """A plan, perhaps sent back when its write is on its way, another one for what is missing: cut
    at any event.
    """
    folder = tmp_path_factory.mktemp("runs")
    plans = [PLAN.replace("4. join", "4. nowhere"), PLAN, MORE] if broken else [PLAN, MORE]

    def setup(folder: Path, noted: list[str], purposes: list[str]) -> Orchestrator:
        judgements = ["Replan: the city", "Finish"][purposes.count("join") :]
        script = {"plan": plans[purposes.count("plan") :], "join": judgements, "*": SAID}
        model = ScriptedModel(script, capabilities=Capabilities())
        return Orchestrator(
            [fake_source(*tools(noted))],
            model=model,
            strategy="compiler",
            persistence=Persistence(journal=folder),
        )

    whole = asyncio.run(setup(folder, [], []).run(QUERY))
    path = find_journal(whole.id, folder)
    events = read_journal(path)[1]
    kept = events[: max(1, int(part * len(events)))]
    intents = {e.data["id"]: e.data["arguments"] for e in kept if e.kind == "intent"}
    noted = [sent["text"] for sent in intents.values()]
    answered = {e.data["id"] for e in kept if e.kind == "result"}
    place = cut(path, folder / "cut", len(kept))
    again = setup(folder / "cut", noted, [e.data["purpose"] for e in kept if e.kind == "model"])
    for id_, sent in intents.items():
        if id_ not in answered:
            with pytest.raises(JournalError, match="in doubt"):
                asyncio.run(again.resume(place))
            with Journal.reopen(place) as journal:
                said = {
                    "id": id_,
                    "attempt": 1,
                    "by": "user",
                    "outcome": "done",
                    "content": {"noted": sent["text"]},
                }
                journal(Event("resolution", 0, 0.0, said))
    done = asyncio.run(again.resume(place))
    assert sorted(noted) == ["At 22:40", "Oslo"]
    assert done.plan == whole.plan
    assert [(r.id, r.tool, r.content) for r in done.results] == [
        (r.id, r.tool, r.content) for r in whole.results
    ]
