"""Between catalogue and tool: a server whose documentation is out of date, or that answers as real
servers do.

The tools behind stay what they are. A fault changes what is documented of one tool, or what its
server takes and says. It is a function of the arguments alone, so a run can be repeated. What a
server says is read by the same code as any OpenAPI server's answer; status 0 stands for an MCP
server, which has no status and answers in text.

========== ================================================================================================
kind       what happens
========== ================================================================================================
misnamed   the documentation calls a parameter ``parameter``; the server wants ``wanted`` and says so
stale_enum the documentation lists ``documented``; the server takes the keys of ``becomes`` and says so
hint_400   a value that ``refuses`` matches gets status 400 and a text that says what is taken instead
error_200  the same with status 200, where only the body says that something went wrong
empty      a value that ``refuses`` matches finds nothing: status 200, an empty list
renamed    the old name answers that the tool is called ``to`` now; both names are in the catalogue
========== ================================================================================================

Unlike :class:`callwright.testing.FaultySource`, whose mishaps pass after so many calls, these stay.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime
from typing import Any, Literal

import orjson

from callwright.http import HttpResponse
from callwright.nouns.errors import Failure
from callwright.nouns.types import Tool, ToolOutput
from callwright.tools.openapi.response import output_of
from callwright.tools.python.functions import FunctionSource

from .tools import TOOLS

FaultKind = Literal["misnamed", "stale_enum", "hint_400", "error_200", "empty", "renamed"]
Json = dict[str, Any]


@dataclass(frozen=True)
class Fault:
    """What goes wrong at one tool. ``body`` is what its server answers then, ``{value}`` the value
    it was given.

    ``refuses``: a regular expression over the whole value of ``parameter``, case aside; without a
    parameter, every call. ``becomes``: what the server takes -> what the tool behind takes;
    ``form``: a date format that it takes.
    """

    kind: FaultKind
    tool: str
    body: Any
    status: int = 400
    parameter: str = ""
    wanted: str = ""
    documented: tuple[str, ...] = ()
    refuses: str = ".*"
    becomes: Mapping[str, str] = field(default_factory=dict)
    form: str = ""
    to: str = ""
    about: str = ""

    @classmethod
    def from_row(cls, row: Json) -> Fault:
        """The inverse of :attr:`row`. Raises TypeError for what is no fault."""
        return cls(**{**row, "documented": tuple(row.get("documented", ()))})

    @property
    def row(self) -> Json:
        """What is frozen of it: the fields that say something."""
        plain = {f.name: f.default for f in fields(self)}
        kept = {
            name: value
            for name, value in asdict(self).items()
            if value not in (plain[name], {}, ())
        }
        return {**kept, "documented": list(self.documented)} if self.documented else kept

    def document(self, tool: Tool) -> Tool:
        """The tool as it is documented."""
        if not self.documented:
            return tool
        part = {**tool.properties[self.parameter], "enum": list(self.documented)}
        return replace(tool, input_schema=_with_property(tool.input_schema, self.parameter, part))

    def take(self, arguments: Json) -> Json | ToolOutput:
        """The arguments for the tool behind, or what the server answers instead."""
        if self.kind == "renamed":
            return self._answer("")
        if self.kind == "misnamed":
            if self.parameter in arguments or self.wanted not in arguments:
                return self._answer(arguments.get(self.parameter, ""))
            return {
                self.parameter if key == self.wanted else key: value
                for key, value in arguments.items()
            }
        value = arguments.get(self.parameter, "")
        taken = self._taken(value)
        if taken is not None:
            return {**arguments, self.parameter: taken}
        return (
            self._answer(value)
            if re.fullmatch(self.refuses, str(value), re.I | re.S)
            else arguments
        )

    def _taken(self, value: Any) -> str | None:
        """The value for the tool behind, where the server takes it in its own form."""
        if self.form and isinstance(value, str):
            try:
                return datetime.strptime(value, self.form).date().isoformat()
            except ValueError:
                return None
        return self.becomes.get(str(value)) if self.parameter else None

    def _answer(self, value: Any) -> ToolOutput:
        body = _filled(self.body, str(value))
        if self.status == 0:
            return ToolOutput(failure=Failure("tool_error", body))
        answer = HttpResponse(self.status, {"content-type": "application/json"}, orjson.dumps(body))
        return output_of(answer, f"GET /{self.tool}", (), 0.0)


class FaultyDesk:
    """The desk's functions as a tool source, with faults in front of some."""

    name = "desk"

    def __init__(self, faults: Sequence[Fault]) -> None:
        self._faults = tuple(faults)
        self._source = FunctionSource(TOOLS, name=self.name)
        self._originals: dict[str, Tool] = {}

    async def open(self) -> Sequence[Tool]:
        """The tools as documented; a renamed one under both its names."""
        self._originals = {tool.name: tool for tool in await self._source.open()}
        offered = dict(self._originals)
        for fault in self._faults:
            offered[fault.tool] = fault.document(offered[fault.tool])
            if fault.to:
                offered[fault.to] = replace(
                    self._originals[fault.tool], name=fault.to, description=fault.about
                )
                self._originals[fault.to] = self._originals[fault.tool]
        return tuple(offered.values())

    async def call(self, tool: Tool, arguments: Json) -> ToolOutput:
        """Carry the call out as this server would."""
        for fault in self._faults:
            if fault.tool == tool.name:
                taken = fault.take(arguments)
                if isinstance(taken, ToolOutput):
                    return taken
                arguments = taken
        return await self._source.call(self._originals[tool.name], arguments)

    async def aclose(self) -> None:
        """Nothing is held."""


def faulty(rows: Sequence[Json]) -> FaultyDesk:
    """The source for the faults of a frozen task, in place of ``tools.py`` read by its path."""
    os.environ.setdefault("CALLWRIGHT_DESK_PYTHON", sys.executable)
    return FaultyDesk([Fault.from_row(row) for row in rows])


def answered(rows: Sequence[Json], tool: str, arguments: Json) -> bool:
    """Whether one of these faults answers a call itself, in place of the tool behind."""
    for row in rows:
        if row["tool"] == tool:
            taken = Fault.from_row(row).take(arguments)
            if isinstance(taken, ToolOutput):
                return True
            arguments = taken
    return False


def _with_property(schema: Json, name: str, part: Json) -> Json:
    return {**schema, "properties": {**schema["properties"], name: part}}


def _filled(body: Any, value: str) -> Any:
    """The body with the given value put in."""
    if isinstance(body, str):
        return body.replace("{value}", value)
    if isinstance(body, Mapping):
        return {key: _filled(inner, value) for key, inner in body.items()}
    return [_filled(inner, value) for inner in body] if isinstance(body, list | tuple) else body
