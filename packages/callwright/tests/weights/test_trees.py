"""Trees as arrays: the sums lightgbm gives, the same bytes every time, and nothing broken is
read.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from callwright.nouns.errors import WeightsError
from callwright.weights.trees import Forest, average_forests, read_forest, write_forest


def stump() -> Forest:
    """One tree: -1 if feature 1 is at most 0.5, else +2."""
    return Forest.from_arrays(
        {
            "feature": np.array([1, 0, 0]),
            "threshold": np.array([0.5, 0.0, 0.0]),
            "left": np.array([1, 1, 2]),
            "right": np.array([2, 1, 2]),
            "value": np.array([0.0, -1.0, 2.0]),
            "root": np.array([0]),
        }
    )


def test_a_row_goes_left_at_or_below_the_threshold() -> None:
    rows = np.array([[9, 0.0], [9, 0.5], [9, 0.6]], dtype=np.float32)
    assert stump()(rows).tolist() == [-1.0, -1.0, 2.0]


def test_the_mean_of_forests_is_one_forest() -> None:
    rows = np.array([[0.0, 0.0], [0.0, 1.0]])
    shifted = Forest.from_arrays(
        stump().arrays() | {"feature": np.array([0, 0, 0]), "threshold": np.array([-1.0, 0, 0])}
    )
    assert shifted(rows).tolist() == [2.0, 2.0]
    assert average_forests([stump(), shifted])(rows).tolist() == [0.5, 2.0]
    one = stump()
    assert average_forests([one]) is one


def test_no_rows_give_no_sums() -> None:
    assert stump()(np.zeros((0, 2))).shape == (0,)


def test_what_is_written_is_read_back_and_pinned_by_its_card(tmp_path: Path) -> None:
    card = write_forest(tmp_path, "stump", stump(), {"features": "abc"})
    forest, found = read_forest(tmp_path / "stump.npz")
    assert found == card
    assert found["features"] == "abc"
    assert forest(np.array([[0, 1.0]])).tolist() == [2.0]


def test_the_same_trees_give_the_same_bytes(tmp_path: Path) -> None:
    first = write_forest(tmp_path / "a", "stump", stump(), {})
    second = write_forest(tmp_path / "b", "stump", stump(), {})
    assert first["sha256"] == second["sha256"]


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    write_forest(tmp_path, "stump", stump(), {})
    path = tmp_path / "stump.npz"
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(WeightsError, match="not the file its card describes"):
        read_forest(path)


def test_missing_files_and_foreign_cards_are_refused(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="cannot be read"):
        read_forest(tmp_path / "none.npz")
    write_forest(tmp_path, "stump", stump(), {})
    (tmp_path / "stump.json").write_text(json.dumps({"format": 99}))
    with pytest.raises(WeightsError, match="not of format"):
        read_forest(tmp_path / "stump.npz")


def test_trees_that_point_nowhere_or_in_circles_are_refused() -> None:
    arrays = stump().arrays()
    with pytest.raises(WeightsError, match="outside their table"):
        Forest.from_arrays({**arrays, "left": np.array([7, 1, 2])})
    with pytest.raises(WeightsError, match="loop"):
        Forest.from_arrays({**arrays, "left": np.array([1, 0, 2])})
    with pytest.raises(WeightsError, match="lack value"):
        Forest.from_arrays({k: v for k, v in arrays.items() if k != "value"})
