"""``callwright verify queries`` as a user calls it: by rule, with judges at an endpoint, kept rows
written.
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.endpoint import endpoint
from tests.cli.test_verify_apis import TOOLS, callwright

ROWS = [
    {"id": "fine", "query": "What is the weather in Oslo?", "tools": ["weather"]},
    {"id": "lost", "query": "What is the weather in Oslo?", "tools": ["weather", "forecast"]},
    {"id": "empty", "query": "?", "tools": ["weather"]},
]
YES = json.dumps({"explanation": "The city is given.", "decision": "Solvable", "quality_score": 9})
NO = json.dumps(
    {"explanation": "No day is given.", "decision": "Unsolvable", "rule": 2, "quality_score": 2}
)


def written(folder: Path) -> tuple[Path, Path]:
    (folder / "tools.py").write_text(TOOLS)
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    return folder / "rows.jsonl", folder / "tools.py"


def test_by_rule_each_verdict_has_its_reason_and_the_kept_are_written(tmp_path: Path) -> None:
    rows, tools = written(tmp_path)
    out = tmp_path / "kept.jsonl"
    done = callwright(
        "verify", "queries", rows, "--tools", tools, "--out", out, "--json", folder=tmp_path
    )
    assert done.returncode == 0, done.stderr
    found = {one["id"]: one for one in map(json.loads, done.stdout.splitlines())}
    assert [one["kept"] for one in found.values()] == [True, False, False]
    assert all(one["why"] for one in found.values())
    (kept,) = map(json.loads, out.read_text().splitlines())
    assert (kept["id"], kept["tools"]) == ("fine", ["weather"])
    assert kept["quality"] >= 8
    page = tmp_path / "report.html"
    done = callwright(
        "verify", "queries", rows, "--tools", tools, "--report", page, folder=tmp_path
    )
    assert "3 from the journal" in done.stdout
    html = page.read_text()
    assert "Quality of the requests that can be answered" in html
    assert html.count("What is the weather in Oslo?") == 2, "every request with its text"


def test_two_requests_of_one_id_are_both_kept_as_they_were_asked(tmp_path: Path) -> None:
    rows, tools = written(tmp_path)
    asked = ["What is the weather in Oslo?", "What is the weather in Lima?"]
    rows.write_text("\n".join(json.dumps({"id": "same", "query": one}) for one in asked))
    out = tmp_path / "kept.jsonl"
    callwright("verify", "queries", rows, "--tools", tools, "--out", out, folder=tmp_path)
    assert [one["query"] for one in map(json.loads, out.read_text().splitlines())] == asked


def test_judges_are_asked_about_the_rest_and_their_agreement_is_told(tmp_path: Path) -> None:
    rows, tools = written(tmp_path)
    with endpoint([YES] * 5) as one, endpoint([NO] * 5) as other:
        judges = ("--judge", f"{one}#a", "--judge", f"{other}#b")
        done = callwright("verify", "queries", rows, "--tools", tools, *judges, folder=tmp_path)
    assert "undecided: the judges are tied" in done.stdout, done.stderr
    assert "kept 0 of 3" in done.stdout
    assert "2 model calls" in done.stdout
    assert "judges: pairwise agreement 0.00" in done.stderr


def test_requests_without_any_tool_are_not_judged(tmp_path: Path) -> None:
    (tmp_path / "asked.txt").write_text("What is the weather in Oslo?")
    done = callwright("verify", "queries", tmp_path / "asked.txt", folder=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "no tool is offered for a request of" in done.stderr
    assert "--tools SOURCE" in done.stderr


def test_a_day_that_is_none_is_refused(tmp_path: Path) -> None:
    rows, tools = written(tmp_path)
    done = callwright(
        "verify", "queries", rows, "--tools", tools, "--today", "tomorrow", folder=tmp_path
    )
    assert done.returncode == 1
    assert "--today 2026-11-22" in done.stderr
