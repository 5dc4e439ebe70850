"""Sources that give a graph of tools per query: RestBench-TMDB, UltraTool and ComplexTool-Plan."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from callwright.jsontext import parse
from callwright.nouns.types import READ, Json, JsonObject, Tool
from callwright_lab.datasets.examples import (
    Kind,
    PlanExample,
    Source,
    example_from_graph,
    read_json,
    read_lines,
)

GRAPH_WHERE = (
    "data.json, graph_desc.json, tool_desc.json from github.com/WxxShirley/GNN4TaskPlan, in"
    " <data>/{}/"
)
TMDB_WHERE = GRAPH_WHERE.format("tmdb") + "; tmdb_openapi.json: TMDB's OpenAPI 3 description"
ULTRA_WHERE = GRAPH_WHERE.format("ultratool")
COMPLEX_WHERE = (
    "easy.json and hard.json of ComplexTool-Plan (Beyond-React), in <data>/complextool_plan/"
)

_ARROW = re.compile(r"(\w+)\s*->\s*(\w+)")

# GNN4TaskPlan's names for RestBench-TMDB's operations; "<kind>/<rest>" stands for
# /<kind>/{<kind>_id}/<rest>.
TMDB_PATHS = {
    "GetCollectionDetail": "/collection/{collection_id}",
    "GetCollectionImage": "/collection/{collection_id}/images",
    "GetCompanyDetail": "/company/{company_id}",
    "GetCompanyLogo": "/company/{company_id}/images",
    "DiscoverMovie": "/discover/movie",
    "GetLatestMovie": "/movie/latest",
    "GetNewPlayingMovie": "/movie/now_playing",
    "GetPopularMovie": "/movie/popular",
    "GetTopRatedMovie": "/movie/top_rated",
    "GetMovieDetail": "/movie/{movie_id}",
    "GetMovieCredit": "/movie/{movie_id}/credits",
    "GetMovieImage": "/movie/{movie_id}/images",
    "GetMovieKeyword": "/movie/{movie_id}/keywords",
    "MovieRecommendation": "/movie/{movie_id}/recommendations",
    "GetMovieReleaseDate": "/movie/{movie_id}/release_dates",
    "GetMovieReview": "/movie/{movie_id}/reviews",
    "GetSimilarMovie": "/movie/{movie_id}/similar",
    "GetNetworkDetail": "/network/{network_id}",
    "GetNetworkLogo": "/network/{network_id}/images",
    "GetPopularPerson": "/person/popular",
    "GetPersonDetail": "/person/{person_id}",
    "GetPersonImage": "/person/{person_id}/images",
    "GetPersonMovieCredit": "/person/{person_id}/movie_credits",
    "GetPersonTVCredit": "/person/{person_id}/tv_credits",
    "SearchCollection": "/search/collection",
    "SearchCompany": "/search/company",
    "SearchMovie": "/search/movie",
    "SearchPeople": "/search/person",
    "SearchTV": "/search/tv",
    "GetTrendingItem": "/trending/{media_type}/{time_window}",
    "GetOnAirTV": "/tv/on_the_air",
    "GetPopularTVShow": "/tv/popular",
    "GetTopRatedTV": "/tv/top_rated",
    "GetTVDetail": "/tv/{tv_id}",
    "GetTVCredit": "/tv/{tv_id}/credits",
    "GetTVImage": "/tv/{tv_id}/images",
    "GetTVKeyword": "/tv/{tv_id}/keywords",
    "GetTVRecommendation": "/tv/{tv_id}/recommendations",
    "GetTVReview": "/tv/{tv_id}/reviews",
    "GetTVSeasonDetail": "/tv/{tv_id}/season/{season_number}",
    "GetTVSeaonCredit": "/tv/{tv_id}/season/{season_number}/credits",
    "GetTVEpisodeDetail": "/tv/{tv_id}/season/{season_number}/episode/{episode_number}",
    "GetTVEpisodeCredit": "/tv/{tv_id}/season/{season_number}/episode/{episode_number}/credits",
    "GetTVEpisodeImage": "/tv/{tv_id}/season/{season_number}/episode/{episode_number}/images",
    "GetTVSeaonImage": "/tv/{tv_id}/season/{season_number}/images",
    "GetSimilarTVShow": "/tv/{tv_id}/similar",
}


def _tmdb_tool(name: str, description: str, document: JsonObject) -> Tool:
    item = document["paths"][TMDB_PATHS[name]]
    operation = item["get"]
    listed = (item.get("parameters") or []) + (operation.get("parameters") or [])
    properties = {
        p["name"]: _inline_references(p.get("schema") or {}, document)
        for p in listed
        if "name" in p
    }
    for p in listed:
        if p.get("description"):
            properties[p["name"]] = {**properties[p["name"]], "description": p["description"]}
    content = operation["responses"].get("200", {}).get("content", {})
    return Tool(
        name=name,
        description=description,
        input_schema={
            "type": "object",
            "properties": properties,
            "required": [p["name"] for p in listed if p.get("required") is True],
        },
        output_schema=_inline_references(
            content.get("application/json", {}).get("schema"), document
        ),
        effects=READ,
        source="tmdb",
    )


def _inline_references(schema: Json, document: JsonObject, depth: int = 0) -> Json:
    """The schema with ``#/`` references replaced; below eight levels nothing is left of it."""
    if depth > 8 or not isinstance(schema, dict):
        return schema if not isinstance(schema, dict | list) else {}
    if isinstance(ref := schema.get("$ref"), str):
        target: Json = document
        for key in ref.removeprefix("#/").split("/"):
            target = target.get(key, {})
        return _inline_references(target, document, depth + 1)
    made = {k: v for k, v in schema.items() if k in ("type", "description", "enum", "format")}
    if isinstance(inner := schema.get("properties"), dict):
        made["properties"] = {
            k: _inline_references(v, document, depth + 1) for k, v in inner.items()
        }
    if isinstance(schema.get("items"), dict):
        made["items"] = _inline_references(schema["items"], document, depth + 1)
    for part in schema.get("allOf") or ():
        made = {**_inline_references(part, document, depth + 1), **made}
    return made


