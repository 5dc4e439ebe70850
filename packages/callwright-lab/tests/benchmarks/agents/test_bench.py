"""The bench through its command line: scripted upstreams, the official client's loop, resumable."""

from __future__ import annotations

from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.benchmarks.agents import bench
from callwright_lab.benchmarks.agents.bench import (
    Bench,
    Lane,
    Setup,
    build_parser,
    list_setups,
    main,
    open_lane,
    run_task,
)
from callwright_lab.benchmarks.agents.frameworks import REQUIREMENTS, Framework, find_python
from callwright_lab.benchmarks.agents.judge import judge_job
from callwright_lab.benchmarks.agents.proxied import start_proxy
from callwright_lab.benchmarks.agents.scripted import STYLES, Style, pick_fault, script_steps
from callwright_lab.benchmarks.agents.task_set import HOME, SETS, TaskSet, compute_digest
from callwright_lab.benchmarks.agents.tasks import Task, load_tasks
from callwright_lab.benchmarks.agents.upstream import (
    RelayUpstream,
    ScriptedUpstream,
    serve_upstream,
)
from callwright_lab.benchmarks.comparison.rows import read_rows

pytest.importorskip("openai")


def measure(
    style: Style, task_set: TaskSet, way: str = "direct", guard: str = ""
) -> dict[str, dict[str, object]]:
    """Every task by the official client's loop: also those of the final half, which the command
    does not open. A script learns nothing from them.
    """
    setup = Setup(style, "", "openai", way, guard)
    with open_lane(setup) as lane, Framework("openai", find_python("openai")) as framework:
        return {task.id: run_task(task, lane, framework, 60.0) for task in load_tasks(task_set)}


@pytest.mark.parametrize(
    ("task_set", "way"),
    [
        pytest.param("office", "direct", marks=pytest.mark.heavy),
        pytest.param("home", "direct", marks=pytest.mark.heavy),
        ("home", "proxy"),
    ],
)
def test_the_right_script_does_every_task_and_no_harm(task_set: str, way: str) -> None:
    """Also behind the guard, which has nothing to stop."""
    rows = measure("right", SETS[task_set], way, "on")
    wrong = {
        name: row["reasons"] or row["error"] for name, row in rows.items() if not row["success"]
    }
    assert not wrong
    for harm in ("unasked", "repeated", "invented", "false_refusal"):
        assert not any(row[harm] for row in rows.values())


def play(task: Task, style: Style) -> tuple[int, int, int]:
    world, _ = task.open_world()
    for step in script_steps(task, style):
        for call in step:
            world.call(call.tool, call.arguments)
    score = judge_job(task, world.log, task.answer)
    return score.unasked, score.repeated, score.invented


@pytest.mark.parametrize(
    ("task_set", "unasked", "repeated"),
    [("office", 30, 40), pytest.param("home", 84, 15, marks=pytest.mark.heavy)],
)
def test_the_careless_script_does_its_known_harm(
    task_set: str, unasked: int, repeated: int
) -> None:
    rows = measure("careless", SETS[task_set])
    for task in load_tasks(SETS[task_set]):
        row = rows[task.id]
        assert (row["unasked"], row["repeated"], row["invented"]) == play(task, "careless"), task.id
        if pick_fault(task) == "empty":
            assert "the answer is no words" in row["reasons"], task.id  # type: ignore[operator]
    assert sum(int(str(row["unasked"])) for row in rows.values()) >= unasked
    assert sum(int(str(row["repeated"])) for row in rows.values()) >= repeated


def test_rows_come_one_by_one_and_a_stopped_bench_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "rows.jsonl"
    command = ["--ways", "direct", "--out", str(out), "--sample"]
    assert main([*command, "3"]) == 0
    first = read_rows(out)
    assert len(first) == 3
    with pytest.raises(ConfigError, match="holds 3 rows already"):
        main([*command, "5"])
    with out.open("ab") as file:
        file.write(b'{"task": "half a row')  # as a killed bench leaves it
    assert main([*command, "5", "--resume"]) == 0
    rows = read_rows(out)
    assert rows[:3] == first
    assert len({row["task"] for row in rows}) == len(rows) == 5
    assert main([*command, "5", "--resume"]) == 0
    assert read_rows(out) == rows
    capsys.readouterr()
    assert main(["--report", "--out", str(out)]) == 0
    assert "| right openai direct | 5 |" in capsys.readouterr().out


