"""The whole flow on one screen: tools in, plan, gated and repaired calls, grounded answer.

::

    run = Orchestrator(["examples/desk"], model="local").run_sync("How far is it from Oslo to Lisbon?")
    print(run.answer.text)
"""

from __future__ import annotations

import asyncio
import logging
import shlex
import threading
import time
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import (
    AsyncExitStack,
    aclosing,
    asynccontextmanager,
    contextmanager,
    nullcontext,
)
from contextvars import ContextVar
from dataclasses import fields, replace
from datetime import date, datetime
from functools import partial
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias, TypeVar, Unpack, overload

from callwright import __version__
from callwright.agent.answer_text import AnswerText
from callwright.agent.catalog_search import (
    CatalogSearch,
    Index,
    Shortlisting,
    collect_digests,
)
from callwright.agent.earlier_turns import read_turns
from callwright.agent.execution.executor import Executor
from callwright.agent.execution.perform import perform
from callwright.agent.execution.run_services import RunSafety
from callwright.agent.journal.ended import ended_life, recorded_outcome
from callwright.agent.journal.ledger import Ledger
from callwright.agent.journal.resume import (
    BEGUN,
    HAD_CHANGED,
    Resumption,
    build_identity,
    build_specification,
    choose_resumption,
    find_journal,
    find_withheld_end,
    read_conversation,
    resolve_doubts,
)
from callwright.agent.journal.store import Journal
from callwright.agent.openings import Opened, Openings
from callwright.agent.options import (
    DirectOptions,
    Interaction,
    Persistence,
    RunOptions,
    Safety,
    ToolSelection,
    require_type,
)
from callwright.agent.probing.charged_model import ChargedModel
from callwright.agent.probing.days import find_relative_days
from callwright.agent.probing.settings import OWN
from callwright.agent.probing.verdict import build_observation
from callwright.agent.questions import LimitReached, Questions
from callwright.agent.run import Cost, Run, Status, TypedRun
from callwright.agent.run_events import EventReader, RunEvent, Watch, iter_events
from callwright.agent.safety.approvals import OfferedTools
from callwright.agent.safety.consent import Consent
from callwright.agent.safety.freeze import Freeze
from callwright.agent.safety.policy import (
    explain_withheld,
    find_asked,
    is_destructive,
    rank_by_request,
    select_withheld,
)
from callwright.agent.state import Asked
from callwright.agent.step import converse
from callwright.agent.strategies import Job, Strategy, open_strategy, require_freezable
from callwright.agent.strategies.compensation import offer_compensations
from callwright.agent.strategies.missing_parts import close_run
from callwright.agent.today import choose_prompt_day
from callwright.grounding import build_abstention
from callwright.grounding.output import Filled, Output, OutputTarget, open_output
from callwright.language.spoken import guess_spoken, load_phrases
from callwright.models import ModelSpec, open_model
from callwright.models.model_size import read_profile
from callwright.nouns.errors import CallwrightError, ConfigError, EvidenceError, JournalError
from callwright.nouns.limits import Budget, Limits
from callwright.nouns.model_profile import SMALL, ModelProfile, find_profile
from callwright.nouns.protocols import ChatModel, Planner, ReplyMode
from callwright.nouns.redaction import select_redactable
from callwright.nouns.trace import Event, Sink, Trace
from callwright.nouns.types import (
    Answer,
    Edit,
    Message,
    Skip,
    Tool,
    ToolCall,
    to_json,
)
from callwright.planning import open_planner
from callwright.repair.gate import Gate
from callwright.repair.provenance.value_judge import days_in
from callwright.tools.catalog import Catalog, open_catalog
from callwright.tools.evidence import Known, Recorder, get_known_rates
from callwright.tools.lists.chat_messages import messages_from_wire
from callwright.tools.sources import SourceSpec

__all__ = ["Cost", "Orchestrator", "Run", "Status", "TypedRun"]

T = TypeVar("T")
Conversation: TypeAlias = Sequence[Message | Mapping[str, Any]]
"""What came before a request. A mapping is a message in OpenAI's chat form, or Anthropic's."""
_NAMED = 10  # tools in a note that says which are not shown, and problems that are noted
_LOG = logging.getLogger("callwright.agent")
_TURNS: ContextVar[frozenset[int]] = ContextVar("callwright_turns", default=frozenset())
"""The orchestrators of which a run has this context's turn."""


