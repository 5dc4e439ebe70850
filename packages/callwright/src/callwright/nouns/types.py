"""The nouns: frozen, JSON-ready values that every room passes on. Standard library only."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property
from typing import Any, Literal, NoReturn, TypeAlias, final

from callwright.nouns.errors import Failure, Violation
from callwright.nouns.wire_names import EditRule, EditRules

Json: TypeAlias = Any  # None | bool | int | float | str | list[Json] | dict[str, Json]
JsonObject: TypeAlias = dict[str, Any]

PLAIN = frozenset({str, int, float, bool, type(None)})  # types whose values are JSON as they stand


def to_json(value: Any) -> Json:
    """The JSON form of any value in this module: dataclasses become objects, tuples and sets become
    arrays.
    """
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is dict:
        return {
            k if type(k) is str else str(k): v if type(v) in PLAIN else to_json(v)
            for k, v in value.items()
        }
    if kind is list or kind is tuple:
        return [v if type(v) in PLAIN else to_json(v) for v in value]
    if names := _field_names(kind):
        return {name: to_json(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(k): to_json(v) for k, v in value.items()}
    if isinstance(
        value, set | frozenset
    ):  # in one order in every process: texts that hold it are compared
        return sorted((to_json(v) for v in value), key=str)
    return [to_json(v) for v in value] if isinstance(value, list | tuple) else value


def get_public_fields(value: Any) -> dict[str, Any]:
    """The public fields of a dataclass, by name, as they are."""
    return {name: getattr(value, name) for name in _field_names(type(value))}


_FIELDS: dict[type, tuple[str, ...]] = {}


def _field_names(kind: type) -> tuple[str, ...]:
    """The public fields of a dataclass; none of anything else."""
    if kind not in _FIELDS:
        public = (
            (f.name for f in fields(kind) if not f.name.startswith("_"))
            if is_dataclass(kind)
            else ()
        )
        _FIELDS[kind] = tuple(public)
    return _FIELDS[kind]


def iter_scalars(value: Json) -> Iterator[Json]:
    """Every leaf of a JSON value, in order: texts, numbers, booleans and nulls."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from iter_scalars(inner)
    else:
        yield value


def required_keys(schema: JsonObject) -> tuple[str, ...]:
    """Return the required keys of an object's schema; a malformed ``required`` yields none."""
    found = schema.get("required")
    return tuple(k for k in found if isinstance(k, str)) if isinstance(found, list) else ()


