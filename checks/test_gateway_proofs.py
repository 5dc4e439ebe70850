"""The proofs of the MCP gateway in small: ``benchmarks/reliability`` and ``benchmarks/speed`` have
them whole.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from callwright.gateway.server.gateway import LIST_SECONDS
from scripts import FOLDER, load_script

_FOLDERS = [str(FOLDER / name) for name in ("reliability", "speed")]


@pytest.fixture(autouse=True)
def scripts_that_import_each_other() -> Iterator[None]:
    sys.path[:0] = _FOLDERS
    yield
    for folder in _FOLDERS:
        sys.path.remove(folder)


@pytest.mark.heavy
async def test_of_forty_cut_connections_no_write_is_done_twice_and_none_is_passed_over(
    tmp_path: Path,
) -> None:
    cuts = load_script("reliability/gateway_cuts")
    world = cuts.World(tmp_path)
    await cuts.cut_all(world, 40, workers=2)
    verdicts = cuts.judge(world)
    assert sum(one.calls for one in verdicts) == 40
    assert {"stdio", "left", "gateway"} < {one.group for one in verdicts}
    for one in verdicts:
        assert (one.twice, one.unsaid, one.invented) == ([], [], [])
    assert sum(one.unknown for one in verdicts) > 0
    assert sum(one.written for one in verdicts) > 0


def test_a_write_that_is_done_twice_or_passed_over_is_seen(tmp_path: Path) -> None:
    cuts = load_script("reliability/gateway_cuts")
    world = cuts.World(tmp_path)
    world.file.write_text("a\na\nb\n")
    told = {"a": "unknown", "b": "failed", "c": "done", "d": "unknown"}
    world.calls = [cuts.Ended("g", number, said, 0.1) for number, said in told.items()]
    world.calls.append(cuts.Ended("g", "e", "unknown", cuts.SECONDS + 1.0))
    (verdict,) = cuts.judge(world)
    found = (verdict.twice, verdict.unsaid, verdict.invented, verdict.late)
    assert [[text.split()[0] for text in one] for one in found] == [["a"], ["b"], ["c"], ["e"]]


@pytest.mark.heavy
async def test_clients_of_a_good_server_are_served_beside_bad_ones() -> None:
    hostile = load_script("reliability/gateway_hostile")
    found = await hostile.measure(1, 20)
    assert {name: failed for name, (_, failed) in found.items()} == {"alone": 0, "attacked": 0}
    for waits, _ in found.values():
        assert len(waits) == 80
        assert max(waits) < LIST_SECONDS, "a call waited for a list of all servers"


@pytest.mark.heavy
def test_memory_and_descriptors_stay_flat_over_many_calls() -> None:
    soak = load_script("speed/gateway_soak")
    found = soak.soak(5_000)
    (_, early, first), (_, late, last) = found[2], found[-1]
    assert late < 1.1 * early
    assert last < first + 30


@pytest.mark.heavy
async def test_fifty_servers_are_listed_from_pinned_definitions_without_being_started(
    tmp_path: Path,
) -> None:
    many = load_script("speed/gateway_many")
    said = await many.measure(50, tmp_path)
    assert "100 tools, 0 running" in said[1]
    assert said[2:] == ["after one call: 1 running", "after a rest: 0 running", "within its bounds"]
