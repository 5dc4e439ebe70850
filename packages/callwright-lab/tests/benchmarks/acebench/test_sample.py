"""Samples that are stated before they are run, and the ledger of the final half."""

from __future__ import annotations

from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.benchmarks.acebench.sample import draw_sample, open_final, state_sample
from callwright_lab.benchmarks.comparison.rows import read_rows
from callwright_lab.datasets.acebench import CATEGORIES, LANGUAGES
from tests.benchmarks.invented_ace import write_data


def test_a_sample_is_of_one_half_in_the_order_of_the_digests(tmp_path: Path) -> None:
    write_data(tmp_path, 12)
    dev, final = (
        draw_sample(tmp_path, LANGUAGES, CATEGORIES, half, 3) for half in ("dev", "final")
    )
    for rows in dev.rows.values():
        digests = [row.id_digest for row in rows]
        assert digests == sorted(digests)
        assert len(digests) <= 3
        assert all(int(digest, 16) % 2 == 0 for digest in digests)
    ids = {row.id for row in dev.iter_rows()}
    assert ids.isdisjoint(row.id for row in final.iter_rows())
    whole = draw_sample(tmp_path, LANGUAGES, CATEGORIES, "dev", 99)
    assert ids <= {row.id for row in whole.iter_rows()}
    assert dev.digest != whole.digest
    assert f"half dev, at most 3 rows a category: {dev.digest}" in dev.render_lines()


def test_rows_come_spread_over_the_categories(tmp_path: Path) -> None:
    write_data(tmp_path, 12)
    sample = draw_sample(tmp_path, ["en"], ["special_incomplete", "normal_preference"], "dev", 3)
    first, second, third, *_ = [row.category for row in sample.iter_rows()]
    assert (first, second, third) == (
        "special_incomplete", "normal_preference", "special_incomplete",
    )  # fmt: skip


def test_another_sample_is_not_run_into_the_same_results(tmp_path: Path) -> None:
    write_data(tmp_path, 4)
    sample = draw_sample(tmp_path, ["en"], CATEGORIES, "dev", 2)
    path = tmp_path / "deep" / "results.sample.json"
    state_sample(path, sample)
    state_sample(path, sample)
    with pytest.raises(ConfigError, match="another sample"):
        state_sample(path, draw_sample(tmp_path, ["en"], CATEGORIES, "dev", 1))


def test_the_ledger_notes_every_opening_and_holds_to_one_sample(tmp_path: Path) -> None:
    write_data(tmp_path, 4)
    ledger = tmp_path / "ledger.jsonl"
    sample = draw_sample(tmp_path, ["en"], CATEGORIES, "final", 2)
    open_final(ledger, sample, "m", ["raw"])
    open_final(ledger, sample, "m", ["proxy"])
    assert [(row["ways"], row["times_before"]) for row in read_rows(ledger)] == [
        (["raw"], 0),
        (["proxy"], 1),
    ]
    with pytest.raises(ConfigError, match="opened with another sample"):
        open_final(ledger, draw_sample(tmp_path, ["en"], CATEGORIES, "final", 1), "m", ["raw"])
