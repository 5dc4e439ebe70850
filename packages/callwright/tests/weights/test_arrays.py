"""Arrays and their card on disk."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from callwright.nouns.errors import WeightsError
from callwright.weights.arrays import Array, read_arrays, write_arrays

some = arrays_of.arrays(
    st.sampled_from([np.float32, np.int8, np.int32]),
    arrays_of.array_shapes(min_dims=0, max_dims=3, max_side=4),
)


@given(st.dictionaries(st.sampled_from(["a", "b.c", "d|scale"]), some))
def test_arrays_come_back_as_they_were_and_the_same_arrays_are_the_same_bytes(
    arrays: dict[str, Array],
) -> None:
    with tempfile.TemporaryDirectory() as given_folder:
        folder = Path(given_folder)
        card = write_arrays(folder, "w", arrays, {"about": "these"})
        found, read = read_arrays(folder / "w.npz")
        turned = {name: np.asarray(one, order="F") for name, one in reversed(arrays.items())}
        assert write_arrays(folder, "again", turned, {})["sha256"] == card["sha256"]
    assert read == card
    assert found.keys() == arrays.keys()
    for name, one in arrays.items():
        assert found[name].dtype == one.dtype
        assert found[name].tobytes() == one.tobytes()


@pytest.mark.parametrize("missing", ["w.npz", "w.json"])
def test_a_file_that_is_not_there_is_named(tmp_path: Path, missing: str) -> None:
    write_arrays(tmp_path, "w", {"a": np.zeros(2)}, {})
    (tmp_path / missing).unlink()
    with pytest.raises(WeightsError, match=missing.replace(".", r"\.")):
        read_arrays(tmp_path / "w.npz")


def test_arrays_of_another_card_are_refused(tmp_path: Path) -> None:
    write_arrays(tmp_path, "w", {"a": np.zeros(2)}, {})
    write_arrays(tmp_path, "x", {"a": np.ones(2)}, {})
    (tmp_path / "x.npz").rename(tmp_path / "w.npz")
    with pytest.raises(WeightsError, match="sha256 differs"):
        read_arrays(tmp_path / "w.npz")


@pytest.mark.parametrize("card", ["", "[]", '{"format": 2, "sha256": ""}', '{"format": 1}'])
def test_a_card_that_is_none_is_refused(tmp_path: Path, card: str) -> None:
    write_arrays(tmp_path, "w", {"a": np.zeros(2)}, {})
    (tmp_path / "w.json").write_text(card)
    with pytest.raises(WeightsError, match=r"w\.json"):
        read_arrays(tmp_path / "w.npz")


def test_the_card_is_readable_json_with_what_was_told_of_the_arrays(tmp_path: Path) -> None:
    card = write_arrays(tmp_path / "new", "w", {}, {"licence": "é"})
    text = (tmp_path / "new" / "w.json").read_text(encoding="utf-8")
    assert json.loads(text) == card
    assert "é" in text
