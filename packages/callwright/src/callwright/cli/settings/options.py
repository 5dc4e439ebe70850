"""Options that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from callwright.nouns.limits import LIMITS
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


class Repairs(StrEnum):
    plain = "plain"
    reflect = "reflect"
    reflect_after = "reflect-after"


class PlanStrategies(StrEnum):
    layered = "layered"
    edges = "edges"
    dag = "dag"


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
        "--overlay", help="What verify apis found out about the tools (its --apply FILE)."
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
        "--planner", help=f"One of {', '.join(PLANNERS)}; or a model that plans, URL#MODEL."
    ),
]
Encoder = Annotated[
    str | None,
    typer.Option(
        "--encoder",
        help="Text encoder of the planner layers: minilm, a folder, or an endpoint URL.",
    ),
]
Allow = Annotated[
    list[str] | None,
    typer.Option(
        "--allow",
        help=(
            "Tools that may write or destroy unasked: send_*, or SOURCE:TOOL where two sources have"
            " one name."
        ),
    ),
]
Shortlist = Annotated[
    int | None,
    typer.Option(
        "--shortlist",
        help="Show the model only so many tools, those found for the request [8].",
        min=1,
    ),
]
Trials = Annotated[
    TrialModes | None,
    typer.Option(
        "--trials",
        help="Try what was found first: read-only, or sandbox (all changes are thrown away).",
    ),
]
Retrieval = Annotated[
    str | None,
    typer.Option("--retrieval", help="How a shortlist is found; see retrieve --mode [lexical]."),
]
Strategy = Annotated[
    str | None,
    typer.Option(
        help=(
            "layered (default), layered-second-pass, dag, edges, compiler, react, dfsdt, code or"
            " toolmvr; docs/concepts.md has them all."
        )
    ),
]
Repair = Annotated[
    Repairs | None,
    typer.Option(
        help=(
            "How a failed call is mended: plain, reflect (say why first), reflect-after (where"
            " plain did not help)."
        )
    ),
]
PlanFile = Annotated[
    Path | None,
    typer.Option(
        "--plan", help="Carry out the plan in this file; callwright plan --format json gives one."
    ),
]
Frozen = Annotated[
    FreezeLevels | None,
    typer.Option(
        "--freeze",
        help="Call nothing outside the plan (plan), nor with other arguments (arguments).",
    ),
]
MayFill = Annotated[
    list[str] | None,
    typer.Option(
        "--may-fill",
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
        "--evidence", help="File of what is known of tools; default: in the user's state."
    ),
]
NoEvidence = Annotated[
    bool, typer.Option("--no-evidence", help="Learn nothing of tools, and use nothing learned.")
]
Html = Annotated[Path | None, typer.Option(help="Write the run page here.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the run as JSON.")]
Jsonl = Annotated[
    bool, typer.Option("--jsonl", help="JSON lines from stdin to stdout, one object a line.")
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
        "--strict", help="End where a tool source cannot be opened, instead of going on without it."
    ),
]
Profile = Annotated[
    str | None, typer.Option("--profile", help="The [profiles.NAME] of callwright.toml to use.")
]


EVERY_SOURCE: ContextVar[bool] = ContextVar(
    "every_source", default=False
)  # set by --strict while its command runs


def limited(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command one option for each limit of a run; those that were given come as its
    ``limits``, by name.
    """

    def with_limits(**given: Any) -> None:
        limits = {name: given.pop(name) for name in LIMITS}
        command(**given, limits={f"limits.{name}": value for name, value in limits.items()})

    return _with_options(
        command, with_limits, {name: (None, _option(name)) for name in LIMITS}, without=("limits",)
    )


def strictly(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command ``--strict``: where a tool source cannot be opened, it ends instead of going
    on without it.
    """

    def with_strict(**given: Any) -> None:
        before = EVERY_SOURCE.set(given.pop("strict"))
        try:
            command(**given)
        finally:
            EVERY_SOURCE.reset(before)

    return _with_options(command, with_strict, {"strict": (False, _STRICT)})


def _with_options(
    command: Callable[..., None],
    replacing: Callable[..., None],
    options: Mapping[str, tuple[Any, Any]],
    without: Sequence[str] = (),
) -> Callable[..., None]:
    """``replacing`` with the signature of ``command`` and further options: name -> default and
    annotation.
    """
    hints = get_type_hints(command, include_extras=True)
    own = [
        p.replace(annotation=hints[p.name])
        for p in inspect.signature(command).parameters.values()
        if p.name not in without
    ]
    made = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
        )
        for name, (default, annotation) in options.items()
    ]
    wrapped = wraps(command)(replacing)
    wrapped.__signature__ = inspect.Signature([*own, *made])  # type: ignore[attr-defined]  # what typer reads
    wrapped.__annotations__ = {p.name: p.annotation for p in (*own, *made)}
    return wrapped


def _option(name: str) -> Any:
    limit = LIMITS[name]
    usual = f"{limit.default:,}".removesuffix(".0")
    option = typer.Option(
        f"--{name.replace('_', '-')}",
        help=f"Limit: {limit.about} [{usual}].",
        min=limit.least,
        show_default=False,
    )
    return Annotated[int | None, option] if limit.kind is int else Annotated[float | None, option]
