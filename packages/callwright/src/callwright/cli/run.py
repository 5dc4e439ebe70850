"""``callwright run``: one request from tools to answer, shown as it happens."""

from __future__ import annotations

import asyncio
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from callwright.agent.handling import Repairing
from callwright.agent.journal.ledger import Answer, Ledger
from callwright.agent.journal.resume import find_journal
from callwright.agent.journal.store import read_journal
from callwright.agent.options import Interaction, Persistence, Safety, ToolSelection
from callwright.agent.orchestrator import Orchestrator, Run
from callwright.agent.safety.consent import Approve
from callwright.agent.safety.filling import parse_rules
from callwright.agent.strategies import Given, Strategy, open_strategy, wrap_with_repair
from callwright.cli.evidence import open_evidence
from callwright.cli.settings.options import (
    EVERY_SOURCE,
    SafetyOptions,
    ShownOptions,
    StrategyOptions,
)
from callwright.cli.settings.settings import Settings
from callwright.cli.terminal.answer import AnswerPrinter
from callwright.cli.terminal.consent import make_terminal_approval
from callwright.cli.terminal.console import format_count
from callwright.cli.terminal.jsonl import print_json
from callwright.cli.terminal.live import Live
from callwright.cli.terminal.log_lines import LogLines
from callwright.cli.view import write_html
from callwright.models import ModelSpec
from callwright.nouns.control_characters import one_line
from callwright.nouns.errors import CallwrightError, ConfigError, JournalError
from callwright.nouns.limits import Limits
from callwright.nouns.protocols import ChatModel, Planner
from callwright.nouns.trace import JsonlSink, Sink
from callwright.nouns.types import to_canonical_json
from callwright.planning import open_planner
from callwright.retrieval import mode_named
from callwright.simulation.simulator import Simulator
from callwright.tools.evidence import EvidenceStore
from callwright.tools.sources import sources_of
from callwright.tools.trust import TrustStore
from callwright.viewer import page


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A request to run, and its settings. ``plan`` is the file of a plan to carry out; ``repair``
    how a failed call is repaired.
    """

    query: str
    tools: Sequence[str]
    model: ModelSpec | None = None
    strategy: str = "layered"
    planner: str | None = None
    encoder: str | None = None
    plan: Path | None = None
    repair: Repairing = "plain"
    interaction: Interaction = field(default_factory=Interaction)
    limits: Limits | None = None
    safety: Safety = field(default_factory=Safety)
    selection: ToolSelection = field(default_factory=ToolSelection)
    journal: bool | Path = True
    evidence: bool | Path = True

    @classmethod
    def of(
        cls,
        query: str,
        settings: Settings,
        strategy: StrategyOptions,
        safety: SafetyOptions,
    ) -> RunRequest:
        """Return the request of the settings and the command line. Raises ConfigError."""
        retrieval = settings.get("retrieval")
        return cls(
            query,
            settings.sources(),
            settings.model(),
            settings.get("strategy", "layered"),
            settings.get("planner"),
            settings.get("encoder"),
            strategy.plan_file,
            strategy.repair.value if strategy.repair else "plain",
            Interaction(
                settings.get("mode"),
                instructions=settings.get("instructions", ""),
                model_profile=settings.get("model_profile", ""),
            ),
            settings.limits(),
            Safety(
                allow=settings.get("allow", ()),
                ask=settings.get("ask", "destructive"),
                dry_run=safety.dry_run,
                sandbox=safety.sandbox,
                freeze=safety.freeze.value if safety.freeze else "",
                may_fill=parse_rules(safety.may_fill or ()),
            ),
            ToolSelection(
                settings.get("only"),
                settings.get("shortlist"),
                settings.get("trials", "off"),
                mode_named(retrieval) if retrieval else None,
                probing=settings.probing(),
                simulator=make_simulator,
            ),
            settings.journal(),
            settings.evidence(),
        )


def make_simulator(model: ChatModel) -> Simulator:
    """The simulator of a run's trials, which asks a model."""
    return Simulator(model=model)


