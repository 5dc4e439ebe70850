"""Calls on their way: each is one Draft, and a rule changes drafts by one Change.

A draft's id is given once. Positions in the list, as it was read or as it is now, are looked up
where results are rendered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

from callwright.nouns.errors import CatalogError, Violation
from callwright.nouns.types import Edit, Json, JsonObject, ToolCall
from callwright.nouns.wire_names import EditRule
from callwright.repair.diagnostics import MISSING, Abstention, Diagnostic, Severity
from callwright.repair.location import REPLY, Location, in_arguments
from callwright.schema.value_edits import ValueEdit, render_pointer

BEFORE_CALLS, CALL_BY_CALL, AFTER_CALLS = -1, 0, 1
"""Turns: before the calls are looked at, call by call, and then one thing after the other."""


class LocatedEdit(NamedTuple):
    """One change that was made. A whole call was added where ``before`` is None, and dropped where
    ``after`` is. ``turn`` orders what concerns several calls; it is set when the change is made.
    """

    location: Location
    before: Json
    after: Json
    rule: EditRule
    confidence: float = 1.0
    turn: int = 0


@dataclass(slots=True, kw_only=True)
class Findings:
    """The changes in calls and the findings about them, in the order of finding."""

    edits: list[LocatedEdit] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)


@dataclass(slots=True)
class Draft(Findings):
    """A call on its way. ``origin`` is the position at which it was read (None for an added call).

    ``is_closed``: no rule goes on with it. ``is_right`` is what the check said last, None where the
    call has changed since.
    """

    id: int
    call: ToolCall
    origin: int | None = None
    confidence: float = 1.0
    is_closed: bool = False
    is_right: bool | None = None

    @property
    def arguments(self) -> JsonObject:
        """The arguments, of a draft whose arguments are known to be an object. Raises CatalogError
        where the tool's schema made something else of them.
        """
        if not isinstance(self.call.arguments, dict):
            raise CatalogError(
                f"tool {self.call.tool!r}: its input schema takes no object, and the arguments of a"
                " call are one",
                hint='give {"type": "object", "properties": {…}}',
            )
        return self.call.arguments

    @property
    def errors(self) -> list[Diagnostic]:
        """The errors that remain."""
        return [d for d in self.diagnostics if d.severity == "error"]

    @property
    def missing(self) -> list[str]:
        """The required arguments of which nobody has said the value, in the order of finding."""
        return [str(d.location.pointer[-1]) for d in self.diagnostics if d.rule == MISSING]

    @property
    def has_tool(self) -> bool:
        """True if its tool is one of those in view."""
        return not any(d.rule == "unknown_tool" for d in self.errors)


@dataclass(slots=True)
class Change(Findings):
    """The outcome of a rule: the drafts as it has them, and its findings.

    ``calls`` are drafts' new calls by id; an id that no draft has is a new draft's, read where
    ``origins`` says. ``order``: the ids that are left, in order, where calls were added, dropped,
    split or moved. ``edits`` list all of it. ``withdrawn``: the drafts of which earlier errors no
    longer hold; ``closed``: those that no rule goes on with; ``right``: those whose call the check
    has already let through as it is now.
    """

    calls: dict[int, ToolCall] = field(default_factory=dict)
    origins: dict[int, int | None] = field(default_factory=dict)
    order: list[int] | None = None
    withdrawn: AbstractSet[int] = frozenset()
    closed: AbstractSet[int] = frozenset()
    right: AbstractSet[int] = frozenset()

    def __bool__(self) -> bool:
        return bool(
            self.edits or self.diagnostics or self.calls or self.closed or self.order is not None
        )

    def join(self, other: Change) -> Change:
        """This change, and that of drafts which it does not know of."""
        self.edits += other.edits
        self.diagnostics += other.diagnostics
        self.calls |= other.calls
        self.withdrawn |= other.withdrawn
        self.closed |= other.closed
        self.right |= other.right
        return self

    def list_edit(
        self, location: Location, before: Json, after: Json, rule: EditRule, confidence: float = 1.0
    ) -> None:
        """List an edit."""
        self.edits.append(LocatedEdit(location, before, after, rule, confidence))

    def list_values(self, draft: int, edits: Iterable[ValueEdit]) -> None:
        """List what the schema asked for in a draft's arguments."""
        for edit in edits:
            place = in_arguments(draft, *edit.pointer)
            self.edits.append(LocatedEdit(place, edit.before, edit.after, edit.rule))

    def hint(
        self,
        location: Location,
        message: str,
        confidence: float = 0.0,
        candidate: Json = None,
        rule: str = "",
    ) -> None:
        """Say that something looks wrong and was left alone."""
        self.diagnostics.append(
            Diagnostic("hint", rule, location, message, confidence=confidence, candidate=candidate)
        )

    def report(
        self, kind: str, location: Location, message: str, keyword: str = "", got: Json = None
    ) -> None:
        """Say that something is still wrong."""
        self.diagnostics.append(Diagnostic("error", kind, location, message, keyword, None, got))

    def note_missing(self, draft: int, key: str) -> None:
        """Note that nobody has said the value of a required argument."""
        self.diagnostics.append(Diagnostic("note", MISSING, in_arguments(draft, key)))


