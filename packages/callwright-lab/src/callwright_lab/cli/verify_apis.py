"""``callwright verify apis``: call every tool, decide which are alive, write down what their
documentation lacks.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from callwright.cli.settings.options import (
    ConfigOptions,
    EvidenceOptions,
    Tools,
    add_strict_option,
    group_options,
)
from callwright_lab.cli.verify_options import Extent


@dataclass(frozen=True, slots=True)
class CallOptions:
    """Options of calling: the tools, and the number of calls."""

    only: Annotated[
        list[str] | None, typer.Option("--only", help="Only these tools, like find_*.")
    ] = None
    each: Annotated[int, typer.Option(help="Calls of each tool at most.", min=1)] = 3
    sandbox: Annotated[
        list[str] | None,
        typer.Option(
            "--sandbox",
            help=(
                "Tools that may write and are called, like git_*: what they change is thrown away."
            ),
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Options of the models that help to verify tools."""

    model: Annotated[
        str | None,
        typer.Option(
            "--model", "-m", help="Writes example calls and documentation; imitates the dead."
        ),
    ] = None
    judge: Annotated[
        list[str] | None,
        typer.Option(
            "--judge",
            help="One more model that says which tools are valid, by majority. May be repeated.",
        ),
    ] = None
    stand_in: Annotated[
        bool,
        typer.Option(
            "--stand-in", help="With --model: it imitates what is dead or may not be called."
        ),
    ] = False


@dataclass(frozen=True, slots=True)
class OverlayOptions:
    """Where the documentation that was found goes."""

    apply: Annotated[
        Path | None,
        typer.Option("--apply", help="Write what was found here, for --overlay; the source stays."),
    ] = None
    diff: Annotated[
        bool, typer.Option("--diff/--no-diff", help="Show the documentation before and after.")
    ] = True


@add_strict_option
@group_options()
def verify_apis(
    tools: Tools = None,
    *,
    called: CallOptions,
    models: ModelOptions,
    found: OverlayOptions,
    extent: Extent,
    kept: EvidenceOptions,
    where: ConfigOptions,
) -> None:
    """Call the tools of a catalogue. Shows which are alive, what their schemas lack, and where they
    drift from them.
    """
    import asyncio

    from callwright.cli.evidence import open_evidence
    from callwright.cli.settings.settings import Given, resolve_settings
    from callwright.nouns.errors import ConfigError
    from callwright_lab.cli.verify_options import print_agreement, print_report

    given = Given({"tools": tools, **kept.to_settings()})
    settings = resolve_settings(given, config=where.config, profile=where.profile)
    sources = settings.get("tools", [])
    if not sources:
        raise ConfigError("verify apis needs tools", hint="callwright verify apis --tools SOURCE")
    wanted = {
        "only": called.only or [],
        "each": called.each,
        "sandbox": called.sandbox or [],
        "model": models.model,
        "judges": models.judge or [],
        "stand_in": models.stand_in,
    }
    with open_evidence(settings.evidence()) as store:
        made, offered = asyncio.run(_verify_apis(sources, wanted, extent, store))
    print_report(made, extent, lambda: _build_report(made, offered, extent))
    _print_hints(made)
    print_agreement([one.found.get("votes", {}) for one in made.findings])
    _write_overlay(made, offered, wanted, found.apply, found.diff and not extent.as_json)


def _print_hints(made: Any) -> None:
    """Print advice about tools that were not called in this sweep."""
    if untried := [one.id for one in made.findings if one.category == "untried: may write"]:
        print(
            f"{len(untried)} tools may write, for all that was said, and were not called"
            f" ({', '.join(untried[:3])}): say that they read (@tool(effects=READ), or an MCP"
            " server that is trusted), or --sandbox PATTERN",
            file=sys.stderr,
        )
    if lacking := [one.id for one in made.findings if one.category == "untried: no input"]:
        print(
            f"{len(lacking)} tools were not called, because nothing gives an input that they"
            f" require ({', '.join(lacking[:3])}): document an example of it, or --model MODEL"
            " writes calls",
            file=sys.stderr,
        )
    if made.again and any(one.category.startswith("dead") for one in made.findings):
        print(
            f"{made.again} findings are those of an earlier sweep: --fresh calls again what was"
            " repaired"
            " since",
            file=sys.stderr,
        )


