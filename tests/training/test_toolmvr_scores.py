"""What a model scores on held-out rows."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("trl") is None or find_spec("torch") is None:
    pytest.skip("extra 'train' is not installed", allow_module_level=True)

from tests.training.refiner_case import tiny_model, tiny_tokenizer
from tests.training.toolmvr_case import TOY, bought

from callwright.training.toolmvr_data import made, read, save
from callwright.training.toolmvr_mask import tokens
from callwright.training.toolmvr_runs import sft
from callwright.training.toolmvr_scores import Measured, against, corrected, corrections, loss, table

pytestmark = pytest.mark.filterwarnings("ignore")  # of the libraries that train


@pytest.fixture(name="rows")
def _rows(tmp_path: Path):  # type: ignore[no-untyped-def]
    save(tmp_path / "data.jsonl", made(map(bought, range(3)), context=4000))
    return read([tmp_path / "data.jsonl"])


def test_a_reply_is_the_correction_the_same_mistake_or_neither(rows) -> None:  # type: ignore[no-untyped-def]
    row = next(r for r in rows if r.kind == "R")
    gold = corrected(row, row.messages[-1]["content"])
    assert (gold.form, gold.tool, gold.exact, gold.again) == (True, True, True, False)
    again = corrected(row, row.messages[-3]["content"])
    assert (again.form, again.exact, again.again) == (True, False, True)
    none = corrected(row, "I do not know.")
    assert (none.form, none.tool, none.exact, none.again) == (False, False, False, False)


def test_learning_rows_lowers_their_loss(rows, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    tokenizer = tiny_tokenizer()
    model = tiny_model(tokenizer)
    told = [tokens(tokenizer, r.messages) for r in rows]
    before = loss(model, told)
    sft(model, tokenizer, told, TOY, tmp_path / "run")
    assert loss(model, told) < before
    assert loss(model, []) == 0.0


def test_the_table_says_who_corrects_more(rows) -> None:  # type: ignore[no-untyped-def]
    reflected = [r for r in rows if r.kind == "R"]
    tokenizer = tiny_tokenizer()
    random = corrections(tiny_model(tokenizer), tokenizer, reflected[:1], 8)
    assert (len(random), random[0].exact) == (1, False)
    found = {
        "untrained": Measured(3.0, 4.0, tuple(corrected(r, "no") for r in reflected)),
        "V and R": Measured(1.0, 1.5, tuple(corrected(r, r.messages[-1]["content"]) for r in reflected)),
    }
    assert "| V and R | 1.000 | 1.500 | 3 | 100.0% | 100.0% | 100.0% | 0.0% |" in table(found)
    assert "| untrained | +1.000 |" in against(found, "V and R")
