"""The way in: tools in, plan, gated and repaired calls, grounded answer.

::

    run = Orchestrator(["examples/desk"], model="local").run_sync("How far is it from Oslo to Lisbon?")
    print(run.answer.text)
"""

from __future__ import annotations

import asyncio
import threading
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
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias, TypeVar, Unpack, overload

from callwright.agent.catalog_search import Index
from callwright.agent.journal.ended import ended_life
from callwright.agent.journal.ledger import Ledger
from callwright.agent.journal.resume import (
    build_specification,
    find_journal,
    find_withheld_end,
    read_conversation,
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
from callwright.agent.run import Cost, Run, Status, TypedRun
from callwright.agent.run_events import RunEvent, Watch, iter_events
from callwright.agent.running.identity import decide_resumption, load_recorded_run
from callwright.agent.running.offered_tools import select_tools
from callwright.agent.running.run_query import run_query
from callwright.agent.running.setup import Setup, require_planner
from callwright.agent.safety.approvals import OfferedTools
from callwright.agent.safety.consent import Consent
from callwright.agent.safety.freeze import Freeze
from callwright.agent.strategies import Strategy, open_strategy, require_freezable
from callwright.grounding.output import OutputTarget, open_output
from callwright.models import ModelSpec, open_model
from callwright.nouns.errors import ConfigError, JournalError
from callwright.nouns.limits import Limits
from callwright.nouns.model_profile import find_profile
from callwright.nouns.protocols import ChatModel, Planner
from callwright.nouns.trace import Trace
from callwright.nouns.types import Message, Tool
from callwright.tools.catalog import open_catalog
from callwright.tools.lists.chat_messages import messages_from_wire
from callwright.tools.sources import SourceSpec

__all__ = ["Cost", "Orchestrator", "Run", "Status", "TypedRun"]

T = TypeVar("T")
Conversation: TypeAlias = Sequence[Message | Mapping[str, Any]]
"""What came before a request. A mapping is a message in OpenAI's chat form, or Anthropic's."""
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
        named, opened = options.interaction.model_profile, open_strategy(strategy)
        limits = Limits() if limits is None else limits
        require_type("limits", limits, Limits)
        freeze = require_freezable(opened, options.safety.freeze)
        self._setup = Setup(
            options=options,
            strategy=opened,
            planner=require_planner(planner),
            limits=limits,
            profile=find_profile(named) if named else None,
            freeze=Freeze(freeze, options.safety.may_fill).stated,
            shortlist=options.selection.shortlisting(),
            index=Index(),
        )
        self._sources = _list_specs(tools)
        self._openings = Openings(self._open)
        self._turns = threading.Lock()  # of threads that use the same objects
        self._model_spec = model
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
        selection = self._setup.options.selection
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
        only, opened = self._setup.options.selection.only, self._openings.opened
        return () if opened is None else select_tools(opened.catalog, only)

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
        self._setup = replace(self._setup, index=Index())
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
        kept = self._setup.options.persistence.journal
        async with self._under_way() as opened:
            work = partial(run_query, self._setup, opened, query, said, target=target, watch=watch)
            if not kept:
                return await work(ledger=Ledger(), journal=None)
            with Journal.create(None if kept is True else kept, self._specification()) as journal:
                ledger = Ledger(run=journal.run, commit=journal.commit)
                return await work(ledger=ledger, journal=journal)

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
        path = find_journal(run, self._setup.options.persistence.journal, is_whole=True)
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
            how = decide_resumption(self._setup, opened, ledger, journal, changed)
            if life := find_withheld_end(start, journal.events(), journal.run):
                return load_recorded_run(life, journal.run)
            if how.mode == "continue" and not ledger.is_new_segment:
                if life := ended_life(journal.events()):
                    Trace((*self._setup.options.persistence.sinks,)).note(how.of_ended)
                    return load_recorded_run(life, journal.run)
                journal.begin_segment()
                ledger = ledger.continued(journal.events())
            query, conversation = start["query"], read_conversation(start)
            return await run_query(self._setup, opened, query, conversation, ledger, journal, how)

    def _specification(self) -> dict[str, Any]:
        """Return the settings with which the command line opens the same tools and model for a
        resume.
        """
        spec, planner = self._model_spec, self._setup.planner
        return build_specification(
            tools=list(self._sources),
            model=str(spec) if isinstance(spec, ModelSpec) else spec,
            planner=getattr(planner, "spec", "") or (planner and planner.name),
            only=self._setup.options.selection.only,
            cwd=Path.cwd(),
        )


def _list_specs(tools: Any) -> tuple[Any, ...]:
    """The tool sources that were given: one, or several."""
    is_one = isinstance(tools, str | Mapping) or not isinstance(tools, Iterable)
    return (tools,) if is_one else (*tools,)
