"""All commands. Bodies live in their own modules and are imported when called."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from callwright import __version__
from callwright.cli.lab import add_lab_commands
from callwright.cli.settings.options import (
    Allow,
    AsJson,
    Config,
    Encoder,
    Evidence,
    Frozen,
    Html,
    Journals,
    Jsonl,
    MayFill,
    Mode,
    Model,
    NoEvidence,
    Only,
    Overlay,
    PlanFile,
    Planner,
    PlanStrategies,
    PlanStrategy,
    Profile,
    Repair,
    Retrieval,
    Shortlist,
    Strategy,
    Tools,
    Trials,
    limited,
    strictly,
)
from callwright.cli.settings.serving import proxy_command, simulate_command
from callwright.cli.terminal.ending import report_errors
from callwright.cli.tools import catalogue

app = typer.Typer(
    name="callwright",
    help="Makes small and open language models use tools reliably.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(catalogue, name="tools")
app.command("simulate")(simulate_command)
app.command("proxy")(proxy_command)
add_lab_commands(app)


class PlanFormat(StrEnum):
    text = "text"
    json = "json"
    mermaid = "mermaid"


def run() -> None:
    """Run the app; our own errors become one message and exit code 1."""
    with report_errors():
        app()


def _version(value: bool) -> None:
    if value:
        print(f"callwright {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it.")
    ] = False,
) -> None:
    """Makes small and open language models use tools reliably."""


@app.command("run")
@strictly
@limited
def run_command(
    query: Annotated[str, typer.Argument(help="What to find out or do.")],
    tools: Tools = None,
    overlay: Overlay = None,
    only: Only = None,
    model: Model = None,
    strategy: Strategy = None,
    repair: Repair = None,
    planner: Planner = None,
    plan_file: PlanFile = None,
    freeze: Frozen = None,
    may_fill: MayFill = None,
    encoder: Encoder = None,
    mode: Mode = None,
    trace: Annotated[Path | None, typer.Option(help="Write the trace here (JSON lines).")] = None,
    html: Html = None,
    as_json: AsJson = False,
    journal: Journals = None,
    allow: Allow = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Show what would be called; only what reads is called."),
    ] = False,
    sandbox: Annotated[
        bool,
        typer.Option(
            "--sandbox", help="What the tools change is thrown away: dfsdt may try writes too."
        ),
    ] = False,
    no_journal: Annotated[
        bool, typer.Option("--no-journal", help="Keep nothing to resume from.")
    ] = False,
    shortlist: Shortlist = None,
    trials: Trials = None,
    retrieval: Retrieval = None,
    evidence: Evidence = None,
    no_evidence: NoEvidence = False,
    config: Config = None,
    profile: Profile = None,
    *,
    limits: dict[str, float],
) -> None:
    """Answer a request with tools: plan, call, mend, answer."""
    from callwright.cli.run import SHORTLISTING, run_query
    from callwright.cli.settings.settings import effective

    given = {"tools": tools, "overlay": overlay, "only": only, "model": model, "planner": planner}
    given["strategy"] = strategy
    more: dict[str, Any] = {
        "encoder": encoder,
        "mode": mode and mode.value,
        "allow": allow,
        "retrieval": retrieval,
    }
    more |= {"shortlist": shortlist, "trials": trials and trials.value}
    more |= {
        "journal": False if no_journal else journal,
        "evidence": False if no_evidence else evidence,
    }
    settings = effective({**given, **more, **limits}, config=config, profile=profile).announced(
        "model", "encoder"
    )
    taken = settings.take(
        "only", "model", "strategy", "planner", "encoder", "mode", "allow", *SHORTLISTING
    )
    code = run_query(
        query,
        settings.sources(),
        limits=settings.limits(),
        journal=settings.journal(),
        evidence=settings.evidence(),
        trace=trace,
        html=html,
        as_json=as_json,
        dry_run=dry_run,
        sandbox=sandbox,
        plan=plan_file,
        repair=repair.value if repair else "plain",
        freeze=freeze.value if freeze else "",
        may_fill=may_fill or (),
        **taken,
    )
    raise typer.Exit(code)


@app.command("runs")
def runs_command(
    journal: Journals = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
    config: Config = None,
    profile: Profile = None,
) -> None:
    """List the runs that were kept: how they ended, which can be resumed, which calls are in
    doubt.
    """
    from callwright.cli.runs import list_runs
    from callwright.cli.settings.settings import effective

    settings = effective({"journal": journal}, config=config, profile=profile)
    raise typer.Exit(list_runs(settings.folder(), as_json))


@app.command("resume")
@strictly
def resume_command(
    run: Annotated[
        str, typer.Argument(help="Its id, the end of its id, or the path of its journal.")
    ],
    tools: Tools = None,
    model: Model = None,
    journal: Journals = None,
    changed: Annotated[
        bool,
        typer.Option("--changed", help="Although version, prompts or tools have changed since."),
    ] = False,
    allow: Allow = None,
    html: Html = None,
    as_json: AsJson = False,
    evidence: Evidence = None,
    no_evidence: NoEvidence = False,
    config: Config = None,
    profile: Profile = None,
) -> None:
    """Go on with a run that was ended in the middle: nothing that is on record is done or asked
    again.
    """
    from callwright.cli.runs import resume_run, started_with
    from callwright.cli.settings.settings import effective

    here = effective({"journal": journal}, config=config, profile=profile)
    found = here.folder()
    asked = model or started_with(run, found, tools)
    kept = False if no_evidence else evidence
    given = {"journal": journal, "allow": allow, "evidence": kept, "model": asked}
    settings = effective(given, config=config, profile=profile, say=False).announced("model")
    more = {
        "allow": settings.get("allow", []),
        "evidence": settings.evidence(),
        "html": html,
        "as_json": as_json,
    }
    code = resume_run(run, folder=found, tools=tools, model=model, changed=changed, **more)
    raise typer.Exit(code)


@app.command("resolve")
def resolve_command(
    run: Annotated[str, typer.Argument(help="The run's id.")],
    call: Annotated[str, typer.Argument(help="The call in doubt, as callwright runs names it.")],
    result: Annotated[str | None, typer.Option(help="It took effect: its result, as JSON.")] = None,
    not_done: Annotated[
        bool, typer.Option("--not-done", help="It did not: make it again.")
    ] = False,
    failed: Annotated[str | None, typer.Option(help="It failed: why.")] = None,
    journal: Journals = None,
    config: Config = None,
    profile: Profile = None,
) -> None:
    """Say what became of a call whose outcome was lost in a crash."""
    from callwright.cli.runs import resolve_call
    from callwright.cli.settings.settings import effective

    folder = effective({"journal": journal}, config=config, profile=profile).folder()
    raise typer.Exit(
        resolve_call(run, call, folder=folder, result=result, not_done=not_done, failed=failed)
    )


@app.command()
def demo(
    model: Model = None,
    html: Annotated[Path, typer.Option(help="Where the run page goes.")] = Path("runs/demo.html"),
) -> None:
    """Run one task of examples/desk on the embedded model and open nothing, download what is
    needed.
    """
    from callwright.cli.demo import run_demo

    raise typer.Exit(run_demo(model, html))


@app.command()
@strictly
def plan(
    query: Annotated[str | None, typer.Argument(help="The request to plan for.")] = None,
    tools: Tools = None,
    overlay: Overlay = None,
    only: Only = None,
    format_: Annotated[
        PlanFormat, typer.Option("--format", help="How to print it.")
    ] = PlanFormat.text,
    strategy: PlanStrategy = None,
    planner: Planner = None,
    encoder: Encoder = None,
    model: Model = None,
    mode: Mode = None,
    html: Html = None,
    jsonl: Jsonl = False,
    every: Annotated[
        bool, typer.Option("--all", help="Plan every tool, not only those found for the request.")
    ] = False,
    shortlist: Annotated[
        int | None,
        typer.Option(
            "--shortlist",
            help="Plan at most so many tools, those found for the request [8].",
            min=1,
        ),
    ] = None,
    retrieval: Annotated[
        str | None,
        typer.Option(
            "--retrieval",
            help="How they are found; see retrieve --mode [ranked, or lexical without vectors].",
        ),
    ] = None,
    config: Config = None,
    profile: Profile = None,
) -> None:
    """Show what a request would be answered with: which tools, in which order. Nothing is
    called.
    """
    from callwright.cli.plan import plan_lines, print_plan
    from callwright.cli.settings.settings import effective

    given = {
        "tools": tools,
        "overlay": overlay,
        "only": only,
        "planner": planner,
        "encoder": encoder,
        "model": model,
    }
    more: dict[str, Any] = {
        "mode": mode and mode.value,
        "shortlist": shortlist,
        "retrieval": retrieval,
    }
    asked = ("encoder", "model") if strategy is PlanStrategies.dag else ("encoder",)
    settings = effective({**given, **more}, config=config, profile=profile).announced(*asked)
    taken = settings.take("only", "planner", "encoder", "model", "mode", "shortlist", "retrieval")
    if jsonl:
        raise typer.Exit(plan_lines(taken.get("planner"), taken.get("encoder")))
    else:
        form, chosen = format_.value, strategy.value if strategy else "layered"
        print_plan(query, settings.sources(), form, chosen, html=html, every=every, **taken)


@app.command()
@strictly
def check(
    call: Annotated[
        str | None, typer.Argument(help='The call: {"tool": …, "arguments": …}, or - for stdin.')
    ] = None,
    tools: Tools = None,
    overlay: Overlay = None,
    jsonl: Jsonl = False,
    config: Config = None,
    profile: Profile = None,
) -> None:
    """Hold a tool call against its tool's schema, mend what can be mended without loss, list every
    edit.
    """
    from callwright.cli.check import check_lines, check_one
    from callwright.cli.settings.settings import effective

    sources = effective(
        {"tools": tools, "overlay": overlay}, config=config, profile=profile
    ).sources()
    if jsonl:
        raise typer.Exit(check_lines(sources))
    raise typer.Exit(check_one(call, sources))


@app.command("retrieve")
@strictly
def retrieve_command(
    query: Annotated[str | None, typer.Argument(help="What the tools are wanted for.")] = None,
    tools: Tools = None,
    overlay: Overlay = None,
    k: Annotated[int, typer.Option("--k", "-k", help="How many tools at most.", min=1)] = 10,
    mode: Annotated[
        str,
        typer.Option(
            help="lexical (no encoder), hybrid, ranked (hybrid, put in order by a learned ranker), "
            "single (hybrid with one encoding); baselines: bm25, dense."
        ),
    ] = "lexical",
    encoder: Annotated[
        str | None,
        typer.Option(
            "--encoder", help="minilm (default), a model folder, or an endpoint URL#MODEL."
        ),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(
            "--cache",
            help="File that remembers vectors between calls; default: in the user's state.",
        ),
    ] = None,
    saved: Annotated[
        Path | None,
        typer.Option(
            "--index",
            help="Folder of a saved index: brought up to date with --tools, or used as it is.",
        ),
    ] = None,
    jsonl: Jsonl = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the tools as JSON.")] = False,
    config: Config = None,
    profile: Profile = None,
) -> None:
    """Find the few tools of a large catalogue that a request may need."""
    from callwright.cli.retrieve import retrieve
    from callwright.cli.settings.settings import effective

    sources = effective(
        {"tools": tools, "overlay": overlay}, config=config, profile=profile
    ).sources()
    code = retrieve(
        query,
        sources,
        k,
        mode,
        encoder=encoder,
        cache=cache,
        saved=saved,
        jsonl=jsonl,
        as_json=as_json,
    )
    raise typer.Exit(code)


@app.command("refine")
def refine_command(
    reply: Annotated[
        str | None,
        typer.Argument(
            help="A reply as the model wrote it, a message or call as JSON, or - for stdin."
        ),
    ] = None,
    tools: Tools = None,
    overlay: Overlay = None,
    query: Annotated[
        str, typer.Option("--query", help="What the model was asked: values come from there.")
    ] = "",
    jsonl: Jsonl = False,
    leave_out: Annotated[
        bool,
        typer.Option(
            "--leave-out",
            help="Leave out optional values that nothing in the conversation supports.",
        ),
    ] = False,
    rungs: Annotated[
        str, typer.Option(help="Rungs of the ladder, comma-separated.")
    ] = "rules,sequence",
    model_rung: Annotated[
        str,
        typer.Option(
            "--model-rung", help="Also the model rung, asked of this model (local:PATH, URL#MODEL)."
        ),
    ] = "",
    prompt: Annotated[
        str, typer.Option(help="The refiner's prompt: paper, or short for small ones.")
    ] = "paper",
    config: Config = None,
    profile: Profile = None,
) -> None:
    """Make the calls of model replies right: of one, or on --jsonl {"id", "text", "tools", "query"}
    a line.
    """
    from callwright.cli.refine import Pipeline, refine_lines, refine_one
    from callwright.cli.settings.settings import effective

    pipeline = Pipeline(leave_out, [r for r in rungs.split(",") if r], model_rung, prompt)
    if jsonl:
        raise typer.Exit(refine_lines(pipeline))
    sources = effective(
        {"tools": tools, "overlay": overlay}, config=config, profile=profile
    ).sources()
    raise typer.Exit(refine_one(reply, sources, query, pipeline))


@app.command("config")
def config_command(
    model: Model = None,
    config: Config = None,
    profile: Profile = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Show the settings that hold here, and where each was said."""
    from callwright.cli.settings.settings import effective, render_settings

    print(
        render_settings(
            effective({"model": model}, config=config, profile=profile, say=False), as_json
        )
    )


