"""How often is the language of a request told rightly? ``python benchmarks/language_detection.py
DATA``.

Reads the requests of AceBench (Chinese), Seal-Tools, StableToolBench and API-Bank (English) below
``DATA`` and counts, for several cuts, the texts that are told rightly, left undecided and told
wrongly. Texts that are JSON are left out. All are used to choose the cut: there is no second split.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from callwright.jsontext import JsonError, parse
from callwright.language import detect

SETS = {"seal_tools": "en", "stabletoolbench": "en", "api_bank": "en", "acebench": "zh"}
KEYS = frozenset({"query", "question", "instruction", "user"})
CUTS = (0.04, 0.08, 0.12, 0.16, 0.2)
MOST = 3_000  # texts of a data set


def main(argv: Sequence[str]) -> int:
    root = Path(argv[0])
    found = {name: sorted(set(_texts_below(root / name)))[:MOST] for name in SETS}
    for cut in CUTS:
        counts = {name: _counted(found[name], code, cut) for name, code in SETS.items()}
        print(f"coverage {cut}:", "; ".join(f"{name} {_shown(c)}" for name, c in counts.items()))
    return 0


def _counted(texts: Sequence[str], code: str, cut: float) -> Counter[str]:
    cuts = {**detect.DETECTION.table("thresholds.function_words"), "coverage": cut}
    with patch.object(detect.DETECTION, "table", _with(cuts)):
        told = Counter(_judged(detect.language_of.__wrapped__(text), text, code) for text in texts)  # type: ignore[attr-defined]
    return told


def _with(cuts: dict[str, Any]) -> Any:
    table = detect.DETECTION.table
    return lambda name: cuts if name.startswith("thresholds") else table(name)


def _judged(told: str, text: str, code: str) -> str:
    if detect.script_of(text) == "Latn":
        code = "en"  # English requests stand in the Chinese set too
    return "right" if told == code else "wrong" if told else "undecided"


def _shown(counts: Counter[str]) -> str:
    return " ".join(f"{counts[key]} {key}" for key in ("right", "undecided", "wrong"))


def _texts_below(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*.json*")):
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        yield from (found for row in _rows(text) for found in _texts(row))


def _rows(text: str) -> Iterator[Any]:
    """The document, or the documents that stand on its lines."""
    try:
        yield parse(text)
    except JsonError:
        for line in text.splitlines():
            try:
                yield parse(line)
            except JsonError:
                continue


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key in KEYS and isinstance(item, str) and 5 < len(item) < 600:
                if not item.lstrip().startswith(("{", "[", "Observation")):
                    yield item
            else:
                yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
