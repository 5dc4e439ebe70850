"""Completion, in the shells themselves: the script is loaded, a tab is typed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer

from callwright.cli.completion import Shell, prepare_completion, replace_stub
from callwright.cli.lab import add_lab_commands
from tests.cli.program import SECONDS, callwright
from tests.cli.terminal import program_in_a_terminal

pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX shells")


MISSING = {
    "bash": "no bash on this machine",
    "zsh": "no zsh on this machine",
    "fish": "no fish on this machine",
}


def find_shell(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(MISSING[name])
    return found


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on PATH with the command ``callwright``, as an installation has it."""
    code = "import sys; sys.argv[0] = 'callwright'; from callwright.cli import main; main()"
    program = tmp_path / "bin" / "callwright"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -c "{code}" "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TERM", "dumb")
    return tmp_path


def complete_in_bash(line: str) -> list[str]:
    """What bash offers at the end of a line."""
    code = """
        source <(callwright completion bash)
        COMP_WORDS=($1); [[ $1 == *' ' ]] && COMP_WORDS+=('')
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _callwright_completion callwright
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    done = subprocess.run(
        [find_shell("bash"), "--norc", "-c", code, "bash", line],
        capture_output=True,
        text=True,
        check=True,
        timeout=SECONDS,
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("callwright pro", ["proxy"]),
        ("callwright proxy --gu", ["--guided", "--guard"]),
        ("callwright run --trials ", ["off", "read-only", "sandbox"]),
        ("callwright proxy --guard ", ["auto", "on", "report", "off"]),
        ("callwright proxy --without po", ["polling"]),
        ("callwright proxy --refiner-prompt ", ["paper", "short"]),
        ("callwright retrieve --mode lex", ["lexical"]),
        ("callwright chat --model-profile ", ["small", "medium", "large"]),
        ("callwright tools ", ["list", "effects", "health", "try"]),
        ("callwright completion ", ["bash", "zsh", "fish"]),
        ("callwright run --tools ", []),  # bash then offers files
    ],
)
def test_bash_offers_commands_options_and_values(path: Path, line: str, wanted: list[str]) -> None:
    assert complete_in_bash(line) == wanted


@pytest.mark.parametrize(
    ("shell", "loading"),
    [
        (["bash", "--norc", "-i"], "source <(callwright completion bash)"),
        (
            ["zsh", "-f", "-i"],
            "autoload -Uz compinit; compinit -u; source <(callwright completion zsh)",
        ),
    ],
    ids=["bash", "zsh"],
)
def test_the_tab_key_completes(path: Path, shell: list[str], loading: str) -> None:
    """A command and its argument are completed in a terminal; what they print proves the line."""
    steps = [
        ("", f"PS1=READY:; {loading}; echo LOAD''ED\n"),
        ("LOADED", "callwright comple\tba\t; echo THE''-END\n"),
        ("THE-END", "exit\n"),
    ]
    deadline = time.monotonic() + SECONDS

    def type_next(shown: bytes) -> bytes:
        assert time.monotonic() < deadline, shown.decode(errors="replace")
        if steps and steps[0][0].encode() in shown:
            return steps.pop(0)[1].encode()
        return b""

    _, shown = program_in_a_terminal([find_shell(shell[0]), *shell[1:]], type_next)
    printed = shown.rpartition("LOADED")[2]
    assert "complete -o default -F _callwright_completion callwright" in printed


def test_fish_offers_commands_with_their_help(path: Path) -> None:
    code = 'callwright completion fish | source; complete -C "callwright pro"'
    done = subprocess.run(
        [find_shell("fish"), "--no-config", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=SECONDS,
    )
    assert done.stdout.startswith("proxy\t"), done.stderr


@pytest.mark.parametrize("shell", Shell)
def test_the_script_asks_the_program_at_each_tab(shell: Shell) -> None:
    done = callwright("completion", shell.value)
    assert done.returncode == 0, done.stderr
    assert f"_CALLWRIGHT_COMPLETE=complete_{shell.value}" in done.stdout


def test_another_shell_is_refused() -> None:
    done = callwright("completion", "tcsh")
    assert done.returncode == 2
    assert "'bash', 'zsh', 'fish'" in done.stderr


def test_without_the_lab_its_stubs_stay() -> None:
    app = typer.Typer()
    add_lab_commands(app)
    stubs = [*app.registered_commands]
    replace_stub(app, "no-command-of-the-lab")
    assert app.registered_commands == stubs


def test_a_process_that_no_shell_asked_is_left_as_it_is() -> None:
    app = typer.Typer()
    add_lab_commands(app)
    stubs = [*app.registered_commands]
    prepare_completion(app, {"COMP_WORDS": "callwright verify "})
    assert (app.registered_commands, app.registered_groups) == (stubs, [])
