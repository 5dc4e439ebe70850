"""All commands. Bodies live in their own modules and are imported when called."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from callwright import __version__
from callwright.cli.ending import in_a_sentence
from callwright.planning import PLANNERS

app = typer.Typer(
    name="callwright",
    help="Makes small and open language models use tools reliably.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
train = typer.Typer(no_args_is_help=True, help="Rebuild the trained parts from data (extra: train).")
bench = typer.Typer(no_args_is_help=True, help="Measure.")
app.add_typer(train, name="train")
app.add_typer(bench, name="bench")

Tools = Annotated[
    list[str] | None,
    typer.Option(
        "--tools",
        "-t",
        help="Where tools come from: module[:name], file.py[:name], a folder with tools.py and/or mcp.json, an "
        "OpenAPI document, an mcpServers file, a tool list, a URL. May be given several times.",
    ),
]
Only = Annotated[list[str] | None, typer.Option("--only", help="Show the model only these tools.")]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        help="local (default), local:PATH, or an OpenAI-compatible endpoint as URL#MODEL.",
        envvar="CALLWRIGHT_MODEL",
    ),
]
Planner = Annotated[str | None, typer.Option("--planner", help=f"One of {', '.join(PLANNERS)}.")]
Encoder = Annotated[
    str | None,
    typer.Option("--encoder", help="Text encoder of the planner layers: minilm, a folder, or an endpoint URL."),
]
Allow = Annotated[
    list[str] | None,
    typer.Option("--allow", help="Tools that may write or destroy without being asked about, like send_*."),
]
Journals = Annotated[
    Path | None, typer.Option("--journal", help="Folder of the runs; default: the user's folder for state.")
]
Html = Annotated[Path | None, typer.Option(help="Write the run page here.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the run as JSON.")]
Jsonl = Annotated[bool, typer.Option("--jsonl", help="JSON lines from stdin to stdout, one object a line.")]


class PlanFormat(StrEnum):
    text = "text"
    json = "json"
    mermaid = "mermaid"


class ReplyModes(StrEnum):
    schema = "schema"
    native = "native"
    text = "text"


def run() -> None:
    """Run the app; our own errors become one message and exit code 1."""
    with in_a_sentence():
        app()


def _version(value: bool) -> None:
    if value:
        print(f"callwright {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it.")] = False,
) -> None:
    """Makes small and open language models use tools reliably."""


@app.command("run")
def run_command(
    query: Annotated[str, typer.Argument(help="What to find out or do.")],
    tools: Tools = None,
    only: Only = None,
    model: Model = None,
    strategy: Annotated[
        str, typer.Option(help="layered, react, dfsdt, layered-no-sketch or layered-no-repair.")
    ] = "layered",
    planner: Planner = None,
    encoder: Encoder = None,
    mode: Annotated[
        ReplyModes | None, typer.Option(help="How to ask for calls; default: the endpoint's best.")
    ] = None,
    repairs: Annotated[int, typer.Option(help="The run's repair budget B.")] = 5,
    seconds: Annotated[float, typer.Option(help="End the run after this long.")] = 900.0,
    trace: Annotated[Path | None, typer.Option(help="Write the trace here (JSON lines).")] = None,
    html: Html = None,
    as_json: AsJson = False,
    journal: Journals = None,
    allow: Allow = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be called; only what reads is called.")
    ] = False,
    sandbox: Annotated[
        bool, typer.Option("--sandbox", help="What the tools change is thrown away: dfsdt may try writes too.")
    ] = False,
    no_journal: Annotated[bool, typer.Option("--no-journal", help="Keep nothing to resume from.")] = False,
) -> None:
    """Answer a request with tools: plan, call, mend, answer."""
    from callwright.cli.run import run_query
    from callwright.limits import Limits

    code = run_query(
        query,
        tools or [],
        only=only,
        model=model,
        strategy=strategy,
        planner=planner,
        encoder=encoder,
        mode=mode.value if mode else None,
        limits=Limits(repairs=repairs, seconds=seconds),
        trace=trace,
        html=html,
        as_json=as_json,
        journal=(journal or True) if not no_journal else False,
        allow=allow or (),
        dry_run=dry_run,
        sandbox=sandbox,
    )
    raise typer.Exit(code)


@app.command("runs")
def runs_command(
    journal: Journals = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """List the runs that were kept: how they ended, which can be resumed, which calls are in doubt."""
    from callwright.cli.runs import list_runs

    raise typer.Exit(list_runs(journal, as_json))


@app.command("resume")
def resume_command(
    run: Annotated[str, typer.Argument(help="Its id, the end of its id, or the path of its journal.")],
    tools: Tools = None,
    model: Model = None,
    journal: Journals = None,
    changed: Annotated[
        bool, typer.Option("--changed", help="Although version, prompts or tools have changed since.")
    ] = False,
    allow: Allow = None,
    html: Html = None,
    as_json: AsJson = False,
) -> None:
    """Go on with a run that was ended in the middle: nothing that is on record is done or asked again."""
    from callwright.cli.runs import resume_run

    code = resume_run(
        run, folder=journal, tools=tools, model=model, changed=changed, html=html, as_json=as_json, allow=allow or ()
    )
    raise typer.Exit(code)


@app.command("resolve")
def resolve_command(
    run: Annotated[str, typer.Argument(help="The run's id.")],
    call: Annotated[str, typer.Argument(help="The call in doubt, as callwright runs names it.")],
    result: Annotated[str | None, typer.Option(help="It took effect: its result, as JSON.")] = None,
    not_done: Annotated[bool, typer.Option("--not-done", help="It did not: make it again.")] = False,
    failed: Annotated[str | None, typer.Option(help="It failed: why.")] = None,
    journal: Journals = None,
) -> None:
    """Say what became of a call whose outcome was lost in a crash."""
    from callwright.cli.runs import resolve_call

    raise typer.Exit(resolve_call(run, call, folder=journal, result=result, not_done=not_done, failed=failed))


@app.command()
def demo(
    model: Model = None,
    html: Annotated[Path, typer.Option(help="Where the run page goes.")] = Path("runs/demo.html"),
) -> None:
    """Run one task of examples/desk on the embedded model and open nothing, download what is needed."""
    from callwright.cli.demo import run_demo

    raise typer.Exit(run_demo(model, html))


@app.command()
def plan(
    query: Annotated[str | None, typer.Argument(help="The request to plan for.")] = None,
    tools: Tools = None,
    only: Only = None,
    format_: Annotated[PlanFormat, typer.Option("--format", help="How to print it.")] = PlanFormat.text,
    planner: Planner = None,
    encoder: Encoder = None,
    jsonl: Jsonl = False,
) -> None:
    """Put tools into execution layers, without calling a model or a tool."""
    from callwright.cli.plan import plan_lines, print_plan

    if jsonl:
        plan_lines(planner, encoder)
    else:
        print_plan(query, tools or [], only, format_.value, planner, encoder)


@app.command()
def check(
    call: Annotated[str | None, typer.Argument(help='The call: {"tool": …, "arguments": …}, or - for stdin.')] = None,
    tools: Tools = None,
    jsonl: Jsonl = False,
) -> None:
    """Hold a tool call against its tool's schema, mend what can be mended without loss, list every edit."""
    from callwright.cli.check import check_lines, check_one

    if jsonl:
        check_lines(tools or [])
    else:
        raise typer.Exit(check_one(call, tools or []))