class Orchestrator:
    """Runs queries over a set of tools with one model.

    ``tools`` are tool sources, or one (see :func:`callwright.tools.open_catalog`), ``model`` a spec
    or a ChatModel (see :func:`callwright.models.open_model`; ``None`` is the embedded model). As an
    async context manager it keeps tools and model open between runs. Otherwise runs open them, and
    the last of those that go on at the same time closes them. Each event loop opens its own; a
    source that is an object is open in one event loop at a time.

    ``safety`` says which calls may leave, ``selection`` which tools a run sees, ``persistence``
    where it is kept, ``interaction`` how it talks: :mod:`callwright.agent.options`. Of these,
    ``instructions="…"`` and ``model_profile="…"`` may also be given directly. The other options of
    these groups may also be given one by one, as before; that is deprecated.
    """

    def __init__(
        self,
        tools: SourceSpec | Sequence[SourceSpec],
        *,
        model: str | ModelSpec | ChatModel | None = None,
        strategy: str | Strategy = "layered",
        planner: Planner | None = None,
        limits: Limits | None = None,
        safety: Safety | None = None,
        selection: ToolSelection | None = None,
        persistence: Persistence | None = None,
        interaction: Interaction | None = None,
        **flat: Unpack[DirectOptions],
    ) -> None:
        given = RunOptions(
            safety or Safety(),
            selection or ToolSelection(),
            persistence or Persistence(),
            interaction or Interaction(),
        )
        options = given.with_flat(flat)
        self._options = options
        self._sources = _list_specs(tools)
        self._openings = Openings(self._open)
        self._turns = threading.Lock()  # of threads that use the same objects
        self._model_spec = model
        self._instructions = options.interaction.instructions.strip()
        named = options.interaction.model_profile
        self._profile = find_profile(named) if named else None
        self._strategy = open_strategy(strategy)
        self._planner = _require_planner(planner)
        self._limits = Limits() if limits is None else limits
        require_type("limits", self._limits, Limits)
        freeze = require_freezable(self._strategy, options.safety.freeze)
        self._freeze = Freeze(freeze, options.safety.may_fill).stated
        self._shortlist = options.selection.shortlisting()
        self._index = Index()
        self._consent = Consent(
            options.safety.approve,
            options.safety.allow,
            ask=options.safety.ask,
            dry_run=options.safety.dry_run,
        )

    async def __aenter__(self) -> Orchestrator:
        await self._openings.acquire()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        await self._openings.release()

    @asynccontextmanager
    async def _open(self) -> AsyncIterator[Opened]:
        if self._openings.loops > 1 and self._has_objects:
            raise ConfigError(
                "a tool source that is an object is open in another event loop",
                hint="give each event loop an Orchestrator of its own, with its own sources",
            )
        selection = self._options.selection
        async with AsyncExitStack() as stack:
            opened = open_catalog(
                self._sources,
                strict=selection.strict,
                trust=selection.trust,
                pins=selection.trust,
            )
            catalog = await stack.enter_async_context(opened)
            consent = self._consent.bound(OfferedTools(catalog))
            model = open_model(self._model_spec)
            if model is not self._model_spec:
                stack.push_async_callback(model.aclose)
            yield Opened(catalog, model, consent)

    @property
    def _has_objects(self) -> bool:
        """True if a source is an object that may hold a connection."""
        return any(hasattr(spec, "aclose") for spec in self._sources)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that are open and may be shown to a run; none while no tools are open."""
        only, opened = self._options.selection.only, self._openings.opened
        return () if opened is None else _select_tools(opened.catalog, only)

    def add_tools(self, *tools: SourceSpec) -> None:
        """Add tool sources, of the kinds that the constructor takes, for the runs from now on.
        Where tools are open they are opened again with the next run. Raises ConfigError during a
        run.
        """
        if self._openings.runs:
            raise ConfigError(
                "tools cannot be added while a run is under way",
                hint="add them before the run, or after it has ended",
            )
        self._sources = (*self._sources, *tools)
        self._index = Index()
        self._openings.outdate()

    @asynccontextmanager
    async def _under_way(self) -> AsyncIterator[Opened]:
        """A run, with the tools that were there at its beginning."""
        opened = await self._openings.acquire(runs=1)
        try:
            yield opened
        finally:
            await self._openings.release(runs=1)

    @overload
    def run_sync(
        self, query: str, conversation: Conversation = (), *, output_type: None = None
    ) -> Run: ...
    @overload
    def run_sync(
        self, query: str, conversation: Conversation = (), *, output_type: type[T]
    ) -> TypedRun[T]: ...
    @overload
    def run_sync(
        self, query: str, conversation: Conversation = (), *, output_type: object
    ) -> TypedRun[Any]: ...
    def run_sync(
        self, query: str, conversation: Conversation = (), *, output_type: Any = None
    ) -> Run:
        """:meth:`run` for callers without an event loop."""
        work = partial(self.run, query, conversation, output_type=output_type)
        return self._run_blocking(work, "run")

    def resume_sync(self, run: str | Path, *, changed: bool = False) -> Run:
        """:meth:`resume` for callers without an event loop."""
        return self._run_blocking(partial(self.resume, run, changed=changed), "resume")

    @contextmanager
    def _take_turn(self, name: str) -> Iterator[None]:
        """The turn of a thread. A tool of a run that waits for another turn waits for itself."""
        if id(self) in _TURNS.get():
            raise ConfigError(
                f"{name}_sync() was called by a tool of a run of the same Orchestrator",
                hint="give the tool an Orchestrator of its own",
            )
        with self._turns:
            token = _TURNS.set(_TURNS.get() | {id(self)})
            try:
                yield
            finally:
                _TURNS.reset(token)

    def _run_blocking(self, work: Callable[[], Coroutine[None, None, Run]], name: str) -> Run:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            with self._take_turn(name) if self._has_objects else nullcontext():
                return asyncio.run(work())
        raise ConfigError(
            f"{name}_sync() was called inside a running event loop",
            hint=f"await orchestrator.{name}(...)",
        )

    @overload
    async def run(
        self, query: str, conversation: Conversation = (), *, output_type: None = None
    ) -> Run: ...
    @overload
    async def run(
        self, query: str, conversation: Conversation = (), *, output_type: type[T]
    ) -> TypedRun[T]: ...
    @overload
    async def run(
        self, query: str, conversation: Conversation = (), *, output_type: object
    ) -> TypedRun[Any]: ...
    async def run(
        self, query: str, conversation: Conversation = (), *, output_type: Any = None
    ) -> Run:
        """Answer one query. Raises CallwrightError for a setup that cannot work; the rest is in the
        Run. ``conversation`` is what came before: the results of its calls are sources of values
        and can be cited, and no write of it is made again unasked.

        ``output_type``, a pydantic model, a dataclass, a TypedDict or a JSON Schema: the results
        are filled into it besides, with no value that they do not support, and the run is a
        :class:`~callwright.agent.run.TypedRun`.
        """
        target = None if output_type is None else open_output(output_type)
        return await self._run(query, conversation, target)

    async def stream(
        self, query: str, conversation: Conversation = (), *, output_type: Any = None
    ) -> AsyncGenerator[RunEvent, None]:
        """:meth:`run`, event by event as it happens (:mod:`callwright.agent.run_events`): the
        answer comes in pieces, each once it is checked, and a
        :class:`~callwright.agent.run_events.RunFinished` with the run is the last event. The run
        ends where the iterator is closed.
        """
        target = None if output_type is None else open_output(output_type)
        run = partial(self._run, query, conversation, target)
        async with aclosing(iter_events(run)) as events:
            async for event in events:
                yield event

    async def _run(
        self,
        query: str,
        conversation: Conversation,
        target: OutputTarget | None,
        watch: Watch | None = None,
    ) -> Run:
        """One run; tools and model are opened for it where they are not open."""
        if not isinstance(query, str):
            raise ConfigError(
                f"the request is {query!r}, and must be a text", hint="run('How far is it …?')"
            )
        said = messages_from_wire(conversation)
        kept = self._options.persistence.journal
        async with self._under_way() as opened:
            if not kept:
                return await _run_query(
                    self, opened, query, said, Ledger(), None, target=target, watch=watch
                )
            with Journal.create(None if kept is True else kept, self._specification()) as journal:
                ledger = Ledger(run=journal.run, commit=journal.commit)
                return await _run_query(
                    self, opened, query, said, ledger, journal, target=target, watch=watch
                )

    async def resume(self, run: str | Path, *, changed: bool = False) -> Run:
        """Go on with a run that a crash, an error or Ctrl-C ended: what is recorded is replayed,
        not done again. Where prompts or version have changed, the run continues from its recorded
        facts: no recorded write is sent again.

        ``run`` is its id, or the path of its journal. An output that the run was to have is JSON.
        Raises JournalError if another process owns it, if tools, model or strategy have changed
        (``changed=True``: what is recorded is replayed all the same, until a question differs), or
        if a write is in doubt.
        """
        async with self._under_way() as opened:
            return await self._resume_opened(opened, run, changed)

    async def _resume_opened(self, opened: Opened, run: str | Path, changed: bool) -> Run:
        path = find_journal(run, self._options.persistence.journal, is_whole=True)
        with Journal.reopen(path) as journal:
            foreign = not journal.is_own()
            ledger = Ledger(
                journal.events(), run=journal.run, commit=journal.commit, foreign=foreign
            )
            start = ledger.start
            if start is None:
                raise JournalError(
                    f"the run {journal.run} ended before it began", hint="start a new run"
                )
            how = _resumption(self, opened, ledger, journal, changed)
            if life := find_withheld_end(start, journal.events(), journal.run):
                return _as_recorded(life, journal.run)
            if how.mode == "continue" and not ledger.is_new_segment:
                if life := ended_life(journal.events()):
                    Trace((*self._options.persistence.sinks,)).note(how.of_ended)
                    return _as_recorded(life, journal.run)
                journal.begin_segment()
                ledger = ledger.continued(journal.events())
            query, conversation = start["query"], read_conversation(start)
            return await _run_query(self, opened, query, conversation, ledger, journal, how)

    def _specification(self) -> dict[str, Any]:
        """Return the settings with which the command line opens the same tools and model for a
        resume.
        """
        spec = self._model_spec
        planner = getattr(self._planner, "spec", "") or (self._planner and self._planner.name)
        return build_specification(
            tools=list(self._sources),
            model=str(spec) if isinstance(spec, ModelSpec) else spec,
            planner=planner,
            only=self._options.selection.only,
            cwd=Path.cwd(),
        )


def _require_planner(planner: Planner | None) -> Planner | None:
    """The planner. Raises ConfigError for a name, and for all else that plans nothing."""
    if planner is not None and not hasattr(planner, "plan"):
        raise ConfigError(
            f"planner is {planner!r}, and must be a Planner",
            hint="from callwright.planning import open_planner: open_planner('edges')",
        )
    return planner


def _list_specs(tools: Any) -> tuple[Any, ...]:
    """The tool sources that were given: one, or several."""
    is_one = isinstance(tools, str | Mapping) or not isinstance(tools, Iterable)
    return (tools,) if is_one else (*tools,)


async def _run_query(
    setup: Orchestrator,
    opened: Opened,
    query: str,
    conversation: tuple[Message, ...],
    ledger: Ledger,
    journal: Journal | None,
    resumed: Resumption = BEGUN,
    target: OutputTarget | None = None,
    watch: Watch | None = None,
) -> Run:
    start, catalog, model = ledger.start, opened.catalog, opened.model
    opened = _keep_strictness(opened, start or {})
    consent = opened.consent
    target = target if start is None else _read_target(start)
    profile = await _choose_profile(setup, model, start)
    limits = Limits(**start["limits"]) if start else profile.widen_limits(setup._limits)
    budget = Budget(limits, ledger.clock)
    lost: list[str] = []
    named = setup._options.persistence.secrets
    secrets = select_redactable((*catalog.secrets, *getattr(model, "secrets", ()), *named))
    sinks = _collect_sinks(setup, catalog, query, journal, lost)
    trace = _open_trace(sinks, secrets, ledger, watch)
    listing = Shortlisting.of(start) if start else setup._shortlist
    tools, kept_back = (
        ((), ()) if listing else _split_tools(setup, opened, query, conversation, start)
    )
    rates = start.get("known", {}) if start else _read_success_rates(setup, catalog)
    mode = start["mode"] if start else await _choose_mode(setup, model)
    sandbox = start.get("sandbox", False) if start else setup._options.safety.sandbox
    instructions = start.get("instructions", "") if start else setup._instructions
    freeze = Freeze.anew(start or setup._freeze)
    today = _get_run_date(setup, start)
    trace.add(
        "run.start",
        query=query,
        conversation=conversation,
        tools=tools,
        mode=mode,
        model_profile=profile.name,
        limits=budget.limits,
        run=ledger.run,
        sandbox=sandbox,
        ask=consent.ask,
        dry_run=consent.dry_run,
        today=today and today.isoformat(),
        began=None if start else round(time.time(), 3),
        **freeze.stated,
        shortlist=listing and listing.stated,
        offered=len(catalog),
        known=rates,
        withheld=_is_withheld(trace, query, conversation, instructions),
        segment=ledger.segment,
        resumed=resumed.mode,
        **_build_start_identity(setup, tools, model, listing, instructions, target),
    )
    warned = _list_warnings(catalog, consent)
    trace.note(*filter(None, [resumed.message]), *(f"warning: {said}" for said in warned))
    await resolve_doubts(ledger, catalog.outcome, trace)
    on_reply = setup._options.interaction.on_reply
    on_reply = on_reply and _drop_broken("on_reply gets no more text", on_reply, lost)
    questions = Questions(model, mode, budget, trace, on_reply, ledger, instructions, profile)
    reserve = None
    if listing is not None:
        reserve = _search(setup, opened, listing, rates, trace, ledger, query, conversation)
        tools = await _choose_tools(setup, opened, reserve, questions, budget, secrets)
        kept_back = tuple(reserve.kept_back)
    turns = read_turns(conversation, tools)
    executor = Executor(
        caller=catalog.call,
        gate=Gate(tools),
        asked=replace(
            _build_asked(query, turns.words, instructions, choose_prompt_day(tools, today)),
            earlier=turns.results,
        ),
        questions=questions,
        budget=budget,
        trace=trace,
        ledger=ledger,
        safety=RunSafety(consent, freeze, sandbox),
    )
    executor.history = conversation
    executor.begin_after(turns.numbered, turns.list_unasked(query, tools))
    if ledger.segment > 1:
        executor.begin_with(ledger.facts, in_view=not freeze.on)
    _announce_withheld(consent, executor, kept_back, trace)
    job = Job(
        query=query,
        tools=tools,
        planner=setup._planner or open_planner(getattr(setup._strategy, "planner", None)),
        facts=executor,
        mode=mode,
        executor=executor,
        questions=questions,
        limits=budget.limits,
        trace=trace,
        conversation=turns.words,
        reserve=reserve,
        known=rates,
        today=choose_prompt_day(tools, today),
        output=target,
        streamed=AnswerText(watch, trace.redact) if watch is not None else None,
    )
    return await _run_and_answer(setup, opened, job, budget, lost)


def _keep_strictness(opened: Opened, began: Mapping[str, Any]) -> Opened:
    """Keep what was opened as strict as the run began; earlier versions do not say all of it."""
    ask, is_dry = began.get("ask", "destructive"), began.get("dry_run", False)
    return replace(opened, consent=opened.consent.asking(ask, dry_run=is_dry))


async def _choose_mode(setup: Orchestrator, model: ChatModel) -> ReplyMode:
    """The way to ask for calls: the one that is named, or the endpoint's best."""
    return setup._options.interaction.mode or (await model.capabilities()).mode


