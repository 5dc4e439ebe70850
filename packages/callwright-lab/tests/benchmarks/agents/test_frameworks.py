"""A framework's process: started once, ended where it hangs or dies, its environment pinned."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.benchmarks.agents.frameworks import (
    REQUIREMENTS,
    Framework,
    find_python,
    read_requirements,
)

SLOW = (
    'import sys\nfor line in sys.stdin:\n    print(\'{"call": "t", "arguments": {}}\', flush=True)\n'
    "    sys.stdin.readline()\n    if 'hang' in line: sys.stdin.read()\n"
    "    if 'die' in line: sys.exit(3)\n"
    '    print(\'{"answer": "done", "error": ""}\', flush=True)\n'
)


@pytest.fixture
def framework(tmp_path: Path) -> Framework:
    """A framework whose program is a script of this test."""
    script = tmp_path / "program.py"
    script.write_text(SLOW)
    made = Framework("test", Path(sys.executable))
    made._command = [sys.executable, "-I", str(script)]
    return made


def test_a_process_serves_job_after_job(framework: Framework) -> None:
    asked: list[str] = []

    def call(name: str, arguments: object) -> str:
        asked.append(name)
        return "result"

    with framework:
        first = framework.run_job({"n": 1}, call, 30.0)
        second = framework.run_job({"n": 2}, call, 30.0)
    assert (first.answer, second.answer, first.error) == ("done", "done", "")
    assert asked == ["t", "t"]


def test_a_loop_that_hangs_or_dies_ends_its_job_and_not_the_bench(framework: Framework) -> None:
    with framework:
        hung = framework.run_job({"do": "hang"}, lambda *_: "", 0.5)
        died = framework.run_job({"do": "die"}, lambda *_: "", 30.0)
        after = framework.run_job({"do": "go on"}, lambda *_: "", 30.0)
    assert (hung.answer, hung.error) == ("", "more than 0 seconds")
    assert (died.answer, died.error) == ("", "process died")
    assert after.answer == "done"


@pytest.mark.parametrize("name", sorted(REQUIREMENTS))
def test_every_requirement_is_pinned(name: str) -> None:
    assert read_requirements(name)
    assert all(line.count("==") == 1 for line in read_requirements(name))


@pytest.mark.heavy
def test_an_environment_that_cannot_be_made_is_said_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLWRIGHT_CACHE", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(ConfigError, match="could not be made"):
        find_python("smolagents")


def test_the_running_interpreter_serves_where_it_has_the_versions() -> None:
    pytest.importorskip("openai")
    assert find_python("openai").name.startswith("python")
