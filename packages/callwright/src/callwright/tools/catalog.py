"""Every tool of a run under one name each, wherever it comes from, and one way to call them."""

from __future__ import annotations

import asyncio
import difflib
import re
import shlex
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from callwright.nouns.control_characters import one_line
from callwright.nouns.errors import CallwrightError, CatalogError
from callwright.nouns.protocols import Confirmations, NotDone, ToolSource
from callwright.nouns.types import JsonObject, Tool, ToolOutput, compute_digest
from callwright.schema.untrusted import SchemaLimits, admit_tool
from callwright.tools.lists.json_document import BrokenDocument
from callwright.tools.overlay import Laid, ToolOverlay
from callwright.tools.overlays import OverlaySource
from callwright.tools.sources import SourceSpec, sources_of
from callwright.tools.trust import (
    TrustStore,
    escape_terminal_text,
    find_changes,
    plain_json,
    render_changes,
)


@dataclass(frozen=True, slots=True)
class _Entry:
    """A tool under its name here, and as its source knows it."""

    tool: Tool
    original: Tool
    source: ToolSource


class Catalog:
    """Tools from one or more open sources. Made by :func:`open_catalog`; usable while that block is
    open.

    ``problems``: what could not be used as it is, and why; ``unlaid`` those of them that are of
    overlays, ``unopened`` those of sources that could not be opened, each on one line.
    ``overlays``: what these say of the tools, by name; of tools that have changed since they say
    nothing. ``unconfirmed``: what sources say of themselves that is not believed before the user
    confirms them.
    """

    def __init__(
        self,
        entries: Sequence[_Entry],
        problems: Sequence[str] = (),
        laid: Sequence[Laid] = (),
        unopened: Sequence[str] = (),
    ) -> None:
        self._entries = {entry.tool.name: entry for entry in entries}
        self.tools: tuple[Tool, ...] = tuple(entry.tool for entry in entries)
        self.unlaid: tuple[str, ...] = tuple(one.problem for one in laid if one.problem)
        self.unopened = tuple(unopened)
        self.problems: tuple[str, ...] = (*self.unopened, *problems, *self.unlaid)
        self.overlays: Mapping[str, ToolOverlay] = {
            k: v for one in laid for k, v in one.fitting.items()
        }
        sources = {id(entry.source): entry.source for entry in entries}.values()
        self.unconfirmed: tuple[str, ...] = tuple(
            u for s in sources for u in getattr(s, "unconfirmed", ())
        )

    def __getitem__(self, name: str) -> Tool:
        return self._entry(name).tool

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[Tool]:
        return iter(self.tools)

    def __len__(self) -> int:
        return len(self.tools)

    @property
    def digest(self) -> str:
        """Changes whenever anything about any tool changes. The order of the sources does not
        matter.
        """
        return compute_digest(sorted(tool.digest for tool in self.tools))

    @property
    def secrets(self) -> tuple[str, ...]:
        """The secret values that the sources of these tools may send, for ``Trace(secrets=…)``."""
        sources = {id(entry.source): entry.source for entry in self._entries.values()}.values()
        return tuple(
            dict.fromkeys(secret for source in sources for secret in getattr(source, "secrets", ()))
        )

    def require_unchanged(self, pins: TrustStore, named: Mapping[int, str]) -> tuple[str, ...]:
        """Pin the definitions that are seen for the first time; what cannot be remembered is
        returned. ``named``: how the user names a source, by its id. Raises TrustError with a diff
        where one is not what it was.
        """
        said = []
        for source, definitions in self._definitions():
            spec = named.get(id(source))
            hint = (
                f"if that is right: callwright trust {shlex.quote(escape_terminal_text(spec))}"
                if spec
                else ""
            )
            said.append(pins.require_unchanged(source.origin, definitions, hint=hint))
        return tuple(filter(None, said))

    def accept(self, pins: TrustStore) -> list[str]:
        """Make the definitions as they are now those that hold. Returns what changed, as lines."""
        lines = []
        for source, definitions in self._definitions():
            lines += render_changes(
                find_changes(pins.pinned(source.origin), plain_json(definitions)), most=400
            )
            pins.pin(source.origin, definitions)
        return lines

    def _definitions(self) -> list[tuple[Any, dict[str, JsonObject]]]:
        """Return the tool definitions of all external sources."""
        offered: dict[int, tuple[Any, dict[str, JsonObject]]] = {}
        for entry in self._entries.values():
            if hasattr(entry.source, "definition"):
                held = offered.setdefault(id(entry.source), (entry.source, {}))[1]
                held[entry.original.name] = entry.source.definition(entry.original)
        return list(offered.values())

    async def call(self, name: str, arguments: JsonObject) -> ToolOutput:
        """Run one tool. What goes wrong in the world is in the output; an unknown name raises
        CatalogError.
        """
        entry = self._entry(name)
        return await entry.source.call(entry.original, arguments)

    async def outcome(
        self, name: str, arguments: JsonObject, key: str
    ) -> ToolOutput | NotDone | None:
        """Return the outcome of a call whose answer was lost. None if its source cannot be asked or
        does not know.
        """
        entry = self._entry(name)
        ask = getattr(entry.source, "outcome", None)
        found: ToolOutput | NotDone | None = (
            await ask(entry.original, arguments, key) if ask else None
        )
        return found

    def place(self, name: str) -> str:
        """Return a text that identifies who answers calls of a tool, such as a server or its code;
        "" if the source does not tell. For digests: it may hold addresses and code.
        """
        entry = self._entry(name)
        told = getattr(entry.source, "place", None)
        return str(told(entry.original)) if told else ""

    def offered_by(self, name: str) -> tuple[str, Tool, int]:
        """The name of a tool's source, the tool as that offers it, and a number that is the
        source's alone.
        """
        entry = self._entry(name)
        return entry.original.source or entry.source.name, entry.original, id(entry.source)

    def _entry(self, name: str) -> _Entry:
        if name not in self._entries:
            near = difflib.get_close_matches(name, self._entries, n=3)
            raise CatalogError(
                f"there is no tool {name!r} in the catalogue",
                hint=(
                    f"near: {', '.join(near)}"
                    if near
                    else f"there are {len(self)} tools: {', '.join(self._entries)[:300]}"
                ),
            )
        return self._entries[name]


