"""``callwright verify queries``: which requests can be answered with the tools on offer, and are
worth asking.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from callwright.cli.settings.options import (
    ConfigOptions,
    SourceOptions,
    add_strict_option,
    group_options,
)
from callwright_lab.cli.verify_options import ModelExtent


@add_strict_option
@group_options()
def verify_queries(
    requests: Annotated[
        Path,
        typer.Argument(
            help="JSON lines of id, query, tools and needed; ToolBench's query files; a folder."
        ),
    ],
    sources: SourceOptions,
    *,
    judge: Annotated[
        list[str] | None,
        typer.Option(
            "--judge",
            "-m",
            help="A model that judges, as for --model. Repeated: the majority decides.",
        ),
    ] = None,
    least: Annotated[
        int, typer.Option(help="Quality from which a request is kept.", min=1, max=10)
    ] = 8,
    today: Annotated[
        str | None,
        typer.Option(help="The day of the requests, YYYY-MM-DD: nothing is booked before it."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(help="Only the first so many requests.", min=1)
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Write the kept requests here, as JSON lines."),
    ] = None,
    extent: ModelExtent,
    where: ConfigOptions,
) -> None:
    """Find good requests that the tools can answer. Says why others are not."""
    import asyncio

    from callwright.cli.settings.settings import Given, resolve_settings
    from callwright_lab.cli.verify_options import print_agreement, print_report

    settings = resolve_settings(
        Given(sources.to_settings()), config=where.config, profile=where.profile
    )
    made, rows = asyncio.run(
        _verify_requests(requests, settings, judge or [], least, _parse_day(today), limit, extent)
    )
    print_report(made, extent, lambda: _build_report(made, rows, least, extent))
    print_agreement([one.found.get("votes", {}) for one in made.findings])
    if out is not None:
        _write_kept_requests(made, rows, out)


def _parse_day(text: str | None) -> Any:
    from datetime import date

    from callwright.nouns.errors import ConfigError

    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise ConfigError(f"--today takes a day, not {text!r}", hint="--today 2026-11-22") from None


async def _verify_requests(
    path: Path,
    settings: Any,
    judges: list[str],
    least: int,
    today: Any,
    limit: int | None,
    extent: Any,
) -> tuple[Any, Any]:
    from contextlib import AsyncExitStack

    from callwright.cli.opened import open_sources
    from callwright.models import open_model
    from callwright.nouns.errors import ConfigError
    from callwright_lab.cli.verify_options import run_verify_sweep
    from callwright_lab.verify.committee import name_judges
    from callwright_lab.verify.mock_tools import find_dead_tools
    from callwright_lab.verify.queries import QueryVerifier
    from callwright_lab.verify.requests import read_requests

    async with AsyncExitStack() as stack:
        catalog = await stack.enter_async_context(open_sources(settings.sources()))
        asked = read_requests(path, catalog.tools)[:limit]
        if not any(one.tools or one.unknown for one in asked):
            raise ConfigError(
                f"no tool is offered for a request of {path}",
                hint='--tools SOURCE; or rows with a member "tools"',
            )
        models = [open_model(spec) for spec in judges]
        for one in models:
            stack.push_async_callback(one.aclose)
        verifier = QueryVerifier(
            name_judges(models), least, today, find_dead_tools(catalog.overlays)
        )
        rows = verifier.rows(asked)
        about = {"judges": judges, "least": least, "today": today and today.isoformat()}
        return await run_verify_sweep("queries", about, rows, verifier.judge, extent), rows


def _build_report(made: Any, rows: Any, least: int, extent: Any) -> Any:
    """The page, with how often each quality was given."""
    from callwright_lab.verify.reporting.evidence import iter_request_evidence, request_reasons
    from callwright_lab.verify.reporting.page import Stage, build_histogram, build_sweep_report

    known = {row.key: row.item for row in rows}
    scores = [one.found["quality"] for one in made.findings if "quality" in one.found]
    stage = Stage(
        "Requests",
        lambda one: tuple(
            iter_request_evidence(
                one, known[one.key].query, [tool.name for tool in known[one.key].tools]
            )
        ),
        request_reasons,
        votes=lambda one: one.found.get("votes", {}),
        parts=[build_histogram("Quality of the requests that can be answered", scores, least)],
        budget=extent.budget,
    )
    return build_sweep_report(made, stage)


def _write_kept_requests(made: Any, rows: Any, out: Path) -> None:
    """The kept requests, each as it was asked, with tool names and the verdict."""
    from callwright.storage import lines

    # by key: ids are the file's own, and two rows of it may have the same one
    known = {row.key: row.item for row in rows}
    kept = [(known[f.key], f) for f in made.kept]
    lines.save_rows(
        out,
        (
            {"id": f.id, "query": one.query, "tools": [t.name for t in one.tools],
             "needed": list(one.needed), "quality": f.found["quality"], "why": f.why}
            for one, f in kept
        ),
    )  # fmt: skip
    print(f"kept: {out} ({len(made.kept)} requests)", file=sys.stderr)
