"""BFCL v4 (Berkeley Function-Calling Leaderboard): questions, possible answers and its own AST
checker.

All three come from the wheel of ``bfcl-eval`` (Apache-2.0), fetched without dependencies: it pins
an old numpy and imports every vendor's SDK for a table of models, of which the checker needs one
flag: that table is supplied here. Tools are offered as its native-tools handlers do: dots in names
become underscores, types become JSON Schema's.
"""

from __future__ import annotations

import importlib
import re
import sys
import types
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from callwright.jsontext import parse
from callwright.nouns.errors import ConfigError
from callwright.nouns.installation import LAB, render_install_hint
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Json, JsonObject, Message, Tool, ToolCall
from callwright.tools.lists.tools import tools_from_wire
from callwright_lab.benchmarks.refine.score import classify_error
from callwright_lab.benchmarks.refine.task import Found, Score, Task
from callwright_lab.benchmarks.wheel import unpack_wheel

REQUIREMENT = "bfcl-eval==2026.3.23"
SINGLE = ("simple_python", "multiple", "live_simple", "live_multiple")
PARALLEL = ("parallel", "parallel_multiple", "live_parallel", "live_parallel_multiple")
NO_CALL = ("irrelevance", "live_irrelevance")
CATEGORIES = (*SINGLE, *PARALLEL, *NO_CALL, "live_relevance")
MODEL = "callwright"  # the name under which the checker finds our one row of its table of models

_ERRORS = (
    ("wrong_func_name", "wrong_tool"),
    ("missing_required", "missing_argument"),
    ("missing_optional", "missing_argument"),
    ("unexpected_param", "ghost_argument"),
    ("type_error", "wrong_type"),
    ("dict_key", "wrong_value"),
    ("list_dict_count", "wrong_value"),
    ("value_error", "wrong_value"),
)


@cache
def unpack_folder() -> Path:
    """The unpacked wheel."""
    return unpack_wheel(REQUIREMENT, "bfcl_eval/eval_checker/ast_eval/ast_checker.py")


@cache
def load_checker() -> Any:
    """``bfcl_eval.eval_checker.ast_eval.ast_checker``, with the table of models supplied instead of
    imported.
    """
    table = types.ModuleType("bfcl_eval.constants.model_config")
    row = types.SimpleNamespace(underscore_to_dot=True)
    table.MODEL_CONFIG_MAPPING = {MODEL: row}  # type: ignore[attr-defined]
    sys.modules[table.__name__] = table
    return import_from_wheel("bfcl_eval.eval_checker.ast_eval.ast_checker")


def import_from_wheel(module: str) -> Any:
    """A module of the wheel. Raises ConfigError where a library that it needs is missing."""
    sys.path.insert(0, str(unpack_folder()))
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"{module} needs {error.name}", hint=render_install_hint("bench", LAB)
        ) from error
    finally:
        sys.path.remove(str(unpack_folder()))


class Bfcl:
    """The single-turn Python categories; right is what the AST checker calls valid.

    A task of the relevance categories has no gold arguments: right is no call at all, or any call
    (BFCL's own rule).
    """

    name = "bfcl"
    headline = "ast"
    single = False

    def __init__(self, categories: Sequence[str] = CATEGORIES) -> None:
        self.categories = tuple(categories)

    @cached_property
    def _tasks(self) -> tuple[Task, ...]:
        return tuple(task for category in self.categories for task in _read_category(category))

    def tasks(self) -> Sequence[Task]:
        return self._tasks

    def score(self, task: Task, found: Found) -> Score:
        if task.category in NO_CALL:
            return _build_score("unwanted_call" if found.calls else "")
        if task.category == "live_relevance":
            return _build_score("" if found.calls else "no_call")
        return self._checked(task, found)

    def _checked(self, task: Task, found: Found) -> Score:
        functions, answers = task.aside
        output = [{c.tool: c.arguments} for c in found.calls]
        if not output:
            return _build_score("no_call")
        if any(isinstance(c.arguments, str) for c in found.calls):
            return _build_score("not_json")
        try:
            python = load_checker().Language.PYTHON
            verdict = load_checker().ast_checker(
                functions, output, answers, python, task.category, MODEL
            )
        except (
            KeyError,
            TypeError,
            AttributeError,
            ValueError,
        ) as exc:  # a value the checker is not written for
            return _build_score("wrong_value", f"the checker stopped: {exc!r}")
        if verdict["valid"]:
            return _build_score("")
        return _build_score(_classify_error(verdict, task, found), str(verdict["error"])[:300])

    def ask(self, task: Task) -> ChatRequest:
        return ChatRequest(task.messages, purpose="bench", tools=task.tools, max_tokens=768)


