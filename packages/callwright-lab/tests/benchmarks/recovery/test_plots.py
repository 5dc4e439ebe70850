"""Plots of errors recognised and corrected."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from callwright_lab.benchmarks.recovery.plots import (
    RATES,
    TOKENS,
    build_points,
    write_recovery_plots,
)
from tests.benchmarks.recovery.test_report import row

ROWS = [
    *(row(f"t{n}", "react-no-repair", n < 2) for n in range(8)),
    *(row(f"t{n}", "layered", n < 6, met=n < 7) for n in range(8)),
]


def test_shares_are_of_the_errors_met_and_of_all() -> None:
    layered = next(one for one in build_points(ROWS) if one.name == "layered")
    assert [round(share.value, 3) for share in layered.shares.values() if share] == [
        1.0,
        0.857,
        0.75,
    ]
    assert layered.tokens.value == 110


def test_models_are_told_apart_where_there_are_several() -> None:
    both = [*ROWS, *({**one, "model": "other"} for one in ROWS)]
    assert {one.name for one in build_points(both)} >= {"layered, m", "layered, other"}


def test_both_plots_are_svg_that_names_the_strategies_and_the_same_for_the_same_rows(
    tmp_path: Path,
) -> None:
    pytest.importorskip("matplotlib", reason="extra 'bench' is not installed")
    unmet = [row("t0", "dfsdt", False, met=False, mendable=False)]
    written = write_recovery_plots([*ROWS, *unmet], tmp_path / "plots")
    assert [path.name for path in written] == [RATES, TOKENS]
    for path in written:
        text = path.read_text()
        ElementTree.fromstring(text)
        assert "react-no-repair" in text
        assert "layered" in text
    once = [path.read_bytes() for path in written]
    assert [
        path.read_bytes() for path in write_recovery_plots([*ROWS, *unmet], tmp_path / "plots")
    ] == once


def test_no_rows_are_no_plot(tmp_path: Path) -> None:
    assert write_recovery_plots([], tmp_path / "plots") == []
    assert not (tmp_path / "plots").exists()
