from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="extra 'train' is not installed")

from callwright.nouns.errors import ConfigError, WeightsError  # noqa: E402
from callwright_lab.training.layers.runs import (  # noqa: E402
    PAPER,
    Run,
    Settings,
    measure_network,
    predict_layers,
)

SMALL = Settings(width=16, heads=2, blocks=1, hidden=16, layers=3, epochs=5, batch=8, dropout=0.1)


def weights_of(run: Run) -> dict[str, Any]:
    return run.model.arrays()


def test_the_paper_preset_is_the_papers() -> None:
    wanted = {
        "width": 256,
        "heads": 8,
        "blocks": 2,
        "layers": 5,
        "dropout": 0.1,
        "rate": 1e-3,
        "epochs": 10,
    }
    assert {name: asdict(PAPER)[name] for name in wanted} == wanted


@pytest.mark.parametrize("features", [False, True])
def test_what_can_be_learned_is_learned(make_rows: Callable[..., Any], features: bool) -> None:
    train, test = make_rows(100, features), make_rows(30, features, start=1000)
    trained = Run(train, test, replace(SMALL, epochs=20)).finish()
    assert measure_network(trained.network, test)["macro"].accuracy > 0.85
    assert trained.best.accuracy == max(e.accuracy for e in trained.history)


def test_the_network_kept_is_the_best_on_validation(make_rows: Callable[..., Any]) -> None:
    validation = make_rows(20, start=500)
    trained = Run(make_rows(40), validation, SMALL).finish()
    assert measure_network(trained.network, validation)["macro"].accuracy == pytest.approx(
        trained.best.accuracy
    )


def test_a_stopped_run_that_is_resumed_ends_where_it_would_have(
    make_rows: Callable[..., Any], tmp_path: Path
) -> None:
    train, validation = make_rows(30), make_rows(10, start=500)
    whole = Run(train, validation, SMALL)
    wanted = whole.finish()
    path = tmp_path / "run.pt"
    stopped = Run(train, validation, SMALL, path)
    stopped.step()
    stopped.step()
    resumed = Run(train, validation, SMALL, path)
    assert len(resumed.history) == 2
    found = resumed.finish()
    assert [e.loss for e in found.history] == [e.loss for e in wanted.history]
    for name, array in weights_of(whole).items():
        assert np.array_equal(array, weights_of(resumed)[name]), name
    for name, array in wanted.network.weights.items():
        assert np.array_equal(array, found.network.weights[name]), name


def test_a_checkpoint_of_another_run_is_not_continued(
    make_rows: Callable[..., Any], tmp_path: Path
) -> None:
    train, validation = make_rows(10), make_rows(5, start=500)
    path = tmp_path / "run.pt"
    Run(train, validation, SMALL, path).step()
    with pytest.raises(ConfigError, match="other settings or other data"):
        Run(train, validation, replace(SMALL, rate=0.1), path)
    with pytest.raises(ConfigError, match="other settings or other data"):
        Run(train[1:], validation, SMALL, path)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(WeightsError, match=r"run\.pt"):
        Run(train, validation, SMALL, path)


def test_seeds_decide_everything(make_rows: Callable[..., Any]) -> None:
    train, validation = make_rows(20), make_rows(5, start=500)
    short = replace(SMALL, epochs=2)
    first, again, other = (
        Run(train, validation, replace(short, seed=seed)).finish().network.weights
        for seed in (1, 1, 2)
    )
    assert all(np.array_equal(first[name], again[name]) for name in first)
    assert not np.array_equal(first["rank.weight"], other["rank.weight"])


def test_thresholds_begin_at_the_log_odds_of_the_layers(make_rows: Callable[..., Any]) -> None:
    train = make_rows(60)
    run = Run(train, train, SMALL)
    gold = np.concatenate([r.layers[r.layers >= 0] for r in train])
    share = np.array([(gold > k).mean() for k in range(2)])
    assert np.allclose(weights_of(run)["rank.bias"], np.log(share / (1 - share)), atol=0.1)


def test_what_a_distractor_is_called_by_the_network_does_not_count(
    make_rows: Callable[..., Any],
) -> None:
    rows = make_rows(20)
    network = Run(rows, rows, SMALL).finish().network
    names = {t.name for r in rows for t in r.example.tools}
    assert {name for found in predict_layers(network, rows) for name in found} == names
    assert measure_network(network, rows)["odd"].examples == 10


def test_layers_past_the_last_count_as_the_last(make_rows: Callable[..., Any]) -> None:
    rows = make_rows(40)
    network = Run(rows, rows, replace(SMALL, layers=2)).finish().network
    assert max(k for found in predict_layers(network, rows) for k in found.values()) == 1


def test_no_examples_to_choose_on_is_an_error(make_rows: Callable[..., Any]) -> None:
    with pytest.raises(ConfigError, match="choose on"):
        Run(make_rows(3), [], SMALL)