@app.command("refine")
def refine_command(
    jsonl: Jsonl = False,
    leave_out: Annotated[
        bool, typer.Option("--leave-out", help="Leave out optional values that nothing in the conversation supports.")
    ] = False,
    rungs: Annotated[str, typer.Option(help="Rungs of the ladder, comma-separated.")] = "rules,sequence",
    model_rung: Annotated[
        str, typer.Option("--model-rung", help="Also the model rung, asked of this model (local:PATH, URL#MODEL).")
    ] = "",
    prompt: Annotated[str, typer.Option(help="The refiner's prompt: paper, or short for small ones.")] = "paper",
) -> None:
    """Make the calls of model replies right: {"id", "text", "tools", "query"} a line."""
    from callwright.cli.refine import refine_lines
    from callwright.errors import ConfigError

    if not jsonl:
        raise ConfigError("refine reads JSON lines", hint="callwright refine --jsonl < replies.jsonl")
    refine_lines(leave_out=leave_out, rungs=[r for r in rungs.split(",") if r], model=model_rung, prompt=prompt)


@app.command("proxy")
def proxy_command(
    upstream: Annotated[str | None, typer.Option(help="The endpoint behind: http://host:8000/v1.")] = None,
    model: Annotated[str | None, typer.Option(help="local or local:PATH: the embedded model behind.")] = None,
    port: Annotated[int, typer.Option(help="Port to listen on.")] = 8787,
    host: Annotated[str, typer.Option(help="Address to listen on; other than loopback needs a key.")] = "127.0.0.1",
    guided: Annotated[str, typer.Option(help="Ask for calls by JSON schema: auto, on or off.")] = "auto",
    reasks: Annotated[
        int | None, typer.Option(help="Upstream questions beyond the client's own, per request.")
    ] = None,
    strict: Annotated[bool, typer.Option(help="Say refused calls in words instead of passing them on.")] = False,
) -> None:
    """Stand between any client and an endpoint, and make its tool calls right."""
    from callwright.cli.proxy import start

    start(upstream, model=model, host=host, port=port, guided=guided, reasks=reasks, strict=strict)


