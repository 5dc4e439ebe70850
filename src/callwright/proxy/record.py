"""What the proxy did to one request: raw → parsed → edits → sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from callwright.errors import Violation
from callwright.types import Edit, JsonObject, ToolCall, to_json

if TYPE_CHECKING:
    from callwright.proxy.settle import Settled

MAX_CHARS = 20_000  # of any one text that is kept


@dataclass(slots=True)
class Record:
    """One request as the page shows it. Bodies only, cut at MAX_CHARS; never a header."""

    id: str
    path: str
    model: str = ""
    stream: bool = False
    status: int = 0
    outcome: str = "passed"  # passed | untouched | edited | failed | gone
    tools: tuple[str, ...] = ()
    dialect: str = ""
    raw: str = ""  # the model's text, and its native calls as JSON
    parsed: tuple[ToolCall, ...] = ()
    sent: tuple[ToolCall, ...] = ()
    edits: list[Edit] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    questions: int = 0  # upstream requests beyond the first
    guided: bool = False
    seconds: float = 0.0
    first_byte: float = 0.0
    created: int = 0  # seconds since 1970
    fault: str = ""  # what went wrong in the proxy itself, which then passed everything on untouched

    def marks(self) -> list[tuple[str, str]]:
        """Headers for the client: what was done, as far as it is known by now; none where no tools were offered."""
        if self.fault:
            passed = (("x-callwright-outcome", "passed"), ("x-callwright-fault", self.fault))
            return [("x-callwright-request", self.id), *passed]
        if not self.tools:
            return []
        marks = [("x-callwright-request", self.id)]
        if self.outcome in ("edited", "untouched"):
            marks.append(("x-callwright-outcome", self.outcome))
            marks.append(("x-callwright-edits", str(len(self.edits))))
            marks.append(("x-callwright-questions", str(self.questions)))
        if self.dialect:
            marks.append(("x-callwright-dialect", self.dialect))
        return marks

    def settled(self, made: Settled, *, by_us: bool, leaked: int) -> None:
        """Take in what became of the answer's calls. ``by_us``: the answer is of our own making; ``leaked``:
        characters of calls that had gone out before they proved to be calls."""
        self.outcome = "untouched" if made.untouched and not by_us else "edited"
        self.edits += made.edits
        self.violations += made.violations
        self.notes += made.notes
        self.dialect = made.dialect
        self.sent = tuple(s.call for s in made.calls)
        if leaked:
            self.notes.append(f"{leaked} characters of a call had gone out as text")

    def to_dict(self) -> JsonObject:
        """JSON-ready, long texts cut."""
        made = {name: to_json(getattr(self, name)) for name in self.__slots__}
        made["raw"] = made["raw"][:MAX_CHARS]
        made["seconds"], made["first_byte"] = round(self.seconds, 4), round(self.first_byte, 4)
        return made
