"""The cases of the board: drawn by digest, so that nobody chooses; the final half opened once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson

from callwright.jsontext import JsonError, parse
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import JsonObject
from callwright_lab.benchmarks.comparison.task_sets import Half, hash_text
from callwright_lab.benchmarks.refine.bfcl import read_lines, unpack_folder

MULTI_TURN = ("multi_turn_base", "multi_turn_miss_param", "multi_turn_miss_func")
SINGLE_TURN = ("simple_python", "multiple", "parallel", "parallel_multiple")
CATEGORIES = (*MULTI_TURN, *SINGLE_TURN)


@dataclass(frozen=True, slots=True)
class Case:
    """One case of the suite, under its own id."""

    id: str
    category: str
    half: Half


def compute_draw(case: str) -> str:
    """The digest by which a case is drawn; an odd one is of the final half."""
    return hash_text(f"bfcl{case}")


def find_half(case: str) -> Half:
    """The half of a case, by its id alone."""
    return "final" if int(compute_draw(case), 16) % 2 else "dev"


def parse_categories(text: str) -> tuple[str, ...]:
    """Names of categories, comma-separated; ``multi_turn`` and ``single_turn`` are all of theirs.

    Raises ConfigError for one that this board does not have.
    """
    groups: Mapping[str, tuple[str, ...]] = {
        "multi_turn": MULTI_TURN,
        "single_turn": SINGLE_TURN,
        "simple": ("simple_python",),
        **{name: (name,) for name in CATEGORIES},
    }
    names = [name.strip() for name in text.split(",") if name.strip()]
    if unknown := [name for name in names if name not in groups]:
        raise ConfigError(
            f"there is no category {unknown[0]!r}", hint="categories: " + ", ".join(groups)
        )
    chosen = {category for name in names for category in groups[name]}
    return tuple(name for name in CATEGORIES if name in chosen)


def read_cases(categories: Iterable[str]) -> dict[str, list[str]]:
    """Category -> the ids of all its cases, from the suite's wheel."""
    data = unpack_folder() / "bfcl_eval" / "data"
    return {
        name: [row["id"] for row in read_lines(data / f"BFCL_v4_{name}.json")]
        for name in categories
    }


def read_tool_sets(categories: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The environments of each case that has any, in the order in which their tools are listed."""
    data = unpack_folder() / "bfcl_eval" / "data"
    rows = (row for name in categories for row in read_lines(data / f"BFCL_v4_{name}.json"))
    return {row["id"]: tuple(row.get("involved_classes") or ()) for row in rows}


def sort_for_cache(cases: Iterable[Case], tool_sets: Mapping[str, tuple[str, ...]]) -> list[Case]:
    """The cases of each category with the same tools behind one another, else in their order: their
    prompts begin alike, and an endpoint that caches prompts reads thousands of tokens once.
    """
    places: dict[tuple[str, tuple[str, ...]], int] = {}
    cases = list(cases)
    for case in cases:
        places.setdefault((case.category, tool_sets.get(case.id, ())), len(places))
    order = {name: n for n, name in enumerate(dict.fromkeys(case.category for case in cases))}
    return sorted(
        cases,
        key=lambda case: (order[case.category], places[case.category, tool_sets.get(case.id, ())]),
    )


def draw_sample(cases: Mapping[str, Iterable[str]], half: Half, count: int) -> tuple[Case, ...]:
    """The first ``count`` cases of a half in each category, in the order of their digests."""
    drawn = []
    for category, names in cases.items():
        mine = sorted((n for n in names if find_half(n) == half), key=compute_draw)
        drawn += [Case(name, category, half) for name in mine[:count]]
    return tuple(drawn)


def render_sample(cases: Iterable[Case]) -> str:
    """One line a category: how many cases, and their numbers."""
    numbers: dict[str, list[str]] = {}
    for case in cases:
        numbers.setdefault(case.category, []).append(case.id.rpartition("_")[2])
    return "\n".join(f"{name} ({len(found)}): {' '.join(found)}" for name, found in numbers.items())


def open_final(ledger: Path, row: str, config: str, when: str) -> str:
    """Note that a row opens the final half under these settings, and return when it first did.

    Raises ConfigError where the row has opened it under other settings: the half is for one table.
    """
    opened: JsonObject = {}
    if ledger.exists():
        try:
            opened = parse(ledger.read_bytes())
        except JsonError as error:
            raise ConfigError(f"{ledger} is no ledger of this board: {error}") from error
    found = opened.setdefault(row, {"config": config, "opened": when})
    if found["config"] != config:
        raise ConfigError(
            f"the final half was opened for {row} on {found['opened']} under other settings",
            hint=f"use those settings again, or the dev half; the ledger is {ledger}",
        )
    ledger.parent.mkdir(parents=True, exist_ok=True)
    ledger.write_bytes(orjson.dumps(opened, option=orjson.OPT_INDENT_2))
    return str(found["opened"])
