"""Streams of JSON lines: order kept, a bad line answered, the rest processed."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.cli.terminal.jsonl import (
    BadLine,
    answer_stream,
    open_lines,
    print_json,
    refuse_path,
)
from callwright.nouns.errors import CatalogError, ConfigError


def _answers(lines: list[bytes]) -> list[dict[str, Any]]:
    def handle(row: dict[str, Any]) -> dict[str, Any]:
        if row.get("do") == "bad":
            raise BadLine("this is bad")
        if row.get("do") == "catalog":
            raise CatalogError("no such tool", hint="look again")
        if row.get("do") == "bug":
            raise KeyError("x")
        return {"echo": row.get("do")}

    target = io.BytesIO()
    answer_stream(handle, io.BytesIO(b"".join(lines)), target)
    return [json.loads(line) for line in target.getvalue().splitlines()]


def test_every_line_is_answered_in_order_whatever_happens_to_the_others() -> None:
    lines = [
        b'{"id":1,"do":"a"}\n',
        b"{broken\n",
        b"\n",
        b'{"id":2,"do":"bad"}\n',
        b'{"id":3,"do":"catalog"}\n',
    ]
    lines += [b'{"id":4,"do":"bug"}\n', b"[1]\n", b'{"id":5,"do":"b"}']
    found = _answers(lines)
    assert [row["id"] for row in found] == [1, None, 2, 3, 4, None, 5]
    assert [("error" in row) for row in found] == [False, True, True, True, True, True, False]
    assert found[1]["error"]["line"] == 2
    assert "look again" in found[3]["error"]["message"]


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        (b"", 0),
        (b'{"id":1}\n', 0),
        (b"{\n{}\n", 1),
        (b'{"id":1}\n{"id":2,"bad":true}\n{}', 1),
    ],
)
def test_a_stream_with_an_error_or_a_rejected_call_has_failed(lines: bytes, code: int) -> None:
    done = answer_stream(
        lambda row: {"bad": "bad" in row},
        io.BytesIO(lines),
        io.BytesIO(),
        is_rejected=lambda answer: bool(answer["bad"]),
    )
    assert done.exit_code == code


def test_lines_come_from_the_named_file_or_the_reason_is_said(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b"{}\n{}\n")
    with open_lines(str(path)) as lines:
        assert [*lines] == [b"{}\n", b"{}\n"]
    for name in (str(tmp_path), str(tmp_path / "none.jsonl"), "x" * 5_000, "a\0b"):
        with (
            pytest.raises(ConfigError, match="--jsonl cannot read the file") as caught,
            open_lines(name),
        ):
            raise AssertionError
        assert "or none for standard input" in str(caught.value.hint)
        assert len(str(caught.value)) < 300


def test_the_id_comes_back_as_it_was_given() -> None:
    for key in ("x", 7, None, [1], {"a": 1}, 10**30):
        assert _answers([json.dumps({"id": key}).encode()])[0]["id"] == key


@given(st.lists(st.binary(max_size=40).filter(lambda b: b"\n" not in b), max_size=6))
def test_no_bytes_stop_the_stream(lines: list[bytes]) -> None:
    found = _answers([line + b"\n" for line in lines] + [b'{"id":"last"}\n'])
    assert found[-1] == {"id": "last", "echo": None}
    assert len(found) == sum(bool(line.strip()) for line in lines) + 1


def test_what_is_wrong_with_a_line_is_said_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    found = _answers([b'{"id":1,"text":"x"\n', b"null\n", b"\xff\n", b'{"id":2}\n'])
    messages = [row["error"]["message"] for row in found[:3]]
    assert messages[0].startswith("this is no JSON: ")
    assert "line 1" in messages[0], "of the line itself"
    assert messages[1] == "an object is wanted, this is null"
    assert messages[2].startswith("this is no JSON: ")
    assert "3 of 4 lines could not be answered" in capsys.readouterr().err


def test_a_path_in_place_of_a_content_is_refused_with_the_way_to_give_a_file(
    tmp_path: Path,
) -> None:
    there = tmp_path / "my call.json"
    there.write_text("{}")
    with pytest.raises(ConfigError, match="is a file, and CALL is a call") as error:
        refuse_path(str(there), "check", "CALL is a call")
    assert error.value.hint == f"callwright check - --tools SOURCE < '{there}'"
    with pytest.raises(ConfigError, match=r"there is no file 'calls\.jsonl'") as error:
        refuse_path("calls.jsonl", "check", "CALL is a call")
    assert "callwright check --jsonl calls.jsonl --tools SOURCE" in error.value.hint


@pytest.mark.parametrize(
    "text",
    [
        "-",
        "",
        "Hello.",
        "See notes.json",
        '{"tool": "x.json"}',
        "f(path='a.json')",
        "\0",
        "a" * 9999,
    ],
)
def test_a_content_is_no_path(text: str) -> None:
    refuse_path(text, "refine", "REPLY is a reply")


@pytest.mark.parametrize("value", [{"a": [1, "\u00fc"]}, {"big": 2**70}, {"half": "\ud800"}])
def test_whatever_a_model_may_write_is_printed(
    value: object, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before, a call with an integer beyond 64 bits ended check, refine and run in a traceback."""
    print_json(value)
    assert json.loads(capsys.readouterr().out) == value
    print_json({"set": {3, 1}, "big": 2**70})
    assert json.loads(capsys.readouterr().out) == {"set": [1, 3], "big": 2**70}