def is_number(value: Json) -> bool:
    """Return True for a number of JSON; a boolean is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def to_plain_text(value: Json) -> str:
    """A text as it is, any other value in its canonical form."""
    return value if isinstance(value, str) else to_canonical_json(value)


def to_canonical_json(value: Any) -> str:
    """One text per JSON value: keys sorted, no spaces. What digests are taken of."""
    if type(value) is int:
        return str(value)
    try:
        return _CANONICAL.encode(value)
    except TypeError:  # keys that are no texts
        return _CANONICAL.encode(to_json(value))


def _to_json_or_text(value: Any) -> Json:
    made = to_json(value)
    return str(value) if made is value else made


_CANONICAL = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_to_json_or_text
)


def compute_digest(value: Any) -> str:
    """First 16 hex digits of the sha256 of the canonical form."""
    return hashlib.sha256(to_canonical_json(value).encode("utf-8", "surrogatepass")).hexdigest()[
        :16
    ]


@dataclass(frozen=True, slots=True)
class Effects:
    """Effects that a call may have on the world. The defaults are MCP's worst case: an unknown tool
    counts as a write.

    ``keyed``: the tool takes an idempotency key and executes the calls of one key once. ``atomic``:
    a call that the tool reports as failed has changed nothing, so it may be repaired and made
    again. ``declared``: the effects were stated for this tool; otherwise they are the worst case.
    """

    read_only: bool = False
    destructive: bool = True
    idempotent: bool = False
    open_world: bool = True
    keyed: bool = False
    declared: bool = field(default=True, compare=False)
    atomic: bool = False

    @property
    def may_write(self) -> bool:
        return not self.read_only

    @property
    def declares_write(self) -> bool:
        """Return True if a tool is declared to change something, and is no unknown one."""
        return self.declared and self.may_write

    @property
    def declares_destruction(self) -> bool:
        """Return True if a tool is declared to change something that cannot be changed back."""
        return self.declares_write and self.destructive

    @property
    def may_repeat(self) -> bool:
        """Return True if repeating a call whose outcome is unknown can do no further harm."""
        return self.read_only or self.idempotent or self.keyed


READ = Effects(read_only=True, destructive=False, idempotent=True)
READ_LOCAL = Effects(read_only=True, destructive=False, idempotent=True, open_world=False)
WRITE = Effects(read_only=False, destructive=False, idempotent=False)
DESTRUCTIVE = Effects()
UNKNOWN = Effects(declared=False)


@dataclass(frozen=True)
class Tool:
    """A tool as a model and the gate see it. ``input_schema``/``output_schema`` are JSON Schema
    2020-12.
    """

    name: str
    description: str = ""
    input_schema: JsonObject = field(default_factory=lambda: {"type": "object", "properties": {}})
    output_schema: JsonObject | None = None
    effects: Effects = UNKNOWN
    source: str = ""  # which catalogue source it came from, for people: "openapi tmdb"
    trusted: bool = True  # False: never loosened by what the source says of itself
    compensates: str = ""  # the name of the tool of which this one undoes calls

    def __hash__(self) -> int:
        return hash((self.name, self.source))

    @cached_property
    def digest(self) -> str:
        """Changes whenever anything that the model or the gate sees changes."""
        effects = to_json(self.effects)
        if (
            not self.effects.atomic
        ):  # as digests were before tools could declare it: journals and evidence hold them
            del effects["atomic"]
        about = [self.name, self.description, self.input_schema, self.output_schema, effects]
        return compute_digest([*about, self.compensates] if self.compensates else about)

    @property
    def properties(self) -> JsonObject:
        found = self.input_schema.get("properties")
        return found if isinstance(found, dict) else {}

    @cached_property
    def schema_digest(self) -> str:
        """Changes whenever the input schema does: what compiled schemas are kept under."""
        return compute_digest(self.input_schema)

    @cached_property
    def required(self) -> tuple[str, ...]:
        return required_keys(self.input_schema)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more model calls. ``cached_tokens`` are prompt tokens the server did not
    recompute.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0

    @property
    def total(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
        )


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as the model meant it. ``arguments`` is text while nobody could parse it as a JSON
    object.
    """

    id: str
    tool: str
    arguments: JsonObject | str
    slot: str = ""


@dataclass(frozen=True, slots=True)
class Edit:
    """One change made to a call. ``path`` is a JSON Pointer into the arguments; "" is the whole."""

    path: str
    before: Json
    after: Json
    rule: EditRule


@final
@dataclass(frozen=True, slots=True, init=False)
class CheckedCall:
    """A call that passed the gate: :meth:`callwright.Gate.check` makes one, nothing else does, and
    only :func:`callwright.agent.safety.clear.clear` takes it further.

    It cannot be constructed, copied, changed or unpickled, and has no subclasses: a call with other
    arguments is another call. What was sealed is known by its ``proof``, so that arguments which
    were changed afterwards are noticed and sent nowhere.
    """

    id: str
    tool: Tool
    arguments: JsonObject
    edits: tuple[Edit, ...]
    warnings: tuple[Violation, ...]
    slot: str
    _proof: tuple[object, str, Tool, bytes] = field(repr=False, compare=False)

    def __init__(self, *_: Any, **__: Any) -> None:
        raise TypeError("only the gate makes a CheckedCall: call callwright.Gate.check()")

    def __init_subclass__(cls, **more: Any) -> NoReturn:
        raise TypeError("a CheckedCall has no subclasses")

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("a CheckedCall is neither copied nor pickled: the gate makes another one")