@app.command("doctor")
def doctor_command(
    upstream: Annotated[str, typer.Option(help="The endpoint: http://host:8000/v1.")],
    model: Annotated[str | None, typer.Option(help="Its model; default: the first it lists.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    context: Annotated[
        int, typer.Option(help="Tokens of the long prompt; coding agents send 10,000 to 30,000.")
    ] = 8000,
) -> None:
    """Find out what an endpoint does with tool calls and what the proxy would mend there."""
    from callwright.cli.doctor import examine

    raise typer.Exit(examine(upstream, model, as_json=as_json, context=context))


@app.command("tools")
def tools_command(
    tools: Annotated[list[str], typer.Argument(help="Tool sources, as for run --tools.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print an OpenAI-style tool list.")] = False,
) -> None:
    """List the tools of one or more sources, with their effects and what could not be imported."""
    from callwright.cli.tools import list_tools

    list_tools(tools, as_json)


@app.command()
def view(
    trace: Annotated[Path, typer.Argument(help="A trace (JSON lines).")],
    html: Annotated[Path | None, typer.Option(help="Where the page goes; default: beside the trace.")] = None,
) -> None:
    """Draw a trace as one self-contained HTML page."""
    from callwright.cli.view import write_page

    write_page(trace, html)


@app.command()
def weights(
    names: Annotated[list[str] | None, typer.Argument(help="Names to fetch; none: list them.")] = None,
) -> None:
    """List the weight files Callwright knows, or fetch some."""
    from callwright.cli.weights import show_weights

    show_weights(names or [])


_PASS = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


@train.command("layers", context_settings=_PASS)
def train_layers(context: typer.Context) -> None:
    """Train the layer predictor: --model edges (trees) or network (the paper's)."""
    from callwright.cli.train import train_layers as start

    raise typer.Exit(start(context.args))


@train.command("refiner", context_settings=_PASS)
def train_refiner(context: typer.Context) -> None:
    """Train the tool-use refiner: data, supervised warm start, DAPO, held-out score."""
    from callwright.training.refiner import main

    raise typer.Exit(main(context.args))


@bench.command("desk", context_settings=_PASS)
def bench_desk(context: typer.Context) -> None:
    """Strategies on the tasks of examples/desk."""
    from callwright.benchmarks.desk import main

    raise typer.Exit(main(context.args))


@bench.command("multi-turn", context_settings=_PASS)
def bench_multi_turn(context: typer.Context) -> None:
    """Strategies on turns of BFCL's executable multi-turn scenarios."""
    from callwright.benchmarks.multi_turn import main

    raise typer.Exit(main(context.args))


@bench.command("plan", context_settings=_PASS)
def bench_plan(context: typer.Context) -> None:
    """Execution orders against gold: learned and simple planners on public data."""
    from callwright.benchmarks.plan import main

    raise typer.Exit(main(context.args))


@bench.command("harm", context_settings=_PASS)
def bench_harm(context: typer.Context) -> None:
    """What refinement does to calls that were right and to replies that call nothing."""
    from callwright.benchmarks.harm import main

    raise typer.Exit(main(context.args))


@bench.command("refine", context_settings=_PASS)
def bench_refine(context: typer.Context) -> None:
    """Recorded replies and spoiled gold calls: the baseline, its rivals and every rung, on public data."""
    from callwright.benchmarks.refine import main

    raise typer.Exit(main(context.args))


@bench.command("confidence", context_settings=_PASS)
def bench_confidence(context: typer.Context) -> None:
    """How often the rules' guesses are right: what their confidences are taken from."""
    from callwright.benchmarks.confidence import main

    raise typer.Exit(main(context.args))


@bench.command("statements", context_settings=_PASS)
def bench_statements(context: typer.Context) -> None:
    """Planted true and false statements against the answer check."""
    from callwright.benchmarks.statements import main

    raise typer.Exit(main(context.args))
