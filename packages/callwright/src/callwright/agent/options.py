"""Options of an orchestrator, in groups: which calls may leave, which tools a run sees, where it is
kept, and how it talks.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any, TypedDict, get_args

from callwright.agent.catalog_search import USUAL, Shortlisting, Trying
from callwright.agent.probing import Simulates
from callwright.agent.probing.settings import TrialSettings
from callwright.agent.safety.approvals import require_names
from callwright.agent.safety.consent import Approve, Ask
from callwright.agent.safety.filling import Rules
from callwright.agent.safety.freeze import Level
from callwright.nouns.errors import ConfigError
from callwright.nouns.protocols import ChatModel, ReplyMode
from callwright.nouns.secret_spellings import SHORTEST
from callwright.nouns.trace import Sink
from callwright.retrieval import Mode
from callwright.schema.violations import suggest_name
from callwright.tools.evidence import EvidenceStore
from callwright.tools.trust import TrustStore


@dataclass(frozen=True, slots=True)
class Safety:
    """Options of safety: the calls that may leave.

    Calls that may destroy something, and writes of sources that are not trusted, need approval;
    with ``ask="writes"`` all calls that may write do. ``approve`` is asked about each
    (:class:`callwright.agent.safety.consent.Proposal`): only True approves it, and a call about
    which it fails is refused. ``allow`` is a list of the tools that need no approval
    (``["send_*"]``); without either such calls are refused. ``dry_run``: nothing that may write
    leaves; the skips say what would have been called. ``sandbox`` declares that the tools act on
    something that is thrown away (a copy, a simulator): only then does a strategy that goes back
    and tries again (``dfsdt``) make calls that may write. It approves none. ``freeze``: nothing
    that tools return can add a call (``plan``), or even an argument (``arguments``), to the plan
    (:mod:`~callwright.agent.safety.freeze`); ``may_fill``: rules of what may fill the rest
    (:mod:`~callwright.agent.safety.filling`).
    """

    approve: Approve | None = None
    allow: Sequence[str] = ()
    dry_run: bool = False
    sandbox: bool = False
    freeze: Level = ""
    may_fill: Rules | None = None
    ask: Ask = "destructive"


@dataclass(frozen=True, slots=True)
class ToolSelection:
    """Options of selection: the tools that a run sees.

    ``only`` is a list of the tools that the model may see. ``shortlist`` shows a run only so many
    of the tools, those found for its request by ``retrieval`` (a mode of
    :mod:`callwright.retrieval`); it may find more where these fall short. ``trials`` has them tried
    before: ``off``, ``read-only``, or ``sandbox`` (whatever any tool does is thrown away);
    ``probing`` says how, and ``simulator`` makes the simulator of a model that ``probing`` names.
    ``strict=False`` goes on without the tool sources that cannot be opened. ``trust``: what the
    user has confirmed, and definitions of tools as they were first seen (see
    :func:`callwright.open_catalog`).
    """

    only: Sequence[str] | None = None
    shortlist: int | None = None
    trials: Trying = "off"
    retrieval: Mode | None = None
    strict: bool = True
    trust: TrustStore | None = None
    probing: TrialSettings = field(default_factory=TrialSettings)
    simulator: Callable[[ChatModel], Simulates] | None = None

    def __post_init__(self) -> None:
        if self.only is not None:
            require_names("only", self.only)

    def shortlisting(self) -> Shortlisting | None:
        """Return the settings by which a run chooses its tools; None where it sees all of them.
        Raises ConfigError for what makes no sense.
        """
        size = USUAL if self.shortlist is None else self.shortlist
        chosen = Shortlisting(size, self.trials, self.retrieval, self.probing)
        return chosen if self.shortlist is not None or self.trials != "off" else None


@dataclass(frozen=True, slots=True)
class Persistence:
    """Where a run is kept.

    ``journal`` keeps every run in a file of its own, so that it can be resumed: True for the
    default folder, or a folder. ``evidence`` is a store of what is known of tools: every real call
    of every run goes into it, and it is a prior on which tools are found.

    ``sinks`` are given every event of a run. A sink that raises an exception gets no more events of
    it; the run goes on, and the log ``callwright.agent`` and a note say so. ``secrets`` are removed
    from tool results, traces and journals, as the keys of the model and the sources are. A run
    whose request or replies hold one cannot go on from its record: a resume of one that has not
    ended raises JournalError.
    """

    journal: bool | str | Path = False
    evidence: EvidenceStore | None = None
    sinks: Sequence[Sink] = ()
    secrets: Sequence[str] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.sinks, Collection) or not all(map(callable, self.sinks)):
            raise ConfigError(
                f"sinks takes a list of sinks, and was given {self.sinks!r}",
                hint="Persistence(sinks=[MemorySink()])",
            )
        if any(len(secret) < SHORTEST for secret in require_names("secrets", self.secrets)):
            raise ConfigError(
                f"a secret of fewer than {SHORTEST} characters cannot be removed from texts",
                hint="name longer ones; such a short one is no secret",
            )


@dataclass(frozen=True, slots=True)
class Interaction:
    """Options of talking to the model and to those who watch the run.

    ``instructions`` stand in the system message of every question of a run, and calls may take
    values from them. A run that is resumed keeps those that it began with.

    ``mode`` says how to ask for calls where the endpoint's best form is not wanted.
    ``model_profile`` names how much the model is shown and may write
    (:mod:`callwright.nouns.model_profile`); "" leaves it to what the model says of its size.
    ``today`` says what day it is, once a run: the model is told where a tool takes a date and no
    tool tells the day. The journal keeps it, so a run that is resumed stays in its day. None:
    nobody is told.

    ``on_text`` is handed the answer, once its statements are checked, piece by piece: together they
    are ``run.answer.text``. ``on_reply`` is handed whatever the model writes while it writes it,
    plans and calls too, for those who show that something happens. One that raises an exception
    gets no more of the run; the run goes on, and the log ``callwright.agent`` says so.
    """

    mode: ReplyMode | None = None
    today: Callable[[], date] | None = date.today
    on_text: Callable[[str], None] | None = None
    on_reply: Callable[[str], None] | None = None
    instructions: str = ""
    model_profile: str = ""

    def __post_init__(self) -> None:
        modes = get_args(ReplyMode)
        if self.mode is not None and self.mode not in modes:
            hint = suggest_name(self.mode, modes) + f"modes: {', '.join(modes)}"
            raise ConfigError(f"there is no mode {self.mode!r}", hint=hint)
        for name in ("instructions", "model_profile"):
            require_text(name, getattr(self, name))
        for name in ("today", "on_text", "on_reply"):
            given = getattr(self, name)
            if given is not None and (not callable(given) or iscoroutinefunction(given)):
                raise ConfigError(
                    f"{name} is {given!r}, and must be a function that is not async",
                    hint="today=date.today" if name == "today" else f"{name}=print",
                )


class DirectOptions(TypedDict, total=False):
    """Options of a group that are keywords of the orchestrator too."""

    instructions: str
    model_profile: str


def require_type(option: str, value: object, kind: type) -> None:
    """Raise ConfigError for a value of another type."""
    if not isinstance(value, kind):
        raise ConfigError(
            f"{option} takes {kind.__name__}(…), and was given a {type(value).__name__}",
            hint=f"from callwright import {kind.__name__}",
        )


def require_text(option: str, value: object) -> None:
    """Raise ConfigError for a value that is no text."""
    if not isinstance(value, str):
        raise ConfigError(f"{option} is {value!r}, and must be a text", hint=f"{option}='…'")


@dataclass(frozen=True, slots=True)
class RunOptions:
    """All groups of one orchestrator. Raises ConfigError for a group of another type."""

    safety: Safety = Safety()
    selection: ToolSelection = ToolSelection()
    persistence: Persistence = Persistence()
    interaction: Interaction = Interaction()

    def __post_init__(self) -> None:
        for group in fields(self):
            require_type(group.name, getattr(self, group.name), type(group.default))

    def with_flat(self, flat: Mapping[str, Any]) -> RunOptions:
        """The options with those that were given one by one. Warns of each that has its place in a
        group only. Raises TypeError for one that there never was.
        """
        options = self
        for name, value in flat.items():
            group = _GROUPS.get(name)
            if group is None:
                raise TypeError(f"Orchestrator() got an unexpected keyword argument {name!r}")
            part = getattr(options, group)
            if name not in DirectOptions.__annotations__:
                warnings.warn(
                    f"Orchestrator({name}=…) is deprecated and will be removed in the next version:"
                    f" {group}={type(part).__name__}({name}=…)",
                    DeprecationWarning,
                    stacklevel=3,
                )
            options = replace(options, **{group: replace(part, **{name: value})})
        return options


_GROUPED: Mapping[str, tuple[str, ...]] = {  # never were keywords of the orchestrator
    "safety": ("ask",),
    "selection": ("probing", "simulator"),
    "persistence": ("secrets",),
}
_GROUPS = {
    option.name: group.name
    for group in fields(RunOptions)
    for option in fields(type(getattr(RunOptions(), group.name)))
    if option.name not in _GROUPED.get(group.name, ())
}
