"""Bamboogle* (Tool-use Refiner, section 4.5 and Appendix E.4): right calls in a format that was
asked for.

Seventeen kinds of questions about a celebrity's birthplace or birth date (those of Compositional
Celebrities), each a tool of its own, beside the tools that find birthplace, birth date and birth
year; results are referred to by their ``output_…`` names. Every sample asks for one of three
formats. The people are the project's own (:mod:`people`), or the questions of a Compositional
Celebrities file of the user's. ``full``: tools, parameters and format right; ``toolname``: the
right tools are there; ``parameter``: with the right parameters.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import orjson

from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import READ, JsonObject, Message, Tool, ToolCall
from callwright_lab.benchmarks.refine.bamboogle_formats import FORMATS, read_format
from callwright_lab.benchmarks.refine.score import classify_error, has_same_calls
from callwright_lab.benchmarks.refine.task import Found, Score, Task
from callwright_lab.benchmarks.search.people import make_person
from callwright_lab.datasets.examples import read_json

WHERE = "compositional_celebrities.json from github.com/ofirpress/self-ask (MIT); pass its path"

KINDS: dict[str, tuple[str, str, str]] = {  # question kind -> (what is known first, tool, the question)
    "birthplace_capital": ("birthplace", "find_capital", "What is the capital of the country {} was born in?"),
    "birthplace_currency": ("birthplace", "find_currency", "What is the currency in the birthplace of {}?"),
    "birthplace_currency_short": (
        "birthplace", "find_currency_code", "What is the currency abbreviation in the birthplace of {}?"),
    "birthplace_currency_symbol": (
        "birthplace", "find_currency_symbol", "What is the currency symbol in the birthplace of {}?"),
    "birthplace_callingcode": ("birthplace", "find_calling_code", "What is the calling code in {}'s birthplace?"),
    "birthplace_tld": ("birthplace", "find_top_level_domain", "What is the internet domain of the birthplace of {}?"),
    "birthplace_ccn3": (
        "birthplace", "find_country_number", "What is the 3-digit ISO 3166-1 code of the birthplace of {}?"),
    "birthplace_rounded_lat": ("birthplace", "find_latitude", "What is the rounded latitude of {}'s birthplace?"),
    "birthplace_rounded_lng": (
        "birthplace", "find_longitude", "What is the rounded longitude of the birthplace of {}?"),
    "birthplace_jpn_common_name": (
        "birthplace", "find_japanese_name", "What is the Japanese name of the birthplace of {}?"),
    "birthplace_spa_common_name": (
        "birthplace", "find_spanish_name", "What is the Spanish name of the birthplace of {}?"),
    "birthplace_rus_common_name": (
        "birthplace", "find_russian_name", "What is the Russian name of the birthplace of {}?"),
    "birthplace_est_common_name": (
        "birthplace", "find_estonian_name", "What is the Estonian name of the birthplace of {}?"),
    "birthplace_urd_common_name": ("birthplace", "find_urdu_name", "What is the Urdu name of the birthplace of {}?"),
    "birthyear_nobelLiterature": (
        "birthyear", "find_nobel_literature_winner", "Who won the Nobel Prize in Literature in {}'s birth year?"),
    "birthyear_masterchamp": (
        "birthyear", "find_masters_champion", "Who won the Masters golf tournament in the birth year of {}?"),
    "birthdate_uspresident": (
        "birthdate", "find_us_president", "Who was president of the United States on the day {} was born?"),
}  # fmt: skip
_PERSON = re.compile(
    r"(?:birthplace|birth ?year|birth ?date) of (.+?)\?|(?:where|when|day|year) (.+?) was born"
)
FOUNDATIONS = ("birthplace", "birthdate", "birthyear")
_ABOUT = {
    "find_capital": "a country's capital",
    "find_top_level_domain": "a country's internet domain",
    "find_country_number": "a country's three-digit number (ISO 3166-1)",
    "find_us_president": "who was president of the United States on a date",
}
SYSTEM = """You can call these tools:
{tools}

