"""A run that is resumed is the run that was begun."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from callwright import Orchestrator
from callwright.agent.journal.store import list_journals
from callwright.agent.options import Interaction, Persistence
from callwright.nouns.types import WRITE
from callwright.testing import FixedPlan, ScriptedModel, fake_source
from tests.agent.running.flow import QUERY, airport, call, calls, said


async def test_a_death_while_the_answer_is_shown_leaves_a_run_that_has_ended(
    tmp_path: Path,
) -> None:
    class Killed(BaseException):
        pass

    def die(_: str) -> None:
        raise Killed

    tool = airport(effects=WRITE)
    script = {
        "bind": calls(call("find_airport", city="Oslo")),
        "answer": [said("The airport is OSL.", "r1")],
    }
    kept = Persistence(journal=tmp_path)
    setup = partial(Orchestrator, [fake_source(tool)], planner=FixedPlan(["find_airport"]))
    begun = setup(
        model=ScriptedModel(script), persistence=kept, interaction=Interaction(on_text=die)
    )
    with pytest.raises(Killed):
        await begun.run(QUERY)
    (journal,) = list_journals(tmp_path)
    done = await setup(model=ScriptedModel([]), persistence=kept).resume(journal)
    assert (done.answer.text, len(tool.calls)) == ("The airport is OSL.", 1)