@app.command("trust")
def trust_command(
    places: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PATH|URL]…", help="What to trust, as it is now; read it first."),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List what is trusted.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Trust it no longer.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="List it as JSON.")] = False,
) -> None:
    """Confirm what came from elsewhere, by digest: a callwright.toml, a tool document, a server, a
    run's journal.
    """
    from callwright.cli.trust import distrust, list_trusted, trust_all

    if listed or not places:
        raise typer.Exit(list_trusted(as_json))
    raise typer.Exit(distrust(places) if remove else trust_all(places))


@app.command("doctor")
def doctor_command(
    upstream: Annotated[str, typer.Option(help="The endpoint: http://host:8000/v1.")],
    model: Annotated[
        str | None, typer.Option(help="Its model; default: the first it lists.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    context: Annotated[
        int, typer.Option(help="Tokens of the long prompt; coding agents send 10,000 to 30,000.")
    ] = 8000,
) -> None:
    """Find out what an endpoint does with tool calls and what the proxy would mend there."""
    from callwright.cli.doctor.command import examine

    raise typer.Exit(examine(upstream, model, as_json=as_json, context=context))


@app.command()
def view(
    trace: Annotated[Path, typer.Argument(help="A trace (JSON lines).")],
    html: Annotated[
        Path | None, typer.Option(help="Where the page goes; default: beside the trace.")
    ] = None,
) -> None:
    """Draw a trace as one self-contained HTML page."""
    from callwright.cli.view import write_page

    write_page(trace, html)


@app.command()
def weights(
    names: Annotated[
        list[str] | None, typer.Argument(help="Names to fetch; none: list them.")
    ] = None,
) -> None:
    """List the weight files Callwright knows, or fetch some."""
    from callwright.cli.weights import show_weights

    show_weights(names or [])
