"""Where the loss is: on every round of the assistant in a V row, on the last in an R row."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

if find_spec("transformers") is None:
    pytest.skip("extra 'train' is not installed", allow_module_level=True)

from callwright import weights
from callwright.nouns.errors import ConfigError
from callwright_lab.reflection.row import record
from callwright_lab.training.toolmvr.mask import IGNORED, Tokens, tokenize_row
from callwright_lab.training.toolmvr.reflections import iter_reflections
from callwright_lab.transcripts import FORMATS, Transcript, write
from tests.training.refiner_case import tiny_tokenizer
from tests.training.toolmvr_case import bought

VR = FORMATS["toolbench-vr"]
V_ROW = write(Transcript(bought()), VR)["messages"]
R_ROW = record(next(iter_reflections(bought())))["messages"]


def _tokenizers() -> list[Any]:
    from transformers import AutoTokenizer

    made = [pytest.param(tiny_tokenizer(), id="bytes"), *_templates()]
    path = weights.find("smollm2-135m")
    readable = find_spec("torch") is not None and find_spec("gguf") is not None
    if path is None or not readable:
        said = (
            "the weights of smollm2-135m are not here"
            if readable
            else "extra 'train' is not installed"
        )
        return [*made, pytest.param(None, id="smollm2", marks=pytest.mark.skip(reason=said))]
    return [
        *made,
        pytest.param(
            AutoTokenizer.from_pretrained(str(path.parent), gguf_file=path.name), id="smollm2"
        ),
    ]


def _templates() -> list[Any]:
    """The templates of three families, as TRL keeps them, over bytes and the families' marks."""
    if find_spec("trl") is None:
        return []
    import trl

    from callwright_lab.training.templates import use_training_template

    made = []
    for name, end in (
        ("qwen2_5", "<|im_end|>"),
        ("qwen3", "<|im_end|>"),
        ("llama3_1", "<|eot_id|>"),
    ):
        tokenizer = tiny_tokenizer()
        marks = ["<|im_start|>", "<|eot_id|>", "<|start_header_id|>", "<|end_header_id|>"]
        tokenizer.add_special_tokens({"additional_special_tokens": marks})
        tokenizer.eos_token = end
        folder = Path(trl.__file__).parent / "chat_templates"
        tokenizer.chat_template = (folder / f"{name}.jinja").read_text(encoding="utf-8")
        use_training_template(tokenizer)
        made.append(pytest.param(tokenizer, id=name))
    return made


def _thought(tokenizer: Any) -> str:
    """What a template writes before the words of a turn, and the model learns to write too."""
    return "<think>\n\n</think>\n\n" if "<think>" in tokenizer.chat_template else ""


def _learned(tokenizer: Any, row: Tokens) -> list[str]:
    """The stretches of text with loss."""
    found: list[list[int]] = [[]]
    for label in row.labels:
        if label != IGNORED:
            found[-1].append(label)
        elif found[-1]:
            found.append([])
    return [tokenizer.decode(ids) for ids in found if ids]


@pytest.mark.parametrize("tokenizer", _tokenizers())
def test_in_a_v_row_every_round_of_the_assistant_carries_loss_and_nothing_else(
    tokenizer: Any,
) -> None:
    found = _learned(tokenizer, tokenize_row(tokenizer, V_ROW))
    said = [m["content"] for m in V_ROW if m["role"] == "assistant"]
    begun = _thought(tokenizer)
    assert found == [begun + text + tokenizer.eos_token for text in said]
    assert len(said) == 3


@pytest.mark.parametrize("tokenizer", _tokenizers())
def test_in_an_r_row_only_the_reflection_and_the_corrected_call_do_and_the_wrong_action_is_context(
    tokenizer: Any,
) -> None:
    row = tokenize_row(tokenizer, R_ROW, 0.5)
    right = _thought(tokenizer) + R_ROW[-1]["content"] + tokenizer.eos_token
    assert _learned(tokenizer, row) == [right]
    whole = tokenizer.decode(row.ids)
    assert R_ROW[-3]["content"] in whole, "the wrong action is read, not learned"
    assert (R_ROW[-3]["no_loss"], R_ROW[-1]["no_loss"], row.weight) == (True, False, 0.5)
    assert row.learned == sum(label != IGNORED for label in row.labels)


def test_labels_are_the_ids_they_stand_at() -> None:
    row = tokenize_row(tiny_tokenizer(), V_ROW)
    assert len(row.ids) == len(row.labels)
    assert all(label in (IGNORED, id) for id, label in zip(row.ids, row.labels, strict=True))


def test_a_template_that_rewrites_earlier_turns_is_refused() -> None:
    tokenizer = tiny_tokenizer()
    tokenizer.chat_template = (
        "{% for m in messages %}{{ m['role'] if loop.last else '' }}{{ m['content'] }}{% endfor %}"
    )
    with pytest.raises(ConfigError, match="writes a turn otherwise"):
        tokenize_row(tokenizer, V_ROW)
