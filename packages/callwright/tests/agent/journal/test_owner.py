"""The process that a journal names: alive, dead, or another one of the same number."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from callwright.agent.journal.owner import is_running, this_process

told_apart = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="processes are told apart by /proc"
)


@told_apart
def test_a_process_runs_until_it_has_ended() -> None:
    program = (
        "import json, sys; from callwright.agent.journal.owner import this_process\n"
        "print(json.dumps(this_process()), flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-P", "-c", program]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        named = json.loads(other.stdout.readline())
        assert named["pid"] == other.pid
        assert is_running(named)
        other.kill()
        other.stdout.read()
    assert not is_running(named)


@told_apart
def test_a_number_alone_is_no_process() -> None:
    here = this_process()
    assert is_running(here)
    for other in (
        {"started": "1"},
        {"started": ""},
        {"where": "another machine"},
        {"pid": -1},
        {"pid": "1"},
    ):
        assert not is_running({**here, **other})


@pytest.mark.parametrize(
    "odd", [None, 7, [], {}, {"pid": None}, {"pid": 2**70, "started": "5", "where": ""}]
)
def test_what_names_no_process_does_not_run(odd: object) -> None:
    assert not is_running(odd)