def _tmdb_catalogue(folder: Path) -> dict[str, Tool]:
    document = read_json(folder / "tmdb_openapi.json", TMDB_WHERE)
    nodes = read_json(folder / "graph_desc.json", TMDB_WHERE)["nodes"]
    return {n["id"]: _tmdb_tool(n["id"], n["desc"], document) for n in nodes}


def read_tmdb(root: Path) -> Iterator[PlanExample]:
    """RestBench-TMDB. A link counts as a dependency where its target takes an identifier.

    The gold solutions are chains; the two of four steps join independent lines and are left out.
    """
    folder = root / "tmdb"
    catalogue = _tmdb_catalogue(folder)
    for row in read_lines(folder / "data.json", TMDB_WHERE):
        names = [n["task"] for n in row["task_nodes"]]
        if len(names) > 3 or not set(names) <= set(catalogue):
            continue
        links = [(x["source"], x["target"]) for x in row["task_links"]]
        edges = [(a, b) for a, b in links if "_id}" in TMDB_PATHS[b]]
        tools = [catalogue[n] for n in names]
        made = example_from_graph(
            f"tmdb-{row['id']}", "tmdb", row["user_request"], tools, names, edges, "dependency"
        )
        if made:
            yield made


def read_tmdb_links(root: Path) -> Iterator[PlanExample]:
    """RestBench-TMDB with the links as published, every one: what graphs are scored against."""
    folder = root / "tmdb"
    catalogue = _tmdb_catalogue(folder)
    for row in read_lines(folder / "data.json", TMDB_WHERE):
        if made := linked_example(row, catalogue, "tmdb_links"):
            yield made


