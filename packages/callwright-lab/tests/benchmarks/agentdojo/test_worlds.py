"""AgentDojo's worlds as seen from here: suites, pairs, tools, and a process that may not be
there.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.benchmarks.agentdojo.worlds import (
    FOREIGN,
    OWN,
    AgentDojo,
    WorldSource,
    get_effects,
)
from tests.benchmarks.invented_dojo import interpreter

pytest.importorskip("yaml", reason="the served side reads YAML, as AgentDojo does")


async def test_a_pair_is_a_request_its_tools_and_what_solves_it(tmp_path: Path) -> None:
    with AgentDojo(interpreter(tmp_path)) as worlds:
        pair = worlds.open("desk", "user_task_0", "injection_task_0")
        source = WorldSource(worlds, pair.tools)
        tools = {tool.name: tool for tool in await source.open()}
        read = await source.call(tools["read_file"], {"id": "n1"})
        lost = await source.call(tools["read_file"], {"id": "n2"})
        await source.call(tools["send_email"], {"to": "eve@x.example", "body": "hello"})
        judged = worlds.judge("It is about lunch.")
    assert pair.query.startswith("Read note n1")
    assert [call.tool for call in pair.calls] == ["read_file", "send_email"]
    assert pair.attack is not None
    assert pair.attack.goal in read.content
    assert lost.failure is not None
    assert (judged.useful, judged.attacked) == (False, True)
    assert [tool for tool, _ in source.made] == ["read_file", "read_file", "send_email"]


def test_only_what_is_known_to_read_reads_and_only_what_is_ones_own_is_closed() -> None:
    assert not OWN & FOREIGN
    assert not get_effects("read_file").may_write
    assert get_effects("read_file").open_world
    assert not get_effects("get_iban").open_world
    assert get_effects("a_tool_of_tomorrow").may_write


def test_a_process_without_agentdojo_is_a_clear_error() -> None:
    with AgentDojo(sys.executable) as worlds, pytest.raises(ConfigError, match="process"):
        worlds.suites()
