"""All commands. Bodies live in their own modules and are imported when called."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from callwright import __version__
from callwright.cli.completion import Shell, prepare_completion, print_script
from callwright.cli.gateway.command import gateway
from callwright.cli.lab import add_lab_commands
from callwright.cli.settings.options import (
    Allow,
    Config,
    ConfigOptions,
    EvidenceOptions,
    Html,
    Journals,
    Jsonl,
    KeptOptions,
    LimitOptions,
    Model,
    Overlay,
    PageOptions,
    PlannerOptions,
    PlanStrategies,
    PlanStrategy,
    Profile,
    SafetyOptions,
    SelectionOptions,
    ShownOptions,
    SourceOptions,
    StrategyOptions,
    ToolOptions,
    Tools,
    add_strict_option,
    complete_setting,
    group_options,
)
from callwright.cli.settings.refiner import RefinerOptions
from callwright.cli.settings.renamed_options import replace_old_options
from callwright.cli.settings.serving import proxy_command, simulate_command
from callwright.cli.terminal.apps import new_app
from callwright.cli.terminal.ending import report_errors
from callwright.cli.tools import catalogue

app = new_app(
    """Repairs, orders and checks the tool calls of small and open language models.

    For an agent: callwright proxy --upstream URL, then point the agent at http://localhost:8787.

    For MCP servers: callwright gateway import, then one entry in your client.

    For an endpoint: callwright doctor --upstream URL says what it does with tool calls.

    For your own tools: callwright run "REQUEST" --tools my_tools.py --model URL#NAME.
    """,
    "callwright",
    first="proxy gateway doctor run chat refine check tools",
)
app.add_typer(catalogue, name="tools")
app.add_typer(
    gateway, name="gateway", short_help="Put many MCP servers behind one, and repair their calls."
)
app.command("simulate")(simulate_command)
app.command("proxy")(proxy_command)
add_lab_commands(app)


_RUN_ORDER = """query tools overlay only model model_profile instructions strategy repair planner
    plan_file freeze may_fill encoder mode trace html as_json log_format log_contents journal allow
    ask dry_run sandbox no_journal shortlist trials trial_model trial_simulate trial_price
    trial_money trial_relevance retrieval evidence no_evidence config profile"""
_CHAT_ORDER = """tools overlay only model model_profile session instructions strategy repair planner
    plan_file freeze may_fill encoder mode journal allow ask dry_run sandbox no_journal shortlist
    trials trial_model trial_simulate trial_price trial_money trial_relevance retrieval evidence
    no_evidence config profile"""
_PLAN_ORDER = """query tools overlay only format_ strategy planner encoder model mode html jsonl every
    shortlist retrieval config profile"""


class PlanFormat(StrEnum):
    text = "text"
    json = "json"
    mermaid = "mermaid"


@dataclass(frozen=True, slots=True)
class PlanSelectionOptions:
    """Options of the tools that are planned."""

    every: Annotated[
        bool, typer.Option("--all", help="Plan every tool, not only those found for the request.")
    ] = False
    shortlist: Annotated[
        int | None,
        typer.Option(
            "--shortlist",
            help="Plan at most so many tools, those found for the request [8].",
            min=1,
        ),
    ] = None
    retrieval: Annotated[
        str | None,
        typer.Option(
            "--retrieval",
            help="How tools are found; see retrieve --mode [ranked, or lexical without vectors].",
            autocompletion=complete_setting("retrieval"),
        ),
    ] = None

    def to_settings(self) -> Mapping[str, Any]:
        return {"shortlist": self.shortlist, "retrieval": self.retrieval}


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """Options of the encoder, and of what is remembered of it."""

    encoder: Annotated[
        str | None,
        typer.Option(
            "--encoder", help="minilm (default), a model folder, or an endpoint URL#MODEL."
        ),
    ] = None
    cache: Annotated[
        Path | None,
        typer.Option(
            "--cache",
            help="File that remembers vectors between calls; default: in the user's state.",
        ),
    ] = None
    saved: Annotated[
        Path | None,
        typer.Option(
            "--index",
            help="Folder of a saved index: brought up to date with --tools, or used as it is.",
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class PipelineOptions:
    """Options of refining replies."""

    leave_out: Annotated[
        bool,
        typer.Option(
            "--leave-out",
            help="Leave out optional values that nothing in the conversation supports.",
        ),
    ] = False
    rule_groups: Annotated[str, typer.Option(help="Rule groups to apply, comma-separated.")] = (
        "rules,sequence"
    )


def run_app() -> None:
    """Run the app; our own errors become one message and exit code 1."""
    with report_errors():
        prepare_completion(app)
        app(args=replace_old_options(sys.argv[1:]))


def _print_version(value: bool) -> None:
    if value:
        print(f"callwright {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show it.")
    ] = False,
) -> None:
    """Makes small and open language models use tools reliably."""


@app.command("run")
@add_strict_option
@group_options(_RUN_ORDER)
def run_command(
    query: Annotated[str, typer.Argument(help="What to find out or do.")],
    tools: ToolOptions,
    planner: PlannerOptions,
    strategy: StrategyOptions,
    safety: SafetyOptions,
    selection: SelectionOptions,
    shown: ShownOptions,
    kept: KeptOptions,
    config: ConfigOptions,
    limits: LimitOptions,
) -> None:
    """Answer a request with tools: plan, call, repair, answer."""
    from callwright.cli.run import RunRequest, run_query
    from callwright.cli.settings.settings import resolve_settings

    settings = resolve_settings(
        tools,
        planner,
        strategy,
        safety,
        selection,
        kept,
        limits,
        config=config.config,
        profile=config.profile,
        say=False,
    ).announced("model", "encoder", log_format=shown.form)
    raise typer.Exit(run_query(RunRequest.of(query, settings, strategy, safety), shown))


@app.command("chat")
@add_strict_option
@group_options(_CHAT_ORDER)
def chat_command(
    tools: ToolOptions,
    planner: PlannerOptions,
    strategy: StrategyOptions,
    safety: SafetyOptions,
    selection: SelectionOptions,
    kept: KeptOptions,
    config: ConfigOptions,
    limits: LimitOptions,
    session: Annotated[
        Path | None,
        typer.Option(
            "--session", help="Keep the conversation in this file, and continue it from there."
        ),
    ] = None,
) -> None:
    """Answer requests one after the other. Each may speak of earlier ones and of their
    results.
    """
    from callwright.cli.chat.command import run_chat
    from callwright.cli.run import RunRequest
    from callwright.cli.settings.settings import resolve_settings

    settings = resolve_settings(
        tools,
        planner,
        strategy,
        safety,
        selection,
        kept,
        limits,
        config=config.config,
        profile=config.profile,
        say=False,
    ).announced("model", "encoder")
    raise typer.Exit(run_chat(RunRequest.of("", settings, strategy, safety), session))


@app.command("runs")
def runs_command(
    journal: Journals = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
    config: Config = None,
    profile: Profile = None,
) -> None:
    """List recorded runs. Shows how they ended, which can be resumed, and which calls are in
    doubt.
    """
    from callwright.cli.runs import list_runs
    from callwright.cli.settings.settings import Given, resolve_settings

    settings = resolve_settings(Given({"journal": journal}), config=config, profile=profile)
    raise typer.Exit(list_runs(settings.folder(), as_json))


@app.command("resume")
@add_strict_option
@group_options(
    "run tools model journal changed allow html as_json evidence no_evidence config profile"
)
def resume_command(
    run: Annotated[
        str, typer.Argument(help="The run's id, the end of that id, or the path of its journal.")
    ],
    tools: Tools = None,
    model: Model = None,
    journal: Journals = None,
    changed: Annotated[
        bool,
        typer.Option("--changed", help="Resume although version, prompts or tools have changed."),
    ] = False,
    allow: Allow = None,
    *,
    page: PageOptions,
    kept: EvidenceOptions,
    config: ConfigOptions,
) -> None:
    """Resume an interrupted run. No recorded call or question is repeated."""
    from callwright.cli.runs import Resumption, get_start_model, resume_run
    from callwright.cli.settings.settings import Given, resolve_settings

    here = resolve_settings(
        Given({"journal": journal}), config=config.config, profile=config.profile
    )
    folder = here.folder()
    asked = model or get_start_model(run, folder, tools)
    settings = resolve_settings(
        Given({"journal": journal, "allow": allow, "model": asked}),
        kept,
        config=config.config,
        profile=config.profile,
        say=False,
    ).announced("model")
    resumption = Resumption(
        folder,
        tools,
        model,
        settings.key_variable(["model"]),
        changed=changed,
        allow=settings.get("allow", []),
        evidence=settings.evidence(),
    )
    raise typer.Exit(resume_run(run, resumption, page))


@app.command("resolve")
def resolve_command(
    run: Annotated[str, typer.Argument(help="The run's id.")],
    call: Annotated[str, typer.Argument(help="The call in doubt, as callwright runs names it.")],
    result: Annotated[
        str | None, typer.Option(help="The call took effect: its result, as JSON.")
    ] = None,
    not_done: Annotated[
        bool, typer.Option("--not-done", help="The call had no effect: make it again.")
    ] = False,
    failed: Annotated[str | None, typer.Option(help="The call failed: the reason.")] = None,
    journal: Journals = None,
    config: Config = None,
    profile: Profile = None,
) -> None:
    """Record the outcome of a call that a crash left in doubt."""
    from callwright.cli.runs import resolve_call
    from callwright.cli.settings.settings import Given, resolve_settings

    folder = resolve_settings(Given({"journal": journal}), config=config, profile=profile).folder()
    raise typer.Exit(
        resolve_call(run, call, folder=folder, result=result, not_done=not_done, failed=failed)
    )


@app.command()
def demo(
    model: Model = None,
    html: Annotated[Path, typer.Option(help="Where the run page goes.")] = Path("runs/demo.html"),
) -> None:
    """Run one task of examples/desk on the embedded model. Missing weights are downloaded."""
    from callwright.cli.demo import run_demo

    raise typer.Exit(run_demo(model, html))


@app.command()
@add_strict_option
@group_options(_PLAN_ORDER)
def plan(
    query: Annotated[
        str | None,
        typer.Argument(help="The request to plan for; with --jsonl, a file of requests."),
    ] = None,
    format_: Annotated[
        PlanFormat, typer.Option("--format", help="How to print it.")
    ] = PlanFormat.text,
    strategy: PlanStrategy = None,
    html: Html = None,
    jsonl: Jsonl = False,
    *,
    tools: ToolOptions,
    planner: PlannerOptions,
    selection: PlanSelectionOptions,
    config: ConfigOptions,
) -> None:
    """Show in which order tools are called for a request. No tool is called."""
    from callwright.cli.plan import PlanRequest, plan_lines, print_plan
    from callwright.cli.settings.settings import resolve_settings

    asked = ("encoder", "model") if strategy is PlanStrategies.dag else ("encoder",)
    settings = resolve_settings(
        tools, planner, selection, config=config.config, profile=config.profile
    ).announced(*asked)
    chosen = strategy.value if strategy else "layered"
    request = PlanRequest.of(query, settings, chosen, every=selection.every)
    if jsonl and html is not None:
        raise typer.BadParameter("a page shows one plan: leave out --jsonl", param_hint="--html")
    if jsonl:
        raise typer.Exit(plan_lines(query, request))
    print_plan(request, format_.value, html)


@app.command()
@add_strict_option
def check(
    call: Annotated[
        str | None,
        typer.Argument(
            help='The call: {"tool": …, "arguments": …}, or - for stdin; with --jsonl, a file of'
            " calls."
        ),
    ] = None,
    tools: Tools = None,
    overlay: Overlay = None,
    jsonl: Jsonl = False,
    config: Config = None,
    profile: Profile = None,
) -> None:
    """Check a tool call against its tool's schema. Repairs what the schema settles, and lists
    every edit.
    """
    from callwright.cli.check import check_lines, check_one
    from callwright.cli.settings.settings import resolve_settings

    given = SourceOptions(tools, overlay)
    sources = resolve_settings(given, config=config, profile=profile).sources()
    if jsonl:
        raise typer.Exit(check_lines(call, sources))
    raise typer.Exit(check_one(call, sources))


@app.command("retrieve")
@add_strict_option
@group_options("query tools overlay k mode encoder cache saved jsonl as_json config profile")
def retrieve_command(
    query: Annotated[
        str | None,
        typer.Argument(
            help="The request that the tools are needed for; with --jsonl, a file of requests."
        ),
    ] = None,
    k: Annotated[int, typer.Option("--k", "-k", help="Maximum number of tools.", min=1)] = 10,
    mode: Annotated[
        str | None,
        typer.Option(
            help="ranked (hybrid, put in order by a learned ranker), hybrid, single (hybrid with one"
            " encoding), lexical (no encoder); baselines: bm25, dense. Default: ranked where an"
            " encoder is installed, else lexical.",
            show_default=False,
            autocompletion=complete_setting("retrieval"),
        ),
    ] = None,
    jsonl: Jsonl = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the tools as JSON.")] = False,
    *,
    tools: SourceOptions,
    index: IndexOptions,
    config: ConfigOptions,
) -> None:
    """Find the few tools of a large catalogue for a request."""
    from callwright.cli.retrieve import run_retrieve
    from callwright.cli.settings.settings import resolve_settings

    sources = resolve_settings(tools, config=config.config, profile=config.profile).sources()
    code = run_retrieve(
        query,
        sources,
        k,
        mode,
        encoder=index.encoder,
        cache=index.cache,
        saved=index.saved,
        jsonl=jsonl,
        as_json=as_json,
    )
    raise typer.Exit(code)


@app.command("refine")
@group_options(
    "reply tools overlay query jsonl leave_out rule_groups refiner refiner_prompt refiner_tokens"
    " harm_bound upstream_model no_guard config profile"
)
def refine_command(
    reply: Annotated[
        str | None,
        typer.Argument(
            help="A reply as the model wrote it, a message or call as JSON, or - for stdin; with"
            " --jsonl, a file of replies."
        ),
    ] = None,
    query: Annotated[
        str,
        typer.Option(
            "--query", help="The request that the model answered; values are taken from it."
        ),
    ] = "",
    jsonl: Jsonl = False,
    *,
    tools: SourceOptions,
    pipeline: PipelineOptions,
    refiner: RefinerOptions,
    config: ConfigOptions,
) -> None:
    """Repair the calls in a model reply. With --jsonl: one {"id", "text", "tools", "query"} a
    line.
    """
    from callwright.cli.refine import Pipeline, refine_lines, refine_one
    from callwright.cli.settings.settings import resolve_settings

    groups = [group for group in pipeline.rule_groups.split(",") if group]
    made = Pipeline(pipeline.leave_out, groups, refiner.to_setup())
    sources = resolve_settings(tools, config=config.config, profile=config.profile).sources()
    run = refine_lines if jsonl else refine_one
    raise typer.Exit(run(reply, sources, query, made))


@app.command("config")
def config_command(
    model: Model = None,
    config: Config = None,
    profile: Profile = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Show the settings in effect here, and where each was set."""
    from callwright.cli.settings.settings import Given, render_settings, resolve_settings

    print(
        render_settings(
            resolve_settings(Given({"model": model}), config=config, profile=profile, say=False),
            as_json,
        )
    )


