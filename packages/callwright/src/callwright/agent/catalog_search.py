"""Selects the tools that a run works with: found for its request, probed, and searched again if
they are not enough.

The catalogue may hold thousands of tools; no prompt ever shows more of them than were found. The
tools found and the results of probing are answers from outside: they go through the run's ledger,
and a resume asks nobody again.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, TypeAlias, get_args

from callwright.agent.execution.invoke import Caller
from callwright.agent.journal.ledger import Answer, Ledger, build_divergence_error
from callwright.agent.probing import ProbingContext, Simulates, TrialPolicy, Trials, try_tools
from callwright.agent.probing.settings import TrialSettings
from callwright.agent.questions import Questions
from callwright.agent.safety.policy import rank_by_request, select_withheld
from callwright.models.encoders import open_encoder
from callwright.nouns.errors import ConfigError
from callwright.nouns.limits import Budget
from callwright.nouns.protocols import Encoder
from callwright.nouns.thresholds import threshold
from callwright.nouns.trace import Event, Trace
from callwright.nouns.types import JsonObject, Message, Tool, Usage, to_json
from callwright.retrieval import Hit, Mode, ToolIndex, mode_named, needs_encoder
from callwright.retrieval.installed import VECTORS
from callwright.storage.database import state_dir
from callwright.tools.evidence import EvidenceStore, Known

Trying: TypeAlias = Literal["off", "read-only", "sandbox"]
TRYING: tuple[Trying, ...] = get_args(Trying)
USUAL = 8  # tools: a small model does best with at most eight
NEAR = threshold("callwright.agent", "near_best")
"""Of the best score: without a model that chooses among them, more tools would mean a plan of what
is not needed.
"""
_POOL, _LEAST_POOL = 2, 10  # candidates for each place, where trials decide; of how many at least
_MOST_TRIALS = 20  # calls, and at most half of those that the run may make


@dataclass(frozen=True, slots=True)
class Shortlisting:
    """Settings for selecting a run's tools: ``size`` of them, found by ``mode`` (None: the index's
    own), probed or not.

    ``trials``: ``read-only`` calls tools that are declared to read; ``sandbox`` says that whatever
    any tool does is thrown away. ``probing`` says how they are tried. Raises ConfigError for
    invalid settings.
    """

    size: int = USUAL
    trials: Trying = "off"
    mode: Mode | None = None
    probing: TrialSettings = field(default_factory=TrialSettings)

    @classmethod
    def of(cls, start: Answer) -> Shortlisting | None:
        """Return the tool selection settings of a resumed run, from its ``run.start``."""
        said = start.get("shortlist")
        if not said:
            return None
        return cls(**{**said, "probing": TrialSettings.of(said.get("probing", {}))})

    @property
    def stated(self) -> JsonObject:
        """The settings as a journal and a row of a bench name them; of :attr:`probing` nothing
        where all is as usual.
        """
        told: JsonObject = {"size": self.size, "trials": self.trials, "mode": self.mode}
        if self.probing != TrialSettings():
            told["probing"] = to_json(self.probing)
        return told

    def __post_init__(self) -> None:
        if isinstance(self.size, bool) or not isinstance(self.size, int) or self.size < 1:
            raise ConfigError(
                f"a shortlist holds at least one tool, not {self.size!r}", hint=f"usually {USUAL}"
            )
        if self.trials not in TRYING:
            raise ConfigError(
                f"there are no trials {self.trials!r}", hint=f"trials: {', '.join(TRYING)}"
            )
        if self.mode is not None:
            mode_named(self.mode)
        if self.trials == "off" and self.probing != TrialSettings():
            raise ConfigError(
                "settings of trials are given, and nothing is tried", hint="--trials read-only"
            )


class Index:
    """The index of a catalogue: made when it is first asked, and brought up to date where the tools
    have changed.
    """

    def __init__(self) -> None:
        self._made: ToolIndex | None = None

    def of(self, tools: Iterable[Tool], mode: Mode | None) -> ToolIndex:
        """Raises MissingExtra without the extra ``retrieval``."""
        if self._made is None:
            encodes = mode is not None and needs_encoder(mode)
            self._made = ToolIndex.build(
                (), open_encoder(cache=state_dir() / VECTORS) if encodes else None
            )
        self._made = self._made.synced(tools)
        return self._made


@dataclass(frozen=True, slots=True)
class Choice:
    """The tools chosen for a request, best first, then what these need first. ``mode`` says how
    they were found.
    """

    tools: tuple[Tool, ...]
    mode: Mode


def choose_shortlist(query: str, tools: Sequence[Tool], size: int | None, mode: Mode) -> Choice:
    """The tools that a run with a shortlist of ``size`` begins with, where nothing is tried or
    known of them.

    Without a size at most :data:`USUAL`, and none that scores below :data:`NEAR` times the best
    one. All of the tools where there are no more than that. Raises MissingExtra, WeightsError.
    """
    most = Shortlisting(USUAL if size is None else size).size
    if len(tools) <= most:
        return Choice(tuple(tools), mode)
    by_name = {tool.name: tool for tool in tools}
    index = Index().of(tools, mode)
    hits = index.search(query, 2 * most, mode=mode, bring=0)
    found = {hit.name: hit for hit in hits}
    ranked = rank_by_request(query, (), [by_name[name] for name in found])
    fit = [found[tool.name] for tool in ranked][:most]
    if size is None and fit:
        best = max(hit.score for hit in fit)
        fit = [hit for hit in fit if hit.score >= NEAR * best]
    names = dict.fromkeys(hit.name for hit in (*fit, *index.needed(query, fit)))
    return Choice(tuple(by_name[name] for name in names), mode)


@dataclass(slots=True)
class CatalogSearch:
    """All tools of a run, of which it sees a few; it may come back for more.

    ``index`` is asked only where nothing is on record. ``known`` says how often tools work, as of
    the run's start.
    """

    tools: Mapping[str, Tool]
    index: Index
    settings: Shortlisting
    known: Known
    trace: Trace
    ledger: Ledger
    query: str
    conversation: Sequence[Message] = ()
    kept_back: list[Tool] = field(
        default_factory=list
    )  # destructive, and nobody can approve their calls
    may_be_called: Callable[[Tool], bool] | None = None  # None: of all tools

    async def first(
        self,
        caller: Caller,
        budget: Budget,
        evidence: EvidenceStore | None = None,
        secrets: Sequence[str] = (),
        *,
        dry_run: bool = False,
        model: Questions | None = None,
        simulator: Simulates | None = None,
    ) -> tuple[Tool, ...]:
        """The tools to begin with. Calls of trials are spent from the budget of the run, and so are
        the questions to ``model``.
        """
        trying = self.settings.trials != "off"
        if told := self.ledger.next("", "shortlist"):
            return self._again(told, budget)
        size = self.settings.size
        hits = self._found(self.query, (), max(_LEAST_POOL, size * _POOL) if trying else size)
        names, more = [hit.name for hit in hits if not hit.needed_by][:size], dict[str, Any]()
        failed: set[str] = set()
        if trying:
            policy, before = self._policy(budget, dry_run), replace(budget)
            made = await try_tools(
                self.query,
                hits,
                self.tools.values(),
                invoker=caller,
                model=model,
                simulator=simulator,
                evidence=evidence,
                policy=policy,
                conversation=self.conversation,
                context=ProbingContext(
                    secrets,
                    trace=self.trace,
                    ledger=self.ledger,
                    encoder=self._open_judge(),
                    profile=model.profile if model is not None else None,
                ),
            )
            if made.model_calls and budget.model_calls == before.model_calls:
                _charge_recorded(self.ledger, budget)  # the trials were on record, and these are
            names = _fill_places(made, size)
            more = {"calls": made.calls, "problems": made.problems, **_state_asked(before, budget)}
            failed = {one.name for one in made.ranking if one.failed}
            _spend_tool_calls(budget, made.calls)
        needed = self._needed(
            self.query, [hit for hit in hits if hit.name in names], {*failed, *names}
        )
        return self._record(self.query, [*names, *(hit.name for hit in needed)], hits, **more)

    def find(self, wanted: str, without: Container[str], most: int) -> tuple[Tool, ...]:
        """Tools of the whole catalogue that fit some words, best first, none of them
        ``without``.
        """
        if told := self.ledger.next("", "shortlist"):
            return self._again(told)
        hits = self._found(wanted, without, most)
        return self._record(wanted, [hit.name for hit in hits], hits)

    def _found(self, wanted: str, without: Container[str], most: int) -> tuple[Hit, ...]:
        """The hits that may be shown, and after them what they need first. Twice as many are looked
        at as are wanted, and as are left out.
        """
        left_out = sum(name in without for name in self.tools)
        index = self.index.of(self.tools.values(), self.settings.mode)
        hits = index.search(
            wanted, 2 * most + left_out, mode=self.settings.mode, known=self.known, bring=0
        )
        fit = self._fit(hits, without)[:most]
        return (*fit, *self._needed(wanted, fit, without))

    def _needed(self, wanted: str, hits: Sequence[Hit], without: Container[str]) -> tuple[Hit, ...]:
        """Return the hits that some hits need first."""
        return self._fit(
            self.index.of(self.tools.values(), self.settings.mode).needed(wanted, hits), without
        )

    def _fit(self, hits: Sequence[Hit], without: Container[str]) -> tuple[Hit, ...]:
        """Those of the run's tools, without some, and without what is kept back; last what destroys
        and nothing said speaks of.
        """
        fit = [hit for hit in hits if hit.name not in without and hit.name in self.tools]
        tools = [self.tools[hit.name] for hit in fit]
        back = select_withheld(tools, self.may_be_called) if self.may_be_called else ()
        self.kept_back += (tool for tool in back if tool not in self.kept_back)
        shown = [tool for tool in tools if tool not in back]
        by_name = {hit.name: hit for hit in fit}
        ranked = rank_by_request(self.query, (m.content for m in self.conversation), shown)
        return tuple(by_name[tool.name] for tool in ranked)

    def _policy(self, budget: Budget, dry_run: bool) -> TrialPolicy:
        limits, probing = budget.limits, self.settings.probing
        return TrialPolicy(
            k=self.settings.size,
            calls=min(_MOST_TRIALS, limits.tool_calls // 2),
            seconds=min(60.0, budget.seconds_left / 2),
            tool_seconds=min(10.0, limits.tool_seconds),
            result_bytes=limits.result_bytes,
            concurrency=limits.concurrency,
            sandbox=("*",) if self.settings.trials == "sandbox" and not dry_run else (),
            prices=dict(probing.prices),
            money=probing.money,
            simulate=probing.simulate,
            planning="model" if probing.model else "said",
            evaluation="model" if probing.model else "evidence",
            model_calls=limits.model_calls // (2 if probing.simulate == "never" else 4),
        )

    def _open_judge(self) -> Encoder | None:
        if self.settings.probing.relevance == "rules":
            return None
        return open_encoder(cache=state_dir() / VECTORS)

    def _record(
        self, wanted: str, names: Sequence[str], hits: Sequence[Hit], **more: Any
    ) -> tuple[Tool, ...]:
        tools = tuple(self.tools[name] for name in names)
        self._add(
            wanted=wanted,
            names=list(names),
            tools=tools,
            digests={tool.name: tool.digest for tool in tools},
            hits=[[hit.name, round(hit.score, 6)] for hit in hits],
            kept_back=[tool.name for tool in self.kept_back],
            actor="",
            turn=self.ledger.turn(""),
            **more,
        )
        self.ledger.commit()
        return tools

    def _again(self, told: Answer, budget: Budget | None = None) -> tuple[Tool, ...]:
        """Return the tools that were found before a crash. Raises an error if a source no longer
        offers one of them.
        """
        gone = [name for name in (*told["names"], *told["kept_back"]) if name not in self.tools]
        if gone:
            raise build_divergence_error(
                f"it was shown {', '.join(gone)}, which no source offers any more"
            )
        self.kept_back[:] = [self.tools[name] for name in told["kept_back"]]
        if budget is not None:
            _spend_tool_calls(budget, told.get("calls", 0))
            if asked := told.get("asked"):
                budget.charge(Usage(**asked["usage"]), asked["questions"])
        self._add(**told)
        return tuple(self.tools[name] for name in told["names"])

    def _add(self, **told: Any) -> None:
        self.trace.add("shortlist", **told)


def collect_digests(events: Iterable[Event]) -> dict[str, str]:
    """The digests of all tools that a run found."""
    return {
        name: told
        for e in events
        if e.kind == "shortlist"
        for name, told in e.data["digests"].items()
    }


def _fill_places(made: Trials, size: int) -> list[str]:
    """The first of the ranking that were not shown to fail; where they are too few, those for which
    only no call could be made of the request: what a plan gives them may make one.
    """
    chosen = list(made.shortlist(size))
    spare = (one.name for one in made.ranking if one.outcome == "parameter_mismatch")
    return [*chosen, *spare][:size]


def _charge_recorded(ledger: Ledger, budget: Budget) -> None:
    """Charge the questions of trials whose result a journal tells."""
    while told := ledger.next(f"{ProbingContext().actor}:model", "model"):
        budget.charge(Usage(**told["usage"]))


def _state_asked(before: Budget, after: Budget) -> dict[str, Any]:
    """The questions of trials and their tokens, which a resumed run has spent too; nothing for
    none.
    """
    questions = after.model_calls - before.model_calls
    usage = {
        one.name: getattr(after.usage, one.name) - getattr(before.usage, one.name)
        for one in fields(Usage)
    }
    return {"asked": {"questions": questions, "usage": usage}} if questions else {}


def _spend_tool_calls(budget: Budget, calls: int) -> None:
    for _ in range(calls):
        budget.spend_tool_call()
