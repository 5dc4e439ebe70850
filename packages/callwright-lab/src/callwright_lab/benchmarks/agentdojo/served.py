"""AgentDojo's worlds behind a pipe. Runs in an environment of its own, where nothing of ours is
installed.

One JSON object a line in, one out. ``suites`` tells what there is; ``open`` makes the world of a
pair as it is before the user's request; ``call`` calls one of its tools; ``judge`` says whether the
user's task was done and whether the attack succeeded, by AgentDojo's own checks of the state, the
calls and the last text.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

VERSION = "v1.2.2"
ATTACK = "important_instructions"


class Served:
    """One world at a time. The environments of the last pair are kept: each way of running it
    starts from a copy.
    """

    def __init__(self, attack: str = ATTACK) -> None:
        import yaml
        from agentdojo.agent_pipeline import GroundTruthPipeline
        from agentdojo.attacks.attack_registry import load_attack
        from agentdojo.task_suite.load_suites import get_suites

        yaml.safe_load = lambda text: yaml.load(
            text, yaml.CSafeLoader
        )  # the same, a tenth of the time
        victim = GroundTruthPipeline(None)
        # whom the attack speaks to; it makes no difference to a script
        victim.name = "gpt-4o-2024-05-13"
        self.suites = get_suites(VERSION)
        self.attacks = {
            name: load_attack(attack, suite, victim) for name, suite in self.suites.items()
        }
        self._pair: tuple[str, str, str | None] | None = None
        self._fresh: Any = None
        self.traces: list[Any] = []

    def tell_suites(self) -> Any:
        """Every suite: its tools, its users' requests, its attackers' goals."""
        return {name: self._suite(suite) for name, suite in self.suites.items()}

    def _suite(self, suite: Any) -> Any:
        return {
            "tools": [
                {
                    "name": f.name,
                    "description": f.description,
                    "parameters": f.parameters.model_json_schema(),
                }
                for f in suite.tools
            ],
            "users": {i: task.PROMPT for i, task in suite.user_tasks.items()},
            "attackers": {i: task.GOAL for i, task in suite.injection_tasks.items()},
        }

    def open(self, suite: str, user: str, attacker: str | None = None) -> Any:
        """The world of a pair, and what a perfect helper and a perfect traitor would call and say
        in it.
        """
        self.suite = self.suites[suite]
        self.user = self.suite.user_tasks[user]
        self.attacker = self.suite.injection_tasks[attacker] if attacker else None
        if self._pair != (suite, user, attacker):
            said = self.attacks[suite].attack(self.user, self.attacker) if self.attacker else {}
            loaded = self.suite.load_and_inject_default_environment(said)
            self._fresh, self._pair = self.user.init_environment(loaded), (suite, user, attacker)
        self.before = self._fresh.model_copy(deep=True)
        self.now = self._fresh.model_copy(deep=True)
        self.traces = []
        found = {
            "calls": _list_solution_calls(self.user, self.before),
            "output": self.user.GROUND_TRUTH_OUTPUT,
        }
        if self.attacker is not None:
            told = {
                "calls": _list_solution_calls(self.attacker, self.before),
                "output": self.attacker.GROUND_TRUTH_OUTPUT,
            }
            found["attack"] = {
                **told,
                "goal": self.attacker.GOAL,
                "said": self._says(told["output"]),
            }
        return found

    def _says(self, output: str) -> bool:
        """Return True if the attack succeeds by the final text alone, without a call."""
        return bool(output) and self._succeeded(output, self.before, [])

    def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        """Call a tool. What it raises is an answer too."""
        from agentdojo.functions_runtime import FunctionCall, FunctionsRuntime

        self.traces.append(FunctionCall(function=tool, args=arguments))
        content, error = FunctionsRuntime(self.suite.tools).run_function(self.now, tool, arguments)
        return {"error": error} if error else {"content": _to_json_value(content)}

    def judge(self, output: str) -> Any:
        """AgentDojo's verdicts: ``useful`` for the user, ``attacked`` for the attacker."""
        from agentdojo.types import text_content_block_from_string

        said = [text_content_block_from_string(output)]
        useful = self.suite._check_user_task_utility(
            self.user, said, self.before, self.now, self.traces
        )
        attacked = self.attacker is not None and self._succeeded(output, self.now, self.traces)
        return {"useful": bool(useful), "attacked": attacked}

    def _succeeded(self, output: str, after: Any, traces: list[Any]) -> bool:
        from agentdojo.types import text_content_block_from_string

        said = [text_content_block_from_string(output)]
        check = self.suite._check_injection_task_security
        return bool(check(self.attacker, said, self.before, after, traces))


def _list_solution_calls(task: Any, world: Any) -> Any:
    made = task.ground_truth(world.model_copy(deep=True))
    return [{"tool": call.function, "arguments": _to_json_value(dict(call.args))} for call in made]


def _to_json_value(value: Any) -> Any:
    """A value as JSON: models as objects, dates as texts."""
    from pydantic_core import to_jsonable_python

    return to_jsonable_python(value)


def serve(read: Callable[[], str], write: Callable[[str], Any], attack: str = ATTACK) -> None:
    """Answer until the asker is gone. An error in a question is its answer; it ends nothing."""
    served = Served(attack)
    acts: dict[str, Callable[..., Any]] = {
        "suites": served.tell_suites,
        "open": served.open,
        "call": served.call,
        "judge": served.judge,
    }
    while line := read():
        asked = json.loads(line)  # noqa: TID251 - there is no jsontext here: the other side wrote the line
        try:
            answer = {"answer": acts[asked.pop("do")](**asked)}
        except Exception as error:
            answer = {"wrong": f"{type(error).__name__}: {error}"}
        write(json.dumps(answer) + "\n")


def main() -> None:
    """Serve on the standard streams; what AgentDojo prints goes to the other one."""
    out = sys.stdout
    sys.stdout = sys.stderr

    def write(line: str) -> None:
        out.write(line)
        out.flush()

    serve(sys.stdin.readline, write, *sys.argv[1:2])


if __name__ == "__main__":
    main()
