"""``tools try`` and a run over a shortlist, as a user calls them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from callwright.agent.catalog_search import TRYING as KNOWN
from callwright.cli.settings.config import TRYING
from tests.cli.endpoint import endpoint, replying
from tests.cli.program import callwright
from tests.served_models import VLLM, serving

TOOLS = '''
from callwright import READ, WRITE, tool

@tool(effects=READ)
def weather_report(city: str) -> dict:
    """The weather in a city now."""
    return {}

@tool(effects=READ)
def city_weather(city: str) -> dict:
    """The weather in a city now, from stations nearby."""
    return {"sky": "rain", "celsius": 7}

@tool(effects=WRITE)
def post_weather(city: str) -> dict:
    """Post the weather in a city now."""
    raise AssertionError("it was called")
'''
QUERY = "What is the weather in Oslo now?"
CALLS = json.dumps({"calls": [{"tool": "city_weather", "arguments": {"city": "Oslo"}}]})
ANSWER = json.dumps(
    {"statements": [{"text": "It is 7 degrees.", "results": ["r1"]}], "missing": []}
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    noise = "\n".join(
        f'@tool(effects=READ)\ndef stamp_{n}(id: str) -> str:\n    "The stamp {n}."\n    return'
        ' ""\n'
        for n in range(30)
    )
    (tmp_path / "tools.py").write_text(TOOLS + noise)
    return tmp_path


def test_the_table_shows_both_ranks_and_why(home: Path) -> None:
    done = callwright(
        "tools",
        "try",
        QUERY,
        "--tools",
        home / "tools.py",
        "--evidence",
        home / "e.db",
        COLUMNS="200",
    )
    assert done.returncode == 0, done.stderr
    rows = [line.split("\t") for line in done.stdout.splitlines() if "\t" in line]
    by_name = {row[2]: row for row in rows}
    assert by_name["city_weather"][1] == "1"
    assert by_name["city_weather"][3] == "success"
    assert by_name["weather_report"][3] == "semantic mismatch"
    assert by_name["post_weather"][3] == "untested"
    assert "may write" in by_name["post_weather"][5]
    again = callwright(
        "tools", "try", QUERY, "--tools", home / "tools.py", "--evidence", home / "e.db"
    )
    assert "0 calls" in again.stdout
    assert "remembered" in again.stdout


def test_what_a_file_says_of_the_price_of_trials_holds_here_too(home: Path) -> None:
    told = home / "prices.toml"
    told.write_text('trial_price = ["*=9"]\ntrial_money = 10\n')
    options = ("--tools", home / "tools.py", "--no-evidence", "--config", told)
    done = callwright("tools", "try", QUERY, *options)
    assert "a call costs 9, and 1 is left for trials" in done.stderr
    assert "1 calls" in callwright("tools", "try", QUERY, *options, "--money", "9").stdout


def test_as_many_are_shown_as_were_asked_for(home: Path) -> None:
    told = callwright(
        "tools", "try", QUERY, "--tools", home / "tools.py", "--no-evidence", "--k", "2"
    ).stdout
    assert [line.split("\t")[1] for line in told.splitlines() if "\t" in line] == [
        "Final",
        "1",
        "2",
    ]
    assert "--json lists all" in told


def test_as_json_it_holds_the_ranking_and_what_was_observed(home: Path) -> None:
    told = callwright(
        "tools", "try", QUERY, "--tools", home / "tools.py", "--no-evidence", "--json", "--thorough"
    )
    made = json.loads(told.stdout)
    assert made["ranking"][0]["name"] == "city_weather"
    assert {o["tool"] for o in made["observations"]} == {"weather_report", "city_weather"}


def test_what_was_proved_stands_first_where_it_is_asked_for_even_if_nothing_failed(
    home: Path,
) -> None:
    tools = home / "tools.py"
    tools.write_text(
        TOOLS.replace("return {}", 'return {"sky": "rain"}').replace(
            "post_weather", "weather_now_post"
        )
    )

    def first(order: str) -> list[str]:
        query = "weather now post"
        done = callwright(
            "tools",
            "try",
            f"{query} in Oslo",
            "--tools",
            tools,
            "--no-evidence",
            "--json",
            "--order",
            order,
            "--price",
            "*=0",
        )
        return [one["name"] for one in json.loads(done.stdout)["ranking"]]

    assert first("doubt")[0] == "weather_now_post", (
        "nothing speaks against it, and it could not be tried"
    )
    assert first("proof")[-1] == "weather_now_post"


def test_a_guess_is_sent_only_to_tools_that_are_declared_free(home: Path) -> None:
    """The request is too short to tell its language, so its city may not be one."""
    asked = ["tools", "try", "weather now in Oslo", "--tools", home / "tools.py", "--no-evidence"]
    held = json.loads(callwright(*asked, "--json").stdout)
    assert held["calls"] == 0
    assert any("would be a guess" in one["justification"] for one in held["ranking"])
    sent = json.loads(callwright(*asked, "--json", "--price", "*=0").stdout)
    assert sent["calls"] > 0
    paid = json.loads(callwright(*asked, "--json", "--price", "*=0.5", "--money", "1").stdout)
    assert paid["calls"] == 0, "what costs something is not free"


def test_the_trials_of_a_run_take_a_model_and_what_they_may_cost(home: Path) -> None:
    plan = json.dumps({"arguments": {"city": "Oslo"}})
    rank = json.dumps([1])
    with endpoint([plan, plan, plan, rank]) as trial_url, endpoint([CALLS, ANSWER]) as url:
        done = callwright(
            "run", QUERY, "--tools", home / "tools.py", "--model", f"{url}#m", "--mode", "schema",
            "--planner", "schema", "--shortlist", "2", "--trials", "read-only",
            "--trial-model", f"{trial_url}#judge", "--trial-price", "*=0.5", "--trial-money", "0.5",
            "--no-journal", "--no-evidence", "--trace", home / "trace.jsonl",
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = map(json.loads, (home / "trace.jsonl").read_text().splitlines())
    [made] = [one["data"]["trials"] for one in lines if one["kind"] == "trials"]
    assert made["calls"] == 1, "half a unit a call, and half a unit to spend"
    assert made["model_calls"] > 0
    wrong = callwright("run", QUERY, "--tools", home / "tools.py", "--trial-money", "1")
    assert wrong.returncode == 1
    assert "--trials read-only" in wrong.stderr


def test_where_nothing_works_the_exit_code_says_so(home: Path) -> None:
    done = callwright(
        "tools", "try", "a stamp", "--tools", home / "tools.py", "--no-evidence", "--trials", "off"
    )
    assert done.returncode == 3
    assert callwright("tools", "try", QUERY).returncode == 1


def test_a_run_retrieves_tries_and_answers_as_one_flow_and_can_be_resumed(home: Path) -> None:
    with endpoint([CALLS, ANSWER]) as url:
        done = callwright(
            "run", QUERY, "--tools", home / "tools.py", "--model", f"{url}#m", "--mode", "schema",
            "--planner", "schema", "--shortlist", "2",
            "--trials", "read-only", "--journal", home / "runs", "--evidence", home / "e.db",
            "--html", home / "run.html",
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "7 degrees" in done.stdout
    assert "33 tools to find some in" in done.stderr
    found = next(line for line in done.stderr.splitlines() if "found for the request" in line)
    assert "city_weather" in found
    assert "weather_report" not in found
    assert "city_weather" in (home / "run.html").read_text()
    [journal] = (home / "runs").glob("*.run")
    again = callwright(
        "resume", journal.stem, "--journal", home / "runs", "--evidence", home / "e.db"
    )  # nobody is there to be asked
    assert "7 degrees" in again.stdout
    health = [
        json.loads(row)
        for row in callwright(
            "tools", "health", "--json", "--evidence", home / "e.db"
        ).stdout.splitlines()
    ]
    assert {h["tool"]: h["counts"] for h in health}["city_weather"] == {"functional_success": 2}


def test_trials_and_shortlist_are_settings_too(home: Path) -> None:
    (home / "callwright.toml").write_text('trials = "sandbox"\nshortlist = 2\n')
    told = callwright("config", "--json", "--config", home / "callwright.toml")
    assert json.loads(told.stdout)["settings"]["trials"]["value"] == "sandbox"
    wrong = callwright("run", "x", CALLWRIGHT_SHORTLIST="many")
    assert "CALLWRIGHT_SHORTLIST takes a whole number" in wrong.stderr


def test_settings_know_every_way_to_try() -> None:
    assert TRYING == KNOWN


def test_the_questions_of_trials_have_the_profile_that_is_named(home: Path) -> None:
    def tokens(*more: str | Path) -> int:
        asked: list[str] = []
        with replying(lambda body: asked.append(body) or "{}") as url:
            done = callwright(
                "tools", "try", QUERY, "--tools", home / "tools.py", "--no-evidence",
                "--model", f"{url}#m", *more,
            )  # fmt: skip
        assert "Traceback" not in done.stderr
        return next(int(json.loads(body)["max_tokens"]) for body in asked if "extract the" in body)

    assert tokens() == 512
    assert tokens("--model-profile", "large") == 2_048
    (told := home / "told.toml").write_text('model_profile = "medium"\n')
    assert tokens("--config", told) == 1_024


def test_a_model_of_the_trials_alone_has_the_profile_of_its_own_size(home: Path) -> None:
    asked: list[str] = []
    plan = json.dumps({"arguments": {"city": "Oslo"}})
    replies = [*["{}"] * 2, *[plan] * 4]  # two to what it can do
    with serving(VLLM, replies, asked) as trial_url, endpoint([CALLS, ANSWER]) as url:
        done = callwright(
            "run", QUERY, "--tools", home / "tools.py", "--model", f"{url}#m", "--mode", "schema",
            "--planner", "schema", "--shortlist", "2", "--trials", "read-only",
            "--trial-model", f"{trial_url}#Qwen/Qwen2.5-32B-Instruct",
            "--no-journal", "--no-evidence", "--trace", home / "trace.jsonl",
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    plans = [json.loads(body) for body in asked if "extract the" in body]
    assert {plan["max_tokens"] for plan in plans} == {2_048}
    assert '"model_profile":"small"' in (home / "trace.jsonl").read_text().replace(" ", "")
