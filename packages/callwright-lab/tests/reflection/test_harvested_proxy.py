"""Conversations that the proxy kept, harvested as rows of reflection."""

from __future__ import annotations

import json
from pathlib import Path

from callwright.proxy.server.training_log import Keeper
from callwright_lab.reflection.harvest import drop_conversation_prefixes, harvest_conversation
from callwright_lab.reflection.sourced import explain_unsourced
from callwright_lab.transcripts import read_files
from tests.proxy.server.test_training_log import RIGHT, WRONG, conversation, model
from tests.proxy.upstream import proxy, upstream


async def test_what_is_kept_is_harvested_as_any_conversation_is(tmp_path: Path) -> None:
    file = tmp_path / "kept.jsonl"
    async with upstream(model) as up, proxy(up.url, keeper=Keeper(file)) as (address, _):
        await conversation(address, False)
    read = [transcript.trajectory for _, transcript in read_files(file).transcripts]
    (whole,) = drop_conversation_prefixes(read)
    (row,) = harvest_conversation(whole)
    assert [(c.tool, c.arguments) for c in row.wrong.calls] == [("get_weather", json.loads(WRONG))]
    assert [(c.tool, c.arguments) for c in row.right] == [("get_weather", RIGHT)]
    assert (row.before.query, row.before.steps) == ("What is the weather in Paris for 3 days?", ())
    assert row.before.tools[0].properties.keys() == {"city", "days"}
    assert "days" in row.reflection
    assert explain_unsourced(row) == ""
