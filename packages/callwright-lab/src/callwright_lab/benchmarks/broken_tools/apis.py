"""The HTTP servers of the broken-tools benchmark: generated from OpenAPI descriptions, invented
ones and a real one.

Each API has a description, in which broken tools may demand more than they did, and answers
requests by it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Protocol

from callwright.nouns.types import Json, JsonObject, compute_digest
from callwright_lab.benchmarks.broken_tools.kinds import Breakage
from callwright_lab.benchmarks.broken_tools.replies import (
    dress_schema,
    film_number,
    film_reply,
    is_film_number,
    is_known_value,
    make_facts,
    make_not_found_reply,
    schema_of,
    shape_reply,
)

Breakages = Mapping[str, Breakage]
FILM_KEY = "benchmark-key-of-the-film-database"
"""The film database's description demands a key; the benchmark's user has this one."""


class Api(Protocol):
    """One API: what it says of itself, and what it answers."""

    @property
    def name(self) -> str: ...

    def document(self, broken: Breakages) -> JsonObject: ...

    def answer(
        self, path: str, query: Mapping[str, str], broken: Breakages
    ) -> tuple[int, Json]: ...


@dataclass(frozen=True, slots=True)
class Operation:
    """One tool of an invented API. ``named``: what the family's parameters, and members of its
    reply, are called here where that differs; ``says``: what the documentation says of parameters
    (by their names in the family).
    """

    name: str
    about: str
    family: str
    takes: Mapping[str, str]
    gives: Sequence[str]
    named: Mapping[str, str]
    says: Mapping[str, str] = field(default_factory=dict)

    @property
    def echoed(self) -> tuple[str, ...]:
        """Return the parameters that a reply repeats from the request: all except ids."""
        return tuple(key for key, kind in self.takes.items() if not kind.startswith("id:"))

    @property
    def members(self) -> tuple[str, ...]:
        """The members of a reply by their names here."""
        split = (member.partition(":") for member in self.gives)
        return tuple(f"{self.named.get(name, name)}:{kind}" for name, _, kind in split)


@dataclass(frozen=True, slots=True)
class MadeApi:
    """An invented API. ``known``: the names that its world holds, by kind."""

    name: str
    operations: Mapping[str, Operation]
    known: Mapping[str, Sequence[str]]

    def document(self, broken: Breakages) -> JsonObject:
        """Its OpenAPI 3.1 description; a broken tool's is as stale as its breakage says."""
        paths = {
            f"/{op.name}": {"get": _describe_operation(op, broken.get(op.name))}
            for op in self.operations.values()
        }
        return {"openapi": "3.1.0", "info": {"title": self.name, "version": "1"}, "paths": paths}

    def answer(self, path: str, query: Mapping[str, str], broken: Breakages) -> tuple[int, Json]:
        op = self.operations.get(path.strip("/"))
        if op is None:
            return 404, {"message": "not found"}
        breakage = broken.get(op.name)
        if breakage is not None and not breakage.answers_elsewhere:
            return breakage.reply()
        given: dict[str, str] = {}
        for key, kind in op.takes.items():
            value = query.get(op.named.get(key, key))
            if value is None:
                return 400, {"message": f"missing required parameter {op.named.get(key, key)!r}"}
            if not is_known_value(kind, value, self.known):
                return _reject_value(op, key, kind, value)
            given[key] = value
        told = given if breakage is None else self._turn_elsewhere(op, given)
        held = {
            op.named.get(name, name): value
            for name, value in make_facts(op.gives, op.family, told).items()
        }
        is_silent = breakage is not None and breakage.variant % 2 == 1
        echo = {} if is_silent else {key: told[key] for key in op.echoed}
        return 200, shape_reply(op.name, held, echo)

    def _turn_elsewhere(self, op: Operation, asked: Mapping[str, str]) -> dict[str, str]:
        """The same call about other things of this world; where it names none, other facts."""
        told = {key: self._choose_other(op.takes[key], value) for key, value in asked.items()}
        return told if told != asked else {**told, "of": "another day"}

    def _choose_other(self, kind: str, value: str) -> str:
        others = [n for n in self.known.get(kind, ()) if n.casefold() != value.casefold()]
        return others[int(compute_digest([kind, value])[:4], 16) % len(others)] if others else value