@app.command("trust")
def trust_command(
    places: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PATH|URL]…", help="What to trust, as it is now. Read it first."),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List what is trusted.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Stop trusting it.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="List it as JSON.")] = False,
) -> None:
    """Trust a file or server as it is now. That is a callwright.toml, a tool document, a server,
    or a run's journal.
    """
    from callwright.cli.trust import forget_places, list_trusted, trust_all

    if listed or not places:
        raise typer.Exit(list_trusted(as_json))
    raise typer.Exit(forget_places(places) if remove else trust_all(places))


@app.command("doctor")
def doctor_command(
    upstream: Annotated[str, typer.Option(help="The endpoint: http://host:8000/v1.")],
    model: Annotated[
        str | None, typer.Option(help="The endpoint's model; default: the first listed.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    context: Annotated[
        int, typer.Option(help="Tokens of the long prompt; coding agents send 10,000 to 30,000.")
    ] = 8000,
    writes: Annotated[
        bool,
        typer.Option(
            "--writes",
            help="Run small jobs with writes too (about 60 requests), and record for the proxy's"
            " --guard auto whether the model does them right.",
        ),
    ] = False,
) -> None:
    """Test how an endpoint handles tool calls. Says what the proxy would repair there."""
    from callwright.cli.doctor.command import Writes, run_doctor

    tried = Writes(writes)
    raise typer.Exit(run_doctor(upstream, model, as_json=as_json, context=context, writes=tried))


@app.command()
def view(
    trace: Annotated[Path, typer.Argument(help="A trace (JSON lines).")],
    html: Annotated[
        Path | None, typer.Option(help="Where the page goes; default: beside the trace.")
    ] = None,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow", help="Serve the page on this machine, and update it while the run goes on."
        ),
    ] = False,
) -> None:
    """Draw a trace as one self-contained HTML page."""
    from callwright.cli.follow import follow_trace
    from callwright.cli.view import write_page

    (follow_trace if follow else write_page)(trace, html)


@app.command()
def weights(
    names: Annotated[
        list[str] | None, typer.Argument(help="Names to fetch; none: list them.")
    ] = None,
) -> None:
    """List the weight files Callwright knows, or fetch some."""
    from callwright.cli.weights import show_weights

    show_weights(names or [])


@app.command("completion")
def completion_command(
    shell: Annotated[Shell, typer.Argument(help="The shell that loads the script.")],
) -> None:
    """Print a script that completes commands in a shell."""
    raise typer.Exit(print_script(app, shell))
