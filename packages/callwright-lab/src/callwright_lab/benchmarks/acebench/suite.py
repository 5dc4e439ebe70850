"""The suite's own evaluation of single rows, out of a checkout. Runs in a process of its own, in
which nothing of ours is installed.

``python -I suite.py CHECKOUT``: one JSON object a line in (``category``, ``prompt``, ``answer``,
``result``), one out: ``right``, or ``wrong`` with what the suite raised. What writes tables is
left out; what judges is the suite's ``eval_main``, unmodified.
"""

from __future__ import annotations

import importlib
import json
import sys
import types
from collections.abc import Callable
from typing import Any

MODEL = "model"  # without "FC" in it: replies are read as texts


def load_suite(checkout: str) -> Any:
    """The suite's ``eval_main``, with stand-ins for the libraries that only its tables need."""
    sys.path.insert(0, checkout)
    for name in ("pandas", "openpyxl", "openpyxl.styles"):
        sys.modules.setdefault(name, types.ModuleType(name))
    sys.modules["openpyxl"].Workbook = object  # type: ignore[attr-defined]
    sys.modules["openpyxl.styles"].Alignment = object  # type: ignore[attr-defined]
    suite: Any = importlib.import_module("eval_main")
    suite.OUTPUT_PATH = ""
    suite.save_score_as_json = lambda *_: None
    suite.convert_result_to_excel = lambda *_: None
    return suite


def judge_row(suite: Any, asked: Any) -> Any:
    """The suite's verdict on one reply. What it raises is a verdict too."""
    category = asked["category"]
    judge = suite.normal_single_turn_eval
    if "special" in category:
        judge = suite.special_eval
    elif "multi_turn" in category:
        judge = suite.normal_multi_turn_eval
    replies = [{"id": asked["prompt"]["id"], "result": asked["result"]}]
    try:
        score = judge(replies, [asked["prompt"]], [asked["answer"]], category, MODEL, {})
    except Exception as error:
        return {"right": False, "raised": f"{type(error).__name__}: {error}"}
    return {"right": score == 1}


def serve_verdicts(read: Callable[[], str], write: Callable[[str], Any], checkout: str) -> None:
    """Answer until the asker is gone."""
    suite = load_suite(checkout)
    while line := read():
        asked = json.loads(line)  # noqa: TID251 - there is no jsontext here: the other side wrote the line
        write(json.dumps(judge_row(suite, asked)) + "\n")


def main() -> None:
    """Serve on the standard streams; what the suite prints goes to the other one."""
    out = sys.stdout
    sys.stdout = sys.stderr

    def write_line(line: str) -> None:
        out.write(line)
        out.flush()

    serve_verdicts(sys.stdin.readline, write_line, sys.argv[1])


if __name__ == "__main__":
    main()
