"""``callwright train adapter``: a trained adapter as a GGUF file for the embedded engine.

The folder is one that a training stage left: ``sft``, ``refiner``, ``planner``, ``v`` or ``vr``.
The file is loaded beside the base that it was trained on: ``--model local:+FILE``. Its card,
``FILE.md``, is made of what the folder above holds of the run. ``--ship`` ends with an error if the
weights may not be given away. ``--check`` measures how often PyTorch and llama.cpp find the same
token most likely, with the adapter and without it, over positions of ``--text``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from callwright.nouns.errors import ConfigError, MissingExtra

LEAST = 0.95  # of the positions, for --check to succeed
LARGEST = 20_000_000  # bytes, for --ship to succeed
TEXT = Path(__file__).with_name("positions.txt")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 1 if the agreement is below 95 %.

    Raises ConfigError for a folder without an adapter, and with ``--ship`` for one that may not be
    given away: too large, of unknown data, or by the licences of what it learned from.
    """
    args = _build_parser().parse_args(arguments)
    try:
        import torch
    except ImportError:
        raise MissingExtra("writing an adapter", "train", "callwright-lab") from None
    torch.set_num_threads(args.threads)
    from callwright_lab.training.adapters.card import build_card
    from callwright_lab.training.adapters.gguf_file import write_gguf_adapter
    from callwright_lab.training.checkpoints import ADAPTER, open_model

    if not (args.folder / ADAPTER).is_file():
        raise ConfigError(
            f"there is no adapter in {args.folder}",
            hint="train one with --adapter lora; a whole model is converted by convert-hf-to-gguf",
        )
    model, tokenizer = open_model(str(args.folder))
    out = write_gguf_adapter(model, args.out or args.folder.with_suffix(".gguf"))
    size, card = out.stat().st_size, out.with_suffix(".md")
    text, limits = build_card(args.folder, out)
    card.write_text(text, encoding="utf-8")
    sys.stdout.write("\n".join([f"{out}: {size / 1e6:.1f} MB", f"{card}: its card", *limits, ""]))
    if size > LARGEST:
        limits.append(f"It has {size / 1e6:.1f} MB.")
    if args.ship and limits:
        raise ConfigError(
            f"{out.name} is not to be given away: {' '.join(limits)}",
            hint=f"at most {LARGEST // 10**6} MB, all data known and under licences that allow it",
        )
    return _check_agreement(args, model, tokenizer, out) if args.check else 0


def _check_agreement(args: argparse.Namespace, model: Any, tokenizer: Any, adapter: Path) -> int:
    from callwright.models.engine import acquire_engine, release_engine
    from callwright_lab.training.adapters import agreement
    from callwright_lab.training.checkpoints import find_weights

    named = str(model.peft_config["default"].base_model_name_or_path)
    place, extra = find_weights(named)
    if "gguf_file" not in extra:
        raise ConfigError(
            f"the base {named!r} is not a GGUF file: llama.cpp cannot be asked",
            hint="train on a name of `callwright weights` or on a GGUF file",
        )
    rows = _read_rows(args, tokenizer)
    context = max(map(len, rows)) + 8
    engine = acquire_engine(
        Path(place) / extra["gguf_file"], max(512, context), args.threads, adapter
    )
    try:
        engine.worker.submit(engine.load).result()
        with model.disable_adapter():
            base = agreement.measure_agreement(model, tokenizer, engine, rows, None)
        adapted = agreement.measure_agreement(model, tokenizer, engine, rows, adapter)
    finally:
        release_engine(engine)
    sys.stdout.write(agreement.render_agreement(base, adapted) + "\n")
    return 0 if adapted.share >= LEAST else 1


def _read_rows(args: argparse.Namespace, tokenizer: Any) -> list[list[int]]:
    """The text's first tokens, cut into rows of at most 100 positions."""
    text = args.text.read_text(encoding="utf-8")
    ids = tokenizer(text, add_special_tokens=False)["input_ids"][: args.positions * 2]
    rows, left = [], args.positions
    while left > 0 and len(ids) > 1:
        row = ids[: min(left, 100) + 1]
        rows.append(row)
        ids, left = ids[len(row) :], left - len(row) + 1
    return rows


def _build_parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        "callwright train adapter",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    p.add_argument("folder", type=Path, help="folder of a trained adapter")
    p.add_argument("--out", type=Path, help="the file (default: FOLDER.gguf)")
    p.add_argument(
        "--ship", action="store_true", help="end with an error if it may not be given away"
    )
    p.add_argument("--check", action="store_true", help="compare PyTorch with llama.cpp")
    p.add_argument(
        "--text", type=Path, default=TEXT, help="text to compare on (default: calls to correct)"
    )
    p.add_argument(
        "--positions", type=int, default=200, help="positions to compare (default: %(default)s)"
    )
    p.add_argument("--threads", type=int, default=1)
    return p


if __name__ == "__main__":
    raise SystemExit(main())
