from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="extra 'train' is not installed")

from callwright_lab.training.layers.runs import PAPER, Settings  # noqa: E402
from callwright_lab.training.layers.sweep import (  # noqa: E402
    cross_validate,
    iter_variants,
    leave_sources_out,
    measure_sensitivity,
)

TINY = Settings(width=8, heads=1, blocks=1, hidden=8, layers=3, epochs=1, batch=16)


def test_cross_validation_measures_every_example_once(make_rows: Callable[..., Any]) -> None:
    said: list[str] = []
    found = cross_validate(make_rows(40), TINY, said.append)
    assert found.plain["macro"].examples == found.constrained["macro"].examples == 40
    assert [line.split(":")[0] for line in said] == [f"fold {k}" for k in range(5)]
    assert "with the schema-level constraint" in found.text("folds")
    assert set(found.to_dict()["plain"]) == {"even", "odd", "macro"}


def test_leaving_sources_out_measures_each_by_the_others(make_rows: Callable[..., Any]) -> None:
    said: list[str] = []
    found = leave_sources_out(make_rows(40), TINY, said.append)
    assert found.plain["macro"].examples == 40
    assert [line.split(":")[0] for line in said] == ["without even", "without odd"]


def test_the_variants_are_those_of_figure_6() -> None:
    found = dict(iter_variants(PAPER))
    assert [s.width for name, s in found.items() if name.startswith("d'")] == [
        64,
        128,
        256,
        512,
        1024,
    ]
    assert all(s.width // s.heads == 8 for name, s in found.items() if name.startswith("d'"))
    assert [s.width // s.heads for name, s in found.items() if name.startswith("d_head")] == [
        2,
        4,
        8,
        16,
        32,
    ]


def test_the_sweep_is_a_table_with_a_row_per_variant(make_rows: Callable[..., Any]) -> None:
    text = measure_sensitivity(
        make_rows(12), Settings(blocks=1, hidden=8, layers=3, epochs=1, batch=16), lambda _: None
    )
    assert len(text.splitlines()) == 2 + 10
    assert "| d'=1024 |" in text
