"""Error cases of RefineToolBench (Tool-MVR, 4.1.2): what was done, a wrong call with what came of
it, and the right one.

Read from files of our own, one JSON line a case, and from the published samples. In those, all I1
and I2 rows hold one observation, a conversion of kelvin, whatever was called; it is dropped, the
call carried out again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from callwright.jsontext import JsonError, parse, parse_literal
from callwright.nouns.errors import ConfigError, Failure, convert_errors
from callwright.nouns.trajectory import Step
from callwright.nouns.types import (
    DESTRUCTIVE,
    Json,
    JsonObject,
    Tool,
    ToolCall,
    ToolResult,
    compute_digest,
    to_json,
)
from callwright.storage import lines
from callwright.tools.lists.tools import tool_from_wire, tool_to_openai
from callwright_lab.recovery import Gold
from callwright_lab.transcripts.tooleval import toolbench_tool
from callwright_lab.transcripts.transcript import find_failure

Part = Literal["I1", "I2", "I3"]
PARTS: tuple[Part, ...] = get_args(Part)
WHERE = "RefineToolBench's I1.json, I2.json and I3.json: github.com/zhymma/Tool-MVR"
_WRONG = (
    "the published observation is the same in every row: replaced by what this call brought here"
)


@dataclass(frozen=True, slots=True)
class ErrorCase:
    """One error to recover from. ``part``: I1 one tool that is alive, I2 one that is simulated, I3
    several tools.

    ``wrong`` is a round of one call and what came of it (no result yet: to be carried out);
    ``kind`` names the error, ``by`` who made it ("rule", a model, "published"). ``gold``: the right
    call, with what it gives where known.
    """

    id: str
    part: Part
    kind: str
    query: str
    tools: tuple[Tool, ...]
    before: tuple[Step, ...]
    wrong: Step
    gold: Gold
    by: str = "rule"
    note: str = ""

    @property
    def call(self) -> ToolCall:
        return self.wrong.calls[0]

    @property
    def half(self) -> Literal["final"]:
        """Nothing is tuned on error cases."""
        return "final"

    @property
    def row(self) -> JsonObject:
        """The case as one JSON line."""
        return {
            "id": self.id,
            "part": self.part,
            "kind": self.kind,
            "query": self.query,
            "tools": [tool_to_openai(tool) for tool in self.tools],
            "before": to_json(self.before),
            "wrong": to_json(self.wrong),
            "gold": {
                "tool": self.gold.tool,
                "arguments": self.gold.arguments,
                "content": self.gold.content,
            },
            "by": self.by,
            "note": self.note,
        }

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> ErrorCase:
        """The inverse of :attr:`row`. Raises ConfigError naming the case that cannot be read."""
        with convert_errors(ConfigError, f"error case {row.get('id')!r}"):
            if row["part"] not in PARTS:
                raise ConfigError(
                    f"there is no part {row['part']!r}", hint="parts: " + ", ".join(PARTS)
                )
            return cls(
                id=str(row["id"]),
                part=row["part"],
                kind=row["kind"],
                query=row["query"],
                tools=tuple(
                    tool_from_wire(spec, source="refinetoolbench", unsaid=DESTRUCTIVE)
                    for spec in row["tools"]
                ),
                before=tuple(map(_parse_step, row["before"])),
                wrong=_parse_step(row["wrong"]),
                gold=Gold(**row["gold"]),
                by=row.get("by", "rule"),
                note=row.get("note", ""),
            )


def read_cases(path: Path) -> tuple[ErrorCase, ...]:
    """The cases of a file that :func:`write_cases` wrote. Raises ConfigError where there is
    none, or where two have one id: their runs could not be told apart.
    """
    hint = "callwright bench refinetoolbench --build makes them"
    cases: list[ErrorCase] = []
    if path.is_file():
        cases = lines.read_rows(path, ErrorCase.from_row, what="error case", hint=hint)
    if not cases:
        raise ConfigError(f"{path} holds no error cases", hint=hint)
    (id, count), *_ = Counter(case.id for case in cases).most_common(1)
    if count > 1:
        raise ConfigError(
            f"{count} error cases of {path} are called {id!r}",
            hint="leave out the repeated lines, or build the cases of all files in one folder",
        )
    return tuple(cases)


def write_cases(path: Path, cases: Iterable[ErrorCase]) -> None:
    """One JSON line a case, all or none. Raises ConfigError where the file cannot be written."""
    lines.save_rows(path, (case.row for case in cases))


def digest_cases(cases: Iterable[ErrorCase]) -> str:
    """Return the digest of the cases that the lab records before anything is run."""
    return compute_digest([case.row for case in cases])


def read_published(folder: Path) -> tuple[ErrorCase, ...]:
    """The published samples. Those of I1 and I2 have no result of their wrong call yet. ConfigError
    without any.
    """
    cases = [case for part in PARTS for case in _iter_published(folder / f"{part}.json", part)]
    if not cases:
        raise ConfigError(f"{folder} holds no RefineToolBench", hint=WHERE)
    return tuple(cases)


def _iter_published(path: Path, part: Part) -> Iterator[ErrorCase]:
    if not path.exists():
        return
    try:
        rows = parse(path.read_bytes())
    except JsonError as error:
        raise ConfigError(f"{path} is not JSON: {error}", hint=WHERE) from None
    for number, row in enumerate(rows):
        with convert_errors(ConfigError, f"{path.name}, row {number}"):
            yield _parse_case(row, part, number)


def _parse_case(row: JsonObject, part: Part, number: int) -> ErrorCase:
    specs = row["api_docs"] if part == "I3" else [row["api_doc"]]
    wrong = _parse_action(row["action"], "h9")
    right = row["answer"].get("json_function_calling", row["answer"])
    case = ErrorCase(
        id=f"{part}-{number}",
        part=part,
        kind="selection" if wrong.calls[0].tool != right["api_name"] else "parameter",
        query=row["query"],
        tools=tuple(toolbench_tool(spec["function"], "refinetoolbench") for spec in specs),
        before=tuple(
            _parse_action(action, f"h{at}")
            for at, action in enumerate(row.get("pre_actions") or (), 1)
        ),
        wrong=wrong,
        gold=Gold(right["api_name"], right["parameters"]),
        by="published",
    )
    return case if part == "I3" else replace(case, wrong=replace(wrong, results=()), note=_WRONG)


def _parse_action(action: JsonObject, id: str) -> Step:
    called = action["json_function_calling"]
    call = ToolCall(id, called["api_name"], called["parameters"])
    content = _parse_observation(str(action.get("observation", "")))
    result = ToolResult(id, call.tool, called["parameters"], content, find_failure(content))
    return Step(
        action.get("thought", ""),
        (call,),
        (result,),
        code=str(action.get("python_code", "")).strip(),
    )


def _parse_observation(text: str) -> Json:
    try:
        return parse_literal(text)
    except JsonError:
        return text


def _parse_step(row: Mapping[str, Any]) -> Step:
    calls = tuple(ToolCall(**call) for call in row["calls"])
    results = tuple(
        ToolResult(**{**each, "failure": _parse_failure(each.get("failure"))})
        for each in row["results"]
    )
    return Step(row["thought"], calls, results, row.get("code", ""), row.get("shown", ""))


def _parse_failure(row: Mapping[str, Any] | None) -> Failure | None:
    return None if row is None else Failure(**row)
