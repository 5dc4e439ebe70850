"""Every command as a user calls it: the real program, a real endpoint on loopback, real exit
codes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from callwright.cli import main
from callwright.planning import PLANNERS
from tests.cli.endpoint import endpoint, replying
from tests.cli.program import callwright, started

TOOLS = '''
STOCK = {"hammer": 4}

def stock(article: str) -> dict[str, int]:
    """How many pieces of an article are in the warehouse."""
    return {"pieces": STOCK[article]}

def order(article: str, pieces: int) -> str:
    """Order pieces of an article."""
    return "ordered"
'''
CALLS = json.dumps({"calls": [{"tool": "stock", "arguments": {"article": "hammer"}}]})
ANSWER = json.dumps(
    {
        "statements": [{"text": "There are 4 pieces of the hammer.", "results": ["r1"]}],
        "missing": [],
    }
)


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    path = tmp_path / "tools.py"
    path.write_text(TOOLS)
    return path


def refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str
) -> tuple[int, str]:
    """The exit code and the words of a command that ends at once, without the start of a
    program.
    """
    monkeypatch.setattr(sys, "argv", ["callwright", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0), capsys.readouterr().err


@pytest.mark.parametrize("command", [[], ["tools"], ["gateway"]])
def test_the_list_of_commands_says_of_each_what_it_is_for(command: list[str]) -> None:
    """A summary longer than a line would be cut in the middle of a sentence."""
    shown = callwright(*command, "--help", COLUMNS="80").stdout
    listed = shown.partition("Commands:")[2].strip().splitlines()
    assert listed
    assert not [line for line in listed if not line.endswith(".") or line.endswith("...")]


def test_run_answers_on_stdout_and_tells_the_story_on_stderr(tools: Path, tmp_path: Path) -> None:
    html, trace = tmp_path / "run.html", tmp_path / "run.jsonl"
    with endpoint([CALLS, ANSWER]) as url:
        done = started(
            "run", "How many hammers?", "--tools", tools, "--only", "stock",
            "--model", f"{url}#m", "--mode", "schema", "--html", html, "--trace", trace,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "4 pieces" in done.stdout
    assert "✓ r1 stock" in done.stderr
    assert "How many hammers?" in html.read_text()
    page = started("view", trace, "--html", tmp_path / "again.html")
    assert page.returncode == 0
    assert (tmp_path / "again.html").read_text() == html.read_text()


@pytest.mark.parametrize(
    ("planner", "first"), [("mention", ["order"]), ("all-in-one", ["stock", "order"])]
)
def test_run_plans_with_the_planner_it_is_told(
    tools: Path, tmp_path: Path, planner: str, first: list[str]
) -> None:
    trace = tmp_path / "run.jsonl"
    with endpoint(['{"calls": []}'] * 6) as url:
        done = callwright(
            "run", "Order two hammers, then look at the stock.", "--tools", tools, "--planner", planner,
            "--model", f"{url}#m", "--mode", "schema", "--trace", trace,
        )  # fmt: skip
    assert done.returncode == 3, done.stderr
    (made,) = (
        row for row in map(json.loads, trace.read_text().splitlines()) if row["kind"] == "plan"
    )
    assert made["data"]["planner"] == planner
    assert made["data"]["layers"][0] == first


def test_run_hands_instructions_to_the_model_from_its_option_or_from_the_settings(
    tools: Path, tmp_path: Path
) -> None:
    asked: list[str] = []

    def reply(body: str) -> str:
        asked.append(json.loads(body)["messages"][0]["content"])
        return CALLS if len(asked) % 2 else ANSWER

    config = tmp_path / "callwright.toml"
    config.write_text('instructions = "Use boxes."')
    with replying(reply) as url:
        told = ["run", "How many hammers?", "--tools", tools, "--only", "stock", "--no-journal"]
        told += ["--model", f"{url}#m", "--mode", "schema"]
        assert started(*told, "--instructions", "Be brief.").returncode == 0
        assert started(*told, "--config", config).returncode == 0
    ends = [text.rpartition("\n\n")[2] for text in asked]
    assert ends == ["Be brief.", "Be brief.", "Use boxes.", "Use boxes."]


@pytest.mark.parametrize("command", ["run", "plan"])
def test_the_help_names_every_planner(command: str) -> None:
    said = " ".join(started(command, "--help").stdout.split())
    assert ", ".join(PLANNERS) in said
    assert "--encoder" in said


def test_a_run_that_finds_nothing_says_so_with_its_exit_code(tools: Path) -> None:
    with endpoint(['{"calls": []}', '{"calls": []}']) as url:
        done = callwright(
            "run",
            "How many hammers?",
            "--tools",
            tools,
            "--model",
            f"{url}#m",
            "--mode",
            "schema",
            "--json",
        )
    assert done.returncode == 3, done.stderr
    assert json.loads(done.stdout)["status"] == "abstained"


def test_plan_prints_text_json_and_mermaid(tools: Path) -> None:
    text = started("plan", "Order two hammers", "--tools", tools)
    assert text.stdout.startswith("Layer 1")
    rows = json.loads(
        callwright("plan", "Order two hammers", "--tools", tools, "--format", "json").stdout
    )
    assert sorted(name for layer in rows["layers"] for name in layer) == ["order", "stock"]
    assert callwright("plan", "x", "--tools", tools, "--format", "mermaid").stdout.startswith(
        "flowchart LR"
    )


def test_plan_jsonl_places_every_tool_once_and_answers_bad_lines() -> None:
    tool = {
        "type": "function",
        "function": {"name": "a", "parameters": {"type": "object", "properties": {}}},
    }
    lines = [
        {"id": 1, "query": "q", "tools": [tool, {"name": "b"}, tool]},
        {"id": 2, "query": "q"},
        {"id": 3},
    ]
    lines += [{"id": 4, "query": "q", "tools": []}, {"id": 5, "query": "q", "tools": ["nonsense"]}]
    done = started("plan", "--jsonl", stdin="\n".join(map(json.dumps, lines)) + "\n{bad")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["id"] for row in rows] == [1, 2, 3, 4, 5, None]
    assert sorted(name for layer in rows[0]["layers"] for name in layer) == ["a", "b"]
    assert rows[3]["layers"] == rows[3]["edges"] == []
    assert all("error" in rows[n] for n in (1, 2, 4, 5))


def test_check_jsonl_accepts_repairs_refuses_and_answers_bad_lines() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    tool = {"type": "function", "function": {"name": "f", "parameters": schema}}
    lines = [
        {"id": 1, "tool": tool, "arguments": {"n": 5}},
        {"id": 2, "tool": tool, "arguments": '{"n": "5"}'},
        {"id": 3, "tool": tool, "arguments": {}},
        {"id": 4, "tool": "f", "tools": [tool], "arguments": {"n": 1}},
        {"id": 5, "tool": "f", "arguments": {}},
        {"id": 6, "tool": tool, "arguments": 7},
    ]
    done = started("check", "--jsonl", stdin="\n".join(map(json.dumps, lines)))
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert rows[0] == {
        "id": 1,
        "accepted": True,
        "arguments": {"n": 5},
        "edits": [],
        "violations": [],
    }
    assert rows[1]["arguments"] == {"n": 5}
    assert {"path", "before", "after", "rule"} == set(rows[1]["edits"][0])
    assert rows[2]["accepted"] is False
    assert {"path", "keyword", "message"} == set(rows[2]["violations"][0])
    assert rows[3]["accepted"] is True
    assert "error" in rows[4]
    assert "error" in rows[5]
    assert done.returncode == 1


def test_check_jsonl_reads_the_named_file_and_exits_as_for_one_call(
    tools: Path, tmp_path: Path
) -> None:
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    good.write_text('{"id": 1, "tool": "stock", "arguments": {"article": "saw"}}\n')
    bad.write_text(good.read_text() + '{"id": 2, "tool": "order", "arguments": {}}\n')
    command = ("check", "--jsonl", "--tools", tools)
    first, second = callwright(*command, good), callwright(*command, bad)
    assert [json.loads(line)["id"] for line in second.stdout.splitlines()] == [1, 2]
    assert (first.returncode, second.returncode) == (0, 1)
    assert "1 of 2 lines hold rejected calls" in second.stderr
    call = callwright(*command, '{"tool": "stock"}')
    assert (call.returncode, call.stdout) == (1, "")
    assert "--jsonl cannot read the file" in call.stderr


def test_plan_jsonl_plans_lines_without_tools_with_those_of_the_command(
    tools: Path, tmp_path: Path
) -> None:
    lines = tmp_path / "requests.jsonl"
    lines.write_text('{"id": 1, "query": "Order hammers"}\n{"id": 2, "query": "q", "tools": []}')
    command = ("plan", lines, "--jsonl", "--tools", tools)
    done = callwright(*command, "--only", "order")
    assert [json.loads(line)["layers"] for line in done.stdout.splitlines()] == [[["order"]], []]
    assert done.returncode == 0
    assert "leave out one of the two" in callwright(*command, "--strategy", "dag").stderr
    assert callwright(*command, "--html", tmp_path / "x.html").returncode == 2


@pytest.mark.parametrize(
    ("command", "wanted"), [("check", "CALL is the call"), ("refine", "REPLY is the text")]
)
def test_a_path_where_the_content_is_wanted_is_named(
    command: str,
    wanted: str,
    tools: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before, check said of a misspelled path that it is not JSON, and refine found no call."""
    code, said = refused(capsys, monkeypatch, command, "nowhere/call.json", "--tools", str(tools))
    assert code == 1
    assert "there is no file 'nowhere/call.json'" in said
    assert wanted in said
    code, said = refused(capsys, monkeypatch, command, str(tools), "--tools", str(tools))
    assert code == 1
    assert f"is a file, and {wanted}" in said
    assert f"callwright {command} - --tools SOURCE < " in said


