"""``callwright refine --jsonl``: a line in, a line out, bad lines answered and the rest
processed.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from callwright.cli.refine import Pipeline, refine_lines, refine_one, refine_row
from callwright.cli.terminal.jsonl import BadLine
from callwright.nouns.errors import ConfigError
from callwright.repair.ordering.notations import OWN_NOTATIONS, reference_notations
from callwright.repair.result import Settings
from tests.cli.program import callwright

TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}
CALL = {"name": "getWeather", "arguments": {"city": "Oslo"}}


def answered(**row: object) -> dict[str, object]:
    return refine_row({"tools": [TOOL], **row}, Settings(), ("rules", "sequence"))


@pytest.mark.parametrize(
    "row",
    [
        {"text": f"<tool_call>{json.dumps(CALL)}</tool_call>"},
        {"message": {"role": "assistant", "content": None, "tool_calls": [{"function": CALL}]}},
        {"tool_calls": [CALL]},
    ],
)
def test_all_three_forms_are_read(row: dict[str, object]) -> None:
    found = answered(**row)
    assert found["tool_calls"] == [{"name": "get_weather", "arguments": {"city": "Oslo"}}]
    assert found["edits"] == [
        {"path": "/0/name", "before": "getWeather", "after": "get_weather", "rule": "tool_spelling"}
    ]


@pytest.mark.skipif(
    len(reference_notations()) == len(OWN_NOTATIONS),
    reason="needs callwright-lab: it registers how data sets write references",
)
def test_a_call_keeps_the_label_that_others_refer_to() -> None:
    row = [{"name": "get_weather", "arguments": {"city": "$var2.city$"}, "label": "$var1"}]
    row.append({"name": "get_weather", "arguments": {"city": "Oslo"}, "label": "$var2"})
    text, listed = (answered(text=json.dumps(row)), answered(tool_calls=row))
    assert text["tool_calls"] == listed["tool_calls"] == row[::-1]


def test_values_may_come_from_messages() -> None:
    found = answered(
        tool_calls=[{"name": "get_weather", "arguments": {}}],
        messages=[{"role": "user", "content": "My city is Oslo."}],
    )
    assert found["tool_calls"] == [{"name": "get_weather", "arguments": {"city": "Oslo"}}]


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"text": 5},
        {"tool_calls": {}},
        {"message": "x"},
        {"text": "x", "tools": 5},
        {"tool_calls": [5]},
        {"text": "x", "query": 5},
        {"text": "x", "messages": 5},
        {"text": "x", "tools": [{"no": "name"}]},
    ],
)
def test_rows_of_another_form_say_what_is_wrong(row: dict[str, object]) -> None:
    with pytest.raises(BadLine):
        answered(**row)


def test_the_command_answers_bad_lines_and_goes_on() -> None:
    lines = [
        json.dumps({"id": 1, "tools": [TOOL], "tool_calls": [CALL]}),
        "not json",
        json.dumps({"id": 3}),
    ]
    done = subprocess.run(
        [sys.executable, "-P", "-m", "callwright", "refine", "--jsonl"],
        input="\n".join(lines),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    first, second, third = map(json.loads, done.stdout.splitlines())
    assert first["tool_calls"][0]["name"] == "get_weather"
    assert second["error"]["line"] == 2
    assert third["id"] == 3
    assert "text" in third["error"]["message"]


def test_without_jsonl_the_command_says_what_to_do() -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "callwright", "refine"], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "--jsonl" in done.stderr


def test_a_rule_group_that_there_is_not_is_said_before_the_first_line() -> None:
    with pytest.raises(ConfigError, match="no rule group 'modell'"):
        refine_lines(None, (), "", Pipeline(rule_groups=["rules", "modell"]))


TOOLS = """
def get_weather(city: str) -> str:
    "The weather of a city."
    return "rain"
"""


@pytest.mark.parametrize(
    "reply",
    [
        f"Sure. <tool_call>{json.dumps(CALL)}</tool_call>",
        json.dumps(
            {
                "id": "c",
                "type": "function",
                "function": {**CALL, "arguments": json.dumps(CALL["arguments"])},
            }
        ),
        json.dumps([CALL]),
        json.dumps({"role": "assistant", "tool_calls": [{"function": CALL}]}),
        json.dumps({"tool_calls": [CALL], "tools": [TOOL]}),
    ],
)
def test_one_reply_is_refined_in_whatever_form_it_comes(reply: str, tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(TOOLS)
    done = callwright(
        "refine", "-", "--tools", tmp_path / "tools.py", "--query", "Weather in Oslo?", stdin=reply
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["tool_calls"] == [
        {"name": "get_weather", "arguments": {"city": "Oslo"}}
    ]


def test_a_reply_without_tools_or_a_refinement_without_a_reply_says_what_to_give() -> None:
    assert "--tools SOURCE" in callwright("refine", "get_weather(city='Oslo')").stderr
    assert "or --jsonl" in callwright("refine").stderr


def test_bytes_that_are_no_text_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xfe")))
    with pytest.raises(ConfigError, match="standard input is not UTF-8"):
        refine_one("-", (), "", Pipeline())


def test_a_call_that_still_breaks_its_schema_ends_with_1() -> None:
    row = {"tool_calls": [{"name": "get_weather", "arguments": {}}], "tools": [TOOL]}
    done = callwright("refine", json.dumps(row))
    assert done.returncode == 1, done.stdout
    assert json.loads(done.stdout)["violations"]


def test_lines_are_read_from_the_named_file_and_a_rejected_call_ends_with_1(tmp_path: Path) -> None:
    """Tools and request of the command line count for lines that have none of their own."""
    tools, good, bad = (tmp_path / name for name in ("tools.py", "good.jsonl", "bad.jsonl"))
    tools.write_text(TOOLS)
    call: dict[str, object] = {"name": "get_weather", "arguments": {}}
    good.write_text(json.dumps({"id": 1, "tool_calls": [call]}))
    bad.write_text(
        json.dumps({"id": 2, "tool_calls": [CALL]})
        + "\n"
        + json.dumps({"id": 3, "tool_calls": [call], "query": "Where?", "tools": [TOOL]})
    )
    command = ("refine", "--jsonl", "--tools", tools, "--query", "The city is Oslo.")
    filled, rejected = callwright(*command, good), callwright(*command, bad)
    assert (filled.returncode, rejected.returncode) == (0, 1), filled.stderr
    assert json.loads(filled.stdout)["tool_calls"][0]["arguments"] == {"city": "Oslo"}
    rows = [json.loads(line) for line in rejected.stdout.splitlines()]
    assert [bool(row["violations"]) for row in rows] == [False, True]
    assert "1 of 2 lines hold rejected calls" in rejected.stderr


def test_the_name_of_a_file_is_no_reply(tmp_path: Path) -> None:
    reply = tmp_path / "reply.txt"
    reply.write_text("get_weather(city='Oslo')")
    done = callwright("refine", reply, "--tools", tmp_path)
    assert done.returncode == 1
    assert f"refine - --tools SOURCE < {reply}" in done.stderr