Simulated: TypeAlias = Literal["", "recorded", "nearest", "model"]
"""Who answered in a tool's place: a recording of this call, one of another call of the tool, or a
model that imitates it; "" where the tool itself did. What is simulated proves nothing of the tool.
"""


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """Result that a tool source returns for one call: a JSON value, or the reason why there is
    none.
    """

    content: Json = None
    failure: Failure | None = None
    simulated: Simulated = ""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """One executed (or refused) call and what came of it. ``id`` is what answers cite."""

    id: str
    tool: str
    arguments: JsonObject
    content: Json = None
    failure: Failure | None = None
    seconds: float = 0.0
    slot: str = ""
    attempt: int = 1
    simulated: Simulated = ""

    @property
    def ok(self) -> bool:
        return self.failure is None


@dataclass(frozen=True, slots=True)
class Skip:
    """A tool that was offered and deliberately not called, or (``refused``) a call that was
    dropped, and why.
    """

    tool: str
    reason: str
    slot: str = ""
    refused: bool = False


Role: TypeAlias = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation. ``tool_calls`` only on assistant, ``tool_call_id`` only on
    tool messages.
    """

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """Reply of a model. ``text`` is raw; ``tool_calls`` only what the *server* parsed natively.

    ``reasoning`` is the model's reasoning before its answer (``reasoning_content``, ``<think>``),
    kept apart. ``estimated``: the server counted no tokens, and ``usage`` is our estimate.
    ``first_token``: the likeliest first tokens with their probabilities, where they were asked for;
    ``logprobs``: the log-probabilities of the tokens of ``text``.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    finish_reason: str = "stop"  # stop | length | tool_calls | cut (ended by our own watcher)
    model: str = ""
    seconds: float = 0.0
    reasoning: str = ""
    estimated: bool = False
    first_token: Mapping[str, float] = field(default_factory=dict)
    logprobs: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Citation:
    """Rests a statement on a result that exists. ``result`` is a ToolResult.id."""

    result: str
    quote: str = ""


Support: TypeAlias = Literal["supported", "mended", "unsupported", "limitation", "unchecked"]


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of an answer and what it rests on. ``problems`` says what no result
    contains.
    """

    text: str
    support: Support
    citations: tuple[Citation, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Assumption:
    """A required value of a call that the model made up: nothing in the request or in a result says
    it.

    ``result`` is the id of what the call returned, ``parameter`` the name of the argument or of its
    part.
    """

    tool: str
    parameter: str
    value: Json
    result: str = ""

    def __str__(self) -> str:
        value = self.value if isinstance(self.value, str) else to_canonical_json(self.value)
        return f"{self.tool}: assumed {self.parameter} {value}: not in the request or in a result"


CORRECTED = (EditRules.ANSWER_VALUE, EditRules.ANSWER_RESTATED)
"""The rules of an answer's edits that replace what the model wrote by what a result says."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The final answer. ``missing`` names what was asked for and could not be found out,
    ``assumed`` the values on which it rests and which the model made up.
    """

    text: str
    statements: tuple[Statement, ...] = ()
    missing: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    assumed: tuple[str, ...] = ()

    @property
    def corrections(self) -> tuple[str, ...]:
        """The values that the model wrote and that were replaced by what a result says, with the
        reason.
        """
        why = {
            f"/statements/{n}/text": "; ".join(s.problems) for n, s in enumerate(self.statements)
        }
        made = (e for e in self.edits if e.rule in CORRECTED)
        return tuple(f"{e.before} → {e.after} ({why.get(e.path, '')})" for e in made)

    @property
    def grounded(self) -> bool:
        return all(s.support != "unsupported" for s in self.statements)
