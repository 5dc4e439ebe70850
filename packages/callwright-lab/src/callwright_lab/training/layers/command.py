"""``callwright train layers --model network``: RETO's layer network from plan examples, in minutes
on a CPU.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any, get_args

from callwright.jsontext import parse
from callwright.language.frozen import vocabulary_digest
from callwright.models.encoders import open_encoder
from callwright.nouns.errors import ConfigError, MissingExtra
from callwright.nouns.types import compute_digest
from callwright.planning.card import Card, round_weights, write_network
from callwright.planning.features import DIGEST as FEATURES
from callwright.planning.layers import SHIPPED, layer_features
from callwright.weights import cache_dir
from callwright_lab.datasets.examples import Kind, PlanExample, add_distractors, collect_tools
from callwright_lab.datasets.sources import list_sources, load_labelled
from callwright_lab.datasets.splits import get_fold
from callwright_lab.training.layers import sweep
from callwright_lab.training.layers.runs import PAPER, Run, Settings, measure_network
from callwright_lab.training.layers.tensors import Encoded, encode_examples
from callwright_lab.training.progress import print_progress
from callwright_lab.training.release import (
    add_options,
    render_command,
    require_place,
    require_sources,
)

try:
    import torch
except ImportError:
    raise MissingExtra("training the layer predictor", "train", "callwright-lab") from None


PRESETS = {"paper": PAPER}
DEPENDENCIES = ("nestful", "complexfuncbench", "nestools")
SEQUENCES = (*DEPENDENCIES, "stabletoolbench")  # say in which order was called
_FIELDS = tuple(f.name for f in fields(Settings))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. What it trains goes to ``--out`` as ``NAME.npz`` and ``NAME.json``; tables to
    standard output.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    args = _build_parser().parse_args(given, argparse.Namespace(given=given))
    torch.set_num_threads(args.threads)
    settings = replace(
        PRESETS[args.preset],
        **{k: v for k, v in vars(args).items() if k in _FIELDS and v is not None},
    )
    if args.head_size:
        settings = replace(settings, heads=settings.width // args.head_size)
    names = (
        args.sources or ",".join(DEPENDENCIES if args.labels == "dependency" else SEQUENCES)
    ).split(",")
    _require_allowed(args, names)
    examples = _load_examples(names, args.labels, args.data, settings)
    if args.multilayer:
        examples = [e for e in examples if len(set(e.layers.values())) > 1]
    encoder = open_encoder(args.encoder, cache=args.cache, threads=args.threads)
    rows = encode_examples(
        examples, encoder, layer_features if args.features else None, print_progress
    )
    if args.measure == "none":
        card = _train_network(args, settings, rows, encoder.name)
        print_line(f"{args.out / card.name}.npz, sha256 {card.sha256}")
    else:
        print_line(_measure_table(args, rows, settings))
    return 0


def _train_network(
    args: argparse.Namespace, settings: Settings, rows: Sequence[Encoded], encoder: str
) -> Card:
    """Learn from folds 1-4, choose on fold 0, round as it will be stored, write it with its
    card.
    """
    learn = [row for row in rows if get_fold(row.example)]
    choose = [row for row in rows if not get_fold(row.example)]
    trained = Run(learn, choose, settings, args.checkpoint).finish(print_progress)
    network = round_weights(trained.network, args.precision)
    about = {
        "about": (
            "layer network of RETO (section 3.2)"
            + (", with features" if args.features else ", text only")
        ),
        "labels": args.labels,
        "private": any(not list_sources()[row.example.source].train for row in rows),
        "data": _describe_sources(rows),
        "command": render_command("network", args.given),
        "settings": asdict(settings),
        "best_epoch": trained.best.number,
        "validation": {
            source: s.to_dict() for source, s in measure_network(network, choose).items()
        },
    }
    if args.features:
        about |= {"features": FEATURES, "vocabulary": vocabulary_digest()}
    if args.scores:
        about["scores"] = [parse(path.read_text(encoding="utf-8")) for path in args.scores]
    return write_network(args.out, args.name, trained.network, encoder, about, args.precision)


def _measure_table(args: argparse.Namespace, rows: Sequence[Encoded], settings: Settings) -> str:
    """The table asked for; its numbers also go to ``--json``, from where ``--scores`` puts them on
    a card.
    """
    if args.measure == "sweep":
        return sweep.measure_sensitivity(rows, settings, print_progress)
    measure_all, title = {
        "folds": (sweep.cross_validate, "grouped 5-fold"),
        "sources": (sweep.leave_sources_out, "leave one source out"),
    }[args.measure]
    found = measure_all(rows, settings, print_progress)
    if args.json:
        text = json.dumps(
            {"title": title, "command": render_command("network", args.given), **found.to_dict()},
            indent=1,
        )
        args.json.write_text(text + "\n", encoding="utf-8")
    return found.text(title)


def _load_examples(
    names: Sequence[str], labels: Kind, root: Path | None, settings: Settings
) -> list[PlanExample]:
    """The examples of the sources, each with distractors of its own source mixed in."""
    found: list[PlanExample] = []
    for name in names:
        examples = load_labelled(name, labels, root)
        offered = collect_tools(examples) if settings.distractors else ()
        found += [add_distractors(e, offered, settings.distractors) for e in examples]
    return found


def _describe_sources(rows: Sequence[Encoded]) -> list[dict[str, Any]]:
    """Per source: how many examples, under which licence, and a digest of which ones."""
    ids: dict[str, list[str]] = {}
    for row in rows:
        ids.setdefault(row.example.source, []).append(row.example.id)
    return [
        {
            "source": name,
            "examples": len(found),
            "licence": list_sources()[name].licence,
            "digest": compute_digest(sorted(found)),
        }
        for name, found in sorted(ids.items())
    ]


def _require_allowed(args: argparse.Namespace, names: Sequence[str]) -> None:
    """ConfigError for weights that may not be made, or not be put where ``args`` says. Measuring
    makes none.
    """
    if args.measure == "none":
        require_sources(names, args.private)
        require_place(args.out, args.name, SHIPPED, private=args.private, labels=args.labels)
    elif args.out == SHIPPED.parent:
        raise ConfigError(
            f"--measure {args.measure} makes a table and no weights: nothing would be shipped",
            hint="leave --ship out, or train with --ship in a second command",
        )


def _build_parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser("callwright train layers --model network", description=__doc__)
    p.add_argument("--preset", choices=tuple(PRESETS), default="paper")
    p.add_argument("--sources", help=f"data sources, by comma (default: {','.join(DEPENDENCIES)})")
    p.add_argument(
        "--labels",
        choices=get_args(Kind),
        default="dependency",
        help="sequence: plain execution order",
    )
    p.add_argument(
        "--data", type=Path, help="folder that holds the data sets (default: $CALLWRIGHT_DATA)"
    )
    p.add_argument("--encoder", help="minilm, a model folder, or https://host/v1#model")
    p.add_argument(
        "--cache",
        type=Path,
        default=cache_dir() / "vectors.sqlite",
        help="file that keeps the vectors",
    )
    p.add_argument(
        "--features", action="store_true", help="the head with features of tools and pairs"
    )
    p.add_argument(
        "--measure",
        choices=("none", "folds", "sources", "sweep"),
        default="none",
        help="only tabulate",
    )
    p.add_argument("--json", type=Path, help="file for what --measure folds or sources finds")
    p.add_argument("--scores", type=Path, nargs="+", help="such files, to be put on the card")
    p.add_argument(
        "--multilayer", action="store_true", help="only examples of two layers and more, as in A.1"
    )
    add_options(p, SHIPPED, "layers")
    p.add_argument("--precision", choices=("float32", "float16", "int8"), default="float16")
    p.add_argument(
        "--checkpoint", type=Path, help="state after every epoch; an existing one is continued"
    )
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--head-size", type=int, help="numbers per head, instead of --heads (Fig. 6)")
    for name in _FIELDS:
        kind = type(getattr(PAPER, name))
        if kind is bool:
            p.add_argument(f"--{name}", action="store_const", const=True)
        else:
            p.add_argument(f"--{name}", type=kind, help=f"the paper preset: {getattr(PAPER, name)}")
    return p


def print_line(line: str) -> None:
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    raise SystemExit(main())
