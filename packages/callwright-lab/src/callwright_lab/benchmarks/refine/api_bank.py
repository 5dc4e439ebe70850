"""API-Bank, levels 1 to 3, in ToolRL's form and by ToolRL's protocol.

The tools stand as text in the system prompt, the dialogue so far in the user's message, the gold is
one call. ToolRL's script takes what follows the last ``<tool_call>``, reads every line as JSON and
compares name and parameters with gold. It says "exact" of two counts, and both are kept: ``exact``
wants gold and nothing beside it (the "hard match" of its script), ``any`` is content when one of
the calls is gold (what the script counts). All gold values are texts, whatever type the prompt
declares, so each count comes a second time (``…_numbers``) with a number equal to its own text: for
the raw reply (the reader ``server`` hands it on as it came, and it is read as the script reads it)
and every rule group alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from callwright.jsontext import JsonError, parse
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import READ, JsonObject, Message, ToolCall, compute_digest
from callwright_lab.benchmarks.refine.score import classify_error, is_same_call
from callwright_lab.benchmarks.refine.task import Found, Score, Task
from callwright_lab.datasets.examples import read_json
from callwright_lab.datasets.sources import data_root
from callwright_lab.transcripts.gold import API_BANK_WHERE, parse_prompt_tools

LEVELS = (1, 2, 3)

REFINER_FORM = (
    "As a tool-calling instruction corrector, you do not need to output the information related to"
    " <response>. Please correct the instructions from another model and output only the correct"
    " tool-calling instructions. Your output must strictly follow this format:"
    ' \'<tool_call>{"name": "Tool name", "parameters": {"Parameter name": "Parameter content", "...'
    ' ...": "... ..."}}{"name": "... ...", "parameters": {"... ...": "... ...", "... ...": "...'
    " ...\"}}...</tool_call>'. If the original instructions from another LLM are correct, do not"
    " make any modifications and directly output these instructions. If you determine that"
    " additional instructions are necessary, append them directly after the original instructions"
    " from another LLM. For any numeric parameters you generate (including int and float types),"
    " please enclose them in quotes to output them as strings."
)
"""What the refiner is told of the answer's format for this set (E.1.3)."""

READS = frozenset(
    "Calculator ClothingRecommendation Dictionary DocumentQA EmergencyKnowledge FlightSearch"
    " Geocoding GetOccupationSalary GetToday GetUserToken GetWeatherForCoordinates"
    " HotelAvailability ImageCaption LikeCount MovieRecommendations NearbyRestaurants"
    " OrganizationMembers QueryAgenda QueryAlarm QueryBalance QueryHealthData QueryHistoryToday"
    " QueryMeeting QueryRegistration QueryReminder QueryScene QueryStock SearchEngine SymptomSearch"
    " TaxCalculator Translate TravelStatus UserMoviePreferences UserPosts UserWatchedMovies Wiki".split()
)
"""The tools whose descriptions say that they look something up or work it out, and change nothing.
"""
DECLARED = "_declared"  # what the set's name ends with where they are offered so


class ApiBank:
    """The levels; right is exact, with a number equal to its own text.

    ``declared``: the tools of :data:`READS` are offered as read-only, as an operator who knows them
    would declare them. ToolRL's prompts say nothing of effects, so that by default every tool may
    write and none is ever added.
    """

    headline = "exact_numbers"
    single = True

    def __init__(
        self, root: Path | None = None, levels: Sequence[int] = LEVELS, *, declared: bool = False
    ) -> None:
        self.root = (root or data_root()) / "api_bank"
        self.levels = tuple(levels)
        self.declared = declared
        self.name = "api_bank" + (DECLARED if declared else "")

    @cached_property
    def _tasks(self) -> tuple[Task, ...]:
        made = []
        for level in self.levels:
            rows = read_json(self.root / f"level-{level}.json", API_BANK_WHERE)
            made += [build_task(level, row) for row in rows]
        return tuple(declare_effects(task) for task in made) if self.declared else tuple(made)

    def tasks(self) -> Sequence[Task]:
        return self._tasks

    def score(self, task: Task, found: Found) -> Score:
        (gold,) = task.gold
        found = replace(found, calls=found.calls or parse_script_calls(found.raw))
        metrics = {}
        for name, numbers in (("", False), ("_numbers", True)):
            hits = [is_same_call(c, gold, numbers=numbers) for c in found.calls]
            metrics["exact" + name] = float(hits == [True])
            metrics["any" + name] = float(any(hits))
        error = (
            ""
            if metrics[self.headline]
            else classify_error(found.calls, task.gold, task.tools) or "wrong_value"
        )
        return Score(metrics, error)

    def ask(self, task: Task) -> ChatRequest:
        return ChatRequest(task.messages, purpose="bench", max_tokens=512)


def parse_script_calls(text: str) -> tuple[ToolCall, ...]:
    """Return the calls that ToolRL's script reads in a raw reply: the JSON lines after the last
    ``<tool_call>``.
    """
    _, tag, rest = text.rpartition("<tool_call>")
    made: list[ToolCall] = []
    for line in rest.partition("</tool_call>")[0].splitlines() if tag else ():
        try:
            value = parse(line.strip())
        except JsonError:
            continue
        if (
            isinstance(value, dict)
            and isinstance(value.get("name"), str)
            and isinstance(value.get("parameters"), dict)
        ):
            made.append(ToolCall(f"call_{len(made) + 1}", value["name"], value["parameters"]))
    return tuple(made)


def build_task(level: int, row: JsonObject) -> Task:
    """One row of a level's file. Its id is taken of its texts, so that it is the same in every part
    of the set.
    """
    answer = row["answer"][0] if isinstance(row["answer"], list) else row["answer"]
    return Task(
        id=f"level-{level}-{compute_digest([row['system'], row['user'], answer])[:8]}",
        set="api_bank",
        category=f"level-{level}",
        messages=(Message("system", row["system"]), Message("user", row["user"])),
        tools=parse_prompt_tools(row["system"]),
        gold=(ToolCall("call_1", answer["name"], answer["parameters"]),),
    )


def declare_effects(task: Task) -> Task:
    """The same task with what is known of its tools' effects."""
    tools = tuple(replace(t, effects=READ) if t.name in READS else t for t in task.tools)
    return replace(task, set="api_bank" + DECLARED, tools=tools)
