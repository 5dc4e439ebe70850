"""``callwright retrieve``: the tools of a large catalogue that a request may need."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from callwright.cli.terminal.console import print_table, shorten_text
from callwright.cli.terminal.jsonl import BadLine, answer_stream, open_lines, refuse_path
from callwright.models.encoders import open_encoder
from callwright.nouns.errors import ConfigError
from callwright.nouns.protocols import Encoder
from callwright.nouns.types import JsonObject, Tool
from callwright.retrieval import Hit, Mode, ToolIndex, mode_named, needs_encoder
from callwright.retrieval.installed import VECTORS, best_mode
from callwright.retrieval.store import is_index, load, save
from callwright.storage.database import state_dir


def run_retrieve(
    query: str | None,
    sources: Sequence[str],
    k: int,
    mode: str | None,
    *,
    encoder: str | None = None,
    cache: Path | None = None,
    saved: Path | None = None,
    jsonl: bool = False,
    as_json: bool = False,
) -> int:
    """Answer one query, or with ``jsonl`` a stream of them: ``{"id", "query"}`` -> ``{"id",
    "tools": [{"name", "score"}]}``. Without a ``mode``, the best one that is installed.

    ``query`` names the file of a stream, or none for standard input. A line may bring its own
    ``k``. ``cache`` is a file of vectors, else one in the user's folder
    for state: what was encoded once is not encoded again. ``saved`` is the folder of an index:
    brought up to date with the sources and kept; without sources, used as it is. Returns the exit
    code. Raises ConfigError without sources or query.
    """
    chosen = best_mode(encoder) if mode is None else mode_named(mode)
    if not sources and not saved:
        raise ConfigError(
            "retrieve needs tools to choose from", hint="callwright retrieve QUERY --tools SOURCE"
        )
    if query is None and not jsonl:
        raise ConfigError(
            "retrieve needs a query",
            hint='callwright retrieve "the weather in Oslo" --tools SOURCE',
        )
    if query is not None and query.endswith(".jsonl") and not jsonl:
        refuse_path(query, "retrieve", "QUERY is the text of a request")
    tools: Sequence[Tool] = ()
    if sources:  # an index is searched without them, and a third sooner
        from callwright.cli.opened import load_tools

        tools = load_tools(sources)
    index = _open_index(
        tools, saved, _open_cached_encoder(encoder, cache) if needs_encoder(chosen) else None
    )
    if jsonl:
        with open_lines(query) as lines:
            return answer_stream(lambda row: _answer_row(row, index, k, chosen), lines).exit_code
    if query is not None:
        hits = index.search(query, k, mode=chosen)
        _print_json(hits) if as_json else _print_table(hits, tools)
    return 0


def _open_cached_encoder(spec: str | None, cache: Path | None) -> Encoder:
    """The encoder, with a file of vectors: the one named, else that of all commands, as far as it
    can be used.
    """
    if cache is not None:
        return open_encoder(spec, cache=cache)
    try:
        return open_encoder(spec, cache=state_dir() / VECTORS)
    except (
        ConfigError
    ):  # a folder that cannot be written, or a spec that names nothing: then this says so again
        return open_encoder(spec)


def _open_index(tools: Sequence[Tool], saved: Path | None, encoder: Encoder | None) -> ToolIndex:
    if saved is None:
        return ToolIndex.build(tools, encoder)
    if not tools:
        return load(saved, encoder)
    before = load(saved, encoder) if is_index(saved) else ToolIndex.build((), encoder)
    index = before.synced(tools)
    save(index, saved)
    return index


def _answer_row(row: JsonObject, index: ToolIndex, k: int, mode: Mode) -> JsonObject:
    query, wanted = row.get("query"), row.get("k", k)
    if not isinstance(query, str):
        raise BadLine('"query" must be a text')
    if isinstance(wanted, bool) or not isinstance(wanted, int) or wanted < 1:
        raise BadLine('"k" must be a number of tools, at least 1')
    return {"tools": _serialize_hits(index.search(query, wanted, mode=mode))}


def _serialize_hits(hits: Sequence[Hit]) -> list[JsonObject]:
    """A hit that was brought along says by which it is needed, and why."""
    return [
        {"name": hit.name, "score": round(hit.score, 6)}
        | (
            {"needed_by": hit.needed_by, "reason": hit.reason, "may_write": hit.may_write}
            if hit.needed_by
            else {}
        )
        for hit in hits
    ]


def _print_json(hits: Sequence[Hit]) -> None:
    import orjson

    print(orjson.dumps({"tools": _serialize_hits(hits)}, option=orjson.OPT_INDENT_2).decode())


def _print_table(hits: Sequence[Hit], tools: Sequence[Tool]) -> None:
    if not hits:
        print("Nothing speaks for any tool here.")
        return
    about = {tool.name: tool for tool in tools}
    rows = []
    for hit in hits:
        tool = about.get(hit.name, Tool(hit.name))
        about_it = (
            f"for {hit.needed_by}: {hit.reason}"
            if hit.needed_by
            else shorten_text(tool.description)
        )
        rows.append((hit.name, f"{hit.score:.3f}", tool.source, about_it))
    print_table(("Tool", "Score", "Source", "Description"), rows)
