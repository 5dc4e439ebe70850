"""The command line that all trainings in stages share."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence
from pathlib import Path
from random import Random
from typing import TypeVar

from callwright.nouns.errors import MissingExtra

T = TypeVar("T")

_THREADS = {"two-cores": 2}
"""By preset: without both cores it takes more hours than it is said to take. All others: 1."""


def use_threads(args: argparse.Namespace, what: str) -> None:
    """Have torch compute with the threads of these options. Raises MissingExtra, for ``what``."""
    try:
        import torch
    except ImportError:
        raise MissingExtra(what, "train", "callwright-lab") from None
    torch.set_num_threads(args.threads or _THREADS.get(args.preset, 1))


def build_run_parser(
    kind: str,
    about: str | None,
    presets: Collection[str],
    default: str,
    stages: Sequence[str],
    *,
    timed: str,
    preset_help: str = "model and run (default: %(default)s)",
) -> argparse.ArgumentParser:
    """A parser of ``callwright train KIND`` with the options of every run: preset, stages, folder,
    data, time, resumption, threads and dry run. ``timed``: the stages that ``--minutes`` ends.
    """
    p = argparse.ArgumentParser(
        f"callwright train {kind}",
        description=about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    p.add_argument("--preset", choices=tuple(presets), default=default, help=preset_help)
    _add_stages(p, stages)
    p.add_argument(
        "--out",
        type=Path,
        default=Path("runs") / kind,
        help="folder of the run (default: %(default)s)",
    )
    p.add_argument(
        "--data", type=Path, help="folder that holds the data sets (default: $CALLWRIGHT_DATA)"
    )
    p.add_argument(
        "--minutes",
        type=float,
        default=0,
        help=f"end {timed} after this long, over all its resumptions",
    )
    p.add_argument(
        "--resume",
        action="store_true",
        help="go on with a run that was ended: skip finished stages, continue the one that is not",
    )
    p.add_argument(
        "--threads", type=int, default=0, help="of the CPU (the preset two-cores: 2; others: 1)"
    )
    p.add_argument(
        "--dry-run", action="store_true", help="say what the run would be and cost, and do nothing"
    )
    return p


def sample_held_out(rows: Sequence[T], count: int) -> Sequence[T]:
    """``count`` of them (0: all), the same ones every time."""
    return Random("held out").sample(list(rows), min(count, len(rows))) if count else rows


def _add_stages(parser: argparse.ArgumentParser, known: Sequence[str]) -> None:
    """The option ``--stages``: some of those known, by comma; all by default."""

    def stages(text: str) -> list[str]:
        found = text.split(",")
        if unknown := [s for s in found if s not in known]:
            raise argparse.ArgumentTypeError(f"no stage {unknown[0]!r}: {', '.join(known)}")
        return found

    parser.add_argument(
        "--stages", type=stages, default=list(known), help=f"by comma: {','.join(known)}"
    )
