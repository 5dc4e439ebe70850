"""Decides which trained weights may be published and where they are stored, and returns the command
for their card.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from callwright.nouns.errors import ConfigError
from callwright_lab.datasets.sources import list_sources

_PLACES = frozenset(
    ["--cache", "--out", "--ship", "--scores", "--json", "--checkpoint", "--data"]
)  # where, not what


def add_options(parser: argparse.ArgumentParser, shipped: Path, name: str) -> None:
    """``--private``, ``--out`` or ``--ship``, and ``--name``: the same for every kind of weights.

    ``name`` is the default, "" if it depends on what is trained.
    """
    parser.add_argument(
        "--private",
        action="store_true",
        help=(
            "allow sources whose licence forbids passing weights on; such weights are never shipped"
        ),
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--out",
        type=Path,
        default=Path("runs/layers"),
        help="folder for NAME.npz and NAME.json (default: %(default)s)",
    )
    where.add_argument(
        "--ship",
        dest="out",
        action="store_const",
        const=shipped.parent,
        help="into the package, in place of the weights that are loaded; only under their name",
    )
    parser.add_argument("--name", default=name, help=f"default: {name or 'as what is shipped'}")


def require_sources(names: Sequence[str], private: bool) -> bool:
    """Return True if weights trained on these sources must stay private. Raises ConfigError unless
    ``private`` was requested as well.
    """
    known = list_sources()
    if unknown := [n for n in names if n not in known]:
        raise ConfigError(
            f"there is no data source {unknown[0]!r}", hint="sources: " + ", ".join(known)
        )
    kept = [n for n in names if not known[n].train]
    if kept and not private:
        raise ConfigError(
            f"weights trained on {kept[0]} must not be passed on: its licence"
            f" ({known[kept[0]].licence})",
            hint="leave the source out, or say --private for weights that you keep to yourself",
        )
    return bool(kept)


def require_place(
    out: Path, name: str, shipped: Path, *, private: bool, labels: str = "dependency"
) -> None:
    """ConfigError for weights that must not lie in the package, or would lie there unread."""
    if out.resolve() != shipped.parent.resolve():
        return
    if private:
        raise ConfigError(
            "--private weights cannot be shipped: what lies in the package is passed on",
            hint=(
                "--out FOLDER keeps them to yourself; to ship, leave --private and such sources out"
            ),
        )
    if labels != "dependency":
        raise ConfigError(
            f"weights of {labels} labels cannot be shipped: the planners of the package promise"
            " dependencies",
            hint="--out FOLDER, and open them by their path",
        )
    if name != shipped.stem:
        raise ConfigError(
            f"--ship replaces the weights that are loaded, {shipped.stem}; {name!r} would lie"
            " beside them unread",
            hint=f"add --name {shipped.stem}, or --out FOLDER for weights of your own",
        )


def render_command(model: str, given: Sequence[str]) -> str:
    """The command that does this again anywhere: what was given, without files and folders of this
    machine.
    """
    kept: list[str] = []
    dropping = False
    for word in given:
        if word.startswith("--"):
            dropping = word.partition("=")[0] in _PLACES
        if not dropping:
            kept.append(word)
    return " ".join([f"callwright train layers --model {model}", *kept])
