"""Options that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from callwright.cli.settings.trials import TrialOptions
from callwright.nouns.limits import LIMITS
from callwright.nouns.log_line import LogFormat
from callwright.planning import PLANNERS


class TrialModes(StrEnum):
    off = "off"
    read_only = "read-only"
    sandbox = "sandbox"


class ReplyModes(StrEnum):
    schema = "schema"
    native = "native"
    text = "text"


class FreezeLevels(StrEnum):
    plan = "plan"
    arguments = "arguments"


class Asks(StrEnum):
    destructive = "destructive"
    writes = "writes"


class Repairs(StrEnum):
    plain = "plain"
    reflect = "reflect"
    reflect_after = "reflect-after"


class LogFormats(StrEnum):
    text = "text"
    json = "json"


class PlanStrategies(StrEnum):
    layered = "layered"
    edges = "edges"
    dag = "dag"


def complete_setting(key: str) -> Callable[[], list[str]]:
    """Return the completion of an option: the values that a setting of ``callwright.toml`` takes."""

    def complete() -> list[str]:
        from callwright.cli.settings.config import PROXY, SETTINGS

        table, _, name = key.rpartition(".")
        return [*(PROXY if table else SETTINGS)[name].options()]

    return complete


Tools = Annotated[
    list[str] | None,
    typer.Option(
        "--tools",
        "-t",
        help=(
            "Where tools come from: module[:name], file.py[:name], a folder with tools.py and/or"
            " mcp.json, an OpenAPI document, an mcpServers file, a tool list, a URL. May be given"
            " several times."
        ),
    ),
]
Overlay = Annotated[
    str | None,
    typer.Option(
        "--overlay", help="Better documentation of the tools: what verify apis --apply wrote."
    ),
]
Only = Annotated[list[str] | None, typer.Option("--only", help="Show the model only these tools.")]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        help=(
            "local (default), local:PATH, or an OpenAI-compatible endpoint as URL#MODEL; also"
            " CALLWRIGHT_MODEL."
        ),
    ),
]
Planner = Annotated[
    str | None,
    typer.Option(
        "--planner",
        help=f"Orders tools: {', '.join(PLANNERS)}; or a model, URL#MODEL.",
        autocompletion=complete_setting("planner"),
    ),
]
Encoder = Annotated[
    str | None,
    typer.Option(
        "--encoder",
        help="Text encoder of --planner layers: minilm, a folder, or an endpoint URL.",
    ),
]
Allow = Annotated[
    list[str] | None,
    typer.Option(
        "--allow",
        help=(
            "Tools that may write or destroy without approval: send_*, or SOURCE:TOOL if two"
            " sources share a name."
        ),
    ),
]
AskFor = Annotated[
    Asks | None,
    typer.Option(
        "--ask",
        help=(
            "Calls that need approval: those that may destroy something, or all that may write"
            " (writes). [destructive]"
        ),
    ),
]
Shortlist = Annotated[
    int | None,
    typer.Option(
        "--shortlist",
        help="Show the model at most this many tools, chosen for the request [8].",
        min=1,
    ),
]
Trials = Annotated[
    TrialModes | None,
    typer.Option(
        "--trials",
        help="Try the found tools first: read-only, or sandbox (all changes are discarded).",
    ),
]
Retrieval = Annotated[
    str | None,
    typer.Option(
        "--retrieval",
        help="How a shortlist is found; see retrieve --mode [lexical].",
        autocompletion=complete_setting("retrieval"),
    ),
]
Strategy = Annotated[
    str | None,
    typer.Option(
        help=(
            "layered (default), guided, dag, edges, compiler, react, dfsdt, code or"
            " toolmvr; docs/concepts.md has them all."
        ),
        autocompletion=complete_setting("strategy"),
    ),
]
Instructions = Annotated[
    str | None,
    typer.Option(help="What the model has to keep to in every question, as a system message."),
]
ModelProfile = Annotated[
    str | None,
    typer.Option(
        "--model-profile",
        help=(
            "How much the model is shown and may write: small, medium or large; default: by the"
            " context and size that the endpoint states."
        ),
        autocompletion=complete_setting("model_profile"),
    ),
]
Repair = Annotated[
    Repairs | None,
    typer.Option(
        help=(
            "How a failed call is repaired: plain, reflect (explain the failure first), or"
            " reflect-after (only if plain did not help)."
        )
    ),
]
PlanFile = Annotated[
    Path | None,
    typer.Option(
        "--plan", help="Execute the plan in this file; callwright plan --format json writes one."
    ),
]
Frozen = Annotated[
    FreezeLevels | None,
    typer.Option(
        "--freeze",
        help="Only call what is planned (plan), and only with planned arguments (arguments).",
    ),
]
MayFill = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-source",
        help=(
            "Which sources may fill an argument that a frozen plan leaves open:"
            " TOOL.ARGUMENT=SOURCE,…"
        ),
    ),
]
PlanStrategy = Annotated[
    PlanStrategies | None,
    typer.Option(
        "--strategy",
        help="layered (default), edges (what feeds what), or dag (the model writes it).",
    ),
]
Mode = Annotated[
    ReplyModes | None, typer.Option(help="How to ask for calls; default: the endpoint's best.")
]
Journals = Annotated[
    Path | None,
    typer.Option("--journal", help="Folder of the runs; default: the user's folder for state."),
]
Evidence = Annotated[
    Path | None,
    typer.Option(
        "--evidence", help="File of what is known about tools; default: in the user's state."
    ),
]
NoEvidence = Annotated[
    bool, typer.Option("--no-evidence", help="Do not record or use what is known about tools.")
]
NoJournal = Annotated[
    bool, typer.Option("--no-journal", help="Do not record a journal; the run cannot be resumed.")
]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Show what would be called; only read-only tools are called."),
]
SandboxRun = Annotated[
    bool,
    typer.Option(
        "--sandbox", help="All changes of the tools are discarded, so dfsdt may try writes too."
    ),
]
TraceFile = Annotated[Path | None, typer.Option(help="Write the trace here (JSON lines).")]
Html = Annotated[Path | None, typer.Option(help="Write the run page here.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the run as JSON.")]
Jsonl = Annotated[
    bool,
    typer.Option(
        "--jsonl",
        help="JSON lines: read them from the named file or stdin, and write one for each to stdout.",
    ),
]


def choose_log_format(given: LogFormats | None) -> LogFormat:
    """Return the form of a log that the command line asks for."""
    return "json" if given is LogFormats.json else "text"


LogForm = Annotated[
    LogFormats | None,
    typer.Option("--log-format", help="Lines on stderr: text (default), or one JSON object each."),
]
LogContents = Annotated[
    bool,
    typer.Option(
        "--log-contents",
        help="With --log-format json: also texts, arguments and results, without secrets.",
    ),
]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config", help="Settings from this file instead of the project's callwright.toml."
    ),
]
_STRICT = Annotated[
    bool,
    typer.Option(
        "--require-sources",
        help="Stop if a tool source cannot be opened, instead of continuing without it.",
    ),
]
Profile = Annotated[
    str | None, typer.Option("--profile", help="The [profiles.NAME] of callwright.toml to use.")
]


EVERY_SOURCE: ContextVar[bool] = ContextVar(
    "every_source", default=False
)  # set by --require-sources while its command runs


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """Where tools come from, and what more is known of them."""

    tools: Tools = None
    overlay: Overlay = None

    def to_settings(self) -> Mapping[str, Any]:
        return {"tools": self.tools, "overlay": self.overlay}


@dataclass(frozen=True, slots=True)
class ToolOptions:
    """The tools of a run."""

    tools: Tools = None
    overlay: Overlay = None
    only: Only = None

    def to_settings(self) -> Mapping[str, Any]:
        return {"tools": self.tools, "overlay": self.overlay, "only": self.only}


@dataclass(frozen=True, slots=True)
class PlannerOptions:
    """Who plans, and how the model is asked."""

    planner: Planner = None
    encoder: Encoder = None
    model: Model = None
    mode: Mode = None

    def to_settings(self) -> Mapping[str, Any]:
        return {
            "planner": self.planner,
            "encoder": self.encoder,
            "model": self.model,
            "mode": self.mode and self.mode.value,
        }


@dataclass(frozen=True, slots=True)
class StrategyOptions:
    """Options of the way from request to answer."""

    strategy: Strategy = None
    instructions: Instructions = None
    model_profile: ModelProfile = None
    repair: Repair = None
    plan_file: PlanFile = None

    def to_settings(self) -> Mapping[str, Any]:
        return {
            "strategy": self.strategy,
            "instructions": self.instructions,
            "model_profile": self.model_profile,
        }


@dataclass(frozen=True, slots=True)
class SafetyOptions:
    """Options of safety: the calls that may leave."""

    freeze: Frozen = None
    may_fill: MayFill = None
    allow: Allow = None
    ask: AskFor = None
    dry_run: DryRun = False
    sandbox: SandboxRun = False

    def to_settings(self) -> Mapping[str, Any]:
        return {"allow": self.allow, "ask": self.ask and self.ask.value}


@dataclass(frozen=True, slots=True)
class SelectionOptions(TrialOptions):
    """Options of selection: the tools, of many, that a run is shown, and how they are tried."""

    shortlist: Shortlist = None
    trials: Trials = None
    retrieval: Retrieval = None

    def to_settings(self) -> dict[str, Any]:
        return {
            "shortlist": self.shortlist,
            "trials": self.trials and self.trials.value,
            "retrieval": self.retrieval,
            **TrialOptions.to_settings(self),
        }


@dataclass(frozen=True, slots=True)
class EvidenceOptions:
    """Where what is learned of tools is kept."""

    evidence: Evidence = None
    no_evidence: NoEvidence = False

    def to_settings(self) -> Mapping[str, Any]:
        return {"evidence": False if self.no_evidence else self.evidence}


@dataclass(frozen=True, slots=True)
class KeptOptions:
    """Where runs are kept, and what is learned of tools."""

    journal: Journals = None
    no_journal: NoJournal = False
    evidence: Evidence = None
    no_evidence: NoEvidence = False

    def to_settings(self) -> Mapping[str, Any]:
        return {
            "journal": False if self.no_journal else self.journal,
            "evidence": False if self.no_evidence else self.evidence,
        }


@dataclass(frozen=True, slots=True)
class PageOptions:
    """Options of showing a finished run."""

    html: Html = None
    as_json: AsJson = False


@dataclass(frozen=True, slots=True)
class ShownOptions(PageOptions):
    """Options of showing a run."""

    trace: TraceFile = None
    log_format: LogForm = None
    log_contents: LogContents = False

    @property
    def form(self) -> LogFormat:
        """Return the form of the lines on stderr."""
        return choose_log_format(self.log_format)


@dataclass(frozen=True, slots=True)
class ConfigOptions:
    """Options of the file and the profile that hold the settings."""

    config: Config = None
    profile: Profile = None


def make_limit_option(name: str) -> Any:
    """The option of one limit, with what it usually is."""
    limit = LIMITS[name]
    usual = f"{limit.default:,}".removesuffix(".0")
    return typer.Option(
        f"--{name.replace('_', '-')}",
        help=f"Limit: {limit.about} [{usual}].",
        min=limit.least,
        show_default=False,
    )


@dataclass(frozen=True, slots=True)
class LimitOptions:
    """One option for each limit of a run."""

    repairs: Annotated[int | None, make_limit_option("repairs")] = None
    model_calls: Annotated[int | None, make_limit_option("model_calls")] = None
    tokens: Annotated[int | None, make_limit_option("tokens")] = None
    seconds: Annotated[float | None, make_limit_option("seconds")] = None
    tool_calls: Annotated[int | None, make_limit_option("tool_calls")] = None
    tool_seconds: Annotated[float | None, make_limit_option("tool_seconds")] = None
    concurrency: Annotated[int | None, make_limit_option("concurrency")] = None
    result_chars: Annotated[int | None, make_limit_option("result_chars")] = None
    result_bytes: Annotated[int | None, make_limit_option("result_bytes")] = None
    reply_tokens: Annotated[int | None, make_limit_option("reply_tokens")] = None
    program_seconds: Annotated[float | None, make_limit_option("program_seconds")] = None
    program_bytes: Annotated[int | None, make_limit_option("program_bytes")] = None
    program_chars: Annotated[int | None, make_limit_option("program_chars")] = None
    turns: Annotated[int | None, make_limit_option("turns")] = None

    def to_settings(self) -> Mapping[str, Any]:
        return {f"limits.{name}": getattr(self, name) for name in LIMITS}


def group_options(order: str = "") -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A decorator for commands that take their options in dataclasses: typer sees every field as an
    option of its own, and the command is given the dataclasses.

    ``order`` names options that stand first in the help, in this order; the others follow as they
    are declared. Raises TypeError for two options of one name.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(command, include_extras=True)
        parameters = inspect.signature(command).parameters
        groups = {name: hints[name] for name in parameters if is_dataclass(hints[name])}

        def with_groups(**given: Any) -> None:
            made: dict[str, Any] = {
                name: kind(**{one.name: given.pop(one.name) for one in fields(kind)})
                for name, kind in groups.items()
            }
            command(**given, **made)

        flat: list[inspect.Parameter] = []
        for name, parameter in parameters.items():
            kind = groups.get(name)
            flat += (
                [parameter.replace(annotation=hints[name])] if kind is None else _iter_options(kind)
            )
        return _set_signature(command, with_groups, _order_parameters(flat, order.split()))

    return decorate


def _iter_options(kind: type[Any]) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    for one in fields(kind):
        yield inspect.Parameter(
            one.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=one.default,
            annotation=hints[one.name],
        )


def _order_parameters(
    parameters: list[inspect.Parameter], order: list[str]
) -> list[inspect.Parameter]:
    known = {one.name: one for one in parameters}
    if len(known) < len(parameters):
        names = [one.name for one in parameters]
        raise TypeError(f"two options of one name: {', '.join(names)}")
    first = [known.pop(name) for name in order]
    return [*first, *known.values()]


def add_strict_option(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command ``--require-sources``: where a tool source cannot be opened, it ends instead
    of going on without it.
    """

    def with_strict(**given: Any) -> None:
        before = EVERY_SOURCE.set(given.pop("strict"))
        try:
            command(**given)
        finally:
            EVERY_SOURCE.reset(before)

    hints = get_type_hints(command, include_extras=True)
    own = [
        one.replace(annotation=hints[one.name])
        for one in inspect.signature(command).parameters.values()
    ]
    strict = inspect.Parameter(
        "strict", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=_STRICT
    )
    return _set_signature(command, with_strict, [*own, strict])


def _set_signature(
    command: Callable[..., None],
    replacing: Callable[..., None],
    parameters: list[inspect.Parameter],
) -> Callable[..., None]:
    """``replacing`` under the name of ``command``, with these parameters for typer to read."""
    wrapped = wraps(command)(replacing)
    shown = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in parameters]
    wrapped.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]  # what typer reads
    wrapped.__annotations__ = {one.name: one.annotation for one in shown}
    return wrapped
