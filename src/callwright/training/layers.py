"""``callwright train layers``: the layer network of RETO (section 3.2, A.1) from plan examples, in minutes on a CPU.

A run is a deterministic function of settings and data: every random draw is seeded by (seed, epoch), so a run that
was stopped and resumed from its checkpoint ends with the same weights as one that was not.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from callwright.encoders import open_encoder
from callwright.errors import ConfigError, MissingExtra, WeightsError, boundary
from callwright.jsontext import parse
from callwright.planning.card import Card, rounded, write
from callwright.planning.features import DIGEST as FEATURES
from callwright.planning.layers import layer_features
from callwright.planning.network import Array, Network, Shape, decode
from callwright.training.data import PlanExample, pool, with_distractors
from callwright.training.network import Balance, LayerModel, layer_loss, threshold_weights
from callwright.training.scores import MACRO, Scores, constrained, score
from callwright.training.sources import load, sources
from callwright.training.splits import fold
from callwright.training.tensors import DISTRACTOR, Encoded, batches, collate, encode, evenly
from callwright.types import digest
from callwright.weights import cache_dir

try:
    import torch
except ImportError:
    raise MissingExtra("training the layer predictor", "train") from None


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a run depends on besides the data. The defaults are the paper's (A.1) where it states a value.

    The paper is silent on ``hidden``, ``batch``, how lambda_k of Eq. (10) comes about (``balance``) and the optimizer
    (Adam here); what else was tried stands in docs/lab.md.
    """

    width: int = 256
    heads: int = 8
    blocks: int = 2
    hidden: int = 1024
    layers: int = 5
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
PRESETS = {"paper": PAPER}
_PLACES = frozenset(["--cache", "--out", "--scores", "--json", "--checkpoint", "--data"])  # where, not what
_FIELDS = tuple(f.name for f in fields(Settings))