async def _verify_apis(
    sources: list[str], wanted: dict[str, Any], extent: Any, store: Any
) -> tuple[Any, Any]:
    from contextlib import AsyncExitStack
    from fnmatch import fnmatchcase

    from callwright.agent.probing import TrialPolicy
    from callwright.cli.opened import open_sources
    from callwright.models import open_model
    from callwright_lab.cli.verify_options import run_verify_sweep
    from callwright_lab.verify.apis import ApiVerifier, Watch
    from callwright_lab.verify.committee import name_judges

    async with AsyncExitStack() as stack:
        catalog = await stack.enter_async_context(open_sources(sources, problems=True, pinned=True))
        specs = [*([wanted["model"]] if wanted["model"] else []), *wanted["judges"]]
        models = [open_model(spec) for spec in specs]
        for one in models:
            stack.push_async_callback(one.aclose)
        first = models[0] if wanted["model"] else None
        only = wanted["only"]
        tools = [
            t
            for t in catalog.tools
            if not only or any(fnmatchcase(t.name, pattern) for pattern in only)
        ]
        watch = Watch(
            calls=wanted["each"],
            policy=TrialPolicy(sandbox=tuple(wanted["sandbox"])),
            proposer=first,
            refiners=name_judges(models),
            imitator=first if wanted["stand_in"] else None,
            evidence=store,
            secrets=catalog.secrets,
            place=catalog.place,
        )
        verifier = ApiVerifier(tools, catalog.call, watch)
        about = {k: v for k, v in wanted.items() if k != "only"}
        made = await run_verify_sweep(
            "apis", about, verifier.rows(), verifier.judge, extent, verifier.levels
        )
        return made, tools


def _build_report(made: Any, offered: Any, extent: Any) -> Any:
    """The page; documentation before and after is not folded."""
    from callwright_lab.verify.reporting.evidence import (
        iter_documentation_parts,
        iter_tool_evidence,
        tool_reasons,
    )
    from callwright_lab.verify.reporting.page import Stage, build_sweep_report

    tools = {tool.name: tool for tool in offered}
    stage = Stage(
        "Tools, verified by calling them",
        lambda one: tuple(iter_tool_evidence(one)),
        tool_reasons,
        votes=lambda one: one.found.get("votes", {}),
        shown=lambda one: tuple(iter_documentation_parts(one, tools.get(one.id))),
        budget=extent.budget,
    )
    return build_sweep_report(made, stage)


def _write_overlay(
    made: Any, tools: Any, wanted: dict[str, Any], apply: Path | None, diff: bool
) -> None:
    """Show what would change, and write it where that is wanted."""
    from datetime import date

    from callwright import __version__
    from callwright.tools.overlay import Overlay
    from callwright_lab.verify.apis import build_overlay
    from callwright_lab.verify.differences import iter_diff_lines

    by = {
        "by": f"callwright verify apis {__version__}",
        "on": date.today().isoformat(),
        "model": wanted["model"],
    }
    overlay = build_overlay(made.findings, by)
    if diff:
        _print_lines(iter_diff_lines(tools, overlay))
        _print_lines(
            f"~ {one.id}: {why}" for one in made.findings for why in one.found.get("refused", ())
        )
    if apply is None:
        return
    before = Overlay.read(apply).tools if apply.exists() else {}
    whole = Overlay({**before, **overlay.tools}, by, str(apply))
    whole.write(apply)
    print(
        f"overlay: {apply} ({len(whole.tools)} tools); callwright run … --overlay {apply}",
        file=sys.stderr,
    )


def _print_lines(lines: Any) -> None:
    from rich.text import Text

    from callwright.cli.terminal.console import build_console as our_console

    console = our_console()
    styles = {"-": "red", "+": "green", "!": "yellow", "@": "bold", "~": "dim"}
    for line in lines:
        console.print(Text(line, style=styles.get(line[0], "")), soft_wrap=True)
