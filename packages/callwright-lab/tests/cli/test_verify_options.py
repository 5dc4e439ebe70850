"""What all ``verify`` commands share: the journal's place, progress on stderr, the report on
stdout.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.cli.verify_options import Extent, print_report, run_verify_sweep
from callwright_lab.verify.budget import Meter
from callwright_lab.verify.sweep import Finding, Row, make_row_key

ROWS = [Row(f"row-{n}", make_row_key(n), n) for n in range(4)]


async def small(number: int, meter: Meter) -> Finding:
    meter.call()
    return Finding(number < 3, "" if number < 3 else "large", f"[bold]{number}[/bold] of 3")


async def test_the_same_command_goes_on_from_the_users_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    first = await run_verify_sweep(
        "small", {"most": 3}, ROWS, small, Extent(concurrency=1, calls=2)
    )
    assert first.left == ("row-2", "row-3")
    said = capsys.readouterr().err
    assert str(tmp_path / "callwright" / "verify" / "small-") in said
    assert "1 of 4 judged: kept 1; 1 calls" in said
    whole = await run_verify_sweep("small", {"most": 3}, ROWS, small, Extent())
    assert (whole.left, whole.again, whole.cost.calls) == ((), 2, 2)
    other = await run_verify_sweep("small", {"most": 2}, ROWS, small, Extent())
    assert other.again == 0, "other settings are another journal"
    anew = await run_verify_sweep("small", {"most": 3}, ROWS, small, Extent(anew=True))
    assert anew.cost.calls == 4


async def test_a_named_journal_of_other_settings_is_refused(tmp_path: Path) -> None:
    extent = Extent(journal=tmp_path / "mine.jsonl")
    await run_verify_sweep("small", {"most": 3}, ROWS, small, extent)
    with pytest.raises(ConfigError, match="most"):
        await run_verify_sweep("small", {"most": 2}, ROWS, small, extent)


async def test_the_report_is_a_table_or_lines_and_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    extent = Extent(journal=tmp_path / "mine.jsonl", report=tmp_path / "report.md")
    made = await run_verify_sweep("small", {}, ROWS, small, extent)
    print_report(made, extent)
    out = capsys.readouterr().out
    assert "large" in out
    assert "[bold]3[/bold] of 3" in out, "what rows say is no markup"
    assert "kept 3 of 4 (75.0%); 4 calls" in out
    assert "| dropped | large | 1 | 25.0% |" in (tmp_path / "report.md").read_text()
    print_report(made, Extent(as_json=True))
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(one["id"], one["kept"]) for one in told] == [
        ("row-0", True),
        ("row-1", True),
        ("row-2", True),
        ("row-3", False),
    ]


async def test_what_tools_print_is_no_part_of_the_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def loud(number: int, meter: Meter) -> Finding:
        sys.stdout.write("noise\n")
        return await small(number, meter)

    await run_verify_sweep("loud", {}, ROWS, loud, Extent(journal=tmp_path / "mine.jsonl"))
    said = capsys.readouterr()
    assert (said.out, said.err.count("noise")) == ("", 4)


async def test_a_stage_that_is_broken_off_says_where_it_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def broken(number: int, meter: Meter) -> Finding:
        if number == 2:
            raise RuntimeError("broken")
        return await small(number, meter)

    path = tmp_path / "mine.jsonl"
    with pytest.raises(ExceptionGroup):
        await run_verify_sweep("small", {}, ROWS, broken, Extent(concurrency=1, journal=path))
    assert f"2 of 4 are judged; the same command goes on from {path}" in capsys.readouterr().err
