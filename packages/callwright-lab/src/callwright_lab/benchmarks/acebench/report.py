"""The tables: harm first, then the suite's own scores, then pairs of ways on the same rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from callwright.nouns.types import JsonObject
from callwright_lab.benchmarks.acebench.asking import DIRECT, PROXY, RAW, WAYS
from callwright_lab.benchmarks.comparison.paired import mcnemar_test
from callwright_lab.datasets.acebench import CATEGORIES, LANGUAGES, NORMAL, SPECIAL
from callwright_lab.metrics import paired_bootstrap, wilson_interval
from callwright_lab.recovery import format_share

PAIRS = ((RAW, DIRECT), (RAW, PROXY), (DIRECT, PROXY))
_HEADER = (
    "| way | language | rows | calls where none is right | with an invented value |"
    " normal without a call | normal | special | special by the suite's words |"
    " special without a call | normal rows right | special rows right |"
    " tokens in, out | seconds |\n|" + "---|" * 14
)


def score_category(rows: Sequence[JsonObject]) -> float:
    """The suite's accuracy of one category: of a multi-turn one, the share of conversations whose
    rows are all right.
    """
    whole: dict[str, bool] = {}
    for row in rows:
        key = row["conversation"]
        whole[key] = whole.get(key, True) and row["right"]
    return round(sum(whole.values()) / len(whole), 3)


def score_group(rows: Iterable[JsonObject], categories: Sequence[str]) -> float | None:
    """The suite's total of several categories, the plain mean of their accuracies; None where one
    of them has no row.
    """
    by_category: dict[str, list[JsonObject]] = defaultdict(list)
    for row in rows:
        by_category[row["category"]].append(row)
    if not all(by_category[category] for category in categories):
        return None
    total = sum(score_category(by_category[category]) for category in categories)
    return round(total / len(categories), 3)


def render_report(rows: Iterable[JsonObject]) -> str:
    """All tables of the rows, model by model."""
    latest = {(r["model"], r["half"], r["way"], r["language"], r["id"]): r for r in rows}
    parts = []
    for model, half in dict.fromkeys((key[0], key[1]) for key in latest):
        mine = [row for key, row in latest.items() if key[:2] == (model, half)]
        parts.append(f"{model}, half {half}\n")
        parts += [_render_ways(mine), _render_categories(mine), _render_pairs(mine)]
    return "\n".join(parts)


def _render_ways(rows: Sequence[JsonObject]) -> str:
    lines = [_HEADER]
    for way in WAYS:
        for language in (*LANGUAGES, "both"):
            mine = [r for r in rows if r["way"] == way and language in (r["language"], "both")]
            if mine:
                lines.append(f"| {way} | {language} | " + " | ".join(_format_way(mine)) + " |")
    return "\n".join(lines) + "\n"


def _format_way(rows: Sequence[JsonObject]) -> list[str]:
    normal = [row for row in rows if row["category"] in NORMAL]
    special = [row for row in rows if row["category"] in SPECIAL]
    return [
        str(len(rows)),
        _count_rows(special, lambda row: bool(row["calls"])),
        _count_rows(rows, lambda row: bool(row["invented"])),
        _count_rows(normal, lambda row: not row["calls"]),
        _format_score(score_by_language(rows, NORMAL)),
        _format_score(score_by_language(rows, SPECIAL)),
        _count_rows(special, lambda row: row["by_words"]),
        _count_rows(special, lambda row: not row["calls"]),
        format_share(sum(row["right"] for row in normal), len(normal)),
        format_share(sum(row["right"] for row in special), len(special)),
        f"{_mean_of(rows, 'prompt_tokens'):.0f}, {_mean_of(rows, 'completion_tokens'):.0f}",
        f"{_mean_of(rows, 'seconds'):.1f}",
    ]


def score_by_language(rows: Sequence[JsonObject], categories: Sequence[str]) -> float | None:
    """The suite's total; of rows in several languages the mean of each language's."""
    languages = dict.fromkeys(row["language"] for row in rows)
    scores = [
        score_group((row for row in rows if row["language"] == language), categories)
        for language in languages
    ]
    known = [score for score in scores if score is not None]
    return sum(known) / len(known) if known and len(known) == len(scores) else None


def _count_rows(rows: Sequence[JsonObject], holds: Callable[[JsonObject], bool]) -> str:
    return f"{sum(holds(row) for row in rows)}/{len(rows)}"


def _format_score(score: float | None) -> str:
    return "–" if score is None else f"{score:.3f}"


def _mean_of(rows: Sequence[JsonObject], key: str) -> float:
    known = [row[key] for row in rows if row.get(key) is not None]
    return sum(known) / len(known) if known else 0.0


def _render_categories(rows: Sequence[JsonObject]) -> str:
    """Rows right in each category, with Wilson's interval, one column a way and language."""
    columns = [
        (way, language)
        for way in WAYS
        for language in LANGUAGES
        if any((r["way"], r["language"]) == (way, language) for r in rows)
    ]
    titles = " | ".join(f"{way} {language}" for way, language in columns)
    lines = [f"| category | {titles} |", "|---" * (len(columns) + 1) + "|"]
    for category in CATEGORIES:
        cells = []
        for column in columns:
            mine = [
                row["right"]
                for row in rows
                if (row["way"], row["language"], row["category"]) == (*column, category)
            ]
            cells.append(_format_count(sum(mine), len(mine)))
        lines.append(f"| {category} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _format_count(right: int, whole: int) -> str:
    if not whole:
        return "–"
    found = wilson_interval(right, whole)
    return f"{right}/{whole} ({100 * found.low:.0f} – {100 * found.high:.0f})"


def _render_pairs(rows: Sequence[JsonObject]) -> str:
    """Pairs of ways on the rows that both have: who alone is right, the difference in points with
    its bootstrap interval, McNemar's p.
    """
    lines = [
        "| pair | rows | both have | only the first | only the second | difference | p |",
        "|---|---|---|---|---|---|---|",
    ]
    for first, second in PAIRS:
        for name, categories in (("normal", NORMAL), ("special", SPECIAL)):
            a, b = (_index_rows(rows, way, categories) for way in (first, second))
            if shared := [key for key in a if key in b]:
                lines.append(f"| {first}, {second} | {name} | {_format_pair(a, b, shared)} |")
    return "\n".join(lines) + "\n"


def _index_rows(
    rows: Sequence[JsonObject], way: str, categories: Sequence[str]
) -> Mapping[tuple[str, str], bool]:
    return {
        (row["language"], row["id"]): row["right"]
        for row in rows
        if row["way"] == way and row["category"] in categories
    }


def _format_pair(a: Mapping[Any, bool], b: Mapping[Any, bool], shared: Sequence[Any]) -> str:
    first, second = [a[key] for key in shared], [b[key] for key in shared]
    test = mcnemar_test(first, second)
    apart = paired_bootstrap([float(x) for x in second], [float(x) for x in first])
    points = f"{100 * apart.value:+.1f} ({100 * apart.low:+.1f} – {100 * apart.high:+.1f})"
    return f"{len(shared)} | {test.only_a} | {test.only_b} | {points} | {test.p:.3g}"