async def _choose_profile(
    setup: Orchestrator, model: ChatModel, start: Mapping[str, Any] | None
) -> ModelProfile:
    """The profile of a run: the one that it began with, the one that is named, or that of the
    model's size.
    """
    if start is not None:
        return find_profile(start.get("model_profile", SMALL.name))
    if setup._profile is not None:
        return setup._profile
    return await read_profile(model)


async def _run_and_answer(
    setup: Orchestrator, opened: Opened, job: Job, budget: Budget, lost: Sequence[str]
) -> Run:
    """The run from its strategy to its answer."""
    limit = await _run_strategy(setup._strategy, job)
    if job.ledger.segment > 1:
        left = job.ledger.untaken
        job.executor.bring_in(r for r in job.ledger.facts.results if r.id in left)
    job.trace.note(*lost)
    undoing = [tool for tool in opened.catalog.tools if tool.compensates]
    answer = _add_assumed_values(await _write_answer(job, undoing), job)
    if job.streamed is not None:
        job.streamed.end(answer.text)
    if job.output is None:
        return _build_run(setup, job, answer, budget, limit)
    filled, edits = await _fill_output(job, job.output)
    answer = _add_output(answer, filled, edits, job)
    return _with_output(_build_run(setup, job, answer, budget, limit, filled), filled)


