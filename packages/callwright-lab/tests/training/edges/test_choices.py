"""Requests and the tools they need: gold stays, others are added, the same every time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Tool
from callwright_lab.datasets.examples import PlanExample, example_from_calls
from callwright_lab.training.edges.choices import (
    OFFERED_MORE,
    build_choices,
    stabletoolbench_choices,
)

THINGS = ("hotel", "flight", "song", "recipe", "parcel", "movie")


def example(thing: str) -> PlanExample:
    tools = [Tool(f"find_{thing}"), Tool(f"rate_{thing}")]
    return example_from_calls(
        thing, "made", f"find a {thing} and rate it", tools, [t.name for t in tools], {1: [0]}
    )


PLANS = [example(thing) for thing in THINGS]


def test_gold_is_needed_and_at_least_one_other_tool_is_offered() -> None:
    for plan, choice in zip(PLANS, build_choices(PLANS), strict=True):
        names = {t.name for t in choice.tools}
        assert choice.needed == set(plan.gold) < names
        assert len(names) - len(plan.gold) <= max(OFFERED_MORE)
        assert choice.combination == plan.combination


def test_the_same_plans_give_the_same_choices() -> None:
    assert build_choices(PLANS) == build_choices(PLANS)


def test_tools_about_the_same_thing_are_among_the_others() -> None:
    more = [example_from_calls(f"more{k}", "made", "q", [Tool(f"hotel_{k}_details")], [f"hotel_{k}_details"], {})
            for k in range(30)]  # fmt: skip
    far = [example_from_calls(f"far{k}", "made", "q", [Tool(f"song_{k}_lyrics")], [f"song_{k}_lyrics"], {})
           for k in range(300)]  # fmt: skip
    every = build_choices([*PLANS, *more, *far])
    near = sum("hotel" in t.name for c in every[6:36] for t in c.tools if t.name not in c.needed)
    apart = sum("song" in t.name for c in every[6:36] for t in c.tools if t.name not in c.needed)
    assert near > apart / 3  # one in eleven by chance


def api(tool: str, name: str) -> dict[str, object]:
    return {
        "category_name": "Data", "tool_name": tool, "api_name": name, "api_description": "", "method": "GET",
        "required_parameters": [], "optional_parameters": [],
    }  # fmt: skip


def test_candidates_are_offered_as_published(tmp_path: Path) -> None:
    apis = [api("Films", "search"), api("Films", "cast"), api("Weather", "now")]
    rows = [
        {
            "api_list": apis,
            "query": "Who plays in Alien?",
            "relevant APIs": [["Films", "search"], ["Films", "cast"]],
        },
        {"api_list": apis, "query": "Nobody can", "relevant APIs": [["Films", "gone"]]},
    ]
    (tmp_path / "G1.json").write_text(json.dumps(rows))
    (choice,) = stabletoolbench_choices(tmp_path)
    assert len(choice.tools) == 3
    assert len(choice.needed) == 2
    assert not any("weather" in name for name in choice.needed)


def test_a_folder_without_queries_says_where_to_get_them(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no StableToolBench queries"):
        stabletoolbench_choices(tmp_path)
