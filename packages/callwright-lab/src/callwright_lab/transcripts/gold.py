"""Gold calls without results as trajectories: NesTools, Seal-Tools, API-Bank. They are read and
kept, not written.

A call that refers to what an earlier one returns does so by a label; the round that makes the label
shows it (``shown``), so that whoever looks where a value comes from finds it. An API-Bank row is a
dialogue so far and the gold call: the dialogue is the request.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from callwright.nouns.errors import ConfigError
from callwright.nouns.trajectory import Trajectory
from callwright.nouns.types import JsonObject, Tool, ToolCall
from callwright.tools.lists.tools import tool_from_wire
from callwright_lab.transcripts.transcript import Head, json_text
from callwright_lab.transcripts.turns import Messages, Round, Turn

API_BANK_WHERE = (
    "level-1.json … level-3.json: API-Bank as processed by github.com/qiancheng0/ToolRL, in"
    " <data>/api_bank/"
)

_LIST = re.compile(r"you can use the following tools:\n(.*?)\n\n\*\*Steps", re.S)
_TOOL = re.compile(
    r"(?:Name: )?(?P<name>\w+)(?:\nDescription: |: )(?P<about>.*)\nParameters: (?P<parameters>.*)",
    re.S,
)
_NOT_ALWAYS = re.compile(r"\[optional\]|only needed for|default is", re.I)


class ReadOnly:
    """A layout that says less or more than a trajectory: its records are kept or dropped, never
    changed.
    """

    name = ""

    def opening(self, trajectory: Trajectory, like: JsonObject | None) -> Messages:
        del trajectory, like
        raise self._refusal()

    def messages(self, one: Round, like: Messages) -> Messages:
        del one, like
        raise self._refusal()

    def record(
        self, trajectory: Trajectory, head: Messages, body: Sequence[Round], like: JsonObject | None
    ) -> JsonObject:
        del trajectory, head, body, like
        raise self._refusal()

    def _refusal(self) -> ConfigError:
        return ConfigError(
            f"{self.name} records are kept or dropped, not written",
            hint="write openai, trl, sharegpt or toolbench-vr",
        )


class NesTools(ReadOnly):
    """NesTools: ``task``, ``api`` (the tools), ``call`` (nested by ``API_call_k``)."""

    name = "nestools"

    def recognises(self, record: JsonObject) -> bool:
        return {"task", "api", "call"} <= set(record)

    def head(self, record: JsonObject) -> Head:
        tools = {tool.name: tool for tool in map(tool_from_wire, record["api"])}
        return Head(
            f"nestools-{record['test_id']}" if "test_id" in record else "",
            record["task"],
            tuple(tools.values()),
        )

    def turns(self, record: JsonObject, head: Head) -> Iterator[tuple[Turn, Messages]]:
        del head
        returned = {spec["api_name"]: list(spec.get("responses") or ()) for spec in record["api"]}
        for call in record["call"]:
            yield (
                _build_labelled_turn(
                    call["api_name"], call["parameters"], returned.get(call["api_name"], []), call
                ),
                (),
            )


class SealTools(ReadOnly):
    """Seal-Tools: ``query``, ``calling``; the tools are in the ``tool.jsonl`` beside, given as
    ``catalogue``.
    """

    name = "seal-tools"

    def __init__(self, catalogue: Mapping[str, JsonObject] | None = None) -> None:
        self.catalogue = catalogue or {}

    def recognises(self, record: JsonObject) -> bool:
        return {"query", "calling"} <= set(record)

    def head(self, record: JsonObject) -> Head:
        named = dict.fromkeys(call["api"] for call in record["calling"])
        tools = tuple(
            tool_from_wire(self.catalogue[name]) for name in named if name in self.catalogue
        )
        return Head(f"seal-{record['id']}" if "id" in record else "", record["query"], tools)

    def turns(self, record: JsonObject, head: Head) -> Iterator[tuple[Turn, Messages]]:
        del head
        for call in record["calling"]:
            returned = list(self.catalogue.get(call["api"], {}).get("responses") or ())
            yield _build_labelled_turn(call["api"], call["parameters"], returned, call), ()


class ApiBankRows(ReadOnly):
    """API-Bank in ToolRL's form: ``system`` with the tools, ``user`` with the dialogue, ``answer``
    with gold.
    """

    name = "api-bank"

    def recognises(self, record: JsonObject) -> bool:
        return {"system", "user", "answer"} <= set(record)

    def head(self, record: JsonObject) -> Head:
        return Head("", record["user"], parse_prompt_tools(record["system"]))

    def turns(self, record: JsonObject, head: Head) -> Iterator[tuple[Turn, Messages]]:
        del head
        answer = record["answer"]
        calls = answer if isinstance(answer, list) else [answer]
        made = tuple(ToolCall("", c["name"], c["parameters"]) for c in calls)
        yield Turn("assistant", calls=made), ()


def _build_labelled_turn(
    name: str, parameters: Any, returned: Sequence[str], call: JsonObject
) -> Turn:
    labels = [str(label) for label in call.get("responses") or ()]
    shown = dict(zip(returned, labels, strict=False))
    shown |= {label: label for label in labels[len(returned) :]}
    given = parameters if isinstance(parameters, dict) else str(parameters)
    return Turn(
        "assistant", calls=(ToolCall("", name, given),), shown=json_text(shown) if shown else ""
    )


# ---------------------------------------------------------------- ToolRL's prompts


def parse_prompt_tools(system: str) -> tuple[Tool, ...]:
    """The tools a ToolRL system prompt lists. Raises ConfigError where it lists none that can be
    read.

    A parameter is required unless its description says when it is not needed: the prompts say
    nothing else, and gold leaves out hardly any other.
    """
    listed = _LIST.search(system)
    entries = re.split(r"^\d+\. ", listed[1], flags=re.M)[1:] if listed else []
    if not entries:
        raise ConfigError("this system prompt lists no tools as ToolRL's do", hint=API_BANK_WHERE)
    return tuple(_parse_tool(entry) for entry in entries)


def _add_string_type(declared: object) -> object:
    """The declared type or a text: every gold value is a text (the paper tells its refiner so,
    E.1.3).
    """
    return declared if declared in (None, "str") else f"{declared} or str"


def _parse_tool(entry: str) -> Tool:
    found = _TOOL.fullmatch(entry.strip())
    if found is None:
        raise ConfigError(
            f"this is no tool of a ToolRL prompt: {entry[:80]!r}", hint=API_BANK_WHERE
        )
    described: JsonObject = ast.literal_eval(found["parameters"].strip())
    described = {
        name: {**about, "type": _add_string_type(about.get("type"))}
        for name, about in described.items()
    }
    required = [
        k for k, v in described.items() if not _NOT_ALWAYS.search(str(v.get("description", "")))
    ]
    schema = {"type": "object", "properties": described, "required": required}
    return tool_from_wire(
        {"name": found["name"], "description": found["about"], "parameters": schema}
    )


NESTOOLS = NesTools()
API_BANK = ApiBankRows()
