"""The second seal: :func:`clear` alone makes a :class:`ClearedCall`, and nothing that sends calls
takes anything else.

The gate says that a call's schema holds. What it does not say is judged here, from facts alone: the
plan is frozen and does not hold this call; an argument has a value from where none may come; a
write was made already; the call rests on a value that nobody said; somebody has to approve it
first. A driver asks whoever is to be asked, puts the answer among the facts, and calls
:func:`clear` again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, TypeAlias, final

from callwright.agent.safety.consent import Consent, describe_refusal
from callwright.agent.safety.filling import Filled
from callwright.agent.safety.freeze import Freeze
from callwright.agent.safety.looked_up import NO_LOOKUPS, list_returned
from callwright.agent.safety.repeats import Before
from callwright.language.tokens import split_name, split_tokens
from callwright.nouns.types import (
    CheckedCall,
    Json,
    JsonObject,
    Tool,
    iter_scalars,
    to_canonical_json,
)
from callwright.repair.gate import take_arguments, verify_seal
from callwright.repair.provenance.sources import ProvenanceIndex

if TYPE_CHECKING:
    from callwright.dataflow.lookups import Lookups

DenialRule: TypeAlias = Literal[
    "frozen",
    "filled",
    "repeated_write",
    "unstated_value",
    "undoing_write",
    "only_told",
    "approval",
    "refused",
]
"""Why a call may not leave. ``approval``: nobody was asked yet, and a yes would let it leave."""

_NOT_JUDGED = Filled()
_UNSTATED = "nothing in this conversation states"
_SHOWN = 80  # characters of a value in a sentence
_FEW = 3  # words of a text that can name something


class _Seal:
    """Held by this module alone."""


_SEAL = _Seal()


@final
@dataclass(frozen=True, slots=True)
class ClearedCall:
    """A checked call that may leave as it is, once. ``origins``: JSON Pointer of an argument that
    was bound late -> where its value is from.

    Only :func:`clear` makes one. It cannot be constructed, copied, changed or unpickled, and has no
    subclasses: a call with other arguments is another call, and is cleared by itself.
    """

    checked: CheckedCall
    origins: Mapping[str, str] = field(default_factory=dict)
    seal: InitVar[_Seal | None] = None
    _sealed: CheckedCall | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self, seal: _Seal | None) -> None:
        if seal is not _SEAL:
            raise TypeError("only callwright.agent.safety.clear.clear() makes a ClearedCall")
        object.__setattr__(self, "_sealed", self.checked)

    def __init_subclass__(cls, **more: Any) -> NoReturn:
        raise TypeError("a ClearedCall has no subclasses")

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("a ClearedCall is neither copied nor pickled: clear the call again")

    @property
    def id(self) -> str:
        return self.checked.id

    @property
    def tool(self) -> Tool:
        return self.checked.tool

    @property
    def arguments(self) -> JsonObject:
        return self.checked.arguments

    @property
    def slot(self) -> str:
        return self.checked.slot

    def take_arguments(self) -> JsonObject:
        """The arguments that leave, as they were cleared, as an object of the tool's own, which may
        do with them what it likes. Raises TypeError where the call is no longer what was cleared.
        """
        if self._sealed is not self.checked:
            raise TypeError("this is not the call that was cleared: clear the call again")
        return take_arguments(self.checked)


@dataclass(frozen=True, slots=True)
class Denied:
    """A call that may not leave, and why. ``refused``: JSON Pointers of the arguments whose values
    may not stand there; ``origins`` as in :class:`ClearedCall`; ``missing``: the names of arguments
    whose values nothing states; ``meant``: what the user's words lead to in their place,
    a day or a number.
    """

    rule: DenialRule
    reason: str
    origins: Mapping[str, str] = field(default_factory=dict)
    refused: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    meant: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Approval:
    """A decision about one call. It holds for this tool with these arguments, and no other."""

    call: CheckedCall
    granted: bool
    by: str = "user"

    def covers(self, call: CheckedCall) -> bool:
        return call.tool == self.call.tool and call.arguments == self.call.arguments


NOBODY = Consent()  # is there to be asked, and nothing is allowed beforehand


class ClearanceState(NamedTuple):
    """The facts by which calls are cleared. A rule without its facts does not judge.

    ``sources`` is what was said and came back. ``consent`` None: whoever executes the call asks for
    approval, as a proxy's client does; by default nobody is there to be asked. ``is_planned``: the
    frozen plan says this call, ``stated`` the arguments that are its own. ``made``: keys
    (:func:`compute_write_key`) of the calls that are not to be made again, and what came of them.
    ``spoken``: what the user said; then a write may not rest on a required value that nothing
    states, nor may a read where ``judges_reads``. ``looked_up``: the tools whose results give each
    tool's arguments. ``before``: the sources without what the writes of this turn returned; then
    nothing destructive is done to what was made just now, as a compensation is that nobody asked
    for. ``only_told``: the user's last message only asks to be told something; then no declared
    write is made to a record that was looked up, unless somebody approves it or the user says its
    verb.
    """

    sources: ProvenanceIndex = ProvenanceIndex()
    consent: Consent | None = NOBODY
    approval: Approval | None = None
    freeze: Freeze | None = None
    is_planned: bool = False
    stated: Mapping[str, Json] = MappingProxyType({})
    made: Mapping[str, Before] = MappingProxyType({})
    spoken: Sequence[str] | None = None
    looked_up: Lookups = NO_LOOKUPS
    before: ProvenanceIndex | None = None
    judges_reads: bool = False
    only_told: bool = False


def clear(checked: CheckedCall, state: ClearanceState) -> ClearedCall | Denied:
    """The call, cleared to leave, or why it may not. Pure: the same facts give the same verdict.
    Raises TypeError for what the gate has not sealed, or what was changed since.
    """
    if type(checked) is not CheckedCall:
        raise TypeError("clear() takes a CheckedCall only: pass the call through the gate first")
    verify_seal(checked)
    filled = _judge_filling(checked, state)
    denied = _deny_outside_plan(checked, state) or _deny_filling(filled)
    denied = denied or deny_call(
        checked.tool, checked.arguments, compute_write_key(checked, state), state
    )
    if denied is None and checked.tool.effects.may_write:
        denied = _deny_unapproved(checked, state, filled) or _deny_unasked(checked, state)
    return denied or ClearedCall(checked, filled.told, _SEAL)


_REPEATED: Mapping[Before, str] = {
    "done": "'{}' was not called again: it has already succeeded with the same arguments since the"
    " user's last message.",
    "unknown": "'{}' was not called again: it was called with the same arguments before, and whether"
    " that was done is not known.",
    "thanked": "'{}' was not called again: it has already succeeded with the same arguments, and the"
    " user's last message only thanks.",
    "earlier": "'{}' was not called again: it was done with the same arguments for an earlier message,"
    " and the user's last one does not ask for it once more.",
}


def deny_call(
    tool: Tool, arguments: JsonObject | str, key: str, state: ClearanceState
) -> Denied | None:
    """Why this call may not leave for what was done or said before, or None. For calls that a
    driver passes through without a clearance, because the gate refused them, the same rules hold.
    """
    if not tool.effects.may_write:
        return _deny_unstated(tool, arguments, state) if state.judges_reads else None
    before = state.made.get(key) if key else None
    if before is not None:
        return Denied("repeated_write", _REPEATED[before].format(tool.name))
    if state.made and _is_made_but_for_options(tool, arguments, state):
        return Denied("repeated_write", _OTHER_OPTION.format(tool.name))
    made = _find_made_now(tool, arguments, state) if isinstance(arguments, dict) else ""
    if made:
        return Denied("undoing_write", _UNDOING.format(tool.name, made))
    return _deny_unstated(tool, arguments, state)


def _is_made_but_for_options(
    tool: Tool, arguments: JsonObject | str, state: ClearanceState
) -> bool:
    """Return True if a declared write was made that is not to be made again, and this call only adds
    or leaves out short optional values of which nothing states any.
    """
    needed = set(tool.required)
    if not (tool.effects.declares_write and needed and isinstance(arguments, dict)):
        return False
    for result in state.sources.results:
        given = result.arguments
        if result.tool != tool.name or make_write_key(tool, given) not in state.made:
            continue
        shared = given.keys() & arguments.keys()
        if shared not in (given.keys(), arguments.keys()):
            continue  # each holds what the other does not
        is_same = all(_trim(given[key]) == _trim(arguments[key]) for key in shared)
        more = [arguments[key] for key in arguments.keys() - shared]
        if is_same and needed <= shared and not any(_may_be_meant(one, state) for one in more):
            return True
    return False


def _trim(value: Json) -> Json:
    return value.strip() if isinstance(value, str) else _normalize_numbers(value)


def _may_be_meant(value: Json, state: ClearanceState) -> bool:
    """Return True if a part of a value is stated, or is a longer text."""
    told = (one for one in iter_scalars(value) if one and not isinstance(one, bool))
    return any(
        state.sources.holds(one) or (isinstance(one, str) and len(split_tokens(one)) > _FEW)
        for one in told
    )


_OTHER_OPTION = (
    "'{}' was not called again: it has already succeeded with the same required arguments, and"
    " nothing states the options in which this call differs."
)
_ONLY_TOLD = (
    "'{}' was not called: the user's last message only asks to be told something. It is made where"
    " the user asks for it."
)
_UNDOING = (
    "'{}' was not called: {} was made just now, for this request. To undo it needs the user's word."
)


def _find_made_now(tool: Tool, arguments: JsonObject, state: ClearanceState) -> str:
    """The first required value that only a write of this turn returned, or "". Judged of a tool that
    destroys, and of one that is declared to undo another's calls. A call that holds something else
    that was said, and that no call of the turn was made with, adds to what was made.
    """
    undoes = bool(tool.compensates) or tool.effects.declares_destruction
    if not undoes or state.before is None:
        return ""
    before = state.before
    named = [v for v in iter_scalars(arguments) if v and not isinstance(v, bool)]
    made = [v for v in named if state.sources.holds(v) and not before.holds(v)]
    needed = {to_canonical_json(arguments.get(key)) for key in tool.required}
    is_made = any(to_canonical_json(value) in needed for value in made)
    adds = any(
        value not in made and before.holds(value) and not state.sources.was_asked_with(value)
        for value in named
    )
    return to_canonical_json(made[0])[:_SHOWN] if is_made and not adds else ""


def _deny_unstated(tool: Tool, arguments: JsonObject | str, state: ClearanceState) -> Denied | None:
    if state.spoken is None or not isinstance(arguments, dict):
        return None
    from callwright.repair.provenance.invention import find_inventions

    links = list_returned(tool, state.sources) if state.sources.results else {}
    links = {**links, **state.looked_up.get(tool.name, {})}
    found = find_inventions(arguments, tool, state.sources, state.spoken, looked_up=links)
    if not found:
        return None
    values = ", ".join(f"'{one.key}' = {to_canonical_json(one.value)[:_SHOWN]}" for one in found)
    said = f"'{tool.name}' was not called: nothing in this conversation states {values}."
    givers = dict.fromkeys(giver for one in found for giver in links.get(one.key, ()))
    if givers:
        said += f" It can be looked up with {' or '.join(sorted(givers))}."
    paths = tuple(one.path for one in found)
    meant = tuple(dict.fromkeys(day for one in found for day in one.meant))
    if meant:
        said += f" The user's words lead to {' or '.join(meant)}."
    missing = tuple(dict.fromkeys(one.key for one in found))
    return Denied("unstated_value", said, refused=paths, missing=missing, meant=meant)


def is_unstated(reason: str) -> bool:
    """Return True if the reason of a skip is a value that nothing states."""
    return _UNSTATED in reason


def compute_write_key(call: CheckedCall, state: ClearanceState | None = None) -> str:
    """Equal for calls that mean the same: as the gate has them, less what is there by default
    anyway; "" where ``state`` names no call that it could equal.
    """
    if state is not None and not state.made:
        return ""
    return make_write_key(call.tool, call.arguments)


def make_write_key(tool: Tool, arguments: JsonObject) -> str:
    """The key of :func:`compute_write_key`, for arguments that the gate has accepted before."""
    return to_canonical_json([tool.name, _drop_defaults(arguments, tool)])


def _judge_filling(checked: CheckedCall, state: ClearanceState) -> Filled:
    """Where the values come from that no plan said, where somebody asked for a policy of that."""
    if state.freeze is None or not state.freeze.filling.on:
        return _NOT_JUDGED
    return state.freeze.filling.judged(checked, state.sources, state.stated)


def _deny_outside_plan(checked: CheckedCall, state: ClearanceState) -> Denied | None:
    if state.freeze is None:
        return None
    why = state.freeze.why_refused(checked.tool.name, planned=state.is_planned)
    return Denied("frozen", why) if why else None


def _deny_filling(filled: Filled) -> Denied | None:
    if not filled.refused:
        return None
    return Denied("filled", filled.message, filled.told, filled.refused)


def _deny_unapproved(checked: CheckedCall, state: ClearanceState, filled: Filled) -> Denied | None:
    why = state.consent.why(checked.tool) if state.consent is not None else ""
    if not why:
        return None
    said = state.approval
    if said is None or not said.covers(checked):
        return Denied("approval", why, filled.told)
    return (
        None
        if said.granted
        else Denied("refused", describe_refusal(checked, why, said.by), filled.told)
    )


def _deny_unasked(checked: CheckedCall, state: ClearanceState) -> Denied | None:
    """A write to a record that was looked up for a question. What else is declared to write, such as
    a shell, may well be what answers the question.
    """
    from callwright.repair.provenance.grounding import is_identifier

    tool = checked.tool
    if not (state.only_told and tool.effects.declares_write) or state.approval is not None:
        return None
    said = ProvenanceIndex(" ".join(state.spoken or ()))
    given = {key: checked.arguments.get(key) for key in tool.required}
    records = (v for k, v in given.items() if is_identifier(k, v, tool.properties.get(k)))
    is_found = any(state.sources.holds(one) and not said.holds(one) for one in records)
    is_named = any(said.mentions(word) for word in split_name(tool.name)[:1])
    return Denied("only_told", _ONLY_TOLD.format(tool.name)) if is_found and not is_named else None


def _drop_defaults(arguments: JsonObject, tool: Tool) -> JsonObject:
    """The arguments without optional ones that hold their schema's default, and with each number
    written one way.
    """
    made: JsonObject = {}
    for key, value in arguments.items():
        part = tool.properties.get(key)
        default = part.get("default") if isinstance(part, dict) else None
        is_default = value is not None and to_canonical_json(
            _normalize_numbers(default)
        ) == to_canonical_json(_normalize_numbers(value))
        if key in tool.required or not is_default:
            made[key] = _normalize_numbers(value)
    return made


def _normalize_numbers(value: Json) -> Json:
    """The value with 5.0 as 5."""
    if isinstance(value, dict):
        return {key: _normalize_numbers(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_normalize_numbers(member) for member in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
