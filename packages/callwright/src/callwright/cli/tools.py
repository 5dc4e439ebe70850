"""``callwright tools``: what sources offer, what is known of tools, and which of them work for a
request.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from callwright.cli.settings.options import (
    Config,
    ConfigOptions,
    Evidence,
    EvidenceOptions,
    ModelProfile,
    Overlay,
    Profile,
    SourceOptions,
    TrialModes,
    add_strict_option,
    complete_setting,
    group_options,
)
from callwright.cli.settings.trials import Judges, Simulate

if TYPE_CHECKING:
    from callwright.agent.probing import TrialPolicy
    from callwright.cli.settings.settings import Settings

_OFFERED = "list"


class _ListsByDefault(TyperGroup):
    """``tools SOURCE…`` is ``tools list SOURCE…``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        named = next((a for a in args if not a.startswith("-")), None)
        if named is not None and named not in self.commands:
            near = get_close_matches(named, self.commands, 1, 0.75)
            if (
                near
                and named.isidentifier()
                and not Path(named).exists()
                and find_spec(named) is None
            ):
                raise typer.BadParameter(
                    f"there is no command and no source {named!r}. Did you mean {near[0]!r}?"
                )
            args = [_OFFERED, *args]
        return super().parse_args(ctx, args)


catalogue = typer.Typer(
    cls=_ListsByDefault,
    no_args_is_help=True,
    help="Show tools, how they did, and which work. callwright tools SOURCE… lists them.",
)


@catalogue.command(_OFFERED)
@add_strict_option
def list_command(
    sources: Annotated[list[str], typer.Argument(help="Tool sources, as for run --tools.")],
    overlay: Overlay = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print an OpenAI-style tool list.")
    ] = False,
) -> None:
    """List the tools of sources, with their effects. Also says what could not be imported."""
    from callwright.cli.offered import list_tools

    list_tools([*sources, *([overlay] if overlay else [])], as_json)


@catalogue.command("effects")
@add_strict_option
def effects_command(
    sources: Annotated[list[str], typer.Argument(help="Tool sources, as for run --tools.")],
    model: Annotated[str, typer.Option("--model", "-m", help="The model that is asked.")] = "local",
    every: Annotated[
        bool, typer.Option("--all", help="Also of tools whose effects are known.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="The file to write, which must not exist yet.")
    ] = None,
    overlay: Overlay = None,
) -> None:
    """Propose effects of tools that declare none. Writes a file for proxy --effects to correct."""
    from callwright.cli.effects import propose

    propose([*sources, *([overlay] if overlay else [])], model, every=every, out=out)


@catalogue.command("health")
def health_command(
    names: Annotated[
        list[str] | None, typer.Argument(help="Only these tools, with examples; none: all.")
    ] = None,
    evidence: Evidence = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print it as JSON, examples included.")
    ] = False,
    config: Config = None,
    profile: Profile = None,
) -> None:
    """Show how tools did in probes and runs. That is their success rate, latency and failures."""
    from callwright.cli.health import show_health
    from callwright.cli.settings.settings import Given, resolve_settings

    kept = resolve_settings(
        Given({"evidence": evidence}), config=config, profile=profile
    ).evidence()
    show_health(names or [], kept if isinstance(kept, Path) else None, as_json)


class RankBy(StrEnum):
    doubt = "doubt"
    proof = "proof"
    retrieved = "retrieved"


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """Options of the tools that are looked at."""

    k: Annotated[
        int,
        typer.Option(
            "--k", "-k", help="How many tools to show; trials stop when these are known.", min=1
        ),
    ] = 5
    candidates: Annotated[int, typer.Option(help="How many matching tools to consider.", min=1)] = (
        20
    )
    mode: Annotated[
        str,
        typer.Option(
            help="How tools are found; see retrieve --mode.",
            autocompletion=complete_setting("retrieval"),
        ),
    ] = "lexical"