async def _fill_output(job: Job, target: OutputTarget) -> Filled:
    """The results filled into a type; where a limit forbids the question, that is what it lacks."""
    try:
        return await perform(converse(job.fill_output(target)), job)
    except LimitReached as reached:
        return Output(lacking=(f"the run's limit of {reached.limit} was reached before it",)), ()


def _add_output(answer: Answer, filled: Output, edits: Sequence[Edit], job: Job) -> Answer:
    """The answer with the edits of the output, and what the output lacks under what is missing."""
    located = (replace(edit, path=f"/output{edit.path}") for edit in edits)
    lacking = filled.lacking if job.executor.succeeded else ()  # else the answer says so already
    answer = _add_notes(answer, tuple(f"output {one}" for one in lacking), job.query)
    return replace(answer, edits=(*answer.edits, *located))


def _with_output(run: Run, filled: Output) -> TypedRun[Any]:
    told = {one.name: getattr(run, one.name) for one in fields(Run)}
    return TypedRun(**told, output=filled.loaded, lacking=filled.lacking)


def _open_trace(
    sinks: tuple[Sink, ...], secrets: tuple[str, ...], ledger: Ledger, watch: Watch | None
) -> Trace:
    """The trace of a run; what it records and announces is told to ``watch``."""
    if watch is None:
        return Trace(sinks, secrets, ledger.clock, started=ledger.began)
    reader = EventReader(watch)
    sinks = (*sinks, reader)
    return Trace(sinks, secrets, ledger.clock, started=ledger.began, watch=reader.announce)


