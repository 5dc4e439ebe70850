"""The calls of a reply while their order and references are repaired, and what is known of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from callwright.dataflow import flow
from callwright.language.tokens import squash_name
from callwright.nouns.thresholds import threshold
from callwright.nouns.types import Json, Tool, ToolCall, to_json
from callwright.nouns.wire_names import EditRule, EditRules
from callwright.repair.draft import Change
from callwright.repair.location import REPLY, Location, in_arguments
from callwright.repair.ordering.references import (
    Labels,
    Meaning,
    Reference,
    named_outputs,
)
from callwright.repair.provenance.conversation_text import ConversationText
from callwright.repair.provenance.sources import ProvenanceIndex

_MAX_DEPTH = 12
PRODUCER_ADDED = EditRules.PRODUCER_ADDED
CONFIDENCE = {PRODUCER_ADDED: threshold("callwright.repair", f"sequence.{PRODUCER_ADDED}")}


@dataclass
class CallFlow:
    """The calls as given (positions never change meanwhile), what each reference means, and the
    change so far.

    ``ids`` are the drafts of the calls. ``meant[r]`` is None for a reference nobody answers.
    ``dropped`` are positions of calls that must wait for another call's result.
    """

    calls: list[ToolCall]
    ids: list[int]
    new_id: Callable[[], int]
    tools: dict[str, Tool]
    query: str
    labels: Labels
    references: list[Reference]
    meant: dict[Reference, Meaning | None]
    texts: dict[Reference, str] = field(default_factory=dict)  # references that are written again
    dropped: set[int] = field(default_factory=set)
    change: Change = field(default_factory=Change)

    @property
    def added(self) -> int:
        """The number of missing calls that have been added."""
        return sum(edit.rule == PRODUCER_ADDED for edit in self.change.edits)

    def place(self, ref: Reference) -> Location:
        """Where a reference stands."""
        return in_arguments(self.ids[ref.call], *ref.path)

    def add_call(self, call: ToolCall) -> None:
        """Append a call that was missing; the order is made later."""
        self.calls.append(call)
        self.ids.append(self.new_id())
        place, rule = Location(self.ids[-1]), PRODUCER_ADDED
        self.change.list_edit(place, None, to_json(call), rule, CONFIDENCE.get(rule, 1.0))

    def abstain(self, message: str) -> None:
        """Say why nothing was done about something."""
        self.change.hint(Location(REPLY), message)

    @cached_property
    def sources(self) -> ProvenanceIndex:
        """The request, indexed."""
        return ProvenanceIndex(self.query)

    @cached_property
    def talk(self) -> ConversationText:
        """The request, as text to pick values from."""
        return ConversationText(self.query)

    def tool(self, call: int) -> Tool | None:
        return self.tools.get(self.calls[call].tool)

    def needs(self) -> dict[int, set[int]]:
        """Return for each call the calls from which it takes something."""
        found: dict[int, set[int]] = {i: set() for i in range(len(self.calls))}
        for ref, meaning in self.meant.items():
            if meaning is not None and meaning.call != ref.call:
                found[ref.call].add(meaning.call)
        return found

    def independent(self, call: int) -> list[int]:
        """The calls that ``call`` may take something from: not itself, and none that waits for
        it.
        """
        needs = self.needs()
        waiting, stack = {call}, [call]
        while stack:
            at = stack.pop()
            for other, before in needs.items():
                if at in before and other not in waiting:
                    waiting.add(other)
                    stack.append(other)
        return [i for i in range(len(self.calls)) if i not in waiting and i not in self.dropped]

    def point(self, ref: Reference, meaning: Meaning, text: str, rule: EditRule) -> None:
        """Let a reference stand for something else, written as ``text``; listed as an edit."""
        self.meant[ref] = meaning
        self.texts[ref] = text
        self.change.list_edit(self.place(ref), ref.text, text, rule)

    def restore_reference(self, ref: Reference, message: str) -> None:
        """Report a reference, as it was written: an edit of it is taken back."""
        self.meant[ref] = None
        if self.texts.pop(ref, None) is not None:
            place = self.place(ref)
            self.change.edits = [
                e for e in self.change.edits if e.location != place or e.before != ref.text
            ]
        self.report(ref, message)

    def report(self, ref: Reference, message: str) -> None:
        """A reference that stays broken: a violation, and why nothing was done."""
        self.change.report("ungrounded", self.place(ref), message, "reference", ref.text)
        self.abstain(message)


@lru_cache(maxsize=4_096)
def collect_output_keys(tool: Tool) -> frozenset[str]:
    """Every key a tool declares to return at any depth; empty where it says nothing or leaves it
    open.
    """
    return frozenset(_iter_keys(tool.output_schema, 0)) if named_outputs(tool) else frozenset()


def _iter_keys(schema: Json, depth: int) -> Iterator[str]:
    if not isinstance(schema, dict) or depth > _MAX_DEPTH:
        return
    inner = schema.get("properties")
    if isinstance(inner, dict):
        for key, part in inner.items():
            yield str(key)
            yield from _iter_keys(part, depth + 1)
    for word in ("items", "additionalProperties"):
        yield from _iter_keys(schema.get(word), depth + 1)
    for word in ("anyOf", "oneOf", "allOf"):
        for part in schema.get(word) or ():
            yield from _iter_keys(part, depth + 1)


def has_output_field(tool: Tool, ref: Reference) -> bool:
    """Return True if a tool declares the very field that a reference takes."""
    return bool(ref.field) and ref.field[-1] in collect_output_keys(tool)


def find_respelled_key(tool: Tool, ref: Reference) -> str:
    """The one declared key that is the reference's last step in another spelling; "" where none or
    several are.
    """
    step = ref.field[-1] if ref.field else ""
    alike = [k for k in collect_output_keys(tool) if squash_name(k) == squash_name(step)]
    if not alike:
        alike = [
            k
            for k in collect_output_keys(tool)
            if step and flow.split_words(k) == flow.split_words(step)
        ]
    return alike[0] if len(alike) == 1 and alike[0] != step else ""


SAME_NAME = threshold("callwright.repair", "sequence.same_name")


def score_feed(producer: Tool, consumer: Tool, parameter: str) -> tuple[float, str]:
    """Return a score (0..1) of one tool's output as an argument of another, and the name of that
    output.
    """
    made, wanted = flow.get_profile(producer), flow.get_profile(consumer)
    score, output = 0.0, ""
    for link in flow.links_between(made, wanted):
        if link.input.path and link.input.path[0] == parameter:
            score, output = link.score, link.output.path[0] if link.output.declared else ""
            break
    if score < SAME_NAME:
        name = flow.split_words(parameter)
        same = next(
            (f for f in made.outputs if f.declared and f.name == name and name not in made.echoed),
            None,
        )
        if same is not None and (len(name) > 1 or name == ("token",)):
            return SAME_NAME, same.path[0]
    return score, output


def find_best_feeder(
    candidates: Sequence[tuple[int, Tool]],
    consumer: Tool,
    parameter: str,
    floor: float,
    margin: float,
) -> tuple[int, str, float] | None:
    """The one candidate whose output plainly answers an argument: (number, output, score), or None
    if it is close.
    """
    scored = sorted(
        ((*score_feed(tool, consumer, parameter), n) for n, tool in candidates), key=lambda s: -s[0]
    )
    if not scored or scored[0][0] < floor:
        return None
    if len(scored) > 1 and scored[1][0] > scored[0][0] - margin:
        return None
    return scored[0][2], scored[0][1], scored[0][0]
