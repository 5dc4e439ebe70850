"""An adapter on the embedded model: agreement of PyTorch and llama.cpp, and what switching costs.

python benchmarks/embedded/adapters.py [--threads 2] [--steps 6] [--out runs/prove/adapter]

A LoRA of rank 8 is trained for a few steps on calls written here, saved, written as GGUF and loaded
beside the one base. Then both ways of keeping prompts are asked the same conversation, in which the
base and the adapter take turns: a slot for each, and one slot for both, there with a plain LoRA and
with an activated one (its invocation is the opening of the answer).
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from callwright import weights
from callwright.models.engine import Engine
from callwright.models.local import DEFAULT
from callwright.nouns.types import JsonObject
from callwright_lab.training.adapters.command import TEXT
from callwright_lab.training.refiner.settings import TWO_CORES

CITIES = "Bergen Lyon Turin Ghent Porto Graz Malmo Basel Krakow Delft Nantes Bath".split()
OPENING = "<|im_start|>assistant\n"
TURNS = 4


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--steps", type=int, default=6)
    p.add_argument("--positions", type=int, default=200)
    p.add_argument("--out", type=Path, default=Path("runs/prove/adapter"))
    args = p.parse_args()
    import torch

    torch.set_num_threads(args.threads)
    rows, opening = _train(args)
    path, activated = args.out / "adapter.gguf", args.out / "activated.gguf"
    print(_compare(args, rows, path, activated, opening))
    gc.collect()
    print("\n" + _measure_switching(args, path, activated, rows[0], opening))


def _train(args: argparse.Namespace) -> tuple[list[list[int]], list[int]]:
    """Train the adapter; rows of token ids to compare on, and the ids of the opening."""
    from callwright_lab.training import checkpoints, tuning

    settings = replace(TWO_CORES, rank=8, alpha=16, sft_batch=2, sft_micro=1, context=200)
    tokenizer = checkpoints.open_tokenizer(settings.model)
    chats = [
        (
            [
                {"role": "system", "content": "You correct the tool calls of another model."},
                {"role": "user", "content": f"Weather in {c} for {n} days: weather({c}, '{n}')"},
            ],
            f'[{{"tool": "get_weather", "with": {{"city": "{c}", "days": {n}}}}}]',
        )
        for n, c in enumerate(CITIES, 2)
    ]
    tuning.run_sft(
        settings.model, tokenizer, chats, settings, args.out / "run", steps=args.steps,
        resume=True, result=args.out / "trained",
    )  # fmt: skip
    ids = tokenizer(TEXT.read_text(encoding="utf-8"), add_special_tokens=False)["input_ids"]
    half = args.positions // 2 + 1
    rows = [list(ids[:half]), list(ids[half : 2 * half])]
    return rows, list(tokenizer(OPENING, add_special_tokens=False)["input_ids"])


def _compare(
    args: argparse.Namespace,
    rows: Sequence[Sequence[int]],
    path: Path,
    activated: Path,
    opening: list[int],
) -> str:
    from callwright_lab.training.adapters import agreement
    from callwright_lab.training.adapters.gguf_file import write_gguf_adapter
    from callwright_lab.training.checkpoints import open_model

    model, tokenizer = open_model(str(args.out / "trained"))
    write_gguf_adapter(model, path)
    engine = _load(args, [path], 512)
    with model.disable_adapter():
        base = agreement.measure_agreement(model, tokenizer, engine, rows, None)
    adapted = agreement.measure_agreement(model, tokenizer, engine, rows, path)
    engine.unload()
    model.peft_config["default"].alora_invocation_tokens = opening
    write_gguf_adapter(model, activated)
    return agreement.render_agreement(base, adapted)


def _load(args: argparse.Namespace, adapters: list[Path], context: int) -> Engine:
    engine = Engine(weights.fetch(DEFAULT), context, args.threads)
    engine.adapters = adapters
    engine.load()
    return engine


def _measure_switching(
    args: argparse.Namespace,
    path: Path,
    activated: Path,
    words: Sequence[int],
    opening: Sequence[int],
) -> str:
    """The share of prompt tokens that were kept, by way; after the first question of each kind."""
    ways: dict[str, tuple[Path, Callable[[JsonObject], JsonObject]]] = {
        "a slot each, LoRA": (path, lambda said: said),
        "one slot, LoRA": (path, lambda said: {**said, "id_slot": 0}),
        "one slot, activated LoRA": (activated, lambda said: {**said, "id_slot": 0}),
    }
    lines = ["| way | prompt tokens | kept | share |", "|---|---|---|---|"]
    for name, (adapter, change) in ways.items():
        engine = _load(args, [adapter], 2048)
        asked, kept = _take_turns(engine, adapter, change, (words, opening))
        engine.unload()
        lines.append(f"| {name} | {asked} | {kept} | {kept / asked:.1%} |")
    return "\n".join(lines)


def _take_turns(
    engine: Engine,
    adapter: Path,
    change: Callable[[JsonObject], JsonObject],
    text: tuple[Sequence[int], Sequence[int]],
) -> tuple[int, int]:
    """(prompt tokens, those of them kept) of a conversation that grows with every turn; ``text`` is
    what each turn adds, and the opening of an answer.
    """
    words, opening = text
    asked = kept = 0
    prompt: list[int] = []
    for turn in range(TURNS):
        prompt = [*prompt, *words]
        for one in (None, adapter):
            said = change(engine.choose_adapter(one, "conversation"))
            usage = _ask(engine, [*prompt, *opening], said)
            if turn:
                asked += usage["prompt_tokens"]
                kept += usage["prompt_tokens_details"]["cached_tokens"]
    return asked, kept


def _ask(engine: Engine, prompt: list[int], said: JsonObject) -> Any:
    body = {"prompt": prompt, "n_predict": 1, "temperature": 0, "cache_prompt": True}
    return engine.complete({**body, **said})["usage"]


if __name__ == "__main__":
    main()
