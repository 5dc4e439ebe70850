"""One training run of the layer network (RETO, section 3.2 and A.1): settings, epochs, checkpoint,
scores.

A run is a deterministic function of settings and data: every random draw is seeded by (seed,
epoch), so a run that was stopped and resumed from its checkpoint ends with the same weights as one
that was not.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from callwright.nouns.errors import ConfigError, MissingExtra, WeightsError, convert_errors
from callwright.nouns.types import compute_digest
from callwright.planning.network import Array, Network, Shape, decode_layers
from callwright_lab.training.layers.network import (
    Balance,
    LayerModel,
    layer_loss,
    threshold_weights,
)
from callwright_lab.training.layers.scores import MACRO, Scores, apply_constraint, score_layers
from callwright_lab.training.layers.tensors import (
    DISTRACTOR,
    Encoded,
    collate_batch,
    iter_batches,
    weight_sources_evenly,
)

try:
    import torch
except ImportError:
    raise MissingExtra("training the layer predictor", "train", "callwright-lab") from None


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes of a layer network."""

    width: int = 256
    heads: int = 8
    blocks: int = 2
    hidden: int = 1024
    layers: int = 5


@dataclass(frozen=True, slots=True)
class Settings(Sizes):
    """Everything a run depends on besides the data. The defaults are the paper's (A.1) where it
    states a value.

    The paper is silent on ``hidden``, ``batch``, how lambda_k of Eq. (10) comes about (``balance``)
    and the optimizer (Adam here); what else was tried stands in docs/lab.md.
    """

    dropout: float = 0.1
    rate: float = 1e-3
    epochs: int = 10
    batch: int = 32
    balance: Balance = "threshold"
    decay: float = 0.0
    warmup: float = 0.0  # share of all steps over which the rate rises; after it the rate falls to 0 as a cosine
    even: bool = False  # every source weighs the same in the loss
    distractors: int = 0  # tools that gold never calls, mixed into each example
    seed: int = 0

    def shape(self, rows: Sequence[Encoded]) -> Shape:
        """The network's sizes for these rows."""
        first = rows[0]
        return Shape(
            encoder_width=len(first.query),
            width=self.width,
            heads=self.heads,
            blocks=self.blocks,
            hidden=self.hidden,
            layers=self.layers,
            tool_features=0 if first.features is None else first.features.shape[-1],
            pair_features=0 if first.pairs is None else first.pairs.shape[-1],
        )


PAPER = Settings()


@dataclass(frozen=True, slots=True)
class Epoch:
    """Result of one epoch: mean training loss, and layer accuracy on the validation rows."""

    number: int
    loss: float
    accuracy: float
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Trained:
    """The best network of a run by validation accuracy, and how it went."""

    network: Network
    best: Epoch
    history: tuple[Epoch, ...]


