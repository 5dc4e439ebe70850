from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from callwright.nouns.errors import WeightsError
from callwright.planning.card import Precision, read_network, round_weights, write_network
from callwright.planning.network import Network, Shape

SHAPE = Shape(
    encoder_width=6,
    width=8,
    heads=2,
    blocks=1,
    hidden=12,
    layers=3,
    tool_features=2,
    pair_features=2,
)


@pytest.fixture
def network() -> Network:
    draw = np.random.default_rng(0)
    return Network(
        SHAPE, {name: draw.normal(size=size) for name, size in SHAPE.parameters().items()}
    )


@pytest.mark.parametrize(
    ("precision", "error"), [("float32", 0.0), ("float16", 2e-3), ("int8", 2e-2)]
)
def test_weights_come_back_as_they_were_stored(
    tmp_path: Path, network: Network, precision: Precision, error: float
) -> None:
    written = write_network(
        tmp_path, "w", network, "minilm-int8", {"data": ["nestools"]}, precision
    )
    found, card = read_network(tmp_path / "w.npz")
    assert card == written
    assert card.encoder == "minilm-int8"
    assert card.about == {"precision": precision, "data": ["nestools"]}
    assert found.shape == SHAPE
    for name, array in network.weights.items():
        assert np.abs(found.weights[name] - array).max() <= error
        assert np.array_equal(found.weights[name], round_weights(network, precision).weights[name])


def test_the_same_weights_give_the_same_bytes(tmp_path: Path, network: Network) -> None:
    write_network(tmp_path / "a", "w", network, "e", {})
    write_network(tmp_path / "b", "w", network, "e", {})
    assert (tmp_path / "a" / "w.npz").read_bytes() == (tmp_path / "b" / "w.npz").read_bytes()


def test_a_changed_or_cut_file_is_refused(tmp_path: Path, network: Network) -> None:
    write_network(tmp_path, "w", network, "e", {})
    path = tmp_path / "w.npz"
    whole = path.read_bytes()
    for broken in (whole[:-20], whole[:100] + b"\0" + whole[101:], b""):
        path.write_bytes(broken)
        with pytest.raises(WeightsError, match="sha256"):
            read_network(path)


def test_files_that_are_not_there_are_named(tmp_path: Path, network: Network) -> None:
    with pytest.raises(WeightsError, match=r"w\.json"):
        read_network(tmp_path / "w.npz")
    write_network(tmp_path, "w", network, "e", {})
    (tmp_path / "w.npz").unlink()
    with pytest.raises(WeightsError, match=r"w\.npz"):
        read_network(tmp_path / "w.npz")


@pytest.mark.parametrize("text", ["", "[]", '{"format": 2}', '{"format": 1, "name": "w"}'])
def test_a_card_that_is_none_is_refused(tmp_path: Path, network: Network, text: str) -> None:
    write_network(tmp_path, "w", network, "e", {})
    (tmp_path / "w.json").write_text(text)
    with pytest.raises(WeightsError, match=r"w\.json"):
        read_network(tmp_path / "w.npz")


def test_nothing_is_unpickled(tmp_path: Path, network: Network) -> None:
    card = write_network(tmp_path, "w", network, "e", {}).to_dict()
    path = tmp_path / "w.npz"
    np.savez(path, **{"rank.bias": np.array([object()])}, allow_pickle=True)
    import hashlib

    card["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    (tmp_path / "w.json").write_text(json.dumps(card))
    with pytest.raises(WeightsError, match="holds no arrays"):
        read_network(path)
