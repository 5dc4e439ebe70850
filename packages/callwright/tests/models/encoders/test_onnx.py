from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from callwright.models.encoders import open_encoder
from callwright.models.encoders.onnx import OnnxEncoder, find_onnx, open_folder
from callwright.nouns.errors import ConfigError, WeightsError

TEXTS = [
    "short",
    "a rather longer text that takes a few more tokens than the short one",
    "",
    "x " * 600,
    "short",
]


def test_a_batch_gives_what_single_texts_give(minilm: OnnxEncoder) -> None:
    together = minilm.encode(TEXTS)
    alone = np.concatenate([minilm.encode([text]) for text in TEXTS])
    assert np.abs(together - alone).max() < 1e-5


def test_the_same_text_gives_the_same_bits_again(minilm: OnnxEncoder) -> None:
    assert minilm.encode(TEXTS).tobytes() == minilm.encode(TEXTS).tobytes()


def test_rows_come_back_in_the_order_of_the_texts(minilm: OnnxEncoder) -> None:
    found = minilm.encode(TEXTS)
    assert np.array_equal(found[0], found[4])
    assert np.allclose(minilm.encode(TEXTS[::-1])[::-1], found, atol=1e-5)


def test_nothing_gives_no_rows(minilm: OnnxEncoder) -> None:
    assert minilm.encode([]).shape == (0, 384)


def test_text_past_the_maximum_length_is_cut(
    minilm_files: tuple[Path, Path], minilm: OnnxEncoder
) -> None:
    short = OnnxEncoder(*minilm_files, max_length=6)
    a, b = short.encode(["one two three four five six", "one two three four nine ten"])
    assert np.array_equal(a, b)
    assert not np.array_equal(
        *minilm.encode(["one two three four five six", "one two three four nine ten"])
    )


def test_a_model_folder_opens_with_the_pooling_it_names(
    tmp_path: Path, minilm_files: tuple[Path, Path], minilm: OnnxEncoder
) -> None:
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx" / "model.onnx").symlink_to(minilm_files[0])
    (tmp_path / "tokenizer.json").symlink_to(minilm_files[1])
    assert np.allclose(
        open_folder(tmp_path).encode(["hello there"]), minilm.encode(["hello there"]), atol=1e-6
    )
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    other = open_encoder(str(tmp_path))
    assert other.width == 384
    assert not np.allclose(other.encode(["hello there"]), minilm.encode(["hello there"]), atol=1e-2)


def test_the_graph_of_a_folder_is_found_where_exporters_put_it(tmp_path: Path) -> None:
    assert find_onnx(tmp_path) is None
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx" / "model.onnx").touch()
    assert find_onnx(tmp_path) == tmp_path / "onnx" / "model.onnx"
    (tmp_path / "model.onnx").touch()
    assert find_onnx(tmp_path) == tmp_path / "model.onnx"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="extra 'encoder' is not installed")
    with pytest.raises(WeightsError, match=r"nowhere\.onnx is not there"):
        OnnxEncoder(tmp_path / "nowhere.onnx", tmp_path / "tokenizer.json")


def test_a_broken_graph_is_no_encoder(tmp_path: Path, minilm_files: tuple[Path, Path]) -> None:
    broken = tmp_path / "model.onnx"
    broken.write_bytes(minilm_files[0].read_bytes()[:5000])
    with pytest.raises(WeightsError, match=r"model\.onnx"):
        OnnxEncoder(broken, minilm_files[1])


@pytest.mark.parametrize("spec", ["minilm-large", "/no/such/folder"])
def test_a_spec_that_names_nothing_says_what_may_be_named(spec: str) -> None:
    with pytest.raises(ConfigError, match="embeddings endpoint"):
        open_encoder(spec)


def test_a_folder_without_a_model_is_no_encoder(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not an encoder"):
        open_encoder(str(tmp_path))


def test_sizes_that_make_no_sense_are_refused(minilm_files: tuple[Path, Path]) -> None:
    with pytest.raises(ConfigError, match="batch"):
        OnnxEncoder(*minilm_files, batch=0)