def _is_withheld(trace: Trace, *said: Any) -> bool:
    """Return True if what was said to a run holds a secret, which its record does not."""
    told = to_json(said)
    return bool(trace.secrets) and trace.redact(told) != told


def _get_run_date(setup: Orchestrator, start: Mapping[str, Any] | None) -> date | None:
    """The day of a run: that of its start, where it goes on. Journals of earlier versions do not
    say.
    """
    if start is not None:
        return date.fromisoformat(start["today"]) if start.get("today") else None
    today = setup._options.interaction.today
    if today is None:
        return None
    found: Any = today()
    if not isinstance(found, date):
        raise ConfigError(f"today returned {found!r}, and must return a date", hint="date.today")
    return found.date() if isinstance(found, datetime) else found


def _build_asked(
    query: str, conversation: Sequence[Message], instructions: str, today: date | None
) -> Asked:
    """The request, with all texts in which values of calls may stand."""
    said = (Message("system", instructions),) if instructions else ()
    whole = (*said, *conversation)
    return Asked(query, whole, _list_known_dates(today, query, whole))


def _list_known_dates(
    today: date | None, query: str, conversation: Sequence[Message]
) -> tuple[date, ...]:
    """The days that may be taken for known: today, and those that the user names relative to it, or
    to a day that the instructions say.
    """
    if today is None:
        return ()
    said = (query, *(m.content for m in conversation if m.role == "user"))
    told = days_in(m.content for m in conversation if m.role == "system")
    bases = (today, *sorted(told))
    named = (find_relative_days(text, base) for base in bases for text in said)
    return (today, *chain.from_iterable(named))