def read_ultratool(root: Path) -> Iterator[PlanExample]:
    """UltraTool requests as chains of described tools without schemas: order, not data
    dependency.
    """
    folder = root / "ultratool"
    nodes = read_json(folder / "tool_desc.json", ULTRA_WHERE)["nodes"]
    catalogue = {n["id"]: Tool(n["id"], n["desc"], source="ultratool") for n in nodes}
    for row in read_lines(folder / "data.json", ULTRA_WHERE):
        if made := linked_example(row, catalogue, "ultratool"):
            yield made


def linked_example(
    row: JsonObject, catalogue: Mapping[str, Tool], source: str, kind: Kind = "sequence"
) -> PlanExample | None:
    """One row with ``task_nodes`` and ``task_links``, as TaskBench and GNN4TaskPlan write it.

    Its own tools are offered. None where it names a tool that is not in the catalogue, or its links
    make a cycle.
    """
    names = list(dict.fromkeys(n["task"] for n in row["task_nodes"]))
    if not names or not set(names) <= set(catalogue):
        return None
    edges = [(x["source"], x["target"]) for x in row["task_links"]]
    tools, query = [catalogue[n] for n in names], str(row["user_request"]).strip()
    return example_from_graph(f"{source}-{row['id']}", source, query, tools, names, edges, kind)


def read_complextool_plan(root: Path) -> Iterator[PlanExample]:
    """ComplexTool-Plan, easy and hard. For evaluation only: no licence is stated."""
    for part in ("easy", "hard"):
        yield from _complextool_part(root, part, "complextool_plan")


def read_complextool_easy(root: Path) -> Iterator[PlanExample]:
    """The easy half alone, as published figures are given. For evaluation only."""
    yield from _complextool_part(root, "easy", "complextool_easy")


def read_complextool_hard(root: Path) -> Iterator[PlanExample]:
    """The hard half alone. For evaluation only."""
    yield from _complextool_part(root, "hard", "complextool_hard")


def _complextool_part(root: Path, part: str, source: str) -> Iterator[PlanExample]:
    rows = read_json(root / "complextool_plan" / f"{part}.json", COMPLEX_WHERE)
    for number, row in enumerate(rows):
        if made := complextool_example(row, f"complextool-{part}-{number}", source):
            yield made


def complextool_example(
    row: JsonObject, id: str, source: str = "complextool_plan"
) -> PlanExample | None:
    """One row of ComplexTool-Plan (``input``: query and numbered tools, ``output``: a dependency
    string).

    None where the string names no tool or makes a cycle.
    """
    given = parse(row["input"])
    names: dict[str, str] = {}
    tools: list[Tool] = []
    for key, spec in given["tool_sequence"].items():
        # one row may list two tools of the same name: the number keeps them apart
        name = spec["name"] if spec["name"] not in names.values() else f"{spec['name']}_{key}"
        names[key] = name
        tools.append(
            Tool(name, spec.get("description") or "", spec.get("inputSchema") or {}, source=source)
        )
    answer = parse(row["output"].strip().removeprefix("```json").removesuffix("```"))
    dag = answer["DAG"] if isinstance(answer, dict) else ""
    links = [(a, b) for a, b in _ARROW.findall(str(dag)) if a in names and b in names]
    gold = [names[key] for key in names if re.search(rf"\b{key}\b", str(dag))]
    edges = [(names[a], names[b]) for a, b in links]
    return (
        example_from_graph(id, source, given["query"], tools, gold, edges, "dependency")
        if gold
        else None
    )


SOURCES = (
    Source("tmdb", read_tmdb, "MIT", True, TMDB_WHERE),
    Source("tmdb_links", read_tmdb_links, "MIT", True, TMDB_WHERE),
    Source("ultratool", read_ultratool, "none stated by its authors", False, ULTRA_WHERE),
    Source("complextool_plan", read_complextool_plan, "none found", False, COMPLEX_WHERE),
    Source("complextool_easy", read_complextool_easy, "none found", False, COMPLEX_WHERE),
    Source("complextool_hard", read_complextool_hard, "none found", False, COMPLEX_WHERE),
)