class Run:
    """One training run: call :meth:`finish`, or :meth:`step` once per epoch.

    With ``checkpoint``, the state is written there after every epoch (whole or not at all) and an
    existing one of the same settings and data is continued; one of other settings or data raises
    ConfigError.
    """

    def __init__(
        self,
        train: Sequence[Encoded],
        validation: Sequence[Encoded],
        settings: Settings = PAPER,
        checkpoint: Path | None = None,
    ) -> None:
        if not train or not validation:
            raise ConfigError("training needs examples to learn from and examples to choose on")
        self.settings = settings
        self._train = weight_sources_evenly(train) if settings.even else list(train)
        self._validation = validation
        self._checkpoint = checkpoint
        self._key = compute_digest(
            [asdict(settings), [r.example.id for r in train], [r.example.id for r in validation]]
        )
        self.shape = settings.shape(train)
        torch.manual_seed(settings.seed)
        self.model = LayerModel(self.shape, settings.dropout)
        gold = np.concatenate([row.layers[row.layers > DISTRACTOR] for row in train])
        self._prepare(gold)
        self._optimizer = torch.optim.AdamW(
            self.model.parameters(), settings.rate, weight_decay=settings.decay, fused=True
        )
        self._steps = settings.epochs * -(-len(train) // settings.batch)
        self._weights = torch.from_numpy(
            threshold_weights(gold, settings.layers - 1, settings.balance)
        )
        self.history: list[Epoch] = []
        self._best: dict[str, Array] = self.model.arrays()
        if checkpoint is not None and checkpoint.is_file():
            self._restore(checkpoint)

    def finish(self, progress: Callable[[str], None] = lambda _: None) -> Trained:
        """Run the epochs that are left."""
        while len(self.history) < self.settings.epochs:
            done = self.step()
            progress(
                f"epoch {done.number}: loss {done.loss:.4f}, validation accuracy"
                f" {done.accuracy:.3f}"
            )
        best = max(self.history, key=lambda e: (e.accuracy, -e.number))
        return Trained(Network(self.shape, self._best), best, tuple(self.history))

    def step(self) -> Epoch:
        """One epoch: learn, measure on the validation rows, keep the weights if they are the best,
        checkpoint.
        """
        number = len(self.history) + 1
        loss = self._learn(number)
        accuracy = measure_network(Network(self.shape, self.model.arrays()), self._validation)[
            MACRO
        ].accuracy
        if accuracy > max((e.accuracy for e in self.history), default=-1.0):
            self._best = self.model.arrays()
        self.history.append(Epoch(number, loss, accuracy))
        if self._checkpoint is not None:
            self._save(self._checkpoint)
        return self.history[-1]

    def _learn(self, number: int) -> float:
        draw = random.Random(f"{self.settings.seed} {number}")
        torch.manual_seed(draw.getrandbits(32))
        self.model.train()
        losses = []
        for i, batch in enumerate(iter_batches(self._train, self.settings.batch, draw)):
            self._set_rate((number - 1) * -(-len(self._train) // self.settings.batch) + i)
            loss = layer_loss(self.model(batch), batch, self._weights)
            self._optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self._optimizer.step()
            losses.append(loss.item())
        self.model.eval()
        return float(np.mean(losses))

    def _set_rate(self, step: int) -> None:
        """The paper's constant rate, or a linear rise and a cosine fall where ``warmup`` asks for
        it.
        """
        if not self.settings.warmup:
            return
        rise = self.settings.warmup * self._steps
        fall = 0.5 * (1 + np.cos(np.pi * max(0.0, step - rise) / max(1.0, self._steps - rise)))
        for group in self._optimizer.param_groups:
            group["lr"] = self.settings.rate * min((step + 1) / rise, fall)

    def _prepare(self, gold: Array) -> None:
        """Set the parameters that are known before training: the log-odds of each threshold, and
        mean and deviation of tool features.

        At a rate of 1e-3 Adam moves a bias by some tenths in ten epochs, while the thresholds lie
        several units apart. If the biases of Equation 8 begin at zero, they never get there and
        hold everything else back.
        """
        arrays = self.model.arrays()
        share = ((gold[:, None] > np.arange(self.shape.layers - 1)).sum(0) + 0.5) / (len(gold) + 1)
        arrays["rank.bias"] = np.log(share / (1 - share)).astype(np.float32)
        for name, parts in (
            ("features", [row.features for row in self._train if row.features is not None]),
            (
                "pairs",
                [
                    row.pairs[~np.eye(len(row.pairs), dtype=bool)]
                    for row in self._train
                    if row.pairs is not None
                ],
            ),
        ):
            if parts:
                every = np.concatenate(parts)
                arrays[f"{name}.mean"] = every.mean(0).astype(np.float32)
                arrays[f"{name}.scale"] = np.maximum(every.std(0), 1e-2).astype(np.float32)
        self.model.load_arrays(arrays)

    def _save(self, path: Path) -> None:
        state = {
            "key": self._key,
            "model": self.model.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "best": {name: torch.from_numpy(found) for name, found in self._best.items()},
            "history": [asdict(e) for e in self.history],
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(path.name + ".part")
        torch.save(state, part)
        part.replace(path)

    def _restore(self, path: Path) -> None:
        with convert_errors(WeightsError, f"checkpoint {path}", hint="delete it to start again"):
            state: dict[str, Any] = torch.load(path, weights_only=True)
            key = state["key"]
        if key != self._key:
            raise ConfigError(
                f"the checkpoint {path} belongs to other settings or other data",
                hint="delete it to start again, or name another --checkpoint",
            )
        self.model.load_state_dict(state["model"])
        self._optimizer.load_state_dict(copy.deepcopy(state["optimizer"]))
        self._best = {name: found.numpy() for name, found in state["best"].items()}
        self.history = [Epoch(**row) for row in state["history"]]


def predict_layers(
    network: Network, rows: Sequence[Encoded], size: int = 64
) -> list[dict[str, int]]:
    """The layer of every tool of every row, Eq. (9), by the numpy network that ships; no constraint
    yet.
    """
    found: list[dict[str, int]] = []
    for start in range(0, len(rows), size):
        part = rows[start : start + size]
        b = collate_batch(part)
        extra = [None if x is None else x.numpy() for x in (b.features, b.pairs)]
        layers = decode_layers(network(b.query.numpy(), b.tools.numpy(), b.mask.numpy(), *extra))
        for row, placed in zip(part, layers, strict=True):
            found.append(
                {
                    t.name: int(k)
                    for t, k in zip(row.example.tools, placed[: len(row.layers)], strict=True)
                }
            )
    return found


def measure_network(
    network: Network, rows: Sequence[Encoded], constraint: bool = False
) -> dict[str, Scores]:
    """Scores of the network on rows, by source and macro; with the schema-level constraint if
    asked.
    """
    found = predict_layers(network, rows)
    if constraint:
        found = [
            apply_constraint(row.example, layers) for row, layers in zip(rows, found, strict=True)
        ]
    return score_layers([row.example for row in rows], found)