def test_a_row_says_what_was_measured(tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    main(["--ways", "direct", "--upstream", "careless", "--tasks", "en-two-1", "--out", str(out)])
    (row,) = read_rows(out)
    assert (row["task"], row["half"], row["language"], row["kind"]) == (
        "en-two-1",
        "dev",
        "en",
        "two_wishes",
    )
    assert row["upstream"] == "careless"
    assert len(row["calls"]) == row["unasked"] == 2
    assert row["questions"] == 2
    assert row["prompt_tokens"] > 0


def test_every_tool_of_the_set_may_be_offered_and_the_rows_say_so(tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    given = ["--tasks", "en-read-1,home-en-read-1", "--open-final", "--ways", "direct"]
    main([*given, "--out", str(out), "--all-tools"])
    assert [row["label"] for row in read_rows(out)] == ["all tools", "all tools"]
    assert all(row["success"] for row in read_rows(out))


def test_rows_of_two_sets_carry_the_digest_of_theirs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "rows.jsonl"
    command = ["--ways", "direct", "--out", str(out), "--resume", "--tasks"]
    main([*command, "home-dev", "--sample", "2"])
    main([*command, "dev", "--sample", "1"])
    main([*command, "home-dev", "--sample", "2"])
    rows = read_rows(out)
    assert [row["set"] for row in rows] == ["home", "home", "office"]
    assert [row["data"] for row in rows] == [compute_digest(SETS[row["set"]]) for row in rows]
    assert {row["half"] for row in rows} == {"dev"}
    assert compute_digest(HOME) != rows[-1]["data"]
    assert capsys.readouterr().out.count("home:\n\n| configuration") == 2


def test_the_loop_runs_behind_the_proxy(tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    tasks = "en-chain-2,de-history-2"
    main(["--tasks", tasks, "--open-final", "--framework", "openai-stream", "--out", str(out)])
    rows = read_rows(out)
    assert [row["way"] for row in rows] == ["direct", "direct", "proxy", "proxy"]
    assert all(row["success"] for row in rows)


def test_a_relay_in_front_of_the_proxy_counts_the_proxy_s_own_questions_too() -> None:
    """As the embedded model is counted behind the proxy."""
    behind, task = ScriptedUpstream("right"), load_tasks()[0]
    behind.begin(task)
    with serve_upstream(behind) as target, start_proxy(["--upstream", target]) as proxy:
        relay = RelayUpstream(proxy)
        with serve_upstream(relay) as url, Framework("openai", find_python("openai")) as framework:
            row = run_task(task, Lane(url, "local", relay, proxy), framework, 60.0)
    assert row["success"]
    assert row["questions"] == 2
    assert row["prompt_tokens"] > 0


@pytest.mark.heavy
@pytest.mark.parametrize("name", [n for n in REQUIREMENTS if not n.startswith("openai-stream")])
def test_every_framework_does_jobs_in_an_environment_of_its_own(name: str, tmp_path: Path) -> None:
    try:
        find_python(name)
    except ConfigError as error:
        pytest.skip(f"could not be fetched here: {error}")
    out = tmp_path / "rows.jsonl"
    tasks = "en-two-1,zh-again-1,es-reminder-1,ar-missing-2,en-many-2,de-history-2,en-history-3"
    command = ["--framework", name, "--out", str(out), "--resume", "--tasks"]
    main([*command, tasks, "--ways", "direct"])
    main([*command, "en-two-1", "--ways", "proxy"])
    assert {row["task"]: row["reasons"] for row in read_rows(out) if not row["success"]} == {}
    main([*command, "es-read-1", "--ways", "direct", "--upstream", "careless"])
    ghost = read_rows(out)[-1]  # a framework may end the job there; it never ends the bench
    assert ghost["success"] or ghost["error"] or ghost["reasons"]


@pytest.mark.heavy
def test_a_loop_that_demands_calls_is_led_as_it_really_asks(tmp_path: Path) -> None:
    """smolagents' own prompt and history, and the call that ends its loop."""
    try:
        find_python("smolagents")
    except ConfigError as error:
        pytest.skip(f"could not be fetched here: {error}")
    out = tmp_path / "rows.jsonl"
    command = ["--framework", "smolagents", "--ways", "proxy", "--proxy-option=--guided=on"]
    main([*command, "--tasks", "en-two-1,zh-again-1,es-read-1,ar-missing-2", "--out", str(out)])
    rows = read_rows(out)
    assert len(rows) == 4
    assert {row["task"]: row["reasons"] for row in rows if not row["success"]} == {}


def test_our_own_agent_is_a_framework(tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    names = ",".join(STYLES)
    command = ["--framework", "callwright", "--upstream", names, "--tasks", "en-two-1"]
    main([*command, "--out", str(out)])
    ways = ["react", "layered", "guided"]
    assert [row["way"] for row in read_rows(out)] == [*ways, *ways]
    assert [row["upstream"] for row in read_rows(out)] == ["right"] * 3 + ["careless"] * 3


@pytest.mark.heavy
def test_a_framework_that_cannot_be_installed_is_skipped_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CALLWRIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    out = tmp_path / "rows.jsonl"
    command = ["--ways", "direct", "--framework", "smolagents,openai", "--tasks", "en-two-1"]
    assert main([*command, "--out", str(out)]) == 0
    assert [row["framework"] for row in read_rows(out)] == ["openai"]
    assert "skipped right smolagents direct: the environment" in capsys.readouterr().err


def test_configurations_are_the_product_of_what_is_asked_for() -> None:
    known = bench.build_parser()
    asked = known.parse_args(["--framework", "openai,callwright", "--upstream", "right,local"])
    assert [(s.upstream, s.framework, s.way) for s in list_setups(asked)] == [
        ("right", "openai", "direct"),
        ("right", "openai", "proxy"),
        ("right", "callwright", "react"),
        ("right", "callwright", "layered"),
        ("right", "callwright", "guided"),
        ("local", "openai", "direct"),
        ("local", "openai", "proxy"),
        ("local", "callwright", "react"),
        ("local", "callwright", "layered"),
        ("local", "callwright", "guided"),
    ]
    with pytest.raises(ConfigError, match="no framework is called nobody"):
        list_setups(known.parse_args(["--framework", "nobody"]))


def test_options_of_the_proxy_belong_to_its_rows_alone() -> None:
    proxied = Setup("http://x/v1", "m", "openai", "proxy", guard="on", options=("--reasks=0",))
    direct = Setup("http://x/v1", "m", "openai", "direct", guard="on", options=("--reasks=0",))
    assert (proxied.to_row()["guard"], proxied.to_row()["options"]) == ("on", "--reasks=0")
    assert (direct.to_row()["guard"], direct.to_row()["options"]) == ("", "")
    assert direct.to_row()["upstream"] == "http://x/v1#m"


def test_a_planner_is_that_of_the_strategies_that_plan() -> None:
    given = ["--framework", "callwright,openai", "--planner", "none"]
    setups = list_setups(build_parser().parse_args(given))
    assert {(one.way, one.planner, one.to_row()["options"]) for one in setups} == {
        ("react", "", ""),
        ("layered", "none", "--planner=none"),
        ("guided", "", ""),
        ("direct", "", ""),
        ("proxy", "", ""),
    }


def test_our_own_agent_is_planned_by_the_planner_that_is_named(tmp_path: Path) -> None:
    tasks = [task for task in load_tasks() if task.id == "zh-chain-2"]
    measured = Bench(tmp_path / "rows.jsonl", tasks, 60.0)
    measured.measure(Setup("right", "", "callwright", "layered", planner="none"))
    (row,) = read_rows(measured.out)
    assert (row["success"], row["options"]) == (True, "--planner=none")
    with pytest.raises(ConfigError, match="no-such-planner"):
        measured.measure(Setup("right", "", "callwright", "layered", planner="no-such-planner"))


def test_each_kind_of_agent_takes_the_ways_of_its_own(tmp_path: Path) -> None:

    def ways(text: str) -> list[tuple[str, str]]:
        given = ["--framework", "openai,callwright", "--ways", text, "--out", str(tmp_path / "x")]
        found = bench.list_setups(bench.build_parser().parse_args(given))
        return [(one.framework, one.way) for one in found]

    assert ways("guided,proxy") == [("openai", "proxy"), ("callwright", "guided")]
    assert len(ways("direct")) == 1 + len(bench.STRATEGIES)
    with pytest.raises(ConfigError, match="no way is called sideways"):
        ways("sideways")
