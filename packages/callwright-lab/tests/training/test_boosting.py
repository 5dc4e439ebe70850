"""What LightGBM learned is exported exactly."""

from __future__ import annotations

import numpy as np
import pytest

from callwright_lab.training.boosting import export_forest, import_lightgbm


def test_exported_trees_give_what_the_library_gives() -> None:
    pytest.importorskip("lightgbm", reason="extra 'train' is not installed")
    library = import_lightgbm("the test")
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(300, 4))
    wanted = (rows[:, 0] > 0) & (rows[:, 1] < 0.5)
    settings = {
        "objective": "lambdarank",
        "num_leaves": 5,
        "min_data_in_leaf": 5,
        "num_threads": 1,
        "verbose": -1,
    }
    booster = library.train(
        settings, library.Dataset(rows, wanted.astype(int), group=[30] * 10), 12
    )
    assert np.allclose(export_forest(booster)(rows), booster.predict(rows), atol=1e-12)