async def _run_strategy(strategy: Strategy, job: Job) -> str:
    """Let the strategy work. The limit that ended it, or that kept a call from leaving, or ""."""
    try:
        await strategy.run(job)
    except LimitReached as reached:
        return reached.limit
    told = (event.data for event in job.trace.events if event.kind == "limit")
    return next((one["limit"] for one in told if one["purpose"] == "invoke"), "")


def _read_success_rates(setup: Orchestrator, catalog: Catalog) -> dict[str, float]:
    """Return the known success rates of the catalogue's tools; empty if the evidence cannot be
    read.
    """
    try:
        return (
            get_known_rates(setup._options.persistence.evidence.rates(), catalog.tools)
            if setup._options.persistence.evidence is not None
            else {}
        )
    except EvidenceError:  # the recorder says so
        return {}


def _resumption(
    setup: Orchestrator,
    opened: Opened,
    ledger: Ledger,
    journal: Journal,
    is_changed: bool,
) -> Resumption:
    """Return the way in which a run goes on. A segment that has recorded no answer yet is
    continued, whoever began it. Raises JournalError where it does not go on.
    """
    start = ledger.start or {}
    before, digests = _collect_digests(setup, opened, start, journal.events())
    listing = Shortlisting.of(start)
    now = {**_build_run_identity(setup, (), opened.model, listing), "digests": digests}
    how = choose_resumption(before, now, journal.run, is_changed=is_changed)
    if ledger.is_new_segment and not is_changed:
        return Resumption("continue", how.changed or (HAD_CHANGED,))
    return how


def _collect_digests(
    setup: Orchestrator, opened: Opened, start: Mapping[str, Any], events: Sequence[Event]
) -> tuple[dict[str, Any], dict[str, str]]:
    """The start of a run with the digests of all tools that it was shown, and the digests of these
    tools now.
    """
    if Shortlisting.of(start) is None:
        tools, _ = _split_tools(setup, opened, start["query"], read_conversation(start), start)
        return dict(start), {tool.name: tool.digest for tool in tools}
    before, catalog = collect_digests(events), opened.catalog
    return {**start, "digests": before}, {
        name: catalog[name].digest for name in before if name in catalog
    }


def _collect_sinks(
    setup: Orchestrator,
    catalog: Catalog,
    query: str,
    journal: Journal | None,
    lost: list[str],
) -> tuple[Sink, ...]:
    """Return the receivers of the run's events. The journal comes first, and it alone may end the
    run. The last one stores what the calls show of their tools, read as in tool probing. What is
    not kept is told to ``lost``.
    """
    kept = setup._options.persistence
    others = (_drop_broken("a sink gets no more events", sink, lost) for sink in kept.sinks)
    sinks = (*([journal] if journal else ()), *others)
    if kept.evidence is None:
        return sinks
    return (
        *sinks,
        Recorder(
            kept.evidence,
            lambda r: build_observation(r, catalog[r.tool], query),
            lambda e: lost.append(f"what this run shows of its tools is not kept: {e.message}"),
        ),
    )


def _drop_broken(what: str, receive: Callable[[T], None], lost: list[str]) -> Callable[[T], None]:
    """A receiver of the user until it raises an exception: then it gets no more, and the run goes
    on.
    """
    is_broken = False

    def take(given: T) -> None:
        nonlocal is_broken
        if is_broken:
            return
        try:
            receive(given)
        except Exception as error:
            is_broken = True
            told = error.message if isinstance(error, CallwrightError) else repr(error)
            lost.append(f"warning: {what} of this run: {told}")
            _LOG.warning(lost[-1])

    return take


def _list_warnings(catalog: Catalog, consent: Consent) -> list[str]:
    """Return notes of the tools and options of a run for its user: everything of sources, and the
    first problems of single tools.
    """
    of_sources = (*catalog.unopened, *catalog.unlaid)
    others = [problem for problem in catalog.problems if problem not in of_sources]
    left = len(others) - _NAMED
    return [
        *of_sources,
        *catalog.unconfirmed,
        *others[:_NAMED],
        *([f"{left} more problems of tools: callwright tools lists them"] if left > 0 else ()),
        *(f"allow: {pattern!r} names no tool that is here" for pattern in consent.idle),
    ]


def _split_tools(
    setup: Orchestrator,
    opened: Opened,
    query: str,
    conversation: Sequence[Message],
    start: Mapping[str, Any] | None,
) -> tuple[tuple[Tool, ...], tuple[Tool, ...]]:
    """The tools of a run, and those that are kept from it. A run that goes on is shown what it was
    shown, whatever is allowed now.
    """
    chosen = _select_tools(opened.catalog, setup._options.selection.only)
    before = [row["name"] for row in start.get("tools") or ()] if start else []
    if start:
        kept_back = tuple(t for t in chosen if is_destructive(t) and t.name not in before)
        rows = {name: place for place, name in enumerate(before)}
        shown = [tool for tool in chosen if tool not in kept_back]
        return tuple(sorted(shown, key=lambda t: rows.get(t.name, len(rows)))), kept_back
    kept_back = select_withheld(chosen, opened.consent.may_be_called)
    shown = [tool for tool in chosen if tool not in kept_back]
    return rank_by_request(query, (m.content for m in conversation), shown), kept_back


