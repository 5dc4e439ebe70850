from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.benchmarks.broken_tools.world import HALVES, World, read_world
from callwright_lab.benchmarks.desk.tasks import load_desk
from callwright_lab.datasets.sources import data_root
from tests.places import EXAMPLES

FOLDER = EXAMPLES / "broken_tools"
DIGESTS = {
    "1": {"dev": "04df52b858ec6fd1", "chains": "c73ab194c0332616", "final": "94b0aaf907287d64"},
    "2": {"dev": "0406d4765e53142e", "chains": "524080cbdb6a89f9", "final": "c63339b9f2230290"},
}
"""Of each set of breakages; the first as docs/lab.md froze them."""
NEEDED = {"final": "tmdb", "chains": "nestools"}


def world(half: str) -> World:
    if half in NEEDED and not (data_root() / NEEDED[half]).exists():
        pytest.skip(f"needs shared data: {NEEDED[half]}")
    return read_world(half, FOLDER, data_root(), load_desk() if half == "final" else None)


@pytest.mark.parametrize("half", HALVES)
def test_the_set_is_the_one_that_was_frozen(half: str) -> None:
    for breakages, digests in DIGESTS.items():
        assert replace(world(half), breakages=breakages).digest == digests[half]


@pytest.mark.parametrize("half", HALVES)
def test_every_need_has_a_family_and_a_call_of_each_of_its_tools(half: str) -> None:
    one = world(half)
    names = [tool for tools in one.families.values() for tool in tools]
    assert len(names) == len(set(names))
    assert len({query.id for query in one.queries}) == len(one.queries)
    for query in one.queries:
        assert query.needs
        for need in query.needs:
            for tool in one.families[need.family]:
                assert isinstance(one.call(tool, need), dict)


def test_the_halves_share_neither_tools_nor_questions() -> None:
    worlds = [world(half) for half in HALVES]
    tools = [{t for tools in one.families.values() for t in tools} for one in worlds]
    texts = [{q.text for q in one.queries} for one in worlds]
    for i, j in combinations(range(len(worlds)), 2):
        assert not tools[i] & tools[j]
        assert not texts[i] & texts[j]
    assert len(worlds[-1].queries) >= 200


def test_the_part_with_chains_asks_mostly_for_tools_that_take_what_another_returns() -> None:
    queries = world("chains").queries
    assert sum(any(need.layer for need in query.needs) for query in queries) > 0.9 * len(queries)
    (query,) = [q for q in queries if q.id == "ask-0-0"]
    assert [(n.family, n.layer) for n in query.needs] == [
        ("find_painting", 0), ("painting_credits", 1), ("painter_profile", 2),
    ]  # fmt: skip
    assert query.needs[2].arguments["painter_id"].startswith("PA")


def test_what_needs_an_id_comes_after_what_gives_it_and_gets_the_id_that_is_given() -> None:
    (query,) = [q for q in world("dev").queries if q.id == "artist_albums-0-0"]
    first, second = query.needs
    assert (first.family, first.layer, second.family, second.layer) == (
        "search_artist",
        0,
        "artist_albums",
        1,
    )
    assert second.arguments["artist_id"].startswith("AR")


def test_a_world_without_its_files_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"apis\.toml"):
        read_world("dev", tmp_path, tmp_path, None)
    with pytest.raises(ConfigError, match="nested requests"):
        read_world("chains", FOLDER, tmp_path, None)
    with pytest.raises(ConfigError, match="film database"):
        read_world("final", FOLDER, tmp_path, None)
