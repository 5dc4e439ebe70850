"""What a model scores on held-out rows."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("trl") is None or find_spec("torch") is None:
    pytest.skip("extra 'train' is not installed", allow_module_level=True)

from callwright_lab.training.toolmvr.data import build_records, read_rows, save_records
from callwright_lab.training.toolmvr.mask import tokenize_row
from callwright_lab.training.toolmvr.runs import run_sft
from callwright_lab.training.toolmvr.scores import generate_corrections, measure_loss
from tests.training.refiner_case import tiny_model, tiny_tokenizer
from tests.training.toolmvr_case import TOY, bought

pytestmark = pytest.mark.filterwarnings("ignore")  # of the libraries that train


@pytest.fixture(name="rows")
def _rows(tmp_path: Path):  # type: ignore[no-untyped-def]
    save_records(tmp_path / "data.jsonl", build_records(map(bought, range(3)), context=4000))
    return read_rows([tmp_path / "data.jsonl"])


@pytest.mark.heavy
def test_learning_rows_lowers_their_loss(rows, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    tokenizer = tiny_tokenizer()
    model = tiny_model(tokenizer)
    told = [tokenize_row(tokenizer, r.messages) for r in rows]
    before = measure_loss(model, told)
    run_sft(model, tokenizer, told, TOY, tmp_path / "run")
    assert measure_loss(model, told) < before
    assert measure_loss(model, []) == 0.0


def test_a_model_replies_to_every_row_that_went_wrong(rows) -> None:  # type: ignore[no-untyped-def]
    reflected = [r for r in rows if r.kind == "R"]
    tokenizer = tiny_tokenizer()
    found = generate_corrections(tiny_model(tokenizer), tokenizer, reflected, 8)
    assert [one.id for one in found] == [r.id for r in reflected]
    assert not any(one.exact for one in found), "it was never trained"
