from __future__ import annotations

from pathlib import Path

import pytest

from callwright import Failure
from callwright.agent.journal.store import Journal
from callwright.nouns.errors import ConfigError
from callwright.nouns.trace import JsonlSink, MemorySink, Trace
from callwright.nouns.types import Tool, ToolOutput, ToolResult, get_public_fields
from callwright.simulation.recording import Recorded, Recording, RecordingSource
from callwright.testing import FakeTool, fake_source, in_order

WEATHER = Tool(
    "weather", "Weather of a city.", {"type": "object", "properties": {"city": {"type": "string"}}}
)


def recording(*calls: tuple[dict[str, str], object]) -> Recording:
    made = [
        Recorded("weather", a, v if isinstance(v, ToolOutput) else ToolOutput(v), WEATHER.digest)
        for a, v in calls
    ]
    return Recording(made, [WEATHER])


def test_a_reply_is_found_by_the_tool_and_its_arguments_in_any_order() -> None:
    held = Recording(
        [Recorded("weather", {"city": "Oslo", "days": 2}, ToolOutput(7), WEATHER.digest)]
    )
    assert held.find(WEATHER, {"days": 2, "city": "Oslo"}) == ToolOutput(7, simulated="recorded")
    assert held.find(WEATHER, {"city": "Oslo"}) is None


def test_a_tool_that_has_changed_since_is_not_answered_from_before() -> None:
    changed = Tool("weather", "Weather of a city in degrees Fahrenheit.", WEATHER.input_schema)
    assert recording(({"city": "Oslo"}, 7)).find(changed, {"city": "Oslo"}) is None
    unknown = Recording([Recorded("weather", {"city": "Oslo"}, ToolOutput(7))])
    assert unknown.find(changed, {"city": "Oslo"}) == ToolOutput(7, simulated="recorded")


def test_of_several_replies_to_one_call_the_latest_success_counts() -> None:
    down = ToolOutput(failure=Failure("unavailable", "down"))
    held = recording(({"city": "Oslo"}, 7), ({"city": "Oslo"}, 8), ({"city": "Oslo"}, down))
    found = held.find(WEATHER, {"city": "Oslo"})
    assert found is not None
    assert found.content == 8
    only = recording(({"city": "Oslo"}, down)).find(WEATHER, {"city": "Oslo"})
    assert only is not None
    assert only.failure == down.failure


def test_the_nearest_call_shares_an_argument_and_a_success_comes_first() -> None:
    held = Recording(
        [
            Recorded(
                "weather",
                {"city": "Oslo", "unit": "C"},
                ToolOutput(failure=Failure("timeout", "late")),
            ),
            Recorded("weather", {"city": "Oslo", "unit": "F"}, ToolOutput(50)),
            Recorded("weather", {"city": "Rome", "unit": "K"}, ToolOutput(290)),
        ]
    )
    assert held.nearest(WEATHER, {"city": "Oslo"}) == ToolOutput(50, simulated="nearest")
    assert held.nearest(WEATHER, {"city": "Lima"}) is None
    assert held.nearest(Tool("tides"), {"city": "Oslo"}) is None


async def test_live_calls_are_recorded_with_their_tools_and_read_back(tmp_path: Path) -> None:
    down = Failure("unavailable", "down", retryable=True, status=503)
    tool = FakeTool("weather", {"city": {"type": "string"}}, output=in_order({"celsius": 21}, down))
    file = tmp_path / "calls.jsonl"
    with JsonlSink(file) as sink:
        source = RecordingSource(fake_source(tool), sink)
        (listed,) = await source.open()
        assert await source.call(listed, {"city": "Oslo"}) == ToolOutput({"celsius": 21})
        assert (await source.call(listed, {"city": "Rome"})).failure == down
        await source.aclose()
    held = Recording.read(file)
    assert held.tools == {"weather": listed}
    assert held.find(listed, {"city": "Oslo"}) == ToolOutput({"celsius": 21}, simulated="recorded")
    assert held.find(listed, {"city": "Rome"}) == ToolOutput(failure=down, simulated="recorded")
    assert len(held) == 2


async def test_secrets_of_the_source_are_not_recorded() -> None:
    class Keyed:
        secrets = ("tok-123456789",)

        def __init__(self) -> None:
            self.inner = fake_source(FakeTool("echo", output="sent tok-123456789"))
            self.name, self.open, self.call, self.aclose = (
                "keyed",
                self.inner.open,
                self.inner.call,
                self.inner.aclose,
            )

    sink = MemorySink()
    source = RecordingSource(Keyed(), sink)
    (tool,) = await source.open()
    await source.call(tool, {})
    assert sink.events[-1].data["content"] == "sent [secret]"


def test_the_journal_of_a_run_is_a_recording(tmp_path: Path) -> None:
    result = ToolResult(
        "c1", "weather", {"city": "Oslo"}, {"error": "no data"}, Failure("error_payload", "no data")
    )
    with Journal.create(tmp_path) as journal:
        trace = Trace(sinks=(journal,))
        trace.add("run.start", query="?", tools=[WEATHER])
        trace.add("result", **get_public_fields(result), judged=True)
    held = Recording.read(journal.path)
    # what the tool said, not what was read into it
    assert held.find(WEATHER, {"city": "Oslo"}) == ToolOutput(
        {"error": "no data"}, simulated="recorded"
    )


def test_what_a_model_made_up_stays_made_up_when_it_is_replayed() -> None:
    held = recording(({"city": "Oslo"}, ToolOutput(7, simulated="model")))
    found = held.find(WEATHER, {"city": "Oslo"})
    assert found is not None
    assert found.simulated == "model"


def test_a_file_that_is_no_recording_is_refused_with_what_would_be_one(tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text("[]")
    with pytest.raises(ConfigError, match="no recording") as caught:
        Recording.read(tmp_path / "tools.json")
    assert ".jsonl" in caught.value.hint