Each tool stores its result under its output_name. Give a later call the output_name of an earlier one where it needs
that result. Answer the question by calls alone, in the order in which they must run, in exactly this format:
{form}
Write nothing else."""


class BamboogleStar:
    """``count`` samples, the seventeen kinds and three formats in turn; ``path`` takes a file's
    questions instead.
    """

    name = "bamboogle"
    headline = "full"
    single = False

    def __init__(self, count: int = 510, path: Path | None = None) -> None:
        self.count, self.path = count, path

    @cached_property
    def _tasks(self) -> tuple[Task, ...]:
        if self.path is None:
            kinds = list(KINDS)
            named = [(kinds[n % len(kinds)], make_person(n).name, "") for n in range(self.count)]
        else:
            named = read_celebrities(self.path)[: self.count]
        return tuple(_build_task(n, *what) for n, what in enumerate(named))

    def tasks(self) -> Sequence[Task]:
        return self._tasks

    def score(self, task: Task, found: Found) -> Score:
        """A reader that hands the reply's text on is held to the format; one that writes the calls
        again keeps it.
        """
        as_asked = read_format(task.aside, found.raw)
        calls = found.calls or as_asked or ()
        kept = not found.raw or as_asked is not None
        whole = has_same_calls(calls, task.gold, ordered=True)
        metrics = {
            "toolname": float(
                not Counter(c.tool for c in task.gold) - Counter(c.tool for c in calls)
            ),
            "parameter": float(
                all(any(has_same_calls([g], [c]) for c in calls) for g in task.gold)
            ),
            "full": float(whole and kept),
        }
        error = classify_error(calls, task.gold, task.tools) or ("" if kept else "format")
        return Score(metrics, error)

    def ask(self, task: Task) -> ChatRequest:
        return ChatRequest(task.messages, purpose="bench", max_tokens=384)


def read_celebrities(path: Path) -> list[tuple[str, str, str]]:
    """(kind, person, question) of a Compositional Celebrities file: the person is what follows "of"
    or "was born".
    """
    made = []
    for row in read_json(path, WHERE)["data"]:
        kind, question = row["category"], row["Question"]
        found = _PERSON.search(question)
        if kind in KINDS and found:
            made.append((kind, (found[1] or found[2]).strip(), question))
    return made


def _build_task(number: int, kind: str, name: str, question: str) -> Task:
    first, tool, asked = KINDS[kind]
    form = sorted(FORMATS)[number % len(FORMATS)]
    arguments = {"information_type": first, "information_content": f"output_{first}"}
    gold = (
        ToolCall(f"output_{first}", f"find_{first}", {"celebrity_name": name}),
        ToolCall(output_name(tool), tool, arguments),
    )
    listed = "\n".join(orjson.dumps(describe_tool(t)).decode() for t in TOOLS)
    system = Message("system", SYSTEM.format(tools=listed, form=FORMATS[form]))
    messages = (system, Message("user", question or asked.format(name)))
    return Task(f"{number}-{kind}", "bamboogle", form, messages, TOOLS, gold, form)


def output_name(tool: str) -> str:
    return "output_" + tool.removeprefix("find_")


def describe_tool(tool: Tool) -> JsonObject:
    """A tool as the prompt shows it (E.4)."""
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.properties,
        "output_name": output_name(tool.name),
    }


def _build_tool(name: str, about: str, properties: JsonObject) -> Tool:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    result = {"type": "object", "properties": {output_name(name): {"type": "string"}}}
    return Tool(name, f"Returns {about}.", schema, result, READ, "bamboogle")


def _build_foundation_tool(what: str) -> Tool:
    said = {"type": "string", "description": "The name of the celebrity."}
    return _build_tool(f"find_{what}", f"the {what} of a celebrity", {"celebrity_name": said})


def _build_secondary_tool(name: str) -> Tool:
    kind = {
        "type": "string",
        "enum": list(FOUNDATIONS),
        "description": "What the content is: 'birthplace', 'birthdate' or 'birthyear'.",
    }
    content = {
        "type": "string",
        "description": "The content itself (an output_ name may stand for it).",
    }
    about = _ABOUT.get(
        name, "the " + name.removeprefix("find_").replace("_", " ") + " that belongs to it"
    )
    return _build_tool(name, about, {"information_type": kind, "information_content": content})


TOOLS = (
    *map(_build_foundation_tool, FOUNDATIONS),
    *(_build_secondary_tool(tool) for _, tool, _ in KINDS.values()),
)