def _build_score(error: str, detail: str = "") -> Score:
    return Score({"ast": float(not error)}, error, detail)


def _classify_error(verdict: JsonObject, task: Task, found: Found) -> str:
    """The class of mistake behind the checker's reason; where it only counts calls, ours."""
    kind = str(verdict.get("error_type", ""))
    said = next((name for part, name in _ERRORS if part in kind), "")
    ours = classify_error(found.calls, task.gold, task.tools)
    if ours in ("unknown_tool", "wrong_tool", "missing_call", "extra_call"):
        return ours
    return said or ours or "wrong_value"


def _read_category(category: str) -> list[Task]:
    base = unpack_folder() / "bfcl_eval" / "data"
    rows = read_lines(base / f"BFCL_v4_{category}.json")
    answers = base / "possible_answer" / f"BFCL_v4_{category}.json"
    truth = read_ground_truths(answers) if answers.exists() else {}
    return [_build_task(category, row, truth.get(row["id"], [])) for row in rows]


def read_lines(path: Path) -> list[JsonObject]:
    """The rows of one file of the wheel."""
    return [parse(line) for line in path.read_bytes().split(b"\n") if line.strip()]


def read_ground_truths(path: Path) -> dict[str, list[Any]]:
    """Task id -> gold, as a file of possible answers has it."""
    return {row["id"]: row["ground_truth"] for row in read_lines(path)}


def _build_task(category: str, row: JsonObject, answers: list[JsonObject]) -> Task:
    messages = tuple(Message(m["role"], m["content"]) for m in row["question"][0])
    offered = [{**f, "name": remove_dots(f["name"])} for f in row["function"]]
    required = {f["name"]: tuple(f["parameters"].get("required") or ()) for f in row["function"]}
    gold = tuple(build_gold_call(n, answer, required) for n, answer in enumerate(answers, 1))
    return Task(
        row["id"],
        "bfcl",
        category,
        messages,
        _build_tools(offered),
        gold,
        (row["function"], answers),
    )


def _build_tools(offered: list[JsonObject]) -> tuple[Tool, ...]:
    return tools_from_wire(offered, source="bfcl")


def remove_dots(name: str) -> str:
    """A name as chat-completions servers take it."""
    return re.sub(r"\.", "_", name)


def build_gold_call(
    number: int, answer: JsonObject, required: Mapping[str, Sequence[str]]
) -> ToolCall:
    """One right call of ``{name: {parameter: [alternatives]}}``: the first alternative of every
    parameter.

    A parameter that may be left out (alternative ``""``) is, unless the tool requires it.
    """
    ((name, parameters),) = answer.items()
    return ToolCall(
        f"call_{number}",
        remove_dots(name),
        _choose_first_values(parameters, required.get(name, ())),
    )


def _choose_first_values(parameters: JsonObject, required: Sequence[str] = ()) -> JsonObject:
    made: JsonObject = {}
    for key, values in parameters.items():
        stated = [v for v in values if v != ""]
        if "" not in values or (key in required and stated):
            made[key] = _choose_first_value(stated[0] if stated else "")
    return made


def _choose_first_value(value: Json) -> Json:
    """An alternative with the alternatives inside objects decided too."""
    if isinstance(value, dict):
        return _choose_first_values(
            {k: v if isinstance(v, list) else [v] for k, v in value.items()}
        )
    if isinstance(value, list):
        return [_choose_first_value(item) for item in value]
    return value