@asynccontextmanager
async def open_catalog(
    sources: Sequence[SourceSpec] | SourceSpec,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    prefix: bool = False,
    limits: SchemaLimits | None = None,
    strict: bool = True,
    trust: Confirmations | None = None,
    pins: TrustStore | None = None,
) -> AsyncIterator[Catalog]:
    """Open every source and put its tools under one name each. Sources are closed when the block
    ends.

    A spec is text (:data:`callwright.tools.sources.FORMS`), a path, a function, a module, a Tool or
    a ToolSource.

    Names: the first tool of a name keeps it; a later one is called ``<source>_<name>``, and if that
    is taken too ``<source>_<name>_2`` and so on. Every such renaming stands in
    ``catalog.problems``. ``prefix=True`` puts the source's name before every name. ``include`` and
    ``exclude`` are shell patterns (``get_*``) on the final names.

    ``trust``: what the user has confirmed (:class:`callwright.tools.trust.TrustStore`); without it
    documents are untrusted unless your code says otherwise. ``pins``: the store in which
    definitions of documents and servers are pinned on first use; a changed one raises TrustError
    with a diff.

    Raises CatalogError where a source cannot be opened; with ``strict=False`` it is left out, its
    reason in ``catalog.unopened``, as long as another one opens. A single tool that cannot be used
    is left out, its reason in ``catalog.problems``.
    """
    specs: list[Any] = list(sources) if isinstance(sources, list | tuple) else [sources]
    made, errors = _build_sources(specs, strict)
    opened = [source for source, _ in made]
    for source in opened if trust is not None else ():
        if consult := getattr(source, "consult", None):
            consult(trust)
    async with AsyncExitStack() as stack:
        for source in opened:
            stack.push_async_callback(source.aclose)
        offers, failed = await _open_sources(opened, strict)
        _require_one(offers, [*errors, *failed])
        catalog = _merge_offers(
            offers, include, exclude, prefix, limits or SchemaLimits(), [*errors, *failed]
        )
        if pins is not None:
            named = {id(source): spec for source, spec in made}
            catalog.problems += await asyncio.to_thread(catalog.require_unchanged, pins, named)
        yield catalog


def _build_sources(
    specs: Sequence[Any], strict: bool
) -> tuple[list[tuple[ToolSource, str]], list[CallwrightError]]:
    """The sources of all specs, each with how the user named it, and of the documents that make
    none why. A spec that names nothing is raised.
    """
    made: list[tuple[ToolSource, str]] = []
    errors: list[CallwrightError] = []
    for spec in specs:
        try:
            made += [
                (source, str(spec) if isinstance(spec, str | Path) else "")
                for source in sources_of(spec)
            ]
        except BrokenDocument as error:
            if strict:
                raise
            errors.append(error)
    return made, errors