def run_query(request: RunRequest, shown: ShownOptions) -> int:
    """Run, print the answer (or the whole run as JSON) on stdout, progress on stderr. 0 unless
    nothing was found.
    """
    if not request.query.strip() and request.plan is None:
        raise ConfigError("run needs a request", hint='callwright run "…" --tools SOURCE')
    planner = prepare_request(request, "run")
    with ExitStack() as stack:
        live = _choose_live(shown)
        stack.enter_context(report_resume_hint(live, request.journal))
        stack.enter_context(live)
        sinks: list[Sink] = [live]
        if shown.trace is not None:
            sinks.append(stack.enter_context(JsonlSink(shown.trace)))
        evidence = stack.enter_context(open_evidence(request.evidence))
        approve = make_terminal_approval(live)
        orchestrator = build_orchestrator(request, planner, live, evidence, sinks, approve)
        is_told = sys.stdout.isatty() and not shown.as_json
        run = (
            _run_told(orchestrator, request.query, live)
            if is_told
            else orchestrator.run_sync(request.query)
        )
    print_run(run, shown.as_json, is_told=is_told, is_logged=isinstance(live, LogLines))
    if shown.html is not None:
        write_html(page(run.events), shown.html)
    if shown.html is not None and not isinstance(live, LogLines):
        print(f"run page: {shown.html}", file=sys.stderr)
    return 0 if run.status != "abstained" else 3


def prepare_request(request: RunRequest, command: str) -> Planner | None:
    """Have what a request needs before anything is opened. Returns its planner. Raises
    ConfigError.
    """
    if not request.tools:
        raise ConfigError(
            f"{command} needs at least one tool source",
            hint="--tools SOURCE, for example a file of Python functions: --tools my_tools.py",
        )
    has_planner = request.planner or request.encoder
    planner = open_planner(request.planner, request.encoder) if has_planner else None
    for source in request.tools:
        sources_of(source)  # a name that stands for no source is an error before any download
    fetch_model(None if request.model is None else request.model.text)
    return planner


def build_orchestrator(
    request: RunRequest,
    planner: Planner | None,
    live: Live,
    evidence: EvidenceStore | None,
    sinks: Sequence[Sink],
    approve: Approve | None,
) -> Orchestrator:
    """The orchestrator of a request. ``approve``: who is asked on the terminal."""
    return Orchestrator(
        request.tools,
        model=request.model,
        strategy=_build_strategy(request),
        planner=planner,
        limits=request.limits,
        safety=replace(request.safety, approve=approve),
        selection=replace(request.selection, strict=EVERY_SOURCE.get(), trust=TrustStore()),
        persistence=Persistence(request.journal, evidence, sinks),
        interaction=replace(request.interaction, on_reply=live.on_text),
    )


def _choose_live(shown: ShownOptions) -> Live:
    """Return what shows the run on stderr. Raises ConfigError."""
    is_json = shown.form == "json"
    if shown.log_contents and not is_json:
        raise ConfigError(
            "--log-contents needs --log-format json", hint="--trace FILE writes all of a run"
        )
    return LogLines(with_contents=shown.log_contents) if is_json else Live()


def _run_told(orchestrator: Orchestrator, query: str, live: Live) -> Run:
    """The run; its answer is printed while it is written."""
    with AnswerPrinter(live) as printer:
        return asyncio.run(printer.show(orchestrator.stream(query)))


def _build_strategy(request: RunRequest) -> Strategy:
    """The strategy, or the given plan; what repairs its calls as it was asked for."""
    if request.plan is not None:
        return wrap_with_repair(Given(_read_plan_text(request.plan)), request.repair)
    return wrap_with_repair(open_strategy(request.strategy), request.repair)


def _read_plan_text(plan: Path) -> str:
    try:
        return plan.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(
            f"cannot read the plan {plan}: {exc}", hint="callwright plan … --format json writes one"
        ) from exc


