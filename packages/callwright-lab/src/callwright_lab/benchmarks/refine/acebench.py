"""ACEBench, the ``normal`` categories in English and Chinese, by the suite's own check.

Tools are offered natively, with the prompt of two sentences of ``callwright bench acebench``. Only
the dev half is here: the final half is opened once, by that command and its ledger. ``suite`` is
the suite's verdict (:mod:`callwright_lab.benchmarks.acebench.checking`), and stands a second time
under the row's language. The suite compares with all white space removed from the calls: 36 of the
831 golds, whose nested values have some, no native call can reach.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import ToolCall
from callwright.tools.lists.chat_messages import read_messages
from callwright.tools.lists.tools import tools_from_wire
from callwright_lab.benchmarks.acebench.asking import SAMPLING, list_native_messages, map_tools
from callwright_lab.benchmarks.acebench.scoring import score_calls
from callwright_lab.benchmarks.acebench.spoiling import list_gold_calls
from callwright_lab.benchmarks.refine.score import classify_error
from callwright_lab.benchmarks.refine.task import Found, Score, Task
from callwright_lab.datasets.acebench import LANGUAGES, NORMAL, AceRow, Language, iter_rows
from callwright_lab.datasets.sources import data_root


class AceBench:
    """The dev half of the normal categories; right is what the suite accepts as calls of gold."""

    name = "acebench"
    headline = "suite"
    single = False

    def __init__(self, root: Path | None = None, languages: Sequence[Language] = LANGUAGES) -> None:
        self.root = root or data_root()
        self.languages = tuple(languages)

    @cached_property
    def _tasks(self) -> tuple[Task, ...]:
        parts = [(language, category) for language in self.languages for category in NORMAL]
        rows = (row for part in parts for row in iter_rows(self.root, *part))
        return tuple(build_task(row) for row in rows if row.half == "dev")

    def tasks(self) -> Sequence[Task]:
        return self._tasks

    def score(self, task: Task, found: Found) -> Score:
        row: AceRow = task.aside
        names = {written: tool["name"] for written, tool in map_tools(row).items()}
        made = [{names.get(c.tool, c.tool): _name_arguments(c)} for c in found.calls]
        wrong = score_calls(row, made, found.raw).wrong
        error = wrong and (classify_error(found.calls, task.gold, task.tools) or "wrong_value")
        right = float(not wrong)
        return Score({self.headline: right, row.language: right}, error, wrong)

    def ask(self, task: Task) -> ChatRequest:
        return ChatRequest(
            task.messages, purpose="bench", tools=task.tools, max_tokens=SAMPLING["max_tokens"]
        )


def _name_arguments(call: ToolCall) -> dict[str, object]:
    """The arguments; a text that is no JSON object stands as one without a name, which no gold has."""
    return call.arguments if isinstance(call.arguments, dict) else {"": call.arguments}


def build_task(row: AceRow) -> Task:
    """One row as a client with native tools asks it. ``gold`` is the first of gold's candidates."""
    tools = map_tools(row)
    written = {tool["name"]: name for name, tool in tools.items()}
    gold = [pair for call in list_gold_calls(row.gold_calls[0]) for pair in call.items()]
    return Task(
        id=f"{row.language}-{row.id}",
        set=AceBench.name,
        category=row.category,
        messages=read_messages({"messages": list_native_messages(row)}),
        tools=tuple(tools_from_wire([{**tool, "name": name} for name, tool in tools.items()])),
        gold=tuple(
            ToolCall(f"call_{n}", written.get(name, name), arguments)
            for n, (name, arguments) in enumerate(gold, 1)
        ),
        aside=row,
    )
