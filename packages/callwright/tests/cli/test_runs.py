"""``runs``, ``resume`` and ``resolve`` as a user calls them, after a real SIGKILL and a real
Ctrl-C.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from callwright import open_catalog
from callwright.tools.overlay import Overlay, OverlayChange, ToolOverlay, documented
from tests.cli.endpoint import endpoint
from tests.cli.program import callwright

TOOLS = '''
import os, pathlib, signal, time
from callwright import WRITE, tool
HERE = pathlib.Path(__file__).parent

@tool(effects=WRITE)
def book(guest: str) -> dict[str, str]:
    """Book a room for a guest."""
    with open(HERE / "booked", "a") as done:
        done.write(guest + "\\n")
    if not (HERE / "passed").exists():
        (HERE / "passed").touch()
        os.kill(os.getpid(), getattr(signal, os.environ.get("END", "SIGINT")))
        if os.environ.get("END"):
            signal.pause()
        time.sleep(60)
    return {"booking": "B7"}
'''
CALLS = json.dumps({"calls": [{"tool": "book", "arguments": {"guest": "Ann"}}]})
ANSWER = json.dumps(
    {"statements": [{"text": "The booking is B7.", "results": ["r1"]}], "missing": []}
)
posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "tools.py").write_text(TOOLS)
    return tmp_path


def listed(home: Path) -> list[dict[str, object]]:
    done = callwright("runs", "--json", "--journal", home / "runs")
    return [json.loads(line) for line in done.stdout.splitlines()]


def begin(
    home: Path, url: str, *more: str | Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    return callwright(
        "run", "Book a room for Ann.", "--tools", home / "tools.py", "--model", f"{url}#m", "--mode", "schema",
        "--journal", home / "runs", *more, **environment,
    )  # fmt: skip


@posix
@pytest.mark.parametrize("said", [["--result", '{"booking": "B7"}'], ["--not-done"]])
def test_a_killed_run_names_the_call_in_doubt_and_goes_on_when_it_is_resolved(
    home: Path, said: list[str]
) -> None:
    with endpoint([CALLS, ANSWER]) as url:
        assert begin(home, url, END="SIGKILL").returncode == -signal.SIGKILL
        [run] = listed(home)
        assert run["status"] == "in doubt"
        assert run["in_doubt"] == ["r1: book {'guest': 'Ann'}"]
        id_ = str(run["id"])
        refused = callwright("resume", id_, "--journal", home / "runs")
        assert refused.returncode == 1
        assert "in doubt: r1 (book" in refused.stderr
        assert "goes on with this run" not in refused.stderr, (
            "it does not, before the call is resolved"
        )
        wrong = callwright("resolve", id_, "r9", "--not-done", "--journal", home / "runs")
        assert "'r9' of" in wrong.stderr
        assert "in doubt: r1" in wrong.stderr
        assert callwright("resolve", id_, "r1", *said, "--journal", home / "runs").returncode == 0
        done = callwright("resume", id_, "--journal", home / "runs", "--html", home / "run.html")
    assert done.returncode == 0, done.stderr
    assert "The booking is B7." in done.stdout
    assert "B7" in (home / "run.html").read_text()
    assert len((home / "booked").read_text().split()) == (2 if said == ["--not-done"] else 1)
    assert [r["status"] for r in listed(home)] == ["answered"]


async def _overlaid(home: Path, example: str) -> None:
    async with open_catalog([str(home / "tools.py")]) as catalog:
        changes = (OverlayChange("guest", "description", f"such as {example}"),)
        laid = Overlay({"book": ToolOverlay(documented(catalog["book"]), changes)})
    laid.write(home / "laid.json")


@posix
async def test_a_run_with_an_overlay_is_resumed_with_it_and_not_with_another(home: Path) -> None:
    await _overlaid(home, "Ann")
    with endpoint([CALLS, ANSWER]) as url:
        begun = begin(home, url, "--overlay", home / "laid.json", END="SIGKILL")
        assert begun.returncode == -signal.SIGKILL, begun.stderr
        id_ = str(listed(home)[0]["id"])
        assert (
            callwright("resolve", id_, "r1", "--not-done", "--journal", home / "runs").returncode
            == 0
        )
        await _overlaid(home, "Ben")
        other = callwright("resume", id_, "--journal", home / "runs")
        assert other.returncode == 1
        assert "book" in other.stderr
        await _overlaid(home, "Ann")
        done = callwright("resume", id_, "--journal", home / "runs")
    assert done.returncode == 0, done.stderr
    assert "The booking is B7." in done.stdout


@posix
def test_ctrl_c_in_a_write_names_it_in_doubt_and_what_it_says_to_do_lets_the_run_go_on(
    home: Path,
) -> None:
    with endpoint([CALLS, ANSWER]) as url:
        stopped = begin(home, url)
        assert stopped.returncode == 130, stopped.stderr
        assert "Traceback" not in stopped.stderr
        [run] = listed(home)
        assert (run["status"], run["in_doubt"]) == ("in doubt", ["r1: book {'guest': 'Ann'}"])
        id_ = str(run["run"])
        place = f"--journal {home / 'runs'}"
        said = [line.strip() for line in stopped.stderr.split("stopped; ")[1].splitlines()]
        assert said == [
            "in doubt: r1: book {'guest': 'Ann'}: it was under way and may have taken effect",
            "find out what happened, then say so, and the run goes on:",
            f"callwright resolve {id_} r1 {place} --result JSON | --not-done | --failed WHY",
            f"callwright resume {id_} {place}",
        ]
        kept = ("--journal", home / "runs")
        assert "may have taken effect" in callwright("resume", id_, *kept).stderr, (
            "nothing is repeated unasked"
        )
        assert (
            callwright("resolve", id_, "r1", "--result", '{"booking": "B7"}', *kept).returncode == 0
        )
        done = callwright("resume", id_, *kept)
    assert done.stdout == "The booking is B7.\n", done.stderr
    assert (home / "booked").read_text().split() == ["Ann"]
    assert "Replay: nothing that the run depends on has changed, so what is" in done.stderr


def age(path: Path) -> None:
    """Make a journal one of another version, which kept no marks."""
    database = apsw.Connection(str(path))
    told = "UPDATE event SET data = json_set(data, '$.version', '0.0.1') WHERE kind = 'run.start'"
    database.execute(told)
    database.execute("DROP TABLE mark")
    database.close()


@posix
def test_a_run_of_another_version_goes_on_from_its_facts_and_says_so(home: Path) -> None:
    kept = ("--journal", home / "runs")
    with endpoint([CALLS, CALLS, ANSWER]) as url:
        stopped = begin(home, url)
        assert stopped.returncode == 130, stopped.stderr
        [run] = listed(home)
        id_ = str(run["run"])
        age(home / "runs" / f"{id_}.run")
        refused = callwright("resume", id_, *kept)
        assert (refused.returncode, "may have taken effect" in refused.stderr) == (1, True)
        said = callwright("resolve", id_, "r1", "--result", '{"booking": "B7"}', *kept)
        assert said.returncode == 0, said.stderr
        done = callwright("resume", id_, *kept)
    assert done.stdout == "The booking is B7.\n", done.stderr
    assert (home / "booked").read_text().split() == ["Ann"], "no write is sent again"
    assert "Continue: version was 0.0.1, is " in refused.stderr
    assert "Continue: what it depends on had changed, so the run goes on from its" in done.stderr
    assert [(one["status"], one["in_doubt"]) for one in listed(home)] == [("answered", [])]
    ended = callwright("resume", id_, *kept)
    assert ended.stdout == "The booking is B7.\n", ended.stderr


@posix
def test_a_run_of_another_version_that_has_ended_tells_its_answer(home: Path) -> None:
    (home / "passed").touch()
    with endpoint([CALLS, ANSWER]) as url:
        begun = begin(home, url)
        assert begun.returncode == 0, begun.stderr
        id_ = str(listed(home)[0]["id"])
        age(home / "runs" / f"{id_}.run")
        done = callwright("resume", id_, "--journal", home / "runs")
    assert done.stdout == "The booking is B7.\n", done.stderr
    assert "The run has ended, and version was 0.0.1, is " in done.stderr
    assert (home / "booked").read_text().split() == ["Ann"]


@posix
def test_ctrl_c_in_what_only_reads_says_how_the_run_goes_on_and_it_does(home: Path) -> None:
    (home / "tools.py").write_text(TOOLS.replace("WRITE", "READ"))
    with endpoint([CALLS, ANSWER]) as url:
        stopped = begin(home, url)
        assert stopped.returncode == 130, stopped.stderr
        [run] = listed(home)
        assert run["status"] == "interrupted"
        assert stopped.stderr.endswith(
            f"stopped; callwright resume {run['run']} --journal {home / 'runs'} goes on with this"
            " run\n"
        )
        done = callwright("resume", str(run["run"]), "--journal", home / "runs")
    assert done.stdout == "The booking is B7.\n", done.stderr


def test_resolving_says_one_thing_in_json(home: Path) -> None:
    for said, message in (([], "say one thing"), (["--result", "{"], "--result is not JSON")):
        done = callwright("resolve", "x", "r1", *said, "--journal", home)
        assert done.returncode == 1
        assert message in done.stderr


def test_without_runs_the_list_is_empty_and_a_damaged_one_is_marked(home: Path) -> None:
    empty = callwright("runs", "--journal", home / "none")
    assert (empty.returncode, empty.stdout) == (0, "")
    assert "no run yet" in empty.stderr
    (home / "20260101-000000-aaaa.run").write_bytes(b"x" * 5000)
    assert "damaged" in callwright("runs", "--journal", home).stdout


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE event SET data = '{' WHERE kind = 'run.start'",
        "UPDATE meta SET value = '5' WHERE key = 'setup'",
        "DROP TABLE event",
        "UPDATE meta SET value = '99' WHERE key = 'format'",
    ],
)
def test_one_damaged_journal_is_named_and_hides_no_other_run(home: Path, sql: str) -> None:
    (home / "passed").touch()
    with endpoint([CALLS, ANSWER, CALLS, ANSWER]) as url:
        for _ in range(2):
            assert begin(home, url).returncode == 0
    first, second = sorted((home / "runs").glob("*.run"))
    database = apsw.Connection(str(first))
    database.execute(sql)
    database.close()
    table = callwright("runs", "--journal", home / "runs")
    assert table.returncode == 0, table.stderr
    assert f"{second.stem}" in table.stdout
    assert "answered" in table.stdout
    one, other = sorted(listed(home), key=lambda run: str(run["run"]))
    assert (one["status"], other["status"]) == ("damaged", "answered")
    assert str(first) in str(one["damage"])
    for command in (
        ["resume", first.stem],
        ["resolve", first.stem, "r1", "--not-done"],
        ["trust", first],
    ):
        done = callwright(
            *command, *(["--journal", home / "runs"] if command[0] != "trust" else [])
        )
        assert done.returncode == 1
        assert str(first) in done.stderr
        assert "Traceback" not in done.stderr


def test_a_dead_endpoint_leaves_a_run_that_can_be_resumed(home: Path) -> None:
    (home / "passed").touch()
    with endpoint([CALLS]) as url:
        pass
    failed = begin(home, url)
    assert failed.returncode == 1
    with endpoint([CALLS, ANSWER]) as url:
        done = begin(home, url, CALLWRIGHT_RUNS=str(home))
    assert done.returncode == 0, done.stderr
    assert os.path.exists(home / "booked")


def sent(home: Path, url: str) -> Path:
    """A run of somebody else's machine, as it arrives here: with a key of its maker, not of this
    user.
    """
    evil = f"open({str(home / 'ran')!r}, 'w')\n" + TOOLS
    (home / "evil.py").write_text(evil)
    (home / "passed").touch()
    done = callwright(
        "run", "Book a room for Ann.", "--tools", home / "evil.py", "--model", f"{url}#m", "--mode", "schema",
        "--journal", home / "runs", CALLWRIGHT_TRUST=str(home / "theirs"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (home / "ran").unlink()
    return next((home / "runs").glob("*.run"))


def test_a_run_that_somebody_sent_chooses_neither_code_nor_address(home: Path) -> None:
    with endpoint([CALLS, ANSWER]) as url:
        path = sent(home, url)
    for more in ([], ["--tools", home / "tools.py"], ["--model", "http://127.0.0.1:9/v1#m"]):
        refused = callwright("resume", path, *more, CALLWRIGHT_API_KEY="s3cret")
        assert refused.returncode == 1
        assert "is no run of this user's folder" in refused.stderr
        assert ("evil.py" in refused.stderr) == ("--tools" not in more)
        assert (f"--model {url}#m" in refused.stderr) == ("--model" not in more)
        assert f"callwright trust {path}" in refused.stderr
    by_id = callwright("resume", path.stem, "--journal", home / "runs")
    assert "is no run of this user's folder" in by_id.stderr
    assert not (home / "ran").exists()
    again = callwright("resume", path, "--tools", home / "tools.py", "--model", f"{url}#m")
    assert again.returncode == 0, again.stderr
    assert "The booking is B7." in again.stdout
    assert not (home / "ran").exists()


def test_an_own_run_is_resumed_from_the_folder_that_the_user_names_and_not_as_a_file_among_others(
    home: Path,
) -> None:
    (home / "passed").touch()
    with endpoint([CALLS, ANSWER]) as url:
        assert begin(home, url).returncode == 0
    path = next((home / "runs").glob("*.run"))
    assert "if you made it there" in callwright("resume", path).stderr
    for more in (
        ["--journal", home / "runs"],
        ["--tools", home / "tools.py", "--model", f"{url}#m"],
    ):
        done = callwright("resume", path, *more)
        assert done.returncode == 0, done.stderr
    assert callwright("resume", path, CALLWRIGHT_RUNS=str(home / "runs")).returncode == 0


def test_a_run_that_somebody_sent_is_resumed_as_it_was_when_it_is_confirmed(home: Path) -> None:
    with endpoint([CALLS, ANSWER]) as url:
        path = sent(home, url)
    confirmed = callwright("trust", path)
    assert confirmed.returncode == 0, confirmed.stderr
    assert "evil.py" in confirmed.stdout
    assert f"model: {url}#m" in confirmed.stdout
    done = callwright("resume", path)
    assert done.returncode == 0, done.stderr
    assert (home / "ran").exists()
    assert callwright("trust", "--remove", path).returncode == 0
    assert callwright("resume", path).returncode == 1


def test_a_resume_writes_where_it_is_called_and_says_where_its_run_was_started(home: Path) -> None:
    """The page went into the folder of the run's start, and without that folder came a traceback."""
    started, here = home / "started", home / "here"
    started.mkdir()
    here.mkdir()
    (home / "passed").touch()
    kept = ("--journal", home / "runs")
    with endpoint([CALLS, ANSWER]) as url:
        done = callwright(
            "run", "Book a room for Ann.", "--tools", "../tools.py", "--model", f"{url}#m",
            "--mode", "schema", *kept, folder=started,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        id_ = next((home / "runs").glob("*.run")).stem
        again = callwright("resume", id_, *kept, "--html", "run.html", folder=here)
        assert again.returncode == 0, again.stderr
        assert ((here / "run.html").is_file(), (started / "run.html").exists()) == (True, False)
        started.rmdir()
        gone = callwright("resume", id_, *kept, folder=here)
    assert (gone.returncode, "Traceback" in gone.stderr) == (1, False)
    assert f"the folder {started}, where the run was started, cannot be entered" in gone.stderr
    assert "--tools SOURCE" in gone.stderr
