"""The libraries a user could pick instead, on the same text: what they read is theirs, and none can
end a run.
"""

from __future__ import annotations

import pytest

from callwright.nouns.errors import ConfigError, MissingExtra
from callwright.nouns.types import Message, Tool, ToolCall
from callwright_lab.benchmarks.refine.bench import READERS, main
from callwright_lab.benchmarks.refine.peers import PEERS, make_reader
from callwright_lab.benchmarks.refine.task import Recorded, Task

TOOL = Tool("get_weather", "Weather.", {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "unit": {"enum": ["c", "f"]}},
    "required": ["city"],
})  # fmt: skip
TASK = Task(
    "1", "s", "c", (Message("user", "Weather in Graz for 3 days?"),), (TOOL, Tool("ping", ""))
)
MODULES = {"baml": "baml_py"}
CALL = '```json\n{"name": "get_weather", "arguments": {"city": "Graz", "days": 3}}\n```'


def text(content: str) -> Recorded:
    return Recorded("1", "m", {"role": "assistant", "content": content})


@pytest.mark.parametrize("name", PEERS)
def test_every_peer_reads_a_fenced_call_and_nothing_in_prose(name: str) -> None:
    pytest.importorskip(MODULES.get(name, name), reason="extra 'peers' is not installed")
    assert PEERS[name](text(CALL), TASK).to_json() == [
        {"name": "get_weather", "arguments": {"city": "Graz", "days": 3}}
    ]
    assert PEERS[name](text("It will rain."), TASK).calls == ()


def test_baml_reads_by_the_tools_schemas() -> None:
    pytest.importorskip("baml_py", reason="extra 'peers' is not installed")
    said = "{name: 'get_weather', parameters: {city: Graz, days: '3', unit: \"C\"}}"
    assert PEERS["baml"](text(said), TASK).to_json() == [
        {"name": "get_weather", "arguments": {"city": "Graz", "days": 3, "unit": "c"}}
    ]


def test_a_peer_that_raises_has_read_nothing_and_one_that_is_missing_is_named() -> None:
    def fails(*_: object) -> list[ToolCall]:
        raise RecursionError

    assert make_reader("json", fails)(text(CALL), TASK).calls == ()
    with pytest.raises(MissingExtra, match="no_such_peer"):
        make_reader("no_such_peer", fails)(text(CALL), TASK)


def test_calls_that_the_server_delivered_are_kept_by_every_peer() -> None:
    item = {"id": "a", "type": "function", "function": {"name": "ping", "arguments": "{}"}}
    given = Recorded("1", "m", {"role": "assistant", "content": None, "tool_calls": [item]})
    for name in set(PEERS) - {"json_repair"}:
        assert PEERS[name](given, TASK).calls == (ToolCall("a", "ping", {}),)


def test_an_unknown_reader_is_named_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="no reader 'nobody'") as raised:
        main(["--sets", "bamboogle", "--spoiled", "right", "--count", "1", "--readers", "nobody"])
    assert all(name in raised.value.hint for name in (*READERS, *PEERS))