class Drafts:
    """The calls of one reply on their way, in order, and what was done to them."""

    def __init__(self, calls: Iterable[ToolCall], turn: int = CALL_BY_CALL) -> None:
        self._every = {i: Draft(i, call, i) for i, call in enumerate(calls)}
        self._order = list(self._every)
        self._left = list(self._every.values())  # the drafts of the order
        self._next_id = len(self._every)
        self._turn = turn
        self._reply: Draft | None = None

    @classmethod
    def of(cls, draft: Draft) -> Drafts:
        """One draft by itself, under the id that it has."""
        made = cls.__new__(cls)
        made._every, made._order, made._left = {draft.id: draft}, [draft.id], [draft]
        made._next_id, made._turn, made._reply = draft.id + 1, CALL_BY_CALL, None
        return made

    def __eq__(self, other: object) -> bool:
        """Return True if the same was made of the same calls."""
        if not isinstance(other, Drafts):
            return NotImplemented
        return self.order == other.order and self.every == other.every

    def __iter__(self) -> Iterator[Draft]:
        """The drafts that are left, in order."""
        return iter(self._left)

    def __len__(self) -> int:
        return len(self._order)

    def __getitem__(self, id: int) -> Draft:
        return self._every[id] if id != REPLY else self._of_reply()

    @property
    def are_right(self) -> bool:
        """True if the check has let every call through that rules go on with."""
        for draft in self._left:  # noqa: SIM110  # asked before every rule: a generator costs more
            if not (draft.is_right or draft.is_closed):
                return False
        return True

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls that are left, in order."""
        return tuple(draft.call for draft in self)

    @property
    def order(self) -> tuple[int, ...]:
        """The ids of the drafts that are left."""
        return tuple(self._order)

    @property
    def every(self) -> Sequence[Draft]:
        """Every draft there has been, and what holds evidence of the reply as a whole."""
        return [*self._every.values(), *([self._reply] if self._reply is not None else ())]

    def _of_reply(self) -> Draft:
        """Return the draft that holds the evidence of the reply as a whole."""
        if self._reply is None:
            self._reply = Draft(REPLY, ToolCall("", "", {}))
        return self._reply

    def new_id(self) -> int:
        """An id that no draft has had."""
        self._next_id += 1
        return self._next_id - 1

    def take_turn(self, turn: int) -> None:
        """List what follows after what was done in earlier turns."""
        self._turn = max(self._turn, turn)

    def _next_turn(self) -> int:
        """The turn of what is listed now: call by call, or one after the other."""
        if self._turn <= CALL_BY_CALL:
            return self._turn
        self._turn += 1
        return self._turn - 1

    def apply(self, change: Change) -> None:
        """Make a change."""
        every = self._every
        for id, call in change.calls.items():
            draft = every.get(id)
            if draft is None:
                every[id] = Draft(id, call, change.origins.get(id))
            elif draft.call is not call:
                draft.call, draft.is_right = call, None
        for id in change.right:
            self[id].is_right = True
        for id in change.withdrawn:
            draft = self[id]
            draft.diagnostics = [d for d in draft.diagnostics if d.severity != "error"]
        for edit in change.edits:
            draft = self[edit.location.draft]
            turn = self._next_turn()
            draft.edits.append(edit if edit.turn == turn else edit._replace(turn=turn))
            if edit.confidence < draft.confidence:
                draft.confidence = edit.confidence
        for found in change.diagnostics:
            turn = self._next_turn()
            listed = found if found.turn == turn else found._replace(turn=turn)
            self[found.location.draft].diagnostics.append(listed)
        for id in change.closed:
            self[id].is_closed = True
        if change.order is not None:
            self._order = list(change.order)
            self._left = [every[i] for i in self._order]

    # ------------------------------------------------------------ what results show

    @property
    def confidence(self) -> float:
        """That of the least certain edit."""
        return min(draft.confidence for draft in self.every)

    def render_edits(self) -> tuple[Edit, ...]:
        """Every edit: call by call, then what concerned several calls, as it was done."""
        listed = [edit for draft in self._ranked() for edit in draft.edits]
        listed.sort(key=attrgetter("turn"))
        return tuple([Edit(self._edit_path(e), e.before, e.after, e.rule) for e in listed])

    def render_violations(self) -> tuple[Violation, ...]:
        """Return the errors that remain."""
        found = self._list_diagnostics("error")
        return tuple([d.to_violation(self._path(d.location)) for d in found])

    def render_abstentions(self) -> tuple[Abstention, ...]:
        """Return the hints about what was left alone."""
        found = self._list_diagnostics("hint")
        return tuple([d.to_abstention(self._path(d.location)) for d in found])

    def _list_diagnostics(self, severity: Severity) -> list[Diagnostic]:
        found = [d for draft in self._ranked() for d in draft.diagnostics if d.severity == severity]
        found.sort(key=attrgetter("turn"))
        return found

    def _ranked(self) -> list[Draft]:
        """Drafts by where they were read, added ones last, then the reply as a whole."""
        last = len(self._every)
        if last == 1 and self._reply is None:
            return list(self._every.values())
        return sorted(
            self.every, key=lambda d: last + (d.id == REPLY) if d.origin is None else d.origin
        )

    def _edit_path(self, edit: LocatedEdit) -> str:
        id, pointer = edit.location
        is_added = not pointer and edit.before is None
        if is_added and id in self._order:
            return f"/{self._order.index(id)}"
        return self._path(edit.location)

    def _path(self, location: Location) -> str:
        id, pointer = location
        if id == REPLY:
            return ""
        origin = self._every[id].origin
        place = origin if origin is not None else self._place(id)
        return f"/{place}" + render_pointer(pointer)

    def _place(self, id: int) -> int:
        return self._order.index(id) if id in self._order else id
