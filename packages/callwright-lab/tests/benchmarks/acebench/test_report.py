"""The tables: harm, the suite's scores, pairs."""

from __future__ import annotations

from typing import Any

from callwright_lab.benchmarks.acebench.report import (
    render_report,
    score_by_language,
    score_category,
    score_group,
)
from callwright_lab.datasets.acebench import NORMAL, SPECIAL


def made(category: str, number: int, right: bool, way: str = "raw", **more: Any) -> dict[str, Any]:
    id = f"{category}_{number}"
    whole = {
        "model": "m", "half": "dev", "way": way, "language": "en", "id": id, "conversation": id,
        "category": category, "right": right, "calls": [{}], "invented": [], "by_words": False,
        "prompt_tokens": 100, "completion_tokens": 10, "seconds": 1.0,
    }  # fmt: skip
    return {**whole, **more}


def test_a_conversation_is_right_where_all_its_rows_are() -> None:
    steps = [
        made("normal_multi_turn_user_adjust", n, right, conversation=f"c{conversation}")
        for n, (right, conversation) in enumerate([(True, 0), (False, 0), (True, 1)])
    ]
    assert score_category(steps) == 0.5


def test_a_total_is_the_plain_mean_of_categories() -> None:
    rows = [made("special_incomplete", n, n == 0) for n in range(4)]
    rows += [made("special_error_param", 0, True), made("special_irrelevant", 0, False)]
    assert score_group(rows, SPECIAL) == round((0.25 + 1 + 0) / 3, 3)
    assert score_group(rows[:-1], SPECIAL) is None
    chinese = [{**row, "language": "zh", "right": True} for row in rows]
    assert score_by_language(rows + chinese, SPECIAL) == (0.417 + 1) / 2
    assert score_by_language(rows + chinese[:1], SPECIAL) is None


def test_harm_stands_first_and_pairs_are_of_the_same_rows() -> None:
    rows = [made(c, n, n > 0) for c in (*NORMAL, *SPECIAL) for n in range(2)]
    rows += [
        made(c, n, True, "proxy", calls=[], invented=[], by_words=True)
        for c in (*NORMAL, *SPECIAL)
        for n in range(2)
    ]
    rows[0]["invented"] = ["a.b"]
    text = render_report([*rows, {**rows[1], "right": False}, rows[1]])
    header = next(line for line in text.splitlines() if line.startswith("| way"))
    assert header.split("|")[4].strip() == "calls where none is right"
    raw = next(line for line in text.splitlines() if line.startswith("| raw | en"))
    assert [cell.strip() for cell in raw.split("|")[3:11]] == [
        "30", "6/6", "1/30", "0/24", "0.500", "0.500", "0/6", "0/6",
    ]  # fmt: skip
    assert "100, 10" in raw
    pair = next(line for line in text.splitlines() if line.startswith("| raw, proxy | normal"))
    assert [cell.strip() for cell in pair.split("|")[3:6]] == ["24", "0", "12"]
    assert "| normal_atom_bool | 1/2 (9 – 91) | 2/2 (34 – 100) |" in text
    assert "raw, direct" not in text