async def _open_sources(
    sources: Sequence[ToolSource], strict: bool
) -> tuple[list[tuple[ToolSource, Sequence[Tool]]], list[CallwrightError]]:
    """Open all at once: servers take seconds to start. Where all must open, the first failure is
    raised and the rest are cancelled; else those that opened are returned, and the errors of the
    others.
    """
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_open_source(source, strict)) for source in sources]
    except BaseExceptionGroup as errors:
        raise _get_first_error(errors) from None
    found = [(source, task.result()) for source, task in zip(sources, tasks, strict=True)]
    offers = [(source, offer) for source, offer in found if not isinstance(offer, CallwrightError)]
    return offers, [offer for _, offer in found if isinstance(offer, CallwrightError)]


async def _open_source(source: ToolSource, strict: bool) -> Sequence[Tool] | CallwrightError:
    try:
        return await source.open()
    except CallwrightError as error:
        if strict:
            raise
        return error


def _require_one(
    offers: Sequence[tuple[ToolSource, Sequence[Tool]]], errors: Sequence[CallwrightError]
) -> None:
    """Raise where sources failed and none is left that offers tools."""
    if not errors or any(not isinstance(source, OverlaySource) for source, _ in offers):
        return
    if len(errors) == 1:
        raise errors[0]
    said = "; ".join(_shorten_text(error.message) for error in errors)
    raise CatalogError(f"no tool source can be opened: {said}", hint=errors[0].hint)


def _shorten_text(text: str, most: int = 300) -> str:
    """A text on one line and cut."""
    line = one_line(text)
    return line if len(line) <= most else line[: most - 1] + "…"


def _get_first_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _merge_offers(
    offers: Sequence[tuple[ToolSource, Sequence[Tool]]],
    include: Sequence[str],
    exclude: Sequence[str],
    prefix: bool,
    limits: SchemaLimits,
    errors: Sequence[CallwrightError],
) -> Catalog:
    problems: list[str] = []
    entries: dict[str, _Entry] = {}
    for source, tools in offers:
        problems += list_problems(source)
        for original in tools:
            try:
                tool, notes = admit_tool(original, limits)
            except CatalogError as error:
                problems.append(f"{original.name} ({source.name}) left out: {error.message}")
                continue
            name = _free_name(original.name, source.name, entries, prefix)
            if not _is_wanted(name, include, exclude):
                continue
            if name != original.name and not prefix:
                problems.append(
                    f"{original.name} of {source.name} is called {name}: the name was taken"
                )
            problems += notes
            entries[name] = _Entry(replace(tool, name=name), original, source)
    made = tuple(entries.values())
    laid = []
    for source, _ in offers:
        if isinstance(source, OverlaySource):
            laid.append(source.overlay.apply(entry.tool for entry in made))
            made = _apply_overlay(made, laid[-1], limits, problems)
    return Catalog(
        made, problems, laid, [_shorten_text(f"left out: {error.message}") for error in errors]
    )


def _apply_overlay(
    entries: Sequence[_Entry], laid: Laid, limits: SchemaLimits, problems: list[str]
) -> tuple[_Entry, ...]:
    """The tools as an overlay has them offered; each is called as its source knows it all the
    same.
    """
    made = []
    for entry, tool in zip(entries, laid.tools, strict=True):
        try:
            tool, notes = admit_tool(tool, limits)
        except CatalogError as error:
            problems.append(f"{laid.name} is left out for {tool.name}: {error.message}")
            made.append(entry)
            continue
        problems += notes if tool is not entry.tool else ()
        made.append(replace(entry, tool=tool))
    return tuple(made)


def list_problems(source: ToolSource) -> list[str]:
    """Return the problems of a source that left out tools. These are its own messages, if it has
    any, and its ``not_imported`` operations.
    """
    left_out = getattr(source, "not_imported", ())
    return [
        *getattr(source, "problems", ()),
        *(f"{o.operation} of {source.name} left out: {o.reason}" for o in left_out),
    ]


def _free_name(name: str, source: str, taken: dict[str, _Entry], prefix: bool) -> str:
    if not prefix and name not in taken:
        return name
    owner = re.sub(r"\W+", "_", source).strip("_").lower() or "source"
    made = f"{owner}_{name}"
    return next(
        n for n in (made, *(f"{made}_{i}" for i in range(2, len(taken) + 3))) if n not in taken
    )


def _is_wanted(name: str, include: Sequence[str], exclude: Sequence[str]) -> bool:
    wanted = not include or any(fnmatchcase(name, pattern) for pattern in include)
    return wanted and not any(fnmatchcase(name, pattern) for pattern in exclude)