@dataclass(frozen=True, slots=True)
class ProbeOptions:
    """Options of probing tools."""

    trials: Annotated[
        TrialModes,
        typer.Option(
            help="Tools that may be called: read-only ones, any tool in a sandbox, or none (off)."
        ),
    ] = TrialModes.read_only
    thorough: Annotated[bool, typer.Option("--thorough", help="Try every candidate.")] = False
    model: Annotated[
        str | None,
        typer.Option(
            "--model", "-m", help="Plans the calls, ranks by the evidence, and may simulate."
        ),
    ] = None
    model_profile: ModelProfile = None
    simulate: Annotated[
        Simulate,
        typer.Option(
            help="With --model: failures that get a simulated reply; every is the paper's rule."
        ),
    ] = Simulate.transient
    order: Annotated[
        RankBy,
        typer.Option(
            help="Rank successes first: where a tool failed (doubt), always (proof), or never."
        ),
    ] = RankBy.doubt

    price: Annotated[
        list[str] | None,
        typer.Option(
            "--price",
            help=(
                "Cost of a call as PATTERN=COST; 0 declares tools free, which guessed values need."
                " May be given several times."
            ),
        ),
    ] = None
    money: Annotated[
        float | None, typer.Option("--money", help="What the calls may cost together.", min=0)
    ] = None
    relevance: Annotated[
        Judges | None,
        typer.Option(
            help=(
                "Who judges whether a reply is about the request; encoder is MiniLM, calibrated."
                " [rules]"
            )
        ),
    ] = None

    def to_settings(self) -> dict[str, Any]:
        """Return what files say of every trial too: how much its model is shown, what it costs, and
        who judges its reply.
        """
        return {
            "model_profile": self.model_profile,
            "trial_price": self.price,
            "trial_money": self.money,
            "trial_relevance": self.relevance and self.relevance.value,
        }

    def to_policy(self, search: SearchOptions, settings: Settings) -> TrialPolicy:
        from callwright.agent.probing import TrialPolicy
        from callwright.agent.probing.settings import read_prices

        return TrialPolicy(
            k=search.k,
            thorough=self.thorough,
            calls=0 if self.trials is TrialModes.off else max(20, search.candidates),
            sandbox=("*",) if self.trials is TrialModes.sandbox else (),
            planning="model" if self.model else "said",
            evaluation="model" if self.model else "evidence",
            simulate=self.simulate.value if self.model else "never",
            order=self.order.value,
            prices=dict(read_prices(settings.get("trial_price", ()))),
            money=settings.get("trial_money", 0.0),
        )


@catalogue.command("try")
@add_strict_option
@group_options(
    """query tools overlay k candidates mode trials thorough model model_profile simulate order price money
    relevance evidence no_evidence as_json config profile"""
)
def try_command(
    query: Annotated[str, typer.Argument(help="The request that the tools are needed for.")],
    tools: SourceOptions,
    search: SearchOptions,
    probes: ProbeOptions,
    kept: EvidenceOptions,
    config: ConfigOptions,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the ranking and all observations as JSON.")
    ] = False,
) -> None:
    """Try the tools that fit a request. Ranks them by what came back."""
    from callwright.cli.evidence import open_evidence as opened_evidence
    from callwright.cli.settings.settings import resolve_settings
    from callwright.cli.try_tools import Wanted, try_out
    from callwright.retrieval import mode_named

    settings = resolve_settings(tools, probes, kept, config=config.config, profile=config.profile)
    policy, mode = probes.to_policy(search, settings), mode_named(search.mode)
    wanted = Wanted(
        query,
        settings.sources(),
        search.candidates,
        mode,
        policy,
        probes.model,
        has_verdicts=settings.get("trial_relevance") == Judges.encoder,
        profile=settings.get("model_profile", ""),
    )
    with opened_evidence(settings.evidence()) as store:
        raise typer.Exit(try_out(wanted, store, as_json))
