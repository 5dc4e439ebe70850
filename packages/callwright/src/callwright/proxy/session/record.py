"""Defines the record of one request's handling: raw → parsed → edits → sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from callwright.nouns.errors import Violation
from callwright.nouns.redaction import redact_secrets
from callwright.nouns.types import Edit, Json, JsonObject, ToolCall, to_json
from callwright.proxy.session.guarding import Guarding

if TYPE_CHECKING:
    from callwright.proxy.session.decision.decision import Decision

T = TypeVar("T")
_TEXTS = 5  # a record keeps as many characters as this many of its longest texts
_DEEPEST = 20
_STEP = 8  # characters that every value costs, so that many small ones are cut as well


@dataclass(slots=True)
class Exchange:
    """One request, and how it ended."""

    id: str
    path: str
    model: str = ""
    stream: bool = False
    status: int = 0
    outcome: str = "passed"  # passed | untouched | edited | failed | gone
    tools: tuple[str, ...] = ()
    seconds: float = 0.0
    first_byte: float = 0.0
    created: int = 0  # seconds since 1970
    upstream: str = ""  # the one that answered, where there are several


@dataclass(slots=True)
class Led:
    """Work of our engine where it led the client's agent. ``parts``: those of guided mode that
    were in force; ``steps``: the tools of each round, those chosen, and the check of the answer,
    one text each.
    """

    parts: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()


@dataclass(slots=True)
class Record(Exchange):
    """One request as the page shows it. Bodies only; never a header."""

    dialect: str = ""
    raw: str = ""  # the model's text, and its native calls as JSON
    parsed: tuple[ToolCall, ...] = ()
    sent: tuple[ToolCall, ...] = ()
    edits: list[Edit] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    questions: int = 0  # upstream requests beyond the first
    guided: bool = False
    led: Led | None = None
    guarding: Guarding = field(default_factory=Guarding)
    has_form: bool = False  # the client asked for JSON of a form
    # what went wrong in the proxy itself, which then passed everything on untouched
    fault: str = ""

    def marks(self) -> list[tuple[str, str]]:
        """Headers for the client: what was done, as far as it is known by now; none where neither
        tools were offered nor JSON was asked for.
        """
        if self.fault:
            outcome = "failed" if self.outcome == "failed" else "passed"
            told = (("x-callwright-outcome", outcome), ("x-callwright-fault", self.fault))
            return [("x-callwright-request", self.id), *told]
        if not self.tools and not self.has_form:
            return []
        marks = [("x-callwright-request", self.id)]
        if self.guarding.mode is not None:
            marks.append(("x-callwright-guard", self.guarding.mode))
        if self.led is not None:
            marks.append(("x-callwright-guided", ", ".join(self.led.parts)))
        if self.outcome in ("edited", "untouched"):
            marks.append(("x-callwright-outcome", self.outcome))
            marks.append(("x-callwright-edits", str(len(self.edits))))
            marks.append(("x-callwright-questions", str(self.questions)))
            marks.append(("x-callwright-held", str(len(self.guarding.kept_back))))
        if self.dialect:
            marks.append(("x-callwright-dialect", self.dialect))
        return marks

    def settled(self, made: Decision, *, by_us: bool, leaked: int) -> None:
        """Take in what became of the answer's calls. ``by_us``: the answer is of our own making;
        ``leaked``: characters of calls that had gone out before they proved to be calls.
        """
        self.outcome = "untouched" if made.untouched and not by_us else "edited"
        self.edits += made.edits
        self.violations += made.violations
        self.notes += made.notes
        self.guarding.held += made.held
        self.dialect = made.dialect
        self.sent = tuple(s.call for s in made.calls)
        if leaked:
            self.notes.append(f"{leaked} characters of a call had gone out as text")

    def shortened(self, longest: int, secrets: Sequence[str] = ()) -> Record:
        """A copy of bounded size that holds no value of this one and none of ``secrets``: texts of
        at most ``longest`` characters, all of them together a few times that; what is left out is
        counted where it stood.
        """
        cut = _Shortener(longest, secrets)
        return replace(
            self,
            path=cut.text(self.path),
            model=cut.text(self.model),
            raw=cut.text(self.raw),
            parsed=tuple(cut.call(call) for call in cut.first(self.parsed)),
            sent=tuple(cut.call(call) for call in cut.first(self.sent)),
            edits=[cut.edit(edit) for edit in cut.first(self.edits)],
            violations=[cut.violation(violation) for violation in cut.first(self.violations)],
            notes=[cut.text(note) for note in cut.first(self.notes)],
            tools=tuple(cut.text(tool) for tool in cut.first(self.tools)),
            led=cut.led(self.led) if self.led is not None else None,
            guarding=cut.guarding(self.guarding),
        )

    def to_dict(self) -> JsonObject:
        """JSON-ready."""
        made = {one.name: to_json(getattr(self, one.name)) for one in fields(self)}
        made["seconds"], made["first_byte"] = round(self.seconds, 4), round(self.first_byte, 4)
        return made


class _Shortener:
    """Cuts values, as long as there is room for them."""

    def __init__(self, longest: int, secrets: Sequence[str] = ()) -> None:
        self._secrets = tuple(secrets)
        self._longest = longest
        self._left = _TEXTS * longest

    def first(self, values: Sequence[T]) -> Iterator[T]:
        """As many of them as there is room for."""
        for value in values:
            if self._left <= 0:
                return
            self._left -= _STEP
            yield value

    def text(self, text: str) -> str:
        most = max(0, min(self._longest, self._left))
        self._left -= min(len(text), most)
        shown: str = redact_secrets(text[:most], self._secrets)
        return shown if len(text) <= most else f"{shown}… ({len(text):,} characters)"

    def json(self, value: Any, depth: int = 0) -> Json:
        if isinstance(value, str):
            return self.text(value)
        if not isinstance(value, dict | list | tuple):
            is_short = not isinstance(value, int) or value.bit_length() < 1_000
            return value if is_short else self.text(f"an integer of {value.bit_length():,} bits")
        if depth == _DEEPEST:
            return f"… ({len(value):,} values)"
        if isinstance(value, dict):
            made = {
                self.text(str(k)): self.json(value[k], depth + 1) for k in self.first(list(value))
            }
            return (
                {**made, "…": f"{len(value) - len(made):,} more"}
                if len(made) < len(value)
                else made
            )
        found = [self.json(entry, depth + 1) for entry in self.first(value)]
        return [*found, f"… {len(value) - len(found):,} more"] if len(found) < len(value) else found

    def call(self, call: ToolCall) -> ToolCall:
        arguments: Any = self.json(call.arguments)
        return replace(call, id=self.text(call.id), tool=self.text(call.tool), arguments=arguments)

    def led(self, led: Led) -> Led:
        return replace(led, steps=tuple(self.text(step) for step in self.first(led.steps)))

    def guarding(self, guarding: Guarding) -> Guarding:
        held = [
            replace(one, call=self.call(one.call), reason=self.text(one.reason))
            for one in self.first(guarding.held)
        ]
        return replace(guarding, held=held)

    def edit(self, edit: Edit) -> Edit:
        return replace(
            edit,
            path=self.text(edit.path),
            before=self.json(edit.before),
            after=self.json(edit.after),
        )

    def violation(self, made: Violation) -> Violation:
        expected, got = self.json(made.expected), self.json(made.got)
        return replace(
            made,
            message=self.text(made.message),
            path=self.text(made.path),
            expected=expected,
            got=got,
        )
