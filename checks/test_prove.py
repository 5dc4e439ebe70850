"""``start.py prove``: proofs are found and run, and their last figure is kept with its commit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from scripts import load_script

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def prove() -> ModuleType:
    return load_script("prove")


def test_every_proof_names_a_program_that_is_there(prove: ModuleType) -> None:
    proofs = prove.read_proofs()
    assert {"kills", "heavy", "speed", "proxy-soak"} <= proofs.keys()
    for proof in proofs.values():
        first = proof.command[0]
        assert first == "-m" or (ROOT / first).is_file(), proof.name
        assert proof.about
        assert proof.minutes > 0


def test_the_kept_figures_are_of_proofs_that_exist(prove: ModuleType) -> None:
    assert prove.read_rows().keys() <= prove.read_proofs().keys()


def test_a_figure_is_what_its_expression_matches_else_the_last_line(prove: ModuleType) -> None:
    lines = ["starting\n", "writes repeated    0\n", "kills    1000\n", "\n"]
    assert prove.Proof("a", "x", ("y",), 1, keep=r"\d+$").figure_of(lines) == [
        "writes repeated    0",
        "kills    1000",
    ]
    assert prove.Proof("a", "x", ("y",), 1).figure_of(lines) == ["kills    1000"]


def test_a_newer_figure_takes_the_place_of_the_last(prove: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "results" / "proofs.jsonl"
    for name, seconds in (("b", 1.0), ("a", 2.0), ("b", 3.0)):
        prove.keep_row(
            prove.Row(name, "abc", "2026-01-01", "2 cores", seconds, "python x", ["fine"]), path
        )
    assert [(row.name, row.seconds) for row in prove.read_rows(path).values()] == [
        ("a", 2.0),
        ("b", 3.0),
    ]


def test_a_proof_that_fails_says_so_with_its_output(
    prove: ModuleType, capfd: pytest.CaptureFixture[str]
) -> None:
    code, lines, _ = prove.run_proof(
        prove.Proof("a", "x", ("-c", "print('halfway'); raise SystemExit(3)"), 1)
    )
    assert code == 3
    assert lines == ["halfway\n"]
    assert "halfway" in capfd.readouterr().out


def test_an_unknown_name_lists_the_known_ones() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "prove.py"), "nothing"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert "no proof called nothing" in done.stderr
    assert "kills" in done.stderr
    listed = subprocess.run(command[:2], capture_output=True, text=True)
    assert listed.returncode == 0
    assert "A thousand SIGKILLs" in listed.stdout