def _describe_operation(op: Operation, breakage: Breakage | None) -> JsonObject:
    parameters = [
        {
            "name": op.named.get(key, key),
            "in": "query",
            "required": True,
            "schema": _build_schema(op, key, kind),
        }
        for key, kind in op.takes.items()
    ]
    schema = dress_schema(op.name, op.members, op.echoed)
    return {
        "operationId": op.name,
        "summary": op.about,
        "parameters": [*parameters, *_list_added_parameters(breakage)],
        "responses": {
            "200": {"description": "OK", "content": {"application/json": {"schema": schema}}}
        },
    }


def _build_schema(op: Operation, key: str, kind: str) -> JsonObject:
    said = op.says.get(key)
    return schema_of(kind) | ({"description": said} if said else {})


def _list_added_parameters(breakage: Breakage | None) -> list[JsonObject]:
    if breakage is None or breakage.documented is None:
        return []
    name, schema = breakage.documented
    return [{"name": name, "in": "query", "required": True, "schema": schema}]


def _reject_value(op: Operation, key: str, kind: str, value: str) -> tuple[int, Json]:
    if kind in schema_kinds:
        return 400, {"message": f"{op.named.get(key, key)}: {value!r} is not valid"}
    return make_not_found_reply(op.name, value)


schema_kinds = frozenset(
    {"iata", "currency", "date", "days", "amount", "flight", "parcel", "ticker"}
)


class FilmApi:
    """The Movie Database by its real description, or the same data under another API's names.

    ``names``: path -> (operationId, description) of a twin; without it the description is the real
    one.
    """

    def __init__(
        self, name: str, real: JsonObject, names: Mapping[str, tuple[str, str]] | None = None
    ) -> None:
        self.name = name
        self._real = real
        self._names = names
        paths = real["paths"] if names is None else {path: real["paths"][path] for path in names}
        self._paths = {path: _compile_path(path) for path in paths}
        self.tools = {path: self._tool(path) for path in paths}

    def document(self, broken: Breakages) -> JsonObject:
        """The description, with this server's address and what broken tools demand."""
        made: JsonObject = {**deepcopy(self._real), "servers": []}
        made["paths"] = {path: made["paths"][path] for path in self._paths}
        for path, item in made["paths"].items():
            operation = item["get"]
            if self._names is not None:
                name, about = self._names[path]
                operation |= {"operationId": name, "summary": about, "description": about}
            extra = _list_added_parameters(broken.get(self.tools[path]))
            operation["parameters"] = [*operation.get("parameters", ()), *extra]
        del made["servers"]
        return made

    def answer(self, path: str, query: Mapping[str, str], broken: Breakages) -> tuple[int, Json]:
        for template, pattern in sorted(self._paths.items(), key=lambda item: item[0].count("{")):
            if found := pattern.fullmatch(path):
                breakage = broken.get(self.tools[template])
                if breakage is not None and not breakage.answers_elsewhere:
                    return breakage.reply()
                if query.get("api_key") != FILM_KEY:
                    return 401, {
                        "status_code": 7,
                        "status_message": "Invalid API key.",
                    }
                if template.startswith("/search/") and "query" not in query:
                    return 422, {"errors": ["query must be provided"]}
                asked = {**query, **found.groupdict()}
                return film_reply(
                    _get_example(self._real["paths"][template]["get"]),
                    asked if breakage is None else _turn_film_elsewhere(asked),
                )
        return 404, {
            "status_code": 34,
            "status_message": "The resource you requested could not be found.",
        }

    def _tool(self, path: str) -> str:
        from callwright.tools.openapi.names import tool_name

        if self._names is not None:
            return self._names[path][0]
        return tool_name("get", path, self._real["paths"][path]["get"], set())


def _turn_film_elsewhere(asked: Mapping[str, str]) -> dict[str, str]:
    """The same question about another film, or another person: wrong numbers stay wrong."""
    told = dict(asked)
    for key, value in asked.items():
        if key == "query":
            told[key] = "Casablanca" if "casablanca" not in value.casefold() else "Vertigo"
        elif key.endswith("_id") and is_film_number(value):
            told[key] = str(film_number(["another", value]))
    return told


def _compile_path(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(path)))


def _get_example(operation: Any) -> Json:
    examples = operation["responses"]["200"]["content"]["application/json"]["examples"]
    return next(iter(examples.values()))["value"]
