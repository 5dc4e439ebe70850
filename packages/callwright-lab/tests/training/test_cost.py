"""Hours by tokens, weights and machine."""

from __future__ import annotations

import pytest

from callwright_lab.training.cost import RATES, estimate_hours, render_hours


def test_a_row_of_300_tokens_on_two_cores_takes_what_was_measured() -> None:
    seconds = estimate_hours(1.54e9, 300, 6, "two CPU cores") * 3600
    assert 14 <= seconds <= 32
    assert estimate_hours(1.54e9, 384, 6, "two CPU cores with AMX") * 3600 == pytest.approx(
        5.8, 0.05
    )


def test_hours_grow_with_tokens_and_shrink_with_the_card() -> None:
    hours = [estimate_hours(8e9, 1e6, 6, by) for by in RATES]
    assert hours == sorted(hours)
    assert estimate_hours(8e9, 2e6, 6, "A100") == pytest.approx(2 * hours[0])


def test_every_stage_and_machine_is_named() -> None:
    text = render_hours({"SFT": (1e6, 6), "GRPO": (2e6, 10)}, 1e9)
    assert all(by in text for by in RATES)
    assert "for SFT and" in text
