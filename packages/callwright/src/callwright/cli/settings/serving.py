"""Commands that serve: their options. What they do is imported when they are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import typer

from callwright.cli.settings.options import (
    ConfigOptions,
    LogContents,
    LogForm,
    Overlay,
    Tools,
    add_strict_option,
    choose_log_format,
    complete_setting,
    group_options,
)
from callwright.cli.settings.refiner import ServedRefinerOptions


@add_strict_option
def simulate_command(
    tools: Tools = None,
    recorded: Annotated[
        list[Path] | None,
        typer.Option(
            "--recorded",
            help="Recorded replies: a trace, a journal, ToolBench's runs. May be repeated.",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", help="Imitates the tools if no reply is recorded."),
    ] = None,
    nearest: Annotated[
        bool,
        typer.Option("--nearest", help="Also use the reply to the most similar recorded call."),
    ] = False,
    live: Annotated[
        bool, typer.Option("--live", help="Call the tools themselves if no reply is recorded.")
    ] = False,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            "--allow",
            help="With --live: tools that may be called although they may write, like add_*.",
        ),
    ] = None,
    record: Annotated[
        Path | None, typer.Option("--record", help="Record every answer in this file.")
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            help="Address to listen on; other than loopback needs CALLWRIGHT_SIMULATE_KEY."
        ),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on; 0: any that is free.")] = 8788,
) -> None:
    """Serve tools over HTTP with recorded or imitated replies. Any agent can be tried against
    them.
    """
    from callwright.cli.simulate import Served, serve_simulator

    served = Served(tools or (), recorded or (), model, nearest, live, allow or (), record)
    serve_simulator(served, host, port)


@dataclass(frozen=True, slots=True)
class UpstreamOptions:
    """Options of the upstream behind the proxy, and of the address at which it listens."""

    upstream: Annotated[
        list[str] | None,
        typer.Option(
            help="The upstream endpoint: http://host:8000/v1, or URL#MODEL for its own name of the"
            " model. May be repeated: the next one is asked if one does not answer."
        ),
    ] = None
    model: Annotated[
        str | None, typer.Option(help="local or local:PATH: the embedded model as upstream.")
    ] = None
    port: Annotated[
        int | None, typer.Option(help="Port to listen on; 0: any that is free [8787].")
    ] = None
    host: Annotated[
        str | None,
        typer.Option(help="Address to listen on; other than loopback needs a key [127.0.0.1]."),
    ] = None

    upstream_key: Annotated[
        list[str] | None,
        typer.Option(
            help="URL=VARIABLE: the environment variable that holds the key of an upstream behind"
            " the first. May be repeated."
        ),
    ] = None

    def to_settings(self) -> Mapping[str, Any]:
        named = ("upstream", "model", "port", "host")
        return {f"proxy.{name}": getattr(self, name) for name in named}


@dataclass(frozen=True, slots=True)
class RepairOptions:
    """Options of what the proxy does to calls."""

    guided: Annotated[
        str | None,
        typer.Option(
            help="Ask for calls by JSON schema: auto (default), on or off; native: lead upstreams"
            " that call natively as well; text: the client's request first.",
            autocompletion=complete_setting("proxy.guided"),
        ),
    ] = None
    guard: Annotated[
        str | None,
        typer.Option(
            help="Keep repeated and unstated writes back: auto (default), on, report or off.",
            autocompletion=complete_setting("proxy.guard"),
        ),
    ] = None
    effects: Annotated[
        list[str] | None,
        typer.Option(
            help="What tools do: NAME=read, write, idempotent or destructive, or a TOML file."
            " May be repeated."
        ),
    ] = None
    without: Annotated[
        list[str] | None,
        typer.Option(
            help="Leave a part of guided mode out: select, layers, prerequisites, wishes, unasked,"
            " options, polling, question or answer. May be repeated.",
            autocompletion=complete_setting("proxy.without"),
        ),
    ] = None
    reasks: Annotated[
        int | None,
        typer.Option(help="Extra upstream questions per request, beside the client's own."),
    ] = None
    strict: Annotated[
        bool | None,
        typer.Option(
            "--refused-as-text", help="Report refused calls as text instead of passing them on."
        ),
    ] = None
    overlay: Overlay = None
    model_profile: Annotated[
        str | None,
        typer.Option(
            "--model-profile",
            help="How much of tools an upstream is shown that guided mode leads, and how many calls"
            " it may make at once: small (default), medium or large.",
            autocompletion=complete_setting("proxy.model_profile"),
        ),
    ] = None

    def to_settings(self) -> Mapping[str, Any]:
        return {f"proxy.{one.name}": getattr(self, one.name) for one in fields(self)}


@dataclass(frozen=True, slots=True)
class ServingOptions:
    """Options that no project's file may set."""

    keep: Annotated[
        Path | None,
        typer.Option(
            "--training-log",
            help="Keep conversations with a repaired call here, for callwright explore --runs.",
        ),
    ] = None
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            help="A name under which clients reach the proxy, beside localhost. May be repeated."
        ),
    ] = None
    quiet: Annotated[bool, typer.Option("--quiet", help="Do not log every request on stderr.")] = (
        False
    )
    log_format: LogForm = None
    log_contents: LogContents = False


@group_options()
def proxy_command(
    upstream: UpstreamOptions,
    repair: RepairOptions,
    refiner: ServedRefinerOptions,
    serving: ServingOptions,
    config: ConfigOptions,
) -> None:
    """Repair the tool calls between any client and an endpoint."""
    from callwright.cli.proxy import UPSTREAM_KEY, ProxySetup, start_proxy
    from callwright.cli.settings.settings import resolve_settings

    settings = resolve_settings(
        upstream, repair, config=config.config, profile=config.profile, say=False
    )
    log_format = choose_log_format(serving.log_format)
    settings.announced("proxy.upstream", log_format=log_format)
    keep = serving.keep
    upstreams = settings.upstreams()
    start_proxy(
        ProxySetup(
            upstreams,
            settings.get("proxy.model"),
            settings.get("proxy.host", "127.0.0.1"),
            settings.get("proxy.port", 8787),
            str(keep.expanduser().absolute()) if keep is not None else None,
            serving.allow_host or [],
            serving.quiet,
            log_format,
            serving.log_contents,
            settings.key_variable(["proxy.upstream"]) or UPSTREAM_KEY,
            settings.find_upstream_keys(upstreams, upstream.upstream_key or ()),
            guided=settings.get("proxy.guided", "auto"),
            guard=settings.get("proxy.guard", "auto"),
            effects=settings.get("proxy.effects") or [],
            without=settings.get("proxy.without") or [],
            reasks=settings.get("proxy.reasks"),
            strict=settings.get("proxy.strict", False),
            overlay=settings.get("proxy.overlay"),
            refiner=asdict(refiner.to_setup()),
            model_profile=settings.get("proxy.model_profile", ""),
        )
    )
