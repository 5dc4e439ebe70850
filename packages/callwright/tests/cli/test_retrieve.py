"""``callwright retrieve`` as a user calls it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from callwright.retrieval import MODES
from callwright.retrieval.installed import best_mode
from tests.cli.program import callwright


def _openai(name: str, description: str) -> dict[str, object]:
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": {"type": "object"}},
    }


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    path = tmp_path / "tools.json"
    tools = [
        _openai("get_forecast", "The weather of the next days."),
        _openai("book_hotel", "Reserve a room."),
    ]
    path.write_text(json.dumps([*tools, _openai("find_flights", "Flights between two airports.")]))
    return path


def test_lines_of_queries_are_answered_with_ranked_tools_and_bad_lines_with_errors(
    listed: Path,
) -> None:
    lines = [
        {"id": 1, "query": "the weather and flights", "k": 1},
        {"id": 2, "query": 7},
        {"id": 3, "query": "a room", "k": 0},
        {"id": 4, "query": "a room in a hotel"},
    ]
    out = callwright(
        "retrieve",
        "--jsonl",
        "--mode",
        "lexical",
        "--tools",
        listed,
        "--k",
        "2",
        stdin="\n".join(map(json.dumps, lines)),
    )
    answers = [json.loads(line) for line in out.stdout.splitlines()]
    assert [a["id"] for a in answers] == [1, 2, 3, 4]
    assert len(answers[0]["tools"]) == 1
    assert [("error" in a) for a in answers] == [False, True, True, False]
    (hit,) = answers[3]["tools"]
    assert hit["name"] == "book_hotel"
    assert 0 < hit["score"] <= 1


def test_queries_are_read_from_the_named_file(listed: Path, tmp_path: Path) -> None:
    lines = tmp_path / "queries.jsonl"
    lines.write_text('{"id": 7, "query": "a room in a hotel"}')
    command = ("retrieve", lines, "--jsonl", "--tools", listed, "--mode", "lexical")
    done = callwright(*command)
    assert done.returncode == 0, done.stderr
    assert [t["name"] for t in json.loads(done.stdout)["tools"]] == ["book_hotel"]
    lines.unlink()
    assert (callwright(*command).returncode, callwright(*command).stdout) == (1, "")


def test_one_query_gives_a_table_or_json(listed: Path) -> None:
    assert "find_flights" in callwright("retrieve", "flights to Oslo", "--tools", listed).stdout
    out = callwright(
        "retrieve", "flights to Oslo", "--tools", listed, "--json", "--mode", "bm25"
    ).stdout
    assert [t["name"] for t in json.loads(out)["tools"]] == ["find_flights"]
    nothing = callwright("retrieve", "xyzzy", "--tools", listed, "--mode", "lexical")
    assert "Nothing speaks" in nothing.stdout


def test_an_index_is_kept_and_used_without_its_sources(listed: Path, tmp_path: Path) -> None:
    kept = tmp_path / "index"
    first = callwright("retrieve", "flights to Oslo", "--tools", listed, "--index", kept, "--json")
    listed.unlink()
    again = callwright("retrieve", "flights to Oslo", "--index", kept, "--json")
    assert json.loads(again.stdout) == json.loads(first.stdout)
    assert (
        "holds no index" in callwright("retrieve", "flights", "--index", tmp_path / "none").stderr
    )


def test_without_a_mode_the_best_one_that_is_installed_is_used(
    listed: Path, tmp_path: Path
) -> None:
    def find(*more: str, **environment: str) -> list[dict[str, object]]:
        out = callwright(
            "retrieve", "a place to sleep", "--tools", listed, "--json", *more, **environment
        )
        assert out.returncode == 0, out.stderr
        return list(json.loads(out.stdout)["tools"])

    if best_mode() == "ranked":
        assert find()[0]["name"] == "book_hotel"  # no word of the request is a word of the tool
        assert find() == find("--mode", "ranked")
    nothing_fetched = {"CALLWRIGHT_CACHE": str(tmp_path / "cache")}
    assert find(**nothing_fetched) == find("--mode", "lexical") == []
    assert not (tmp_path / "cache").exists()


def test_the_help_names_every_mode() -> None:
    told = callwright("retrieve", "--help").stdout.partition("--mode")[2].partition("--encoder")[0]
    assert all(mode in told for mode in MODES)


def test_what_was_encoded_once_is_not_encoded_again(listed: Path, tmp_path: Path) -> None:
    command = ("retrieve", "the weather", "--tools", listed, "--mode", "ranked", "--json")
    first = callwright(*command, XDG_STATE_HOME=str(tmp_path))
    assert first.returncode == 0, first.stderr
    (kept,) = tmp_path.rglob("vectors.db")
    with closing(sqlite3.connect(kept)) as file:
        before = file.execute("select count(*) from vectors").fetchone()
        again = callwright(*command, XDG_STATE_HOME=str(tmp_path))
        assert file.execute("select count(*) from vectors").fetchone() == before
    assert again.stdout == first.stdout
    blocked = tmp_path / "file"
    blocked.write_text("")
    elsewhere = callwright(*command, XDG_STATE_HOME=str(blocked))
    assert elsewhere.stdout == first.stdout, "a folder that cannot be written costs only time"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["weather"], "needs tools"),
        (["--tools", "LIST"], "needs a query"),
        (["weather", "--tools", "LIST", "--mode", "best"], "no retrieval mode 'best'"),
    ],
)
def test_what_is_missing_is_said(listed: Path, arguments: list[str], said: str) -> None:
    out = callwright("retrieve", *[str(listed) if a == "LIST" else a for a in arguments])
    assert out.returncode == 1
    assert said in out.stderr
