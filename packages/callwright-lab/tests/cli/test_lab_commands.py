"""The lab's commands through the program: found by their entry points, each with its own help."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from callwright.cli.lab import COMMANDS, load_command
from callwright_lab.cli.measure import bench
from tests.cli.program import callwright


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_registered_and_shows_its_help(name: str) -> None:
    load_command(name)
    done = callwright(name, "--help")
    assert done.returncode == 0, done.stderr
    assert f"callwright {name}" in done.stdout


@pytest.mark.parametrize("group", ["bench", "train", "verify"])
def test_no_summary_of_a_command_is_cut(group: str) -> None:
    shown = callwright(group, "--help", COLUMNS="80").stdout
    listed = shown.partition("Commands:")[2].strip().splitlines()
    assert listed
    assert not [line for line in listed if not line.endswith(".") or line.endswith("...")]


def test_an_unknown_layer_model_is_one_sentence() -> None:
    done = callwright("train", "layers", "--model", "magic")
    assert done.returncode == 1
    assert "there is no layer model 'magic'" in done.stderr


def test_a_benchmark_takes_its_own_options() -> None:
    done = callwright("bench", "statements", "--help")
    assert done.returncode == 0
    assert "--half" in done.stdout


BENCHES = sorted(str(command.name) for command in bench.registered_commands)


def test_the_boards_of_whole_jobs_are_benchmarks() -> None:
    assert {"agents", "acebench", "bfcl"} <= {*BENCHES}


@pytest.mark.parametrize("name", BENCHES)
def test_every_benchmark_says_what_it_takes(name: str) -> None:
    """A command whose body was lost ends well and says nothing."""
    done = callwright("bench", name, "--help")
    assert done.returncode == 0
    assert "--help" in done.stdout


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("callwright verify ", {"apis", "queries", "trajectories", "dataset"}),
        ("callwright verify apis --app", {"--apply"}),
        ("callwright explore --mo", {"--model", "--model-calls"}),
    ],
)
def test_a_shell_completes_the_lab_s_own_options(line: str, wanted: set[str]) -> None:
    words = line.split(" ")
    code = "import sys; sys.argv[0] = 'callwright'; from callwright.cli import main; main()"
    asked = {
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
        "_CALLWRIGHT_COMPLETE": "complete_bash",
    }
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert {*done.stdout.split()} == wanted
    assert done.stderr == ""
