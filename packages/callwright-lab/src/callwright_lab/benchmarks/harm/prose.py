"""Replies that hold JSON, code or quoted calls and call nothing: nothing may be taken out of them.

Half are templates filled with the tools and arguments of gold cases, half final answers of recorded
ToolBench runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Json, Tool
from callwright_lab.benchmarks.harm.gold import DATA_WHERE, GoldCase
from callwright_lab.datasets.examples import read_json

TEMPLATES = (
    "The service answered {result}, so the value you asked for is {value}.",
    "Here is the record as JSON:\n\n```json\n{record}\n```\n\nLet me know if anything is missing.",
    "```json\n{package}\n```\nThis goes into package.json.",
    "I looked it up before: {result}. Nothing more needs to be done.",
    (
        "To do it yourself, open the settings and paste this:\n\n```yaml\nname: demo\nargs:"
        " [{value}]\n```"
    ),
    "A function like f(x) = x^2 has the derivative f'(x) = 2x, and [1, 2, 3] maps to [1, 4, 9].",
    (
        "The parameters are:\n1. {key} - what to look for\n2. limit - how many (optional)\nWhich"
        " values do you want?"
    ),
    "I cannot do that yet: I still need {key}. Could you tell me?",
    "Use the array `[{value}]` and the object `{result}` as they are; both are valid JSON.",
    "Action items:\n- Action: review the {key}\n- Owner: you\n- Due: tomorrow",
    (
        "Here is a Python example:\n\n```python\ndata = {record}\nfor key in data:\n    print(key,"
        " data[key])\n```"
    ),
    "The schema of that field is {schema}; a valid value would be {value}.",
    "In SQL: `SELECT * FROM items WHERE {key} = {value};`. It returns {result}.",
    "Done. The result was {result}.",
    "If x < 3 and y > 5 then {{x, y}} is outside; see <b>note</b> and <https://example.org/a?b=c>.",
    "| key | value |\n|---|---|\n| {key} | {value} |\n\nThe raw reply was `{result}`.",
    (
        'An entry looks like {{"name": "Ann", "parameters": {{"age": 30}}, "id": 7}} in our address'
        " book."
    ),
    "```bash\ncurl -X POST https://api.example.org/v1 -d '{record}'\n```\nThis sends the record.",
    "```javascript\nconst options = {record};\nconsole.log(options);\n```",
    (
        "The tool **{tool}** takes `{key}`. It is not needed here, because you already gave the"
        " answer: {value}."
    ),
    (
        "Earlier I called {tool} with {arguments} and it failed, so I stopped there. Shall I try"
        " something else?"
    ),
    'You asked what "{tool}" means: it is the name of a function in the list you gave me.',
    "Thought for the day: brackets (like these [or these {{or these}}]) always come in pairs.",
    (
        "The log says:\n\n    12:00:01 INFO request {result}\n    12:00:02 INFO done\n\nso all is"
        " well."
    ),
    "{{{{ {key} }}}} is a template placeholder, ${{{key}}} a shell one, and $1 the first argument.",
)


@dataclass(frozen=True, slots=True)
class Prose:
    """A reply without calls, and the tools that were offered when it was written."""

    id: str
    text: str
    tools: tuple[Tool, ...]


def prose_replies(
    cases: Sequence[GoldCase], data: Path, count: int = 1000, seed: int = 1
) -> list[Prose]:
    """``count`` replies; recorded answers as far as there are, at most half, the rest from
    templates.
    """
    found = list(recorded_answers(data, count // 2))
    draw = Random(seed)
    single = [
        c
        for c in cases
        if c.tools and isinstance(c.calls[0].arguments, dict) and c.calls[0].arguments
    ]
    while len(found) < count:
        case = draw.choice(single)
        number = len(found)
        template = TEMPLATES[number % len(TEMPLATES)]
        found.append(
            Prose(
                f"template-{number % len(TEMPLATES)}-{case.id}",
                _fill_template(template, case),
                case.tools,
            )
        )
    return found


def _fill_template(template: str, case: GoldCase) -> str:
    call = case.calls[0]
    assert isinstance(call.arguments, dict)
    key, value = next(iter(call.arguments.items()))
    record = {key: value, "status": "ok"}
    return template.format(
        tool=call.tool,
        key=key,
        value=_dump_json(value),
        record=_dump_json(record, indent=2),
        result=_dump_json({"ok": True, "result": [{key: value}], "count": 1}),
        package=_dump_json(
            {"name": "my-app", "version": "1.2.0", "dependencies": {"left-pad": "^1.0.0"}}, indent=2
        ),
        schema=_dump_json({"type": "string", "description": key}),
        arguments=_dump_json(call.arguments),
    )


def _dump_json(value: Json, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def recorded_answers(data: Path, most: int) -> Iterator[Prose]:
    """Final answers of StableToolBench's recorded runs, with the tools that were offered."""
    made = 0
    for path in sorted((data / "stabletoolbench" / "gpt35_react_runs").glob("*.json")):
        try:
            runs = read_json(path, DATA_WHERE)
        except ConfigError:
            continue
        for id, run in runs.items():
            answer = _get_final_answer(run)
            if answer and made < most:
                made += 1
                tools = tuple(
                    Tool(t["name"], t.get("description") or "")
                    for t in run.get("available_tools") or ()
                )
                yield Prose(f"{path.stem}-{id}", answer, tools)


def _get_final_answer(run: Any) -> str:
    """The text of a run's final answer; "" where it gave up."""
    final = (run.get("answer") or {}).get("final_answer") or ""
    if isinstance(final, str) and final.lstrip().startswith("{"):
        try:
            final = json.JSONDecoder().decode(final)
        except ValueError:
            return ""
    if isinstance(final, dict):
        final = final.get("final_answer") or ""
    return final.strip() if isinstance(final, str) else ""
