"""``callwright plan`` and ``run --plan``: a plan shown, edited, carried out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from callwright.cli.plan import render_graph, render_json, render_mermaid, render_text
from callwright.nouns.plan import Plan, Slot
from callwright.nouns.types import Tool
from callwright.planning.notation import read_plan
from tests.cli.endpoint import endpoint
from tests.cli.program import callwright

TOOLS = '''
from typing import TypedDict

from callwright import READ, tool

class Place(TypedDict):
    latitude: float

@tool(effects=READ)
def find_place(city: str) -> Place:
    """The latitude of a city."""
    return {"latitude": 59.9}

@tool(effects=READ)
def sun_times(latitude: float) -> dict[str, str]:
    """When the sun sets at a latitude."""
    return {"sunset": "22:40"}
'''
STEPS = [
    {"step": 1, "tool": "find_place", "after": [], "arguments": {"city": "Oslo"}},
    {"step": 2, "tool": "sun_times", "after": [1], "arguments": {"latitude": "${1.latitude}"}},
]
ANSWER = json.dumps(
    {"statements": [{"text": "The sun sets at 22:40.", "results": ["r2"]}], "missing": []}
)
QUERY = "When does the sun set in Oslo?"
PLAN = Plan(
    (
        Slot("find_place", "find_place", arguments={"city": "Oslo"}),
        Slot("beside", 'say "hi"', reason="asked for"),
        Slot(
            "sun_times",
            "sun_times",
            frozenset({"find_place"}),
            arguments={"latitude": "${find_place.latitude}"},
        ),
    )
)


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    path = tmp_path / "tools.py"
    path.write_text(TOOLS)
    return path


def test_the_graph_is_one_step_a_line_with_its_critical_path_marked() -> None:
    assert render_graph(PLAN).splitlines() == [
        '*  1. find_place  {"city":"Oslo"}',
        '   2. say "hi"  - asked for',
        '*  3. sun_times  after 1  {"latitude":"${1.latitude}"}',
        "critical path: 1 -> 3 (2 of 3 steps)",
    ]
    assert render_graph(Plan()) == "(no steps)"


def test_layers_mark_it_too_where_there_is_more_than_one() -> None:
    assert render_text(PLAN).splitlines() == [
        "Layer 1",
        "* find_place",
        '  say "hi"  - asked for',
        "Layer 2",
        "* sun_times",
    ]
    assert render_text(Plan.from_layers([["a", "b"]])).splitlines() == ["Layer 1", "  a", "  b"]
    assert "  t0 ==> t2" in render_mermaid(PLAN).splitlines()


def test_a_tool_that_waits_for_many_says_of_how_many_more() -> None:
    reasons = "; ".join(f"needs {name}" for name in "abcde")
    shown = render_text(Plan((Slot("f", "f", reason=reasons),)))
    assert shown.endswith("- needs a; needs b; needs c; 2 more reasons (--format json)")


def test_layers_say_how_likely_a_tool_belongs_there() -> None:
    first = Slot("a", "find_place", probabilities=(1.0,))
    second = Slot("b", "sun_times", frozenset({"a"}), "needs a", (0.167, 0.833))
    assert render_text(Plan((first, second))).splitlines() == [
        "Layer 1",
        "* find_place  100% likely in this layer",
        "Layer 2",
        "* sun_times  83% likely in this layer  - needs a",
    ]


def test_mermaid_draws_the_critical_path_thick_and_breaks_on_no_name() -> None:
    lines = render_mermaid(PLAN, layers=False).splitlines()
    assert lines[:4] == [
        "flowchart LR",
        '  t0["find_place"]',
        '  t1["say _hi_"]',
        '  t2["sun_times"]',
    ]
    assert "  t0 ==> t2" in lines
    assert lines[-1] == "  class t0,t2 critical"
    assert "subgraph" in render_mermaid(PLAN)


def test_the_json_of_a_plan_is_a_plan_again() -> None:
    assert read_plan(render_json(PLAN), [Tool("find_place")]) == PLAN


def _dag(replies: Sequence[str], *arguments: str | Path) -> str:
    with endpoint(replies) as url:
        done = callwright(*arguments, "--model", f"{url}#m", "--mode", "schema")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_plan_is_asked_of_the_model_printed_drawn_edited_and_carried_out(
    tools: Path, tmp_path: Path
) -> None:
    page, plan = tmp_path / "plan.html", tmp_path / "plan.json"
    asked = ("plan", QUERY, "--tools", tools, "--strategy", "dag")
    made = _dag([json.dumps({"steps": STEPS})], *asked, "--format", "json", "--html", page)
    assert "on the critical path" in page.read_text()
    edited = json.loads(made)
    edited["steps"][0]["arguments"]["city"] = "Bergen"
    plan.write_text(json.dumps(edited))
    run = _dag(
        [ANSWER], "run", QUERY, "--tools", tools, "--plan", plan, "--json", "--freeze", "arguments"
    )
    assert [r["arguments"] for r in json.loads(run)["results"]] == [
        {"city": "Bergen"},
        {"latitude": 59.9},
    ]


@pytest.mark.parametrize("strategy", ["dag", "edges"])
def test_a_run_by_a_whole_plan_answers_and_its_page_marks_what_took_longest(
    tools: Path, tmp_path: Path, strategy: str
) -> None:
    page = tmp_path / "run.html"
    done = _dag(
        [json.dumps({"steps": STEPS}), ANSWER],
        "run", QUERY, "--tools", tools, "--strategy", strategy, "--html", page,
    )  # fmt: skip
    assert done == "The sun sets at 22:40.\n"
    assert "critical path" in page.read_text()


def test_a_plan_that_cannot_run_is_one_message(tools: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.txt"
    for text, said in [("find_place->nowhere", "nowhere"), ("hello", "no plan")]:
        plan.write_text(text)
        with endpoint([ANSWER]) as url:
            done = callwright("run", QUERY, "--tools", tools, "--plan", plan, "--model", f"{url}#m")
        assert done.returncode == 1
        assert said in done.stderr
        assert "Traceback" not in done.stderr
    missing = callwright(
        "run",
        QUERY,
        "--tools",
        tools,
        "--plan",
        tmp_path / "gone.json",
        "--model",
        "http://127.0.0.1:9",
    )
    assert "cannot read the plan" in missing.stderr


THINGS = (
    "parcel",
    "invoice",
    "tenant",
    "recipe",
    "poem",
    "choir",
    "bridge",
    "garden",
    "canoe",
    "violin",
)


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """Twelve tools, of which a request about the sun speaks of two."""
    more = [
        f'@tool(effects=READ)\ndef count_{n}s(colour: str) -> int:\n    """Count each {n}."""\n'
        for n in THINGS
    ]
    path = tmp_path / "many.py"
    path.write_text(TOOLS + "\n".join(f"\n{text}    return 1\n" for text in more))
    return path


def test_only_the_tools_found_for_the_request_are_planned_and_the_others_counted(
    many: Path,
) -> None:
    done = callwright("plan", QUERY, "--tools", many, "--retrieval", "lexical")
    assert done.returncode == 0, done.stderr
    *plan, counted = done.stdout.splitlines()
    assert [line.split()[1] for line in plan] == ["1", "find_place", "2", "sun_times"]
    assert (
        counted
        == "10 of 12 tools left out: not found for this request (lexical); --all plans them too"
    )


def test_all_tools_are_planned_where_that_is_asked_for_or_they_are_few(
    many: Path, tools: Path
) -> None:
    every = json.loads(
        callwright("plan", QUERY, "--tools", many, "--all", "--format", "json").stdout
    )
    assert len([name for layer in every["layers"] for name in layer]) == 12
    assert "left out" not in callwright("plan", "Sing!", "--tools", tools).stdout


def test_a_shortlist_holds_as_many_as_it_is_told_to(many: Path) -> None:
    told = (
        "plan",
        QUERY,
        "--tools",
        many,
        "--retrieval",
        "lexical",
        "--shortlist",
        "1",
        "--format",
        "json",
    )
    done = callwright(*told)
    assert json.loads(done.stdout)["layers"] == [["find_place"], ["sun_times"]], (
        "and what that needs first"
    )
    assert "10 of 12 tools left out" in done.stderr
    both = callwright(*told, "--all")
    assert (both.returncode, both.stdout) == (1, "")
    assert "say one of the two" in both.stderr


def test_a_request_that_speaks_of_no_tool_is_told_how_to_find_one(many: Path) -> None:
    done = callwright("plan", "Sing!", "--tools", many, "--retrieval", "lexical")
    assert done.stdout.startswith("(no tools)\n12 of 12 tools left out")
    assert "--retrieval ranked" in done.stdout


def test_a_model_that_plans_is_shown_no_more_tools_than_were_found(many: Path) -> None:
    made = _dag(
        [json.dumps({"steps": STEPS})],
        "plan",
        QUERY,
        "--tools",
        many,
        "--strategy",
        "dag",
        "--retrieval",
        "lexical",
    )
    assert "10 of 12 tools left out" in made
