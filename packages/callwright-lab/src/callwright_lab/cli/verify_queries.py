"""``callwright verify queries``: which requests can be answered with the tools on offer, and are
worth asking.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from callwright.cli.settings.options import Config, Overlay, Profile, Tools, strictly
from callwright_lab.cli.verify_options import (
    Anew,
    AsJson,
    Concurrency,
    JournalFile,
    Minutes,
    ModelCalls,
    ReportFile,
)


@strictly
def verify_queries(
    requests: Annotated[
        Path,
        typer.Argument(
            help="JSON lines of id, query, tools and needed; ToolBench's query files; a folder."
        ),
    ],
    tools: Tools = None,
    overlay: Overlay = None,
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
    concurrency: Concurrency = 4,
    model_calls: ModelCalls = None,
    minutes: Minutes = None,
    journal: JournalFile = None,
    anew: Anew = False,
    report: ReportFile = None,
    as_json: AsJson = False,
    config: Config = None,
    profile: Profile = None,
) -> None:
    """Find the requests that can be answered with the tools on offer, and are good ones; say why
    others are not.
    """
    import asyncio

    from callwright.cli.settings.settings import Given, effective
    from callwright_lab.cli.verify_options import Extent, tell, tell_agreement

    settings = effective(
        Given({"tools": tools, "overlay": overlay}), config=config, profile=profile
    )
    extent = Extent(concurrency, None, model_calls, minutes, journal, anew, report, as_json)
    made, rows = asyncio.run(
        _verified(requests, settings, judge or [], least, _day(today), limit, extent)
    )
    tell(made, extent, lambda: _report(made, rows, least, extent))
    tell_agreement([one.found.get("votes", {}) for one in made.findings])
    if out is not None:
        _write(made, rows, out)


def _day(text: str | None) -> Any:
    from datetime import date

    from callwright.nouns.errors import ConfigError

    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise ConfigError(f"--today takes a day, not {text!r}", hint="--today 2026-11-22") from None


async def _verified(
    path: Path,
    settings: Any,
    judges: list[str],
    least: int,
    today: Any,
    limit: int | None,
    extent: Any,
) -> tuple[Any, Any]:
    from contextlib import AsyncExitStack

    from callwright.cli.opened import opened
    from callwright.models import open_model
    from callwright_lab.cli.verify_options import swept
    from callwright_lab.verify.committee import named
    from callwright_lab.verify.mock_tools import dead
    from callwright_lab.verify.queries import QueryVerifier
    from callwright_lab.verify.requests import read_requests

    async with AsyncExitStack() as stack:
        catalog = await stack.enter_async_context(opened(settings.sources()))
        asked = read_requests(path, catalog.tools)[:limit]
        models = [open_model(spec) for spec in judges]
        for one in models:
            stack.push_async_callback(one.aclose)
        verifier = QueryVerifier(named(models), least, today, dead(catalog.overlays))
        rows = verifier.rows(asked)
        about = {"judges": judges, "least": least, "today": today and today.isoformat()}
        return await swept("queries", about, rows, verifier.judge, extent), rows


def _report(made: Any, rows: Any, least: int, extent: Any) -> Any:
    """The page, with how often each quality was given."""
    from callwright_lab.verify.evidence import of_request, request_reasons
    from callwright_lab.verify.page import Stage, histogram, report_of

    known = {row.key: row.item for row in rows}
    scores = [one.found["quality"] for one in made.findings if "quality" in one.found]
    stage = Stage(
        "Requests",
        lambda one: tuple(
            of_request(one, known[one.key].query, [tool.name for tool in known[one.key].tools])
        ),
        request_reasons,
        votes=lambda one: one.found.get("votes", {}),
        parts=[histogram("Quality of the requests that can be answered", scores, least)],
        budget=extent.budget,
    )
    return report_of(made, stage)


def _write(made: Any, rows: Any, out: Path) -> None:
    """The kept requests, each as it was asked, with tool names and the verdict."""
    from callwright.storage import lines

    # by key: ids are the file's own, and two rows of it may have the same one
    known = {row.key: row.item for row in rows}
    kept = [(known[f.key], f) for f in made.kept]
    lines.save(
        out,
        (
            {"id": f.id, "query": one.query, "tools": [t.name for t in one.tools],
             "needed": list(one.needed), "quality": f.found["quality"], "why": f.why}
            for one, f in kept
        ),
    )  # fmt: skip
    print(f"kept: {out} ({len(made.kept)} requests)", file=sys.stderr)