@dataclass(frozen=True, slots=True)
class Epoch:
    """What one epoch came to: mean training loss, and layer accuracy on the validation rows."""

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

    With ``checkpoint``, the state is written there after every epoch (whole or not at all) and an existing one of the
    same settings and data is continued; one of other settings or data raises ConfigError.
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
        self._train = evenly(train) if settings.even else list(train)
        self._validation = validation
        self._checkpoint = checkpoint
        self._key = digest([asdict(settings), [r.example.id for r in train], [r.example.id for r in validation]])
        self.shape = settings.shape(train)
        torch.manual_seed(settings.seed)
        self.model = LayerModel(self.shape, settings.dropout)
        gold = np.concatenate([row.layers[row.layers > DISTRACTOR] for row in train])
        self._prepare(gold)
        self._optimizer = torch.optim.AdamW(
            self.model.parameters(), settings.rate, weight_decay=settings.decay, fused=True
        )
        self._steps = settings.epochs * -(-len(train) // settings.batch)
        self._weights = torch.from_numpy(threshold_weights(gold, settings.layers - 1, settings.balance))
        self.history: list[Epoch] = []
        self._best: dict[str, Array] = self.model.arrays()
        if checkpoint is not None and checkpoint.is_file():
            self._restore(checkpoint)

    def finish(self, progress: Callable[[str], None] = lambda _: None) -> Trained:
        """Run the epochs that are left."""
        while len(self.history) < self.settings.epochs:
            done = self.step()
            progress(f"epoch {done.number}: loss {done.loss:.4f}, validation accuracy {done.accuracy:.3f}")
        best = max(self.history, key=lambda e: (e.accuracy, -e.number))
        return Trained(Network(self.shape, self._best), best, tuple(self.history))

    def step(self) -> Epoch:
        """One epoch: learn, measure on the validation rows, keep the weights if they are the best, checkpoint."""
        number = len(self.history) + 1
        loss = self._learn(number)
        accuracy = measure(Network(self.shape, self.model.arrays()), self._validation)[MACRO].accuracy
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
        for i, batch in enumerate(batches(self._train, self.settings.batch, draw)):
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
        """The paper's constant rate, or a linear rise and a cosine fall where ``warmup`` asks for it."""
        if not self.settings.warmup:
            return
        rise = self.settings.warmup * self._steps
        fall = 0.5 * (1 + np.cos(np.pi * max(0.0, step - rise) / max(1.0, self._steps - rise)))
        for group in self._optimizer.param_groups:
            group["lr"] = self.settings.rate * min((step + 1) / rise, fall)

    def _prepare(self, gold: Array) -> None:
        """What is known before learning: the log-odds of each threshold, and mean and deviation of tool features.

        At a rate of 1e-3 Adam moves a bias by some tenths in ten epochs, while the thresholds lie several units
        apart: begun at zero, the biases of Eq. (8) never get there and hold everything else back.
        """
        arrays = self.model.arrays()
        share = ((gold[:, None] > np.arange(self.shape.layers - 1)).sum(0) + 0.5) / (len(gold) + 1)
        arrays["rank.bias"] = np.log(share / (1 - share)).astype(np.float32)
        for name, parts in (
            ("features", [row.features for row in self._train if row.features is not None]),
            (
                "pairs",
                [row.pairs[~np.eye(len(row.pairs), dtype=bool)] for row in self._train if row.pairs is not None],
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
        with boundary(WeightsError, f"checkpoint {path}", hint="delete it to begin anew"):
            state: dict[str, Any] = torch.load(path, weights_only=True)
            key = state["key"]
        if key != self._key:
            raise ConfigError(
                f"the checkpoint {path} belongs to other settings or other data",
                hint="delete it to begin anew, or name another --checkpoint",
            )
        self.model.load_state_dict(state["model"])
        self._optimizer.load_state_dict(copy.deepcopy(state["optimizer"]))
        self._best = {name: found.numpy() for name, found in state["best"].items()}
        self.history = [Epoch(**row) for row in state["history"]]


def predict(network: Network, rows: Sequence[Encoded], size: int = 64) -> list[dict[str, int]]:
    """The layer of every tool of every row, Eq. (9), by the numpy network that ships; no constraint yet."""
    found: list[dict[str, int]] = []
    for start in range(0, len(rows), size):
        part = rows[start : start + size]
        b = collate(part)
        extra = [None if x is None else x.numpy() for x in (b.features, b.pairs)]
        layers = decode(network(b.query.numpy(), b.tools.numpy(), b.mask.numpy(), *extra))
        for row, placed in zip(part, layers, strict=True):
            found.append({t.name: int(k) for t, k in zip(row.example.tools, placed[: len(row.layers)], strict=True)})
    return found


def measure(network: Network, rows: Sequence[Encoded], constraint: bool = False) -> dict[str, Scores]:
    """Scores of the network on rows, by source and macro; with the schema-level constraint if asked."""
    found = predict(network, rows)
    if constraint:
        found = [constrained(row.example, layers) for row, layers in zip(rows, found, strict=True)]
    return score([row.example for row in rows], found)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. What it trains goes to ``--out`` as ``NAME.npz`` and ``NAME.json``; tables to standard output."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    args = _parser().parse_args(given, argparse.Namespace(given=given))
    torch.set_num_threads(args.threads)
    settings = replace(
        PRESETS[args.preset], **{k: v for k, v in vars(args).items() if k in _FIELDS and v is not None}
    )
    if args.head_size:
        settings = replace(settings, heads=settings.width // args.head_size)
    names = args.sources.split(",")
    if args.measure == "none" and not args.private:
        _require_licences(names)
    examples = _examples(names, args.data, settings)
    if args.multilayer:
        examples = [e for e in examples if len(set(e.layers.values())) > 1]
    encoder = open_encoder(args.encoder, cache=args.cache, threads=args.threads)
    rows = encode(examples, encoder, layer_features if args.features else None, progress)
    if args.measure == "none":
        card = _train(args, settings, rows, encoder.name)
        print_line(f"{args.out / card.name}.npz, sha256 {card.sha256}")
    else:
        print_line(_measured(args, rows, settings))
    return 0


def _train(args: argparse.Namespace, settings: Settings, rows: Sequence[Encoded], encoder: str) -> Card:
    """Learn from folds 1-4, choose on fold 0, round as it will be stored, write it with its card."""
    learn = [row for row in rows if fold(row.example)]
    choose = [row for row in rows if not fold(row.example)]
    trained = Run(learn, choose, settings, args.checkpoint).finish(progress)
    network = rounded(trained.network, args.precision)
    about = {
        "about": "layer network of RETO (section 3.2)" + (", with features" if args.features else ", text only"),
        "data": _described(rows),
        "command": _command(args),
        "settings": asdict(settings),
        "best_epoch": trained.best.number,
        "validation": {source: s.to_dict() for source, s in measure(network, choose).items()},
    }
    if args.features:
        about["features"] = FEATURES
    if args.scores:
        about["scores"] = [parse(path.read_text(encoding="utf-8")) for path in args.scores]
    return write(args.out, args.name, trained.network, encoder, about, args.precision)


def _measured(args: argparse.Namespace, rows: Sequence[Encoded], settings: Settings) -> str:
    """The table asked for; its numbers also go to ``--json``, from where ``--scores`` puts them on a card."""
    from callwright.training import sweep

    if args.measure == "sweep":
        return sweep.sensitivity(rows, settings, progress)
    measure_all, title = {
        "folds": (sweep.cross_validate, "grouped 5-fold"),
        "sources": (sweep.leave_sources_out, "leave one source out"),
    }[args.measure]
    found = measure_all(rows, settings, progress)
    if args.json:
        text = json.dumps({"title": title, "command": _command(args), **found.to_dict()}, indent=1)
        args.json.write_text(text + "\n", encoding="utf-8")
    return found.text(title)


def _command(args: argparse.Namespace) -> str:
    """The command that does this again anywhere: what was given, without files and folders of this machine."""
    kept: list[str] = []
    dropping = False
    for word in args.given:
        if word.startswith("--"):
            dropping = word.partition("=")[0] in _PLACES
        if not dropping:
            kept.append(word)
    return " ".join(["callwright train layers --model network", *kept])


def _examples(names: Sequence[str], root: Path | None, settings: Settings) -> list[PlanExample]:
    """The examples of the sources, each with distractors of its own source mixed in."""
    found: list[PlanExample] = []
    for name in names:
        examples = load(name, root)
        offered = pool(examples) if settings.distractors else ()
        found += [with_distractors(e, offered, settings.distractors) for e in examples]
    return found


def _described(rows: Sequence[Encoded]) -> list[dict[str, Any]]:
    """Per source: how many examples, under which licence, and a digest of which ones."""
    ids: dict[str, list[str]] = {}
    for row in rows:
        ids.setdefault(row.example.source, []).append(row.example.id)
    return [
        {"source": name, "examples": len(found), "licence": sources()[name].licence, "digest": digest(sorted(found))}
        for name, found in sorted(ids.items())
    ]


def _require_licences(names: Sequence[str]) -> None:
    refused = [name for name in names if name in sources() and not sources()[name].train]
    if refused:
        raise ConfigError(
            f"weights to pass on must not be trained on {', '.join(refused)}: the licence does not allow it",
            hint="leave the source out, or say --private for weights of your own",
        )


def _parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser("callwright train layers --model network", description=__doc__)
    p.add_argument("--preset", choices=tuple(PRESETS), default="paper")
    p.add_argument("--sources", default="nestful,complexfuncbench,nestools", help="data sources, by comma")
    p.add_argument("--data", type=Path, help="folder that holds the data sets (default: $CALLWRIGHT_DATA)")
    p.add_argument("--encoder", help="minilm, a model folder, or https://host/v1#model")
    p.add_argument("--cache", type=Path, default=cache_dir() / "vectors.sqlite", help="file that keeps the vectors")
    p.add_argument("--features", action="store_true", help="the head with features of tools and pairs")
    p.add_argument("--measure", choices=("none", "folds", "sources", "sweep"), default="none", help="only tabulate")
    p.add_argument("--json", type=Path, help="file for what --measure folds or sources finds")
    p.add_argument("--scores", type=Path, nargs="+", help="such files, to be put on the card")
    p.add_argument("--private", action="store_true", help="allow sources whose licence forbids passing weights on")
    p.add_argument("--multilayer", action="store_true", help="only examples of two layers and more, as in A.1")
    p.add_argument("--out", type=Path, default=Path("weights"), help="folder for NAME.npz and NAME.json")
    p.add_argument("--name", default="layers")
    p.add_argument("--precision", choices=("float32", "float16", "int8"), default="float16")
    p.add_argument("--checkpoint", type=Path, help="state after every epoch; an existing one is continued")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--head-size", type=int, help="numbers per head, instead of --heads (Fig. 6)")
    for name in _FIELDS:
        kind = type(getattr(PAPER, name))
        if kind is bool:
            p.add_argument(f"--{name}", action="store_const", const=True)
        else:
            p.add_argument(f"--{name}", type=kind, help=f"the paper preset: {getattr(PAPER, name)}")
    return p


def progress(line: str) -> None:
    """One line of progress, on standard error."""
    sys.stderr.write(line + "\n")


def print_line(line: str) -> None:
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    raise SystemExit(main())
