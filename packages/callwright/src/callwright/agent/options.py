"""Options of an orchestrator, in groups: which calls may leave, which tools a run sees, where it is
kept, and how it talks.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date
from pathlib import Path
from typing import Any

from callwright.agent.catalog_search import USUAL, Shortlisting, Trying
from callwright.agent.probing import Simulates
from callwright.agent.probing.settings import TrialSettings
from callwright.agent.safety.consent import Approve
from callwright.agent.safety.filling import Rules
from callwright.agent.safety.freeze import Level
from callwright.nouns.protocols import ChatModel, ReplyMode
from callwright.nouns.trace import Sink
from callwright.retrieval import Mode
from callwright.tools.evidence import EvidenceStore
from callwright.tools.trust import TrustStore


@dataclass(frozen=True, slots=True)
class Safety:
    """Options of safety: the calls that may leave.

    Calls that may destroy something, and writes of sources that are not trusted, need approval:
    ``approve`` is asked about each (:class:`callwright.agent.safety.consent.Proposal`), ``allow``
    names tools that need none (``send_*``); without either they are refused. ``dry_run``: nothing
    that may write leaves; the skips say what would have been called. ``sandbox`` declares that the
    tools act on something that is thrown away (a copy, a simulator): only then does a strategy that
    goes back and tries again (``dfsdt``) make calls that may write. It approves none. ``freeze``:
    nothing that tools return can add a call (``plan``), or even an argument (``arguments``), to the
    plan (:mod:`~callwright.agent.safety.freeze`); ``may_fill``: rules of what may fill the rest
    (:mod:`~callwright.agent.safety.filling`).
    """

    approve: Approve | None = None
    allow: Sequence[str] = ()
    dry_run: bool = False
    sandbox: bool = False
    freeze: Level = ""
    may_fill: Rules | None = None


@dataclass(frozen=True, slots=True)
class ToolSelection:
    """Options of selection: the tools that a run sees.

    ``only`` names the tools that the model may see. ``shortlist`` shows a run only so many of the
    tools, those found for its request by ``retrieval`` (a mode of :mod:`callwright.retrieval`); it
    may find more where these fall short. ``trials`` has them tried before: ``off``, ``read-only``,
    or ``sandbox`` (whatever any tool does is thrown away); ``probing`` says how, and ``simulator``
    makes the simulator of a model that ``probing`` names. ``strict=False`` goes on without the
    tool sources that cannot be opened. ``trust``: what the user has confirmed, and definitions of
    tools as they were first seen (see :func:`callwright.open_catalog`).
    """

    only: Sequence[str] | None = None
    shortlist: int | None = None
    trials: Trying = "off"
    retrieval: Mode | None = None
    strict: bool = True
    trust: TrustStore | None = None
    probing: TrialSettings = field(default_factory=TrialSettings)
    simulator: Callable[[ChatModel], Simulates] | None = None

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
    of every run goes into it, and it is a prior on which tools are found. ``sinks`` are given every
    event of a run.
    """

    journal: bool | str | Path = False
    evidence: EvidenceStore | None = None
    sinks: Sequence[Sink] = ()


@dataclass(frozen=True, slots=True)
class Interaction:
    """Options of talking to the model and to those who watch the run.

    ``instructions`` stand in the system message of every question of a run, and calls may take
    values from them. A run that is resumed keeps those that it began with.

    ``mode`` says how to ask for calls where the endpoint's best form is not wanted.
    ``model_profile`` names how much the model is shown and may write
    (:mod:`callwright.nouns.model_profile`); "" leaves it to what the model says of its size. ``today`` says
    what day it is, once a run: the model is told where a tool takes a date and no tool tells the
    day. The journal keeps it, so a run that is resumed stays in its day. None: nobody is told.

    ``on_text`` is handed the answer, once its statements are checked, piece by piece: together they
    are ``run.answer.text``. ``on_reply`` is handed whatever the model writes while it writes it,
    plans and calls too, for those who show that something happens.
    """

    mode: ReplyMode | None = None
    today: Callable[[], date] | None = date.today
    on_text: Callable[[str], None] | None = None
    on_reply: Callable[[str], None] | None = None
    instructions: str = ""
    model_profile: str = ""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """All groups of one orchestrator."""

    safety: Safety = Safety()
    selection: ToolSelection = ToolSelection()
    persistence: Persistence = Persistence()
    interaction: Interaction = Interaction()

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
            if name not in _DIRECT:
                warnings.warn(
                    f"Orchestrator({name}=…) is deprecated and will be removed in the next version:"
                    f" {group}={type(part).__name__}({name}=…)",
                    DeprecationWarning,
                    stacklevel=3,
                )
            options = replace(options, **{group: replace(part, **{name: value})})
        return options


_DIRECT = ("instructions", "model_profile")  # options that stay keywords of the orchestrator
_GROUPED = ("probing", "simulator")  # options that never were keywords of the orchestrator
_GROUPS = {
    option.name: group.name
    for group in fields(RunOptions)
    for option in fields(type(getattr(RunOptions(), group.name)))
    if option.name not in _GROUPED
}