@contextmanager
def report_resume_hint(live: Live, journal: bool | Path) -> Iterator[None]:
    """Say how a run goes on that an error or Ctrl-C ends. Entered before ``live``, whose moving
    line is gone then.
    """
    try:
        yield
    except CallwrightError as error:
        is_told = live.run in error.hint and not render_place(journal)  # then all is said
        if (goes_on := _build_resume_hint(live.run, journal)) and not is_told:
            error.add_note(goes_on)
        raise
    except KeyboardInterrupt:
        print(
            "; ".join(filter(None, ["stopped", _build_resume_hint(live.run, journal)])),
            file=sys.stderr,
        )
        raise


def _build_resume_hint(run: str, journal: bool | Path) -> str:
    """Return a hint on continuing a stopped run; "" if its journal holds too little. If writes were
    under way, the hint asks for their outcome first.
    """
    if not run or journal is False:
        return ""
    try:
        _, events = read_journal(find_journal(run, journal), every=True, texts=False)
    except JournalError:
        return ""
    if not any(event.kind == "run.start" for event in events):
        return ""
    doubts, place = Ledger(events).doubts, render_place(journal)
    if not doubts:
        return f"callwright resume {run}{place} goes on with this run"
    return "\n  ".join(
        [
            *(
                f"in doubt: {one}: it was under way and may have taken effect"
                for one in describe_doubts(doubts)
            ),
            "find out what happened, then say so, and the run goes on:",
            *(
                f"callwright resolve {run} {one['id']}{place} --result JSON | --not-done | --failed WHY"
                for one in doubts
            ),
            f"callwright resume {run}{place}",
        ]
    )


def render_place(journal: bool | Path) -> str:
    """The option that names the folder of a run, where it is not the usual one."""
    return f" --journal {shlex.quote(str(journal))}" if isinstance(journal, Path) else ""


def describe_doubts(doubts: Iterable[Answer]) -> tuple[str, ...]:
    """Calls in doubt, each as one line."""
    return tuple(f"{one['id']}: {one['tool']} {one['arguments']}" for one in doubts)


def fetch_model(model: str | None) -> None:
    """Have the embedded model's weights here before the run starts, with a progress bar."""
    if model in (None, "local"):
        from callwright.cli.weights import fetch_weights
        from callwright.models.engine import require_library
        from callwright.models.local import DEFAULT

        require_library()
        fetch_weights(DEFAULT)


def _print_skipped_calls(run: Run, *, is_logged: bool) -> None:
    """Print the calls that a dry run would make to stdout. Calls that needed approval but could not
    get it go to stderr.
    """
    asked = [
        event.data for event in run.events if event.kind == "approval" and not event.data["granted"]
    ]
    planned = [call for call in asked if call["by"] == "dry run"]
    if planned:
        print("\nDry run; these would be called:")
    for call in planned:
        print(f"  {one_line(call['tool'])} {to_canonical_json(call['arguments'])}")
    alone = dict.fromkeys(
        call["offer"].partition("#")[0] for call in asked if call["by"] == "nobody"
    )
    if alone and not is_logged:
        leave = " ".join(f"--allow {shlex.quote(tool)}" for tool in alone)
        print(
            f"not called, since nobody was there to be asked; to approve it beforehand: {leave}",
            file=sys.stderr,
        )


def print_run(run: Run, as_json: bool, *, is_told: bool = False, is_logged: bool = False) -> None:
    """The answer, or the run as JSON, on stdout; the cost on stderr, unless a log has told it.
    ``is_told``: the answer's text stands there already.
    """
    if as_json:
        print_json(run.to_dict())
        return
    text = () if is_told else (run.answer.text,)
    for line in (*text, *(f"Corrected: {one}" for one in run.answer.corrections)):
        print(line)
    _print_skipped_calls(run, is_logged=is_logged)
    if is_logged:
        return
    cost = run.cost
    print(
        f"{run.status}: {format_count(cost.calls, 'tool call')},"
        f" {format_count(cost.model_calls, 'model call')},"
        f" {cost.usage.prompt_tokens} + {cost.usage.completion_tokens} tokens, {cost.seconds:.0f}"
        f" s; edits {cost.repairs.get('tier1', 0)}, repairs {cost.repairs.get('tier2', 0)}, repeats"
        f" {cost.repairs.get('repeat', 0)}",
        file=sys.stderr,
    )
