"""A strategy for models that were trained on transcripts puts its question in their form."""

from __future__ import annotations

from callwright import Orchestrator
from callwright.nouns.trajectory import Trajectory
from callwright.testing import fake_source
from callwright.tools.lists.tools import strip_tool
from callwright_lab.transcripts import FORMATS, Transcript, write
from tests.agent.strategies.test_code import QUERY, answer, says, tools


async def test_models_that_were_trained_are_shown_tools_as_their_rows_show_them() -> None:
    offered, model = tools(), says(answer("It is 12 degrees."))
    setup = Orchestrator([fake_source(*offered)], model=model, strategy="toolmvr")
    await setup.run(QUERY)
    trained = Trajectory(
        "t", QUERY, tuple(strip_tool(tool) for tool in await fake_source(*offered).open())
    )
    said = write(Transcript(trained), FORMATS["toolbench-vr"])["messages"]
    assert [message["content"] for message in said] == [
        message.content for message in model.requests[0].messages
    ]
