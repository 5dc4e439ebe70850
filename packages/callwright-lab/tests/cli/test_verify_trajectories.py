"""``callwright verify trajectories`` as a user calls it: a file checked without a model; requests
solved by the agent, judged and written, over a real endpoint; and what goes on where an earlier
sweep stood.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from callwright.agent.strategies import STRATEGIES
from callwright_lab.cli.verify_trajectories import Asked
from tests.cli import program
from tests.cli.endpoint import replying
from tests.cli.sky import TOOLS

FUNCTION = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}


def said(role: str, content: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def record(name: str, *codes: tuple[str, str], ending: str) -> dict[str, Any]:
    """A row as ToolBench-V has them."""
    messages = [
        said("system", f"You call APIs.\n{[FUNCTION]!r}"),
        said("user", "Task:\nWhat is the sky like in Oslo?\nBegin!"),
    ]
    for code, came in codes:
        text = f"<thought>\nI ask.\n</thought>\n<execute>\n```python\n{code}\n```\n</execute>"
        messages += [said("assistant", text, no_loss=False), said("user", f"Observation:\n{came}")]
    return {"id": name, "messages": [*messages, said("assistant", ending, no_loss=False)]}


CLEAR = ("print(weather(city='Oslo'))", "{'city': 'Oslo', 'sky': 'clear'}")
END = "<thought>\nDone.\n</thought>\n<final_answer>\nThe sky in Oslo is clear.\n</final_answer>"
GOOD = record("good", CLEAR, ending=END)
TWICE = record("twice", CLEAR, CLEAR, ending=END)
GAVE_UP = record(
    "gave-up", CLEAR, ending="<thought>\nNo.\n</thought>\n<given_up>\nI cannot.\n</given_up>"
)


def callwright(*arguments: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    state = {
        "XDG_STATE_HOME": str(folder / "state"),
        "CALLWRIGHT_RUNS": str(folder / "runs"),
        "COLUMNS": "200",
    }
    return program.callwright("verify", "trajectories", *arguments, folder=folder, **state)


@contextmanager
def endpoint(answer: Callable[[dict[str, Any]], str]) -> Iterator[str]:
    """An OpenAI-compatible server that answers with this function of the request."""
    with replying(lambda asked: answer(json.loads(asked))) as url:
        yield f"{url}#m"


def test_a_file_is_checked_without_a_model_and_what_is_kept_is_written_as_it_stood(
    tmp_path: Path,
) -> None:
    source, out, report = tmp_path / "v.json", tmp_path / "kept.jsonl", tmp_path / "report.md"
    source.write_text(json.dumps([GOOD, TWICE, GAVE_UP]))
    done = callwright(source, "--out", out, "--report", report, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "execution: repeated_call" in done.stdout
    assert "format: given_up" in done.stdout
    assert "kept 1 of 3 (33.3%)" in done.stdout
    assert "0 model calls" in done.stdout
    assert [json.loads(line) for line in out.read_text().splitlines()] == [GOOD]
    assert "| kept | by rule | 1 |" in report.read_text()
    again = callwright(source, "--out", out, "--report", tmp_path / "report.html", folder=tmp_path)
    assert "3 from the journal" in again.stdout
    page = (tmp_path / "report.html").read_text()
    assert page.count("What was done") == 3
    source.write_text(json.dumps([{**GOOD, "part": "test"}, TWICE]))
    callwright(source, "--out", out, folder=tmp_path)
    assert json.loads(out.read_text())["part"] == "test", (
        "as it stands now, not as an earlier sweep read it"
    )
    assert "execution: repeated_call (proved)" in page


def test_judges_decide_on_what_the_rules_let_pass(tmp_path: Path) -> None:
    source = tmp_path / "v.json"
    source.write_text(json.dumps([GOOD, TWICE]))
    asked: list[dict[str, Any]] = []

    def judge(body: dict[str, Any]) -> str:
        asked.append(body)
        return '{"content": "It says so.", "answer_status": "Pass", "all_steps_validity": "yes"}'

    with endpoint(judge) as one, endpoint(judge) as other:
        done = callwright(source, "--judge", one, "--judge", other, "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    good, twice = (json.loads(line) for line in done.stdout.splitlines())
    assert (good["kept"], good["category"], len(good["found"]["votes"])) == (True, "Pass", 2)
    assert (twice["kept"], twice["category"]) == (False, "execution: repeated_call")
    assert len([body for body in asked if "Begin!" not in str(body) and "Oslo" in str(body)]) == 2
    assert "pairwise agreement 1.00" in done.stderr


def agent(body: dict[str, Any]) -> str:
    """Solves by the request what it is asked, with one call that is not needed where Rome is spoken
    of.
    """
    text = str(body["messages"])
    city = "Rome" if "Rome" in text else "Oslo"
    rounds = sum(message["role"] == "assistant" for message in body["messages"])
    if rounds < (2 if city == "Rome" else 1):
        other = "Oslo" if rounds else city
        return f"<thought>I ask.</thought><execute>print(weather(city='{other}'))</execute>"
    sky = {"Oslo": "clear", "Rome": "cloudy"}[city]
    return f"<thought>Done.</thought><final_answer>The sky in {city} is {sky}.</final_answer>"


def test_requests_are_solved_by_the_agent_and_what_is_kept_is_training_data(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(TOOLS)
    (tmp_path / "asked.txt").write_text(
        "What is the sky like in Oslo?\nWhat is the sky like in Rome?\n"
    )
    out = tmp_path / "kept.jsonl"
    common = (
        "--requests",
        "asked.txt",
        "--tools",
        "tools.py",
        "--strategy",
        "toolmvr",
        "--out",
        out,
        "--strict",
    )
    with endpoint(agent) as model:
        short = callwright(
            *common, "--model", model, "--model-calls", "3", "--concurrency", "1", folder=tmp_path
        )
        assert short.returncode == 0, short.stderr
        assert "1 left: the budget of 3 model calls is spent" in short.stdout
        done = callwright(*common, "--model", model, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "kept 1 of 2" in done.stdout
    assert "1 from the journal" in done.stdout
    assert "unused_result" in done.stdout
    (kept,) = (json.loads(line) for line in out.read_text().splitlines())
    assert kept["id"] == "asked-1"
    assert [m["role"] for m in kept["messages"]] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
    ]
    assert "weather(city='Oslo')" in kept["messages"][2]["content"]


def test_a_line_is_text_or_an_object_and_what_nobody_offers_costs_no_other_row(
    tmp_path: Path,
) -> None:
    (tmp_path / "tools.py").write_text(TOOLS)
    rows: list[dict[str, Any]] = [
        {"id": "described", "query": "What is the sky like in Rome?", "tools": [FUNCTION]},
        {"id": "gone", "query": "What is the sky like in Rome?", "tools": ["weather", "horoscope"]},
    ]
    lines = ["What is the sky like in Oslo?", *map(json.dumps, rows)]
    (tmp_path / "asked.txt").write_text("\r\n".join(lines))
    out = tmp_path / "kept.jsonl"
    with endpoint(agent) as model:
        common = ("--tools", "tools.py", "--strategy", "toolmvr", "--model", model)
        done = callwright("--requests", "asked.txt", *common, "--out", out, folder=tmp_path)
        (tmp_path / "marked.jsonl").write_text("\ufeff" + json.dumps(rows[0]), encoding="utf-8")
        marked = callwright("--requests", "marked.jsonl", *common, "--json", folder=tmp_path)
        (tmp_path / "all.jsonl").write_text(json.dumps({**rows[1], "tools": "horoscope"}))
        lost = callwright("--requests", "all.jsonl", *common, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "tools not offered" in done.stdout
    assert "no source offers horoscope" in done.stdout
    assert [json.loads(line)["id"] for line in out.read_text().splitlines()] == [
        "asked-1",
        "described",
    ]
    assert [json.loads(line)["id"] for line in marked.stdout.splitlines()] == ["described"]
    assert lost.returncode == 1
    assert "no source offers horoscope: no request can be solved" in lost.stderr


def test_it_takes_either_a_file_or_requests_and_says_what_else_it_needs(tmp_path: Path) -> None:
    assert "either a file of them, or requests" in callwright(folder=tmp_path).stderr
    (tmp_path / "asked.txt").write_text("Hello?")
    done = callwright("--requests", "asked.txt", folder=tmp_path)
    assert done.returncode == 1
    assert "--tools SOURCE" in done.stderr
    (tmp_path / "asked.jsonl").write_text('{"text": "Hello?"}\n')
    done = callwright("--requests", "asked.jsonl", "--tools", "x.py", folder=tmp_path)
    assert "record 1 of asked.jsonl has no query" in done.stderr
    (tmp_path / "asked.txt").write_text('Hello?\n{"query": \n')
    done = callwright("--requests", "asked.txt", "--tools", "x.py", folder=tmp_path)
    assert "line 2 of asked.txt is not JSON" in done.stderr
    (tmp_path / "asked.txt").write_text("\n")
    done = callwright("--requests", "asked.txt", "--tools", "x.py", folder=tmp_path)
    assert (done.returncode, "there is no request in asked.txt" in done.stderr) == (1, True)


def test_the_options_name_what_there_is() -> None:
    assert {one.value for one in Asked} <= set(STRATEGIES)
