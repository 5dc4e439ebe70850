"""The world of the broken-tools benchmark: families of tools that give the same, and queries that
need some.

Three parts that share no tool: ``dev`` (invented APIs) and ``chains`` (invented APIs whose tools
take each other's ids, and the nested requests of NesTools) for tuning, ``final`` (other invented
APIs, the film database by its real description, the desk with its MCP servers) that is opened once.
Which tool is broken, and how, is fixed by :mod:`callwright_lab.benchmarks.broken_tools.kinds`
before anything is ranked; what a query needs never depends on it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from callwright.jsontext import parse
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Json, JsonObject, compute_digest, to_json
from callwright_lab.benchmarks.broken_tools.apis import Api, FilmApi, MadeApi, Operation
from callwright_lab.benchmarks.broken_tools.kinds import RATES, SETS, Breakage, choose_broken_tools
from callwright_lab.benchmarks.broken_tools.nested import Nested, read_nested
from callwright_lab.benchmarks.broken_tools.replies import film_number, make_facts
from callwright_lab.benchmarks.desk.tasks import Desk

HALVES = ("dev", "chains", "final")
TMDB_WHERE = "RestBench-TMDB's data.json and tmdb_openapi.json (GNN4TaskPlan), in <data>/tmdb/"
_DESK_KINDS = frozenset({"single", "chain", "parallel", "crowded"})
_ASKED = 2  # queries made of one question of a family
_PAIRED = 2  # queries that join each family with another one


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that a query needs: a family of tools, the arguments of a call that does it, and
    its layer.
    """

    family: str
    arguments: Mapping[str, Json]
    layer: int = 0


@dataclass(frozen=True, slots=True)
class Query:
    """One request. ``group``: made, several, nested, film or desk."""

    id: str
    group: str
    text: str
    needs: tuple[Need, ...]


@dataclass(frozen=True)
class World:
    """One half. ``families``: name -> its tools; ``operations``: those of the invented APIs, by
    tool.
    """

    half: str
    apis: tuple[Api, ...]
    families: Mapping[str, tuple[str, ...]]
    operations: Mapping[str, Operation]
    twins: Mapping[
        str, tuple[str, str, str]
    ]  # of the desk: family -> (tool, twin's name, twin's description)
    queries: tuple[Query, ...]
    breakages: str = "2"  # the set of them

    def choose_broken(self, rate: int) -> dict[str, Breakage]:
        """The broken tools at a rate, and how they are broken."""
        return choose_broken_tools(self.families, rate, SETS[self.breakages])

    @property
    def digest(self) -> str:
        """Changes whenever a query, a family, a description or a breakage does. Logged before
        anything is ranked.
        """
        breakages = {str(rate): to_json(self.choose_broken(rate)) for rate in RATES}
        documents = [api.document({}) for api in self.apis]
        return compute_digest(
            [
                self.half,
                dict(self.families),
                to_json(self.queries),
                breakages,
                documents,
                dict(self.twins),
            ]
        )

    def call(self, tool: str, need: Need) -> JsonObject:
        """The arguments of the call that does what a need asks for, by their names at this tool."""
        op = self.operations.get(tool)
        if op is None:
            return dict(need.arguments)
        return {
            op.named.get(k, k): _convert_value(kind, need.arguments[k])
            for k, kind in op.takes.items()
        }


