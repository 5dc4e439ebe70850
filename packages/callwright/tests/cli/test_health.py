"""``tools health`` as a user calls it: what runs have shown, in a table or as JSON."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from callwright.tools.evidence import EvidenceStore, Observation
from tests.cli.endpoint import endpoint
from tests.cli.program import callwright
from tests.cli.test_app import ANSWER, CALLS, TOOLS


@pytest.fixture
def file(tmp_path: Path) -> Path:
    now = time.time()
    rows = [
        Observation(
            "find_city",
            "d1",
            "functional_success",
            {"q": "Oslo"},
            '{"id":7}',
            seconds=0.2,
            at=now - 7200,
        ),
        Observation(
            "find_city",
            "d1",
            "execution_failure",
            {"q": "Bergen"},
            kind="timeout",
            proof="no answer",
        ),
        Observation("weather", "d2", "functional_success", simulated=True),
    ]
    with EvidenceStore(tmp_path / "e.db") as store:
        store.record(rows)
    return store.path


def test_the_table_says_how_well_each_tool_works(file: Path) -> None:
    done = callwright("tools", "health", "--evidence", file)
    assert done.returncode == 0, done.stderr
    city, weather = (
        next(line for line in done.stdout.splitlines() if name in line)
        for name in ("find", "weather")
    )
    for part in ("50% of 2.0", "worked 1", "failed 1", "0.20 s", "timeout 1", "now", "d1"):
        assert part in city
    assert "unknown" in weather
    assert "simulated 1" in weather


def test_a_named_tool_is_shown_with_examples_and_an_unknown_one_named(file: Path) -> None:
    done = callwright("tools", "health", "find_city", "cook", "--evidence", file)
    assert 'find_city("q":"Oslo") -> {"id":7}' in done.stdout
    assert 'find_city("q":"Bergen") -> no answer' in done.stdout
    assert "weather" not in done.stdout
    assert "nothing is known of cook" in done.stderr


def test_as_json_it_is_one_object_a_tool(file: Path) -> None:
    rows = [
        json.loads(line)
        for line in callwright("tools", "health", "--json", "--evidence", file).stdout.split("\n")[
            :-1
        ]
    ]
    assert [(r["tool"], round(r["success"], 1), r["seconds"]) for r in rows] == [
        ("find_city", 0.5, 0.2),
        ("weather", 0.5, None),
    ]
    assert rows[0]["worked"][0]["arguments"] == {"q": "Oslo"}


def test_without_any_evidence_it_says_so_and_makes_no_file(tmp_path: Path) -> None:
    done = callwright("tools", "health", "--evidence", tmp_path / "none.db")
    assert (done.returncode, done.stdout) == (0, "")
    assert "nothing is known of any tool yet" in done.stderr
    assert not (tmp_path / "none.db").exists()


def test_a_run_feeds_it_by_default_and_not_where_it_is_told_not_to(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(TOOLS)
    state = {"CALLWRIGHT_EVIDENCE": "", "XDG_STATE_HOME": str(tmp_path / "state")}
    for flags, known in ((["--no-evidence"], []), ([], ["stock"])):
        with endpoint([CALLS, ANSWER]) as url:
            told = [
                "run",
                "How many hammers?",
                "--tools",
                tmp_path / "tools.py",
                "--only",
                "stock",
                *flags,
            ]
            done = callwright(*told, "--model", f"{url}#m", "--mode", "schema", **state)
        assert done.returncode == 0, done.stderr
        shown = callwright("tools", "health", "--json", **state)
        assert [json.loads(line)["tool"] for line in shown.stdout.splitlines()] == known
    assert (tmp_path / "state" / "callwright" / "evidence.db").is_file()


def test_the_file_of_a_project_is_the_one_that_its_settings_name(tmp_path: Path) -> None:
    (tmp_path / "callwright.toml").write_text('evidence = "here.db"\n')
    (tmp_path / "here.db").touch()
    done = callwright(
        "tools", "health", "--config", tmp_path / "callwright.toml", CALLWRIGHT_EVIDENCE=""
    )
    assert str(tmp_path / "here.db") in done.stderr
