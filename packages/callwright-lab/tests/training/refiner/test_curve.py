"""The curve of a run."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

from callwright_lab.training.refiner.curve import (
    PANELS,
    curve_svg,
    curve_table,
    read_curve,
    smooth_values,
)


def test_a_step_done_again_after_a_resumption_counts_once(tmp_path: Path) -> None:
    rows = [
        {"step": 1, "reward": 0.1},
        {"step": 2, "reward": 0.2},
        {"step": 2, "reward": 0.3},
        {"step": 2, "loss": 1},
    ]
    path = tmp_path / "curve.jsonl"
    path.write_text("\n".join(json.dumps(r) for r in rows))
    assert read_curve(path) == rows[0:1] + rows[2:3]


def test_the_line_is_the_mean_of_the_last_steps() -> None:
    assert smooth_values([1, 2, 3, 4], 2) == [1, 1.5, 2.5, 3.5]


def test_the_picture_has_reward_and_length_of_replies() -> None:
    rows = [
        {"step": i, "reward": i / 9, "completions/mean_length": 40 - i, "dapo/spread": 0.0}
        for i in range(1, 9)
    ]
    root = ElementTree.fromstring(curve_svg(rows))
    texts = [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]
    assert all(title in texts for _, title in PANELS)
    assert len(list(root.iter("{http://www.w3.org/2000/svg}circle"))) == 3 * 8


def test_a_curve_that_never_moves_is_drawn_too() -> None:
    for value in (0.0, -1.0, 0.5):
        assert "polyline" in curve_svg([{"step": 1, "reward": value}])


def test_the_table_has_means_over_every_ten_steps_and_what_is_left() -> None:
    rows = [{"step": i, "reward": i / 10, "completions/mean_length": 40.0} for i in range(1, 13)]
    lines = curve_table(rows).splitlines()
    assert lines[0] == "| steps | with the penalty | tokens a reply |"
    assert lines[2:] == ["| 1-10 | 0.55 | 40.00 |", "| 11-12 | 1.15 | 40.00 |"]