def _announce_withheld(
    consent: Consent, executor: Executor, kept_back: Sequence[Tool], trace: Trace
) -> None:
    """Name the tools that are not shown, and what shows them, to the reader of the run. Those that
    the request asks for stand under what is missing, as a call does that was not approved; where
    the request cannot be read, whoever writes the answer is told.
    """
    if not kept_back:
        return
    named = [consent.offer(t).reference.partition("#")[0] for t in kept_back]
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    options = " ".join(f"--allow {shlex.quote(name)}" for name in named[:_NAMED])
    trace.note(
        "nobody can approve calls of destructive tools, so they are not shown to the model; to show"
        f" them: {options}{more}"
    )
    said = executor.state.asked
    asked = find_asked(said.query, (m.content for m in said.conversation), kept_back)
    for tool, name in zip(kept_back, named, strict=True):
        if asked[tool.name]:
            executor.deny(ToolCall("", tool.name, {}), explain_withheld(name))
        else:
            executor.skip(
                [Skip(tool.name, explain_withheld(name), refused=asked[tool.name] is None)]
            )


async def _choose_tools(
    setup: Orchestrator,
    opened: Opened,
    reserve: CatalogSearch,
    questions: Questions,
    budget: Budget,
    secrets: Sequence[str],
) -> tuple[Tool, ...]:
    """The tools that a run begins with. A model of the trials is open meanwhile; of another model
    than the run's own the questions are recorded and counted as the run's are.
    """
    probing, make = reserve.settings.probing, setup._options.selection.simulator
    async with AsyncExitStack() as stack:
        asked: Questions | None = None
        if probing.model == OWN:
            asked = questions
        elif probing.model:
            model = open_model(probing.model)
            stack.push_async_callback(model.aclose)
            mode = (await model.capabilities()).mode
            profile = setup._profile or await read_profile(model)
            asked = Questions(
                model, mode, budget, reserve.trace, None, reserve.ledger, profile=profile
            )
        simulator = (
            make(ChargedModel(asked.model, budget, budget.limits.model_calls // 4))
            if asked is not None and make is not None and probing.simulate != "never"
            else None
        )
        return await reserve.first(
            opened.catalog.call,
            budget,
            setup._options.persistence.evidence,
            secrets,
            dry_run=opened.consent.dry_run,
            model=asked,
            simulator=simulator,
        )


def _search(
    setup: Orchestrator,
    opened: Opened,
    listing: Shortlisting,
    rates: Known,
    trace: Trace,
    ledger: Ledger,
    query: str,
    conversation: Sequence[Message],
) -> CatalogSearch:
    """The search of a catalogue of which a run is shown a part."""
    return CatalogSearch(
        {tool.name: tool for tool in _select_tools(opened.catalog, setup._options.selection.only)},
        setup._index,
        listing,
        rates,
        trace,
        ledger,
        query,
        conversation,
        may_be_called=opened.consent.may_be_called,
    )


def _build_run_identity(
    setup: Orchestrator,
    tools: Sequence[Tool],
    model: ChatModel,
    listing: Shortlisting | None,
    *,
    has_output: bool = False,
) -> dict[str, Any]:
    probing = listing is not None and listing.trials != "off"
    name = setup._strategy.name
    identity = build_identity(
        __version__, tools, model.name, name, is_probing=probing, has_output=has_output
    )
    return {**identity, **_state_instructions(setup._instructions)}


def _build_start_identity(
    setup: Orchestrator,
    tools: Sequence[Tool],
    model: ChatModel,
    listing: Shortlisting | None,
    instructions: str,
    target: OutputTarget | None,
) -> dict[str, Any]:
    """Return what the start of a run records of itself, for a resume."""
    identity = _build_run_identity(setup, tools, model, listing, has_output=target is not None)
    return {**identity, **_state_instructions(instructions), **_state_target(target)}


def _state_instructions(instructions: str) -> dict[str, str]:
    """The instructions as the start of a run names them; nothing where there are none."""
    return {"instructions": instructions} if instructions else {}


def _state_target(target: OutputTarget | None) -> dict[str, Any]:
    """The type of the output as the start of a run names it; nothing where there is none."""
    return {} if target is None else {"output": [target.schema, target.is_wrapped]}


def _read_target(start: Mapping[str, Any]) -> OutputTarget | None:
    if "output" not in start:
        return None
    schema, is_wrapped = start["output"]
    return OutputTarget(schema, is_wrapped=is_wrapped)


def _as_recorded(life: Sequence[Event], run: str) -> Run:
    """A run that has ended, as its journal tells it."""
    told = recorded_outcome(life)
    made = Run(**{**told, "cost": Cost(**told["cost"]), "id": run})
    answer = next(event.data for event in reversed(life) if event.kind == "answer")
    if "output" not in answer:
        return made
    value, lacking = answer["output"]["value"], tuple(answer["output"]["lacking"])
    return _with_output(made, Output(value, value, lacking))


def _select_tools(catalog: Catalog, only: Sequence[str] | None) -> tuple[Tool, ...]:
    if not catalog.tools:
        raise ConfigError(
            "no source offers a tool that can be used",
            hint="; ".join(catalog.problems) or "callwright tools SOURCE… lists what there is",
        )
    unknown = {*(only or ())} - {t.name for t in catalog.tools}
    if unknown:
        raise ConfigError(
            f"no source offers the tools {', '.join(sorted(unknown))}",
            hint="; ".join(catalog.problems) or "callwright tools SOURCE… lists what there is",
        )
    return tuple(t for t in catalog.tools if only is None or t.name in only)


async def _write_answer(job: Job, undoing: Sequence[Tool] = ()) -> Answer:
    """The Finish step, and what its reply names as missing; where a limit forbids the question, the
    answer says what was found without one. ``undoing``: the tools that undo the calls of others.
    """
    try:
        answer = _add_certain_facts(await perform(close_run(job), job), job)
        offered = offer_compensations(job, undoing) if answer.missing else ()
        return _add_notes(answer, offered, job.query)
    except LimitReached as reached:
        results, skips = job.executor.results, job.executor.missing
        why = f"the run's limit of {reached.limit} was reached before the answer"
        return build_abstention(results, skips, why, job.query)


def _add_assumed_values(answer: Answer, job: Job) -> Answer:
    """The answer with the values on which it rests and which the model made up, said in its text;
    in a text that is to stay the model's own, beside it.
    """
    told = tuple(dict.fromkeys(map(str, job.executor.assumed)))
    if not told:
        return answer
    text = (
        answer.text
        if job.as_written
        else f"{answer.text}\n\n{load_phrases(guess_spoken(job.query))['assumptions']}:"
        + "".join(f"\n- {one}" for one in told)
    )
    return replace(answer, text=text, assumed=told)


def _add_certain_facts(answer: Answer, job: Job) -> Answer:
    """The answer, and under what is missing what must be said for certain, whatever the model says:
    the writes that rested on a value which was wrong, those that may or may not have happened, and
    the calls that were not approved, rest on a value that nothing states, or were made once only.
    """
    executor = job.executor
    certain = (
        *(*executor.outdated, *executor.in_doubt, *executor.denied, *executor.kept_back),
        *executor.not_repeated,
    )
    left = (s for s in certain if not any(s.reason in part for part in answer.missing))
    told = tuple(f"{s.tool}: {s.reason}" for s in left)
    return _add_notes(answer, told, job.query)


def _add_notes(answer: Answer, told: tuple[str, ...], query: str) -> Answer:
    """The answer with more under what is missing. ``query``: what tells the language."""
    if not told:
        return answer
    head = "" if answer.missing else f"\n\n{load_phrases(guess_spoken(query))['missing']}:"
    text = answer.text + head + "".join(f"\n- {note}" for note in told)
    return replace(answer, text=text, missing=(*answer.missing, *told))


def _classify_status(answer: Answer, *, found: bool, limit: str) -> Status:
    if not found:
        return "abstained"
    if answer.missing or answer.assumed or limit:
        return "partial"
    return "answered"


def _build_run(
    setup: Orchestrator,
    job: Job,
    answer: Answer,
    budget: Budget,
    limit: str,
    filled: Output | None = None,
) -> Run:
    executor = job.executor
    unanswered = job.as_written and job.given_up is not None  # then not even what was found is told
    is_supported = any(one.support != "unsupported" for one in answer.statements)
    # what earlier turns brought may be all that the request needs
    found = bool(executor.succeeded or (executor.state.earlier and is_supported)) and not unanswered
    found = found or (job.asks_for_nothing and bool(answer.text))
    status = _classify_status(answer, found=found, limit=limit)
    cost = Cost(
        budget.model_calls, budget.usage, budget.seconds, budget.tool_calls, dict(executor.repairs)
    )
    told = filled and {"value": filled.value, "lacking": filled.lacking}
    job.trace.add("answer", **to_json(answer), **({"output": told} if told else {}))
    if job.streamed is not None:
        job.streamed.end(answer.text)
    in_doubt = tuple(executor.doubted)
    job.trace.add("run.end", status=status, limit=limit, cost=cost, in_doubt=in_doubt)
    if (on_text := setup._options.interaction.on_text) is not None:
        # nothing that it does loses the finished run
        show = _drop_broken("on_text gets no more text", on_text, [])
        for piece in answer.text.splitlines(keepends=True):
            show(piece)
    return Run(
        query=job.query,
        strategy=setup._strategy.name,
        status=status,
        answer=answer,
        plan=job.plan,
        results=tuple(executor.all_results),
        skips=tuple(executor.skips),
        cost=cost,
        events=tuple(job.trace.events),
        limit=limit,
        id=job.ledger.run,
        stale=tuple(r.id for r in executor.all_results if r.id in executor.state.stale),
        in_doubt=in_doubt,
        assumed=executor.assumed,
    )