def test_an_empty_request_is_asked_of_no_model(
    tools: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, said = refused(capsys, monkeypatch, "run", " ", "--tools", str(tools), "--model", "local")
    assert (code, "run needs a request" in said) == (1, True)


@pytest.mark.parametrize("command", ["plan", "retrieve"])
def test_lines_without_jsonl_are_no_request(
    command: str,
    tools: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before, tools were sought for the words of the file's name."""
    lines = tools.with_name("requests.jsonl")
    lines.write_text('{"id": 1, "query": "Order a hammer."}')
    code, said = refused(capsys, monkeypatch, command, str(lines), "--tools", str(tools))
    assert code == 1
    assert f"callwright {command} --jsonl {lines} --tools SOURCE" in said


def test_check_of_one_call_exits_by_its_verdict(tools: Path) -> None:
    good = started("check", '{"tool": "stock", "arguments": {"article": "saw"}}', "--tools", tools)
    bad = callwright(
        "check", "-", "--tools", tools, stdin='{"tool": "order", "arguments": {"article": "saw"}}'
    )
    assert (good.returncode, bad.returncode) == (0, 1)
    assert json.loads(bad.stdout)["violations"][0]["keyword"] == "required"


FORMS = [
    {
        "id": "c1",
        "type": "function",
        "function": {"name": "stock", "arguments": '{"article": "saw"}'},
    },
    {
        "tool_calls": [
            {"id": "c1", "function": {"name": "stock", "arguments": '{"article": "saw"}'}}
        ]
    },
    [
        {
            "id": "c1",
            "type": "function",
            "function": {"name": "stock", "arguments": '{"article": "saw"}'},
        }
    ],
    {
        "role": "assistant",
        "tool_calls": [{"function": {"name": "stock", "arguments": {"article": "saw"}}}],
    },
    {"type": "tool_use", "id": "c1", "name": "stock", "input": {"article": "saw"}},
    {"type": "function_call", "call_id": "c1", "name": "stock", "arguments": '{"article": "saw"}'},
    {"name": "stock", "arguments": {"article": "saw"}},
]


@pytest.mark.parametrize(
    "form", FORMS, ids=lambda form: "-".join(form)[:40] if isinstance(form, dict) else "list"
)
def test_check_takes_a_call_as_any_provider_writes_it(form: Any, tools: Path) -> None:
    done = callwright("check", json.dumps(form), "--tools", tools)
    assert json.loads(done.stdout)["arguments"] == {"article": "saw"}, done.stderr
    assert done.returncode == 0


def test_check_of_several_calls_is_accepted_where_all_are(tools: Path) -> None:
    calls = [
        {"name": "stock", "arguments": {"article": "saw"}},
        {"name": "order", "arguments": {"article": "saw"}},
    ]
    done = callwright("check", "-", "--tools", tools, stdin=json.dumps({"tool_calls": calls}))
    told = json.loads(done.stdout)
    assert (done.returncode, told["accepted"]) == (1, False)
    assert [(one["tool"], one["accepted"]) for one in told["calls"]] == [
        ("stock", True),
        ("order", False),
    ]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("not json", "the call is not JSON: "),
        ("5", "must be a JSON object"),
        ('{"a": 1}', "there is no call in this"),
        ('[{"no": "name"}]', "call 0 names no tool"),
        ('{"tool": "stok", "arguments": {}}', 'did you mean "stock"?'),
        ('{"name": "stok", "arguments": {}}', 'did you mean "stock"?'),
        ('{"tool": "stock"}', '"arguments" must be'),
    ],
)
def test_what_is_no_call_is_one_message_that_says_how_to_write_one(
    call: str,
    said: str,
    tools: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    code, shown = refused(capsys, monkeypatch, "check", call, "--tools", str(tools))
    assert code == 1
    assert shown.startswith("error: ")
    assert said in shown


@pytest.mark.parametrize("command", ["check", "plan", "refine"])
def test_a_stream_of_lines_that_cannot_be_answered_ends_with_1(command: str) -> None:
    assert callwright(command, "--jsonl", stdin='{"id": 1}\n{').returncode == 1


def test_tools_lists_names_effects_and_an_openai_list(tools: Path) -> None:
    assert "stock" in started("tools", tools).stdout
    listed = json.loads(callwright("tools", tools, "--json").stdout)
    assert {t["function"]["name"] for t in listed} == {"stock", "order"}


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["run", "x"], "--tools"),
        (
            [
                "run",
                "x",
                "--tools",
                "nowhere.yaml",
                "--model",
                "http://127.0.0.1:9/v1#m",
                "--mode",
                "text",
            ],
            "nowhere.yaml",
        ),
        (["run", "x", "--tools", "nowhere.py", "--planner", "nonesuch"], "nonesuch"),
        (
            ["run", "x", "--tools", "nowhere.py", "--planner", "layers", "--encoder", "no-encoder"],
            "no-encoder",
        ),
        (["plan", "x", "--tools", "nowhere.py", "--encoder", "minilm"], "--planner layers"),
        (["plan"], "--jsonl"),
        (["plan", "x", "--tools", "nowhere.py"], "nowhere.py"),
        (["check", "{}", "--tools", "nowhere.py"], "nowhere.py"),
        (["view", "nowhere.jsonl"], "nowhere.jsonl"),
        (["weights", "no-such-weights"], "no-such-weights"),
    ],
)
def test_every_mistake_is_one_message_that_names_it(
    arguments: list[str],
    part: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    code, said = refused(capsys, monkeypatch, *arguments)
    assert code == 1
    assert said.startswith("error: ")
    assert part in said


def test_events_that_say_what_no_run_says_are_no_trace_to_be_drawn(tmp_path: Path) -> None:
    odd = tmp_path / "odd.jsonl"
    begun = '{"v": 1, "kind": "run.start", "seq": 0, "at": 0.0, "data": {}}\n'
    odd.write_text(begun + '{"v": 1, "kind": "call.raw", "seq": 1, "at": 0.0, "data": []}\n')
    done = callwright("view", odd)
    assert (done.returncode, done.stdout) == (1, "")
    assert "odd.jsonl is not the trace of a run" in done.stderr


def test_the_program_ends_with_the_message_and_no_traceback() -> None:
    done = started("view", "nowhere.jsonl")
    assert done.returncode == 1, (done.stdout, done.stderr)
    assert done.stderr.startswith("error: ")
    assert "nowhere.jsonl" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_dead_endpoint_is_one_message_with_the_next_step(tools: Path) -> None:
    done = callwright(
        "run", "x", "--tools", tools, "--model", "http://127.0.0.1:9/v1#m", "--mode", "text"
    )
    assert done.returncode == 1
    assert "error: " in done.stderr
    assert "127.0.0.1:9" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_version_is_printed() -> None:
    assert started("--version").stdout.startswith("callwright 0.")


def test_weights_lists_what_there_is() -> None:
    assert "smollm2-135m" in started("weights").stdout


def test_what_is_no_trace_of_a_run_has_no_page(tmp_path: Path) -> None:
    for text in ("", '{"tool": "stock"}\n'):
        (tmp_path / "t.jsonl").write_text(text)
        done = callwright("view", tmp_path / "t.jsonl")
        assert done.returncode == 1
        assert "holds no run" in done.stderr
        assert "a trace is what --trace wrote" in done.stderr
        assert not (tmp_path / "t.html").exists()


def test_an_unknown_tool_is_told_beside_those_that_there_are(tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text('[{"name": "stock", "parameters": {"type": "object"}}]')
    call = '{"tool": "weather", "arguments": {}}'
    done = callwright("check", call, "--tools", tmp_path / "tools.json")
    assert 'there is no tool "weather"; tools: stock' in done.stderr
    assert '"tools" list, or --tools' in callwright("check", call).stderr
