from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from callwright.models.encoders import open_encoder
from callwright.models.encoders.sentence import SentenceEncoder
from callwright.nouns.errors import ConfigError, MissingExtra, WeightsError

WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "where",
    "is",
    "the",
    "nearest",
    "airport",
    "weather",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sentence-transformers folder as published ones are laid out, with a tiny BERT of random
    weights.
    """
    pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    transformers = pytest.importorskip(
        "transformers", reason="sentence-transformers is not installed"
    )
    root = tmp_path_factory.mktemp("encoder") / "tiny"
    shape = {
        "hidden_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 16,
    }
    transformers.BertModel(transformers.BertConfig(vocab_size=len(WORDS), **shape)).save_pretrained(
        root
    )
    (root / "vocab.txt").write_text("\n".join(WORDS))
    transformers.BertTokenizer(str(root / "vocab.txt")).save_pretrained(root)
    (root / "1_Pooling").mkdir()
    pooling = {"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True}
    (root / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    modules = [("", "Transformer"), ("1_Pooling", "Pooling")]
    rows = [
        {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for i, (path, kind) in enumerate(modules)
    ]
    (root / "modules.json").write_text(json.dumps(rows))
    return root


def test_a_folder_of_sentence_transformers_encodes_to_unit_vectors(folder: Path) -> None:
    encoder = open_encoder(str(folder))
    found = encoder.encode(["where is the airport", "weather"])
    assert (encoder.name, encoder.width) == ("tiny", 16)
    assert found.shape == (2, 16)
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    assert np.allclose(encoder.encode(["weather"])[0], found[1], atol=1e-5)


def test_nothing_gives_no_rows(folder: Path) -> None:
    assert SentenceEncoder(folder).encode([]).shape == (0, 16)


def test_a_folder_that_is_not_whole_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises((WeightsError, MissingExtra), match=tmp_path.name):
        open_encoder(str(tmp_path))


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "readme.txt").touch()
    with pytest.raises(ConfigError):
        open_encoder(str(tmp_path))
