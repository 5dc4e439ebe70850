"""What a command says and returns that cannot go on."""

from __future__ import annotations

import io
from contextlib import redirect_stderr

import pytest

from callwright.cli.terminal.ending import report_errors
from callwright.nouns.errors import ConfigError
from callwright.nouns.installation import ShellCommand, render_library_hint


@pytest.mark.parametrize(
    ("error", "said", "code"),
    [
        (
            ConfigError("no such thing", hint="name another"),
            "error: no such thing\n  name another\n",
            1,
        ),
        (KeyboardInterrupt(), "stopped\n", 130),
        (
            ModuleNotFoundError("No module named 'numpy.linalg'", name="numpy.linalg"),
            f"error: the library numpy is not installed\n  {render_library_hint('numpy')}\n",
            1,
        ),
    ],
)
def test_an_end_is_told_in_a_sentence(
    error: BaseException, said: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended, report_errors():
        raise error
    assert ended.value.code == code
    assert capsys.readouterr().err == said


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_in_a_terminal_lines_end_where_words_do_and_columns_stay_columns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    said = Terminal()
    long = "a message of more words than fit into the forty columns of this terminal"
    hint = f"one of\nname  {long}\nhttp://127.0.0.1/{'x' * 60}"
    with redirect_stderr(said), pytest.raises(SystemExit), report_errors():
        raise ConfigError(long, hint=hint)
    lines = said.getvalue().splitlines()
    assert all(len(line) <= 40 or "http" in line for line in lines)
    assert lines[0].startswith("error: a message of")
    assert all(line.startswith("  ") for line in lines[1:])
    assert next(line for line in lines if line.startswith("  name  a message"))
    assert any(line.startswith("        ") and "forty" in line for line in lines)
    assert " ".join(said.getvalue().split()) == " ".join(f"error: {long} {hint}".split()), (
        "nothing is lost"
    )


def test_nothing_is_said_to_a_reader_that_has_gone() -> None:
    told = io.StringIO()
    with redirect_stderr(told), pytest.raises(SystemExit) as ended, report_errors():
        raise BrokenPipeError
    assert ended.value.code == 0
    assert told.closed


def test_what_is_no_end_of_ours_is_left_alone() -> None:
    with pytest.raises(ValueError, match="a defect"), report_errors():
        raise ValueError("a defect")


def test_in_a_terminal_a_command_stays_on_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    command = ShellCommand("/a/long/path/bin/python -m pip install -e '/another/long/path[proxy]'")
    with redirect_stderr(Terminal()) as shown, pytest.raises(SystemExit), report_errors():
        raise ConfigError("the proxy needs an optional library that is not installed", hint=command)
    lines = shown.getvalue().splitlines()
    assert lines[-1] == f"  {command}"
    assert len(lines) == 3, "the sentence itself is wrapped"


def test_a_module_of_ours_that_is_missing_is_a_defect_with_its_traceback() -> None:
    with pytest.raises(ModuleNotFoundError), report_errors():
        raise ModuleNotFoundError("No module named 'callwright.x'", name="callwright.x")