def read_world(half: str, folder: Path, data: Path, desk: Desk | None) -> World:
    """One part of the world. ``folder`` holds the TOML files, ``data`` the folders ``tmdb`` and
    ``nestools``.

    Raises ConfigError where one of them cannot be read.
    """
    apis = _read_toml(folder / ("chains.toml" if half == "chains" else "apis.toml"))
    known = apis["values"]
    families = [family for family in apis["family"] if family["half"] == half]
    operations = {op.name: op for family in families for op in _iter_operations(family)}
    made: tuple[Api, ...] = tuple(_iter_apis(families, operations, known))
    names = {family["name"]: tuple(tool[1] for tool in family["tools"]) for family in families}
    queries = [
        *_iter_single_queries(families, known),
        *_iter_chained_queries(families, known, apis.get("ask", ())),
    ]
    queries += _iter_paired_queries(
        [f for f in families if f["asks"]][:: 3 if half == "chains" else 1], known, families
    )
    twins: dict[str, tuple[str, str, str]] = {}
    if half == "chains":
        nested = read_nested(data, frozenset(operations))
        made, operations = (*made, *nested.apis), operations | nested.operations
        names |= nested.families
        queries += [_nested_query(one) for one in nested.requests]
    if half == "final":
        told = _read_toml(folder / "twins.toml")
        real, cinebase, films, film_queries = _build_film_apis(told["tmdb"], data)
        made = (*made, real, cinebase)
        names |= films
        queries += film_queries
        if desk is not None:
            twins = {
                family: (tool, name, about) for family, (tool, name, about) in told["desk"].items()
            }
            names |= {f"desk.{family}": (tool, name) for family, (tool, name, _) in twins.items()}
            queries += _desk_queries(desk)
    return World(half, made, names, operations, twins, tuple(queries))


def _read_toml(path: Path) -> Any:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path} cannot be read: {error}", hint="run from a checkout") from None


def _convert_value(kind: str, value: Json) -> Json:
    if kind == "switch":
        return value == "true"
    if kind in ("days", "whole"):
        return int(value)
    if kind == "amount":
        return float(value)
    return value


def _iter_operations(family: Any) -> Iterator[Operation]:
    for _, name, about, named in family["tools"]:
        yield Operation(name, about, family["name"], family["takes"], family["gives"], named)


def _iter_apis(
    families: Sequence[Any], operations: Mapping[str, Operation], known: Any
) -> Iterator[MadeApi]:
    owners: dict[str, dict[str, Operation]] = {}
    for family in families:
        for api, name, *_ in family["tools"]:
            owners.setdefault(api, {})[name] = operations[name]
    return (MadeApi(api, held, known) for api, held in owners.items())


def _iter_single_queries(families: Sequence[Any], known: Any) -> Iterator[Query]:
    """Queries about one thing, which may take a chain of two tools."""
    for family in families:
        for place, ask in enumerate(family["asks"]):
            for turn in range(_ASKED):
                values = _choose_values(families, family, known, 3 * place + turn)
                text = ask.format(**values)
                yield Query(
                    f"{family['name']}-{place}-{turn}",
                    "made",
                    text,
                    _build_needs(families, family, values),
                )


def _iter_chained_queries(
    families: Sequence[Any], known: Any, asks: Sequence[Any]
) -> Iterator[Query]:
    """Queries about the last of several families that lead to it."""
    for place, ask in enumerate(asks):
        *needs, last = ask["needs"]
        family = {**next(f for f in families if f["name"] == last), "needs": needs}
        for turn in range(_ASKED):
            values = _choose_values(families, family, known, place + turn)
            yield Query(
                f"ask-{place}-{turn}",
                "made",
                ask["text"].format(**values),
                _build_needs(families, family, values),
            )


def _iter_paired_queries(
    asked: Sequence[Any], known: Any, families: Sequence[Any]
) -> Iterator[Query]:
    """Queries about two things, each family that is asked for joined with others that stand far
    from it.
    """
    for at, first in enumerate(asked):
        for turn in range(_PAIRED):
            second = asked[(at + 5 + 4 * turn) % len(asked)]
            one, other = (
                _choose_values(families, f, known, at + 5 * turn) for f in (first, second)
            )
            texts = (
                first["asks"][turn % len(first["asks"])].format(**one),
                second["asks"][0].format(**other),
            )
            needs = {
                n.family: n
                for n in (
                    *_build_needs(families, first, one),
                    *_build_needs(families, second, other),
                )
            }
            yield Query(
                f"{first['name']}+{second['name']}",
                "several",
                f"{texts[0]} {texts[1]}",
                tuple(needs.values()),
            )


