#!/usr/bin/env python3
"""Copy trained weights into the packages, after their cards and digests are checked.

    python release_weights.py FOLDER           what `callwright train … --out FOLDER` wrote
    python release_weights.py FOLDER --check   check only, copy nothing

A weight file is NAME.npz with its card NAME.json. It is copied over the weights that are loaded
under this name. Refused are: a name that nothing loads, arrays that are not those of the card, a
card that says `private`, labels of plain execution order, and data without a licence. Nothing is
copied unless all of FOLDER passes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parent / "packages" / "callwright" / "src" / "callwright"
PLACES = {
    "edges": "planning/data",
    "edges-encoder": "planning/data",
    "needed": "planning/data",
    "layers-text": "planning/data",
    "ranker": "retrieval/data",
}
"""Names that the core loads, and the folder of each inside the package."""


def main(arguments: Sequence[str] | None = None, source: Path = SOURCE) -> int:
    """The command. 0 if all weights of the folder passed, 1 with a sentence for each problem."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--check", action="store_true", help="check only, copy nothing")
    given = parser.parse_args(arguments)
    cards = sorted(given.folder.glob("*.json"))
    problems = [said for card in cards for said in problems_of(card)]
    if not cards:
        problems = [f"{given.folder} holds no NAME.json beside a NAME.npz"]
    for said in problems:
        print(f"error: {said}", file=sys.stderr)
    if problems:
        return 1
    for card in cards:
        target = source / PLACES[card.stem]
        if not given.check:
            for file in (card, card.with_suffix(".npz")):
                shutil.copyfile(file, target / file.name)
        print(f"{'right' if given.check else 'copied'}: {card.stem} -> {PLACES[card.stem]}")
    return 0


def problems_of(path: Path) -> list[str]:
    """Why the weights of this card must not be shipped; empty if they may be."""
    name, arrays = path.stem, path.with_suffix(".npz")
    if name not in PLACES:
        return [f"nothing loads weights named {name!r}; the names are {', '.join(PLACES)}"]
    if not arrays.is_file():
        return [f"{path.name} is a card without {arrays.name}"]
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        return [f"{path.name} is no JSON: {error}"]
    if not isinstance(card, dict):
        return [f"{path.name} is no card: it must be an object"]
    return list(_problems_of_card(name, card, arrays))


def _problems_of_card(name: str, card: Mapping[str, Any], arrays: Path) -> Iterable[str]:
    if card.get("name") != name:
        yield f"{name}: its card is that of {card.get('name')!r}"
    if card.get("sha256") != hashlib.sha256(arrays.read_bytes()).hexdigest():
        yield f"{name}: the arrays are not those of the card (sha256)"
    if card.get("private"):
        yield f"{name}: the licence of its data forbids to pass it on (private)"
    if card.get("labels", "dependency") != "dependency":
        yield (
            f"{name}: it learned {card['labels']} labels, and the package's planners promise"
            " dependencies"
        )
    data = card.get("data") or {}
    rows = data.values() if isinstance(data, dict) else data
    if not data or not all(isinstance(row, dict) and row.get("licence") for row in rows):
        yield f"{name}: its card does not name the licence of all data"
    if not card.get("command"):
        yield f"{name}: its card does not name the command that made it"


if __name__ == "__main__":
    raise SystemExit(main())
