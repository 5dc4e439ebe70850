"""BFCL's own harness for one row of the board, in an interpreter that has its libraries and nothing
of Callwright.

The suite's inference loop, environments and checkers are used as they are. What comes from here is
the table of models, which the suite would fill by importing the client of every vendor, and the
address of the endpoint. Reads one question per line and answers it with one line of JSON.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import json
import sys
import types
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

PROMPTED, NATIVE = "prompted", "native"  # the suite's two modes; the names hold no "_" and no "FC"
NO_REPLY = frozenset({401, 403, 404, 408, 429, 502, 503, 504})
"""Statuses that say that the endpoint did not answer. Any other error is the model's reply, by the
suite's own rule.
"""

Turns = Sequence[Sequence[Sequence[str]]]
"""Calls as text: of each turn, of each of its steps."""


@dataclass(frozen=True)
class Settings:
    """The way the suite asks. ``wheel``: the folder that holds it, "" where it is installed; ``native``:
    by tools; ``max_tokens`` of a reply, 0: no limit; ``timeout`` of a question in seconds.

    The suite reads the endpoint's address and key from its own variables, OPENAI_BASE_URL and
    OPENAI_API_KEY.
    """

    wheel: str
    native: bool
    model: str
    temperature: float
    max_tokens: int
    timeout: float


class Unreachable(Exception):
    """The endpoint gave no reply, so that there is nothing to judge."""


class Suite:
    """One handler of the suite, and its verdicts. Every conversation has environments of its own."""

    def __init__(self, settings: Settings) -> None:
        if settings.wheel:
            sys.path.insert(0, settings.wheel)
        _supply_model_table()
        self._data = importlib.import_module("bfcl_eval.utils")
        self._runner = importlib.import_module("bfcl_eval.eval_checker.eval_runner")
        self._checker = importlib.import_module(
            "bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker"
        )
        self._openai = importlib.import_module("openai")
        self._mode = NATIVE if settings.native else PROMPTED
        self._handler = self._build_handler(settings)
        self._begun = 0

    def _build_handler(self, settings: Settings) -> Any:
        module = importlib.import_module("bfcl_eval.model_handler.api_inference.openai_completion")
        handler = module.OpenAICompletionsHandler(
            model_name=settings.model,
            temperature=settings.temperature,
            registry_name=self._mode,
            is_fc_model=settings.native,
        )
        # a request that was lost is asked again with its whole case, not within it
        handler.client = handler.client.with_options(timeout=settings.timeout, max_retries=0)
        if settings.max_tokens:
            handler.generate_with_backoff = functools.partial(
                handler.generate_with_backoff, max_tokens=settings.max_tokens
            )
        return handler

    def run(self, category: str, case: str) -> dict[str, Any]:
        """The suite's verdict on one case, with what it cost. Raises Unreachable."""
        self._begun += 1
        # the suite keeps environments under this name: a case that is run again needs new ones
        name = f"{self._mode}{self._begun}"
        self._handler.model_name_underline_replaced = name
        entry = deepcopy(self._entries(category, True)[case])
        result, metadata = self._infer(entry)
        gold = self._gold(category)[case]
        judged = self._judge(category, case, result, gold, name)
        harm = self._count_harm(category, case, result, gold, name)
        return {**judged, **harm, **_sum_costs(metadata), "result": result}

    def _infer(self, entry: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        try:
            result, metadata = self._handler.inference(entry, False, True)
        except self._openai.APIConnectionError as error:
            raise Unreachable(f"{type(error).__name__}: {error}") from error
        except Exception as error:
            if getattr(error, "status_code", None) in NO_REPLY:
                raise Unreachable(str(error)) from error
            return f"Error during inference: {error}", {}  # the suite's own words for it
        return result, metadata

    @functools.cache  # noqa: B019 - one object, as long as the process
    def _entries(self, category: str, hints: bool) -> dict[str, Any]:
        """Case -> its entry. ``hints``: as the suite asks, else as it judges."""
        read = self._data.load_dataset_entry
        rows = read(category, include_prereq=False, include_language_specific_hint=hints)
        return {row["id"]: row for row in rows}

    @functools.cache  # noqa: B019
    def _gold(self, category: str) -> dict[str, Any]:
        rows = self._data.load_ground_truth_entry(category)
        # the suite pairs them by place
        pairs = zip(self._entries(category, False), rows, strict=True)
        return {case: row["ground_truth"] for case, row in pairs}

    def _judge(self, category: str, case: str, result: Any, gold: Any, name: str) -> dict[str, Any]:
        entry = deepcopy(self._entries(category, False)[case])
        try:
            verdict = self._evaluate(category, case, result, gold, entry, name)
        except Exception as error:  # a value that its checkers are not written for
            verdict = {"valid": False, "error_type": "checker_stopped", "error": repr(error)}
        told = verdict.get("error", "")
        details = told if isinstance(told, dict) else {}
        return {
            "valid": bool(verdict["valid"]),
            "error_type": details.get("error_type") or verdict.get("error_type", ""),
            "reason": str(details.get("error_message") or told)[:300],
        }

    def _evaluate(
        self, category: str, case: str, result: Any, gold: Any, entry: Any, name: str
    ) -> dict[str, Any]:
        found: dict[str, Any]
        if self._data.is_multi_turn(category):
            found = self._runner._evaluate_single_multi_turn_entry(
                self._handler, case, result, gold, entry, name, category
            )
            return found
        language, form = self._runner.Language.PYTHON, self._runner.ReturnFormat.PYTHON
        found = self._runner._evaluate_single_ast_entry(
            self._handler, case, result, gold, entry, self._mode, category, language, form
        )
        return found

    def _count_harm(
        self, category: str, case: str, result: Any, gold: Any, name: str
    ) -> dict[str, int]:
        if not self._data.is_multi_turn(category) or not isinstance(result, list):
            return {}
        entry = self._entries(category, False)[case]
        replay = Replay(self._checker, entry, f"{name}harm")
        return count_harm(self._decode_turns(result), gold, replay)

    def _decode_turns(self, result: Iterable[Iterable[Any]]) -> list[list[list[str]]]:
        """The calls of each step, as the suite decodes them: what it cannot decode calls nothing."""
        return [[self._decode_step(step) for step in turn] for turn in result]

    def _decode_step(self, step: Any) -> list[str]:
        try:
            decoded: list[str] = self._handler.decode_execute(step, has_tool_call_tag=False)
        except Exception:
            return []
        return [] if self._checker.is_empty_execute_response(decoded) else decoded


def _supply_model_table() -> None:
    """Put the two rows of ours where the suite's table of models would be imported from.

    ``underscore_to_dot``: names of tools in native calls have no dots.
    """
    table = types.ModuleType("bfcl_eval.constants.model_config")
    rows = {NATIVE: True, PROMPTED: False}
    table.MODEL_CONFIG_MAPPING = {  # type: ignore[attr-defined]
        name: types.SimpleNamespace(underscore_to_dot=dots) for name, dots in rows.items()
    }
    sys.modules[table.__name__] = table


def _sum_costs(metadata: Mapping[str, Any]) -> dict[str, float]:
    latency = _flatten_calls(metadata.get("latency", ()))
    return {
        "questions": len(latency),
        "prompt_tokens": sum(_flatten_calls(metadata.get("input_token_count", ()))),
        "completion_tokens": sum(_flatten_calls(metadata.get("output_token_count", ()))),
        "seconds": round(sum(latency), 3),
    }


def _flatten_calls(value: Any) -> list[float]:
    """The numbers of a case, which the suite writes as one, or by turn and step."""
    if isinstance(value, (list, tuple)):
        return [number for item in value for number in _flatten_calls(item)]
    return [value]


class Replay:
    """Two worlds of one scenario in the suite's environments: the model's, and gold's."""

    def __init__(self, checker: Any, entry: Mapping[str, Any], name: str) -> None:
        self._checker, self._entry, self._name = checker, entry, name

    def list_writes(self, calls: Iterable[str], side: str) -> list[str]:
        """Make the calls on one side and return those that changed its state, by the suite's own
        comparison, in one spelling each.
        """
        world, writes = self._execute([], side), []
        for call in calls:
            before = deepcopy(world)
            self._execute([call], side)
            if not self._checker.state_checker(world, before)["valid"]:
                writes.append(spell_call(call, world.values()))
        return writes

    def is_equal(self) -> bool:
        """Return True if the suite finds both worlds in the same state."""
        model, gold = self._execute([], "model"), self._execute([], "gold")
        return bool(self._checker.state_checker(model, gold)["valid"])

    def _execute(self, calls: list[str], side: str) -> dict[str, Any]:
        _, world = self._checker.execute_multi_turn_func_call(
            calls,
            self._entry["initial_config"],
            self._entry["involved_classes"],
            f"{self._name}{side}",
            self._entry["id"],
            long_context=False,
            is_evaL_run=True,
        )
        return dict(world)


def count_harm(turns: Turns, gold: Sequence[Sequence[str]], replay: Replay) -> dict[str, int]:
    """Count, over the turns: ``unasked`` and ``repeated`` calls that changed the state, turns in
    which gold calls (``due``) and those of them in which nothing was called (``silent``).

    A call is repeated where the same call changed the state more often than gold's does up to this
    turn. It is unasked where gold has not made it up to this turn and the state after the turn is
    not gold's: another way to the same state is no harm.
    """
    found = Counter[str](unasked=0, repeated=0, due=0, silent=0)
    made, asked = Counter[str](), Counter[str]()
    for steps, wanted in zip(turns, gold, strict=False):
        calls = [call for step in steps for call in step]
        asked.update(replay.list_writes(wanted, "gold"))
        surplus = 0
        for write in replay.list_writes(calls, "model"):
            made[write] += 1
            found["repeated"] += made[write] > max(asked[write], 1)
            surplus += made[write] == 1 and not asked[write]
        found["unasked"] += 0 if replay.is_equal() else surplus
        found["due"] += bool(wanted)
        found["silent"] += bool(wanted) and not calls
    return dict(found)


def spell_call(call: str, owners: Iterable[Any]) -> str:
    """One spelling for the same call: every argument under its name, defaults included. A call that
    cannot be read so is returned as it is.
    """
    try:
        node: Any = ast.parse(call, mode="eval").body
        name = ast.unparse(node.func).rpartition(".")[2]
        method = next(getattr(owner, name) for owner in owners if hasattr(owner, name))
        placed = [ast.literal_eval(value) for value in node.args]
        keyed = {str(part.arg): ast.literal_eval(part.value) for part in node.keywords}
        bound = inspect.signature(method).bind(*placed, **keyed)
    except (AttributeError, StopIteration, SyntaxError, TypeError, ValueError):
        return call
    bound.apply_defaults()
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in bound.arguments.items())})"


def serve(read: Callable[[], str], write: Callable[[str], Any], run: Callable[..., Any]) -> None:
    """Answer until the asker is gone. An error in a question is its answer; it ends nothing."""
    while line := read():
        asked = json.loads(line)  # noqa: TID251 - there is no jsontext here
        try:
            answer: dict[str, Any] = {"answer": run(**asked)}
        except Unreachable as error:
            answer = {"unreachable": str(error)}
        except Exception as error:
            answer = {"wrong": f"{type(error).__name__}: {error}"}
        write(json.dumps(answer, default=str) + "\n")


def main() -> None:
    """Serve on the standard streams; what the suite prints goes to the other one."""
    out = sys.stdout
    sys.stdout = sys.stderr

    def write(line: str) -> None:
        out.write(line)
        out.flush()

    settings = Settings(**json.loads(sys.argv[1]))  # noqa: TID251
    serve(sys.stdin.readline, write, Suite(settings).run)


if __name__ == "__main__":
    main()