def _choose_values(families: Sequence[Any], family: Any, known: Any, turn: int) -> dict[str, str]:
    """Values for the names in a family's questions; two of one kind differ."""
    kinds: dict[str, str] = {}
    for name in (*family.get("needs", ()), family["name"]):
        kinds |= next(f for f in families if f["name"] == name)["takes"]
    said = {key: kind for key, kind in kinds.items() if not kind.startswith("id:")}
    return {
        key: known[kind][(turn + place) % len(known[kind])]
        for place, (key, kind) in enumerate(said.items())
    }


def _build_needs(
    families: Sequence[Any], family: Any, values: Mapping[str, str]
) -> tuple[Need, ...]:
    """Return the needs of a question of a family, with the needs that supply its ids first."""
    held: dict[str, Json] = dict(values)
    needs: list[Need] = []
    for layer, name in enumerate((*family.get("needs", ()), family["name"])):
        one = next(f for f in families if f["name"] == name)
        arguments = {key: held[key] for key in one["takes"]}
        needs.append(Need(name, arguments, layer))
        held |= {
            k: v
            for k, v in make_facts(one["gives"], name, arguments).items()
            if k.endswith("_id") or k == "isbn"
        }
    return tuple(needs)


def _nested_query(one: Nested) -> Query:
    needs = [
        Need(f"nested.{tool}", arguments, one.layers[tool]) for tool, arguments in one.calls.items()
    ]
    return Query(one.id, "nested", one.text, tuple(needs))


def _build_film_apis(
    told: Mapping[str, Any], data: Path
) -> tuple[FilmApi, FilmApi, dict[str, tuple[str, ...]], list[Query]]:
    try:
        real = parse((data / "tmdb" / "tmdb_openapi.json").read_bytes())
        rows = [parse(line) for line in (data / "tmdb" / "data.json").read_bytes().splitlines()]
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"the film database's description cannot be read: {error}", hint=TMDB_WHERE
        ) from None
    tmdb = FilmApi("tmdb", real)
    other = FilmApi("cinebase", real, {path: (name, about) for path, name, about in told.values()})
    families: dict[str, tuple[str, ...]] = {
        f"film.{key}": (tmdb.tools[path], name) for key, (path, name, _) in told.items()
    }
    queries = [_film_query(row, told) for row in rows]
    return tmdb, other, families, [query for query in queries if query.needs]


def _film_query(row: Any, told: Mapping[str, Any]) -> Query:
    names = list(dict.fromkeys(node["task"] for node in row["task_nodes"] if node["task"] in told))
    needs = tuple(
        Need(f"film.{name}", _film_call(told[name][0]), layer) for layer, name in enumerate(names)
    )
    return Query(f"film-{row['id']}", "film", row["user_request"].strip(), needs)


def _film_call(path: str) -> JsonObject:
    parts = [part.strip("{}") for part in path.split("/") if part.startswith("{")]
    made: JsonObject = {part: film_number(path) if part.endswith("_id") else 1 for part in parts}
    if path.startswith("/search/"):
        made["query"] = "Titanic"
    return made | (
        {"media_type": "tv", "time_window": "day"} if path.startswith("/trending/") else {}
    )


def _desk_queries(desk: Desk) -> Iterator[Query]:
    """The desk's tasks that only read and whose documentation is right, of both its halves."""
    for task in islice(desk.tasks, None):
        calls = [call for call in task.gold_calls if not call.get("fails")]
        if (
            task.kind not in _DESK_KINDS
            or not calls
            or len(calls) < len(task.gold_calls)
            or task.expect.change
        ):
            continue
        needs: dict[str, Need] = {}
        for call in calls:
            family = f"desk.{call['tool']}"
            needs.setdefault(
                family,
                Need(family, call["arguments"], len(needs) if task.kind != "parallel" else 0),
            )
        yield Query(f"desk-{task.id}", "desk", task.query, tuple(needs.values()))
