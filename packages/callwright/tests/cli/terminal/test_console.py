"""Tables in which nothing is cut, and colours that only we give."""

from __future__ import annotations

import ast
import io
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import callwright
from callwright.cli.terminal.console import (
    GuardedConsole,
    format_count,
    print_table,
    shorten_text,
)
from tests.cli.terminal import in_a_terminal

HEADS = ("Tool", "Arguments", "Description")
names = st.text("abcdefghij_", min_size=1, max_size=70)
texts = st.lists(st.text("abc ,.", max_size=20), max_size=30).map(" ".join)


def printed(rows: list[tuple[str, ...]], width: int, terminal: bool = True) -> str:
    out = GuardedConsole(
        file=io.StringIO(), width=width, force_terminal=terminal, color_system=None
    )
    print_table(HEADS, rows, out=out)
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


@settings(max_examples=60)
@given(
    st.lists(st.tuples(names, texts, texts), min_size=1, max_size=5), st.sampled_from([40, 80, 200])
)
def test_no_name_is_cut_and_no_letter_is_lost_however_narrow_the_terminal(
    rows: list[tuple[str, ...]], width: int
) -> None:
    shown = printed(rows, width)
    assert all(row[0] in shown for row in rows)
    letters = "".join(re.findall(r"[a-j_,.]", "".join("".join(row) for row in rows)))
    for letter in "abc,.":
        assert shown.count(letter) >= letters.count(letter)
    if " │ " in shown:
        assert max(map(len, shown.splitlines())) <= width


def test_words_are_wrapped_where_they_end() -> None:
    rows = [
        (
            "find_flights_between",
            "origin, destination, departure_date?",
            "Find flights between two airports.",
        )
    ]
    for width in (80, 100):
        words = set(re.split(r"[\s│]+", printed(rows, width)))
        assert {"find_flights_between", "destination,", "departure_date?", "airports."} <= words


def test_in_a_pipe_a_row_is_a_line_and_a_tab_stands_between_cells() -> None:
    rows = [("a\tb\x1b[31m", "x " * 300, "y\nz")]
    assert (
        printed(rows, 80, terminal=False)
        == "\t".join(HEADS) + "\na b\\u001b[31m\t" + ("x " * 300).strip() + "\ty z\n"
    )


def test_a_noun_fits_its_number() -> None:
    assert [format_count(n, "tool") for n in (0, 1, 2, 2_479)] == [
        "0 tools", "1 tool", "2 tools", "2,479 tools",
    ]  # fmt: skip


def test_a_description_is_shortened_between_words_and_that_is_shown() -> None:
    assert shorten_text("word " * 40, 20) == "word word word …"
    assert shorten_text("two\nlines") == "two lines"


def test_styles_are_ours_and_control_characters_of_a_text_are_shown() -> None:
    out = GuardedConsole(file=io.StringIO(), force_terminal=True, color_system="standard", width=80)
    out.print("[bold]ours[/bold] \x1b]0;title\u009c \u202e", highlight=False)
    assert isinstance(out.file, io.StringIO)
    assert out.file.getvalue() == "\x1b[1mours\x1b[0m \\u001b]0;title\\u009c \\u202e\n"


def test_no_command_makes_a_console_of_its_own() -> None:
    for path in (Path(callwright.__file__).parent / "cli").glob("*.py"):
        made = [
            n
            for n in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(n, ast.Call)
        ]
        assert not [n.lineno for n in made if ast.unparse(n.func) in ("Console", "rich.print")], (
            path.name
        )


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX terminal")
def test_in_a_terminal_of_80_columns_every_name_stands_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    name, argument = "find_flights_between_two_airports", "include_flights_with_a_stopover"
    (tmp_path / "tools.py").write_text(
        f'def {name}({argument}: str, to: str) -> str:\n    "Find flights."\n    return ""\n'
    )
    code, shown = in_a_terminal(["tools", str(tmp_path / "tools.py")], lambda _: b"")
    assert code == 0
    assert {name, f"{argument},"} <= set(re.split(r"[\s│]+", re.sub(r"\x1b\[[0-9;]*m", "", shown)))
