"""A few rows in ACEBench's layout, and a suite that judges them, invented for these tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from callwright_lab.datasets.acebench import CATEGORIES, LANGUAGES, AceRow, Language, iter_rows

ORDER: dict[str, Any] = {
    "name": "shop.order",
    "description": "Order goods.",
    "parameters": {
        "type": "dict",
        "properties": {
            "item": {"type": "string", "description": "What to order."},
            "count": {"type": "integer"},
            "speed": {"type": "string", "enum": ["slow", "express"]},
            "to": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "zip": {"type": "string"}},
            },
            "tags": {"type": "array", "items": {"type": "string"}},
            "stops": {"type": "array", "items": {"type": "object"}},
            "price": {"type": "float"},
            "gift": {"type": "boolean"},
        },
        "required": ["item"],
    },
}
WEATHER: dict[str, Any] = {
    "name": "weather",
    "description": "Weather of a city.",
    "parameters": None,
    "arguments": {"type": "object", "properties": {"city": {"type": "string"}}},
}
SUITE = """
import ast
import pandas
from openpyxl.styles import Alignment

def normal_single_turn_eval(result, prompt, answer, category, model, paths):
    print("judging", category)
    save_score_as_json(OUTPUT_PATH, result)
    try:
        found = ast.parse("".join(result[0]["result"].split()), mode="eval").body.elts
        calls = {c.func.id: {k.arg: ast.literal_eval(k.value) for k in c.keywords} for c in found}
    except Exception:
        return 0.0
    gold = answer[0]["ground_truth"]
    if calls == {"crash": {}}:
        raise KeyError("crash")
    return float(calls in (gold if isinstance(gold, list) else [gold]))

normal_multi_turn_eval = normal_single_turn_eval

def special_eval(result, prompt, answer, category, model, paths):
    words = {"special_incomplete": "Missing necessary", "special_error_param": "There is incorrect"}
    return float(words.get(category, "the limitations of the function") in result[0]["result"])
"""


def row(
    category: str = "normal_atom_enum",
    gold: Any = None,
    question: str = "user: Order 7 red bolts to Oslo.\n",
    id: str = "",
    language: Language = "en",
    **more: Any,
) -> AceRow:
    """A row with both tools."""
    gold = {"shop.order": {"item": "red bolts", "count": 7}} if gold is None else gold
    id = id or f"{category}_0"
    return AceRow(id, category, language, question, (ORDER, WEATHER), gold, **more)


def write_checkout(folder: Path) -> Path:
    """A folder with the suite's entry point."""
    (folder / "eval_main.py").write_text(SUITE)
    return folder


def write_data(root: Path, count: int = 4) -> dict[str, AceRow]:
    """``count`` rows of every category in both languages below ``root``; returns those by the text
    of their question, which no other row has.
    """
    for language in LANGUAGES:
        answers = root / "acebench" / f"data_{language}" / "possible_answer"
        answers.mkdir(parents=True)
        for category in CATEGORIES:
            rows = [_invent(language, category, number) for number in range(count)]
            name = f"data_{category}.json"
            gold = [{"id": one["id"], "ground_truth": one.pop("gold")} for one in rows]
            _write_lines(answers / name, gold)
            _write_lines(answers.parent / name, rows)
    every = [r for lang in LANGUAGES for c in CATEGORIES for r in iter_rows(root, lang, c)]
    return {one.turns[0][1]: one for one in every}


def _invent(language: str, category: str, number: int) -> dict[str, Any]:
    step = f"{number}_0" if "multi_turn" in category else str(number)
    item = f"{language} {category} {number}".replace("_", " ")
    gold: Any = {"order": {"item": item, "count": 7}}
    if category == "special_incomplete":
        gold = {"order": ["item"]}
    elif category == "special_error_param":
        gold = {"item": [item]}
    elif category == "special_irrelevant":
        gold = "Due to the limitations of the function, I cannot solve this problem."
    made = {
        "id": f"{category}_{step}",
        "question": f"user: Order 7 of {item}, please.\n",
        "function": [{**ORDER, "name": "order"}],
        "gold": gold,
    }
    key = "profile" if category == "normal_preference" else "time"
    return {**made, key: "Today is Monday."}


def _write_lines(path: Path, rows: list[Any]) -> None:
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
