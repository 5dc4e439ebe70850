"""Published figures, by the papers' own arithmetic."""

from __future__ import annotations

import re

import pytest

from callwright_lab.benchmarks.comparison.published import (
    SOLVABLE,
    published_recovery,
    published_stabletoolbench,
)


def rows(text: str, title: str) -> dict[str, list[str]]:
    part = next(part for part in text.split("As published. ") if part.startswith(title))
    lines = [line for line in part.splitlines() if line.startswith("| ")][1:]
    return {
        cells[0]: cells[1:]
        for cells in ([c.strip() for c in line.strip("|").split("|")] for line in lines)
    }


def test_the_averages_of_tool_mvrs_table_4_are_those_of_its_344_388_and_178_cases() -> None:
    for name, cells in rows(published_recovery(), "Tool-MVR, Table 4").items():
        for at in (0, 4):
            i1, i2, i3, average = map(float, cells[at : at + 4])
            assert (344 * i1 + 388 * i2 + 178 * i3) / 910 == pytest.approx(average, abs=0.1), name


def test_the_averages_of_tool_mvrs_table_2_are_over_the_765_solvable_queries() -> None:
    for name, cells in rows(published_stabletoolbench(), "Tool-MVR, Table 2").items():
        *groups, average = map(float, cells)
        weighted = sum(n * rate for n, rate in zip(SOLVABLE.values(), groups, strict=True)) / sum(
            SOLVABLE.values()
        )
        assert weighted == pytest.approx(average, abs=0.15), name


def test_the_averages_of_retos_table_1_are_over_its_six_groups() -> None:
    for name, cells in rows(published_stabletoolbench(), "RETO, Table 1").items():
        *groups, average = (float(cell.partition("±")[0]) for cell in cells)
        assert sum(groups) / 6 == pytest.approx(average, abs=0.1), name


def test_retos_comparisons_add_up_to_the_solvable_queries() -> None:
    for name, cells in rows(published_stabletoolbench(), "RETO, Table 4").items():
        for cell, count in zip(cells, SOLVABLE.values(), strict=True):
            assert sum(map(int, re.findall(r"\d+", cell))) == count, (name, cell)
