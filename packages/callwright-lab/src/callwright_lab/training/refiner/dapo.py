"""DAPO on TRL's GRPOTrainer: what TRL has is set, what it lacks is here.

TRL has the asymmetric clip, the token-level loss (``loss_type="dapo"``) and the soft overlong
penalty. It lacks dynamic sampling: after each sampling, groups whose replies all earned the same
say nothing about what to do and are dropped, and other prompts are sampled until the batch is full
or the cap is reached. What is then still missing is filled with dropped groups, whose advantage is
0: they move nothing and are not counted as tokens of the loss.

``shared`` computes each prompt once for its group, in sampling (one prefill, its cache repeated)
and in the loss (all replies behind one prompt, each blind to the others). The numbers are the same;
the work is a fraction of it.

GRPO (Shao et al., 2024) is the same run with ``attempts`` no more than the batch, so that nothing
is sampled again: a group without signal then moves nothing, as it does there.

Differs from DAPO (arXiv:2503.14476) in: 1) a group's signal is judged by its whole reward, length
penalty included; 2) replies are only dropped per prompt, never carried over to the next step.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from callwright.jsontext import parse
from callwright.nouns.errors import MissingExtra
from callwright_lab.training.decoding import continue_prompts
from callwright_lab.training.refiner.rewards import overlong_penalty
from callwright_lab.training.resumption import read_clock

try:
    import torch
    from trl import GRPOTrainer
    from trl.trainer.utils import entropy_from_logits, pad, selective_log_softmax
except ImportError:
    raise MissingExtra("training a language model", "train", "callwright-lab") from None

_SPREAD = 1e-6  # rewards closer than this are the same
_STATE = "refill.json"


class OverlongPenalty:
    """The soft overlong penalty, in [-1, 0], added to the reward."""

    __name__ = "overlong"

    def __init__(self, free: int, longest: int) -> None:
        self.free, self.longest = free, longest

    def __call__(self, completion_ids: list[list[int]], **_: Any) -> list[float]:
        return [overlong_penalty(len(ids), self.free, self.longest) for ids in completion_ids]


class DapoTrainer(GRPOTrainer):  # type: ignore[misc]
    """GRPOTrainer with dynamic sampling. ``attempts``: prompts sampled at most for one batch, over
    all processes; ``rollouts``: replies sampled at once, at least those of one prompt.
    """

    def __init__(
        self,
        *args: Any,
        attempts: int,
        shared: bool = False,
        rollouts: int = 0,
        curve: Path | None = None,
        **rest: Any,
    ) -> None:
        super().__init__(*args, **rest)
        self._attempts, self._shared, self._curve = attempts, shared, curve
        self._prompts_at_once = max(1, rollouts // self.num_generations)
        self._drawn = 0  # prompts drawn to refill so far
        self._began = read_clock()  # less what the run took before its last checkpoint
        self._rewards: torch.Tensor | None = None
        self._sampler: tuple[int, Any] = (-1, None)

    # ------------------------------------------------------------ dynamic sampling

    def _calculate_rewards(self, *args: Any, **rest: Any) -> Any:
        per_function = super()._calculate_rewards(*args, **rest)
        self._rewards = (per_function * self.reward_weights.to(per_function.device)).nansum(dim=1)
        return per_function

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        if not self.model.training:
            return super()._generate_and_score_completions(inputs)  # type: ignore[no-any-return]
        wanted = len(inputs) // self.num_generations
        share = wanted / (self.args.generation_batch_size // self.num_generations)
        cap = max(wanted, round(self._attempts * share))
        kept: list[dict[str, Any]] = []
        dropped: list[dict[str, Any]] = []
        spreads: list[float] = []
        tried, batch = 0, inputs
        while batch:
            made = super()._generate_and_score_completions(batch)
            tried += len(batch) // self.num_generations
            for group, spread in self._groups(made, len(batch)):
                (kept if spread > _SPREAD else dropped).append(group)
                spreads.append(spread)
            missing = self._most(wanted - len(kept))
            batch = self._refill(min(missing, cap - tried))
        self._note(tried, spreads, wanted)
        return self._merged(kept[:wanted], dropped[: max(0, wanted - len(kept))])

    def _groups(self, made: dict[str, Any], rows: int) -> list[tuple[dict[str, Any], float]]:
        """Each local group of a sampling with the standard deviation of its rewards."""
        assert self._rewards is not None
        start = self.accelerator.process_index * rows
        local = self._rewards[start : start + rows].view(-1, self.num_generations)
        found = []
        for i, scores in enumerate(local):
            part = slice(i * self.num_generations, (i + 1) * self.num_generations)
            group = {k: v[part] for k, v in made.items() if isinstance(v, torch.Tensor) and v.ndim}
            found.append((group, scores.std().item()))
        return found

    def _refill(self, count: int) -> list[dict[str, Any]]:
        """``count`` further prompts, each once per reply, from an endless shuffle of its own per
        process.
        """
        size, rows = len(self.train_dataset), []
        for _ in range(max(0, count)):
            lap, at = divmod(self._drawn, size)
            order = random.Random(f"refill {self.args.seed} {self.accelerator.process_index} {lap}")
            rows.append(self.train_dataset[order.sample(range(size), size)[at]])
            self._drawn += 1
        return [row for row in rows for _ in range(self.num_generations)]

    def _most(self, count: int) -> int:
        """The greatest count of all processes: they sample in step, for sampling gathers
        rewards.
        """
        return int(
            self.accelerator.gather(torch.tensor([count], device=self.accelerator.device))
            .max()
            .item()
        )

    def _merged(self, kept: list[dict[str, Any]], fill: list[dict[str, Any]]) -> dict[str, Any]:
        """Groups of several samplings as one batch; tokens of groups without signal are not
        counted.
        """
        groups = [*kept, *fill]
        left = {"prompt_ids": self._tokenizer.pad_token_id, "prompt_mask": 0}
        out: dict[str, Any] = {}
        for key in groups[0]:
            rows = [row for group in groups for row in group[key]]
            if rows[0].ndim == 0:
                out[key] = torch.stack(rows)
            else:
                filler = (
                    self._tokenizer.pad_token_id if key == "completion_ids" else left.get(key, 0)
                )
                out[key] = pad(
                    rows, padding_value=filler, padding_side="left" if key in left else "right"
                )
        out["advantages"][len(kept) * self.num_generations :] = 0.0
        tokens = sum(
            (g["completion_mask"].sum() for g in kept),
            torch.tensor(0, device=self.accelerator.device),
        )
        out["num_items_in_batch"] = self.accelerator.gather(tokens).sum()
        return out

    def _note(self, tried: int, spreads: list[float], wanted: int) -> None:
        signal = [s for s in spreads if s > _SPREAD]
        noted = self._metrics["train"]
        noted["dapo/sampled"].append(float(tried))
        noted["dapo/dropped"].append(1 - len(signal) / len(spreads))
        noted["dapo/filled"].append(min(1.0, len(signal) / wanted))
        noted["dapo/spread"].append(sum(signal) / len(signal) if signal else 0.0)

    # ------------------------------------------------------------ each prompt once

    def _generate_single_turn(
        self,
        prompt_ids: Any,
        images: Any,
        multimodal_fields: Any,
        num_generations: int,
        **rest: Any,
    ) -> Any:
        if self.use_vllm:
            return super()._generate_single_turn(
                prompt_ids, images, multimodal_fields, num_generations, **rest
            )
        found: list[list[int]] = []
        # some groups at a time: the cache of a whole batch fills a card
        size = num_generations * self._prompts_at_once
        model = self._rollout_model() if self._shared else None
        for start in range(0, len(prompt_ids), size):
            some = prompt_ids[start : start + size]
            if model is not None:
                found += self._continue(model, some[::num_generations], num_generations)
            else:
                found += super()._generate_single_turn(
                    some, images, multimodal_fields, num_generations, **rest
                )[0]
        return found, None

    def _rollout_model(self) -> Any:
        """The model that samples: itself, or with bf16 a copy in that type, made again after each
        optimiser step.
        """
        own = self.accelerator.unwrap_model(self.model)
        if not self.args.bf16 or hasattr(own, "peft_config"):  # the base is in that type already
            return own
        if self._sampler[0] != self.state.global_step:
            self._sampler = (self.state.global_step, copy.deepcopy(own).to(torch.bfloat16))
        return self._sampler[1]

    def _continue(
        self, model: Any, prompts: Sequence[Sequence[int]], count: int
    ) -> list[list[int]]:
        """``count`` replies to each prompt, whose keys and values are computed once."""
        found = continue_prompts(
            model, prompts, self.max_completion_length, ends=set(self.eos_token_ids),
            pad=self._tokenizer.pad_token_id, count=count, temperature=self.temperature,
        )  # fmt: skip
        return [reply.ids for reply in found]

    def _get_per_token_logps_and_entropies(
        self,
        model: Any,
        input_ids: Any,
        attention_mask: Any,
        logits_to_keep: int,
        *args: Any,
        **rest: Any,
    ) -> Any:
        if not self._shared:
            return super()._get_per_token_logps_and_entropies(
                model, input_ids, attention_mask, logits_to_keep, *args, **rest
            )
        width = input_ids.size(1) - logits_to_keep
        rows: dict[tuple[int, ...], list[int]] = {}
        for i, (ids, mask) in enumerate(
            zip(input_ids[:, :width], attention_mask[:, :width], strict=True)
        ):
            rows.setdefault(tuple(ids[mask.bool()].tolist()), []).append(i)
        order: list[int] = []
        scores: list[Any] = []
        entropies: list[Any] = []
        for prompt, members in rows.items():
            kept = attention_mask[members, width:].bool()
            replies = [input_ids[i, width:][m] for i, m in zip(members, kept, strict=True)]
            with self.accelerator.autocast():
                logits = packed_logits(
                    model, torch.tensor(prompt, device=input_ids.device), replies
                )
            logits = logits.float() / self.temperature
            scores += torch.split(
                selective_log_softmax(logits, torch.cat(replies)), [len(r) for r in replies]
            )
            entropies += torch.split(
                entropy_from_logits(logits.detach()), [len(r) for r in replies]
            )
            order += members
        back = torch.argsort(torch.tensor(order)).tolist()

        def table(found: list[Any]) -> Any:
            made = pad([found[i] for i in back], padding_value=0.0, padding_side="right")
            return torch.nn.functional.pad(made, (0, logits_to_keep - made.size(1)))

        return table(scores), table(entropies) if rest.get("compute_entropy") else None, None

    # ------------------------------------------------------------ what is kept

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """A row of the curve; ``seconds`` is what the run took so far, over all its resumptions."""
        super().log(logs, start_time)
        if self._curve is not None and self.accelerator.is_main_process:
            with self._curve.open("a", encoding="utf-8") as file:
                file.write(
                    json.dumps({"step": self.state.global_step, "seconds": self._seconds(), **logs})
                    + "\n"
                )

    def _seconds(self) -> float:
        return round(read_clock() - self._began, 3)

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        super()._save_checkpoint(model, trial)
        if self.accelerator.is_main_process:
            folder = (
                Path(self._get_output_dir(trial=trial)) / f"checkpoint-{self.state.global_step}"
            )
            kept = {"drawn": self._drawn, "seconds": self._seconds()}
            (folder / _STATE).write_text(json.dumps(kept), encoding="utf-8")

    def _load_optimizer_and_scheduler(self, checkpoint: str | None) -> None:
        super()._load_optimizer_and_scheduler(checkpoint)
        if checkpoint is not None and (path := Path(checkpoint) / _STATE).exists():
            kept = parse(path.read_text(encoding="utf-8"))
            self._drawn = kept["drawn"]
            self._began = read_clock() - kept["seconds"]


def packed_logits(
    model: Any, prompt: torch.Tensor, replies: Sequence[torch.Tensor]
) -> torch.Tensor:
    """Logits (tokens of all replies, vocabulary) that predict each reply's tokens, the prompt
    computed once.

    The replies stand behind the prompt in one row; each sees the prompt and itself, and counts its
    positions from the prompt's end, so the numbers are those of separate rows.
    """
    start, lengths = len(prompt), [len(r) for r in replies]
    size = start + sum(lengths)
    mask = torch.ones(size, size, dtype=torch.bool, device=prompt.device).tril()
    positions = torch.arange(size, device=prompt.device)
    keep, at = [], start
    for length in lengths:
        mask[at : at + length, start:at] = False
        positions[at : at + length] = torch.arange(start, start + length)
        keep += [start - 1, *range(at, at + length - 1)]
        at += length
    logits = model(
        input_ids=torch.cat([prompt, *replies])[None],
        attention_mask=mask[None, None],
        position_ids=positions[None],
        logits_to_keep=torch.tensor(keep, device=prompt.device),
        use_cache=False,
    ).logits
    return logits[0]  # type: ignore[no-any-return]
