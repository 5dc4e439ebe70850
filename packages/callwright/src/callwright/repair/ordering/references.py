"""References between calls: the texts in arguments that stand for what another call returns.

Every notation is one row of :mod:`callwright.repair.ordering.notations`. A text counts as a reference
only in these shapes; prices, templates and shell variables stay what they are (see :func:`find_call_references`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, takewhile

from callwright.language.tokens import squash_name
from callwright.nouns.memo import cache_by_text
from callwright.nouns.types import Json, JsonObject, Tool, ToolCall
from callwright.repair.ordering.notations import reference_notations

_STEP = re.compile(r"[^.\[\]'\"]+")
_MAX_TEXT = 20_000
_MAX_DEPTH = 40
_MOST = 500  # references of a reply: what holds more is no plan
_MOST_IN_TEXT = 50


@dataclass(frozen=True, slots=True)
class Reference:
    """One reference: where it stands (call, path into the arguments, span of the text) and what it
    names.
    """

    call: int
    path: tuple[str | int, ...]
    start: int
    end: int
    notation: str  # the name of a ReferenceNotation
    label: str
    field: tuple[str, ...]
    text: str
    whole: bool  # nothing else stands in the text

    @property
    def pointer(self) -> str:
        """JSON Pointer into the list of calls."""
        return f"/{self.call}/arguments" + "".join("/" + _escape_step(p) for p in self.path)

    @property
    def parameter(self) -> str:
        """The argument that holds it."""
        return str(self.path[0]) if self.path else ""

    def renamed(self, label: str) -> str:
        """The same reference to another label."""
        return self.text.replace(self.label, label, 1)

    def with_field(self, before: str, after: str) -> str:
        """The same reference with one step of its field renamed."""
        head, mark, tail = self.text.partition(self.label)
        return head + mark + tail.replace(before, after, 1)


def _escape_step(step: str | int) -> str:
    return str(step).replace("~", "~0").replace("/", "~1")


def named_outputs(tool: Tool) -> tuple[str, ...]:
    """The names of what a tool declares to return, top level, in order; empty where it declares
    nothing.
    """
    schema = tool.output_schema if isinstance(tool.output_schema, dict) else {}
    found = schema.get("properties")
    return tuple(map(str, found)) if isinstance(found, dict) else ()


def find_call_references(
    calls: Sequence[ToolCall], tools: Iterable[Tool], query: str = ""
) -> list[Reference]:
    """All references in the arguments, in order.

    Not counted: what the query itself says in these words ("$20"), unless another call bears that
    label or returns a thing of that name (a prompt shows the notation); ``$1`` beside other text
    unless that call exists; ``output_x`` unless a tool returns that, or at least things of such
    names; ``{name}`` as part of a longer text.
    """
    every = (
        r
        for i, c in enumerate(calls)
        if isinstance(c.arguments, dict)
        for r in _iter_in_value(i, c.arguments, ())
    )
    read = list(islice(every, _MOST))
    if not read:
        return []
    names = [
        frozenset(map(squash_name, (*re.split(r"[\s,]+", c.id), c.slot, c.tool))) - {""}
        for c in calls
    ]
    view = _View(len(calls), names, tuple(tools), query)
    return [r for r in read if view.counts(r, calls)]


@dataclass(frozen=True, slots=True)
class _View:
    """Data that decides whether a text in the form of a reference is one."""

    count: int
    names: Sequence[frozenset[str]]  # of each call: its labels and its tool
    tools: Sequence[Tool]
    query: str

    def counts(self, ref: Reference, calls: Sequence[ToolCall]) -> bool:
        if ref.notation == "numbered":
            return ref.text not in self.query and (ref.whole or 1 <= int(ref.label) <= self.count)
        if ref.notation == "output":
            others = {c.tool for i, c in enumerate(calls) if i != ref.call}
            if any(t.name in others and ref.label in named_outputs(t) for t in self.tools):
                return True
            return ref.text not in self.query and any(
                name.startswith("output_") for t in self.tools for name in named_outputs(t)
            )
        label = squash_name(ref.label)
        if any(label in names for i, names in enumerate(self.names) if i != ref.call):
            return True
        if ref.text in self.query:
            return False
        return ref.notation != "braces" or ref.whole or label in self.names[ref.call]


def _iter_in_value(call: int, value: Json, path: tuple[str | int, ...]) -> Iterator[Reference]:
    if len(path) > _MAX_DEPTH:
        return
    if isinstance(value, str):
        if "$" in value or "{" in value or "_" in value:
            yield from _iter_in_text(call, value, path)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _iter_in_value(call, inner, (*path, key))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from _iter_in_value(call, inner, (*path, i))


def _iter_in_text(call: int, text: str, path: tuple[str | int, ...]) -> Iterator[Reference]:
    if len(text) > _MAX_TEXT:
        return
    taken: list[tuple[int, int]] = []
    left = _MOST_IN_TEXT
    for notation in reference_notations():
        for pattern in notation.patterns if notation.sign in text else ():
            for m in pattern.finditer(text):
                if any(a < m.end() and m.start() < b for a, b in taken):
                    continue
                if not left:
                    return
                left -= 1
                taken.append(m.span())
                whole = m[0].strip() == text.strip()
                steps = tuple(s for s in _STEP.findall(m["field"]) if s and not s.isdigit())
                yield Reference(
                    call, path, m.start(), m.end(), notation.name, m["label"], steps, m[0], whole
                )


@dataclass(frozen=True, slots=True)
class Meaning:
    """Meaning of a label: a call, and one of its outputs if the label says which."""

    call: int
    output: str = ""


class Labels:
    """Mapping of labels to calls.

    ``given[i]`` are the labels of call ``i`` (a call of NesTools has one for each output). If no
    call has a label of the notation in use, calls are counted in their order. Counting begins at 1
    (``$var1$``, ``$1``) or 0 (``API_call_0``).
    """

    def __init__(
        self, calls: Sequence[ToolCall], tools: Mapping[str, Tool], given: Sequence[Sequence[str]]
    ) -> None:
        self.calls = calls
        self.tools = tools
        self.given = [tuple(g) for g in given]
        self._meant: dict[str, Meaning] = {}
        for i, labels in enumerate(self.given):
            outputs = named_outputs(tools[calls[i].tool]) if calls[i].tool in tools else ()
            # one label of a tool with several outputs stands for all that it returns
            is_whole = len(labels) == 1 and (
                len(outputs) > 1 or not labels[0].startswith("API_call_")
            )
            for k, label in enumerate(labels):
                output = "" if is_whole or k >= len(outputs) else outputs[k]
                self._meant.setdefault(squash_name(label), Meaning(i, output))
        self._stems = {strip_label_number(label) for labels in self.given for label in labels}

    def meaning(self, ref: Reference) -> Meaning | None:
        """Return the meaning of the reference's label; None if no call has it."""
        if ref.notation == "output":
            return self._by_output(ref)
        found = self._meant.get(squash_name(ref.label))
        if found is not None or ref.notation == "braces":
            return found or self._by_tool(ref)
        return None if self.explicit(ref) else self._counted(ref)

    def explicit(self, ref: Reference) -> bool:
        """Return True if calls carry labels of the reference's kind, so that counting would be
        wrong.
        """
        return strip_label_number(ref.label) in self._stems

    def _counted(self, ref: Reference) -> Meaning | None:
        number = int(re.sub(r"\D+", "", ref.label) or -1)
        if ref.notation == "response":
            return self._counted_output(number)
        return Meaning(number - 1) if 1 <= number <= len(self.calls) else None

    def _counted_output(self, number: int) -> Meaning | None:
        for i, call in enumerate(self.calls):
            outputs = named_outputs(self.tools[call.tool]) if call.tool in self.tools else ()
            if number < max(1, len(outputs)):
                return Meaning(i, outputs[number] if number < len(outputs) else "")
            number -= max(1, len(outputs))
        return None

    def _by_output(self, ref: Reference) -> Meaning | None:
        """The last call before this one that returns a thing of this name, else the first one after
        it.
        """
        made = [
            i
            for i, call in enumerate(self.calls)
            if i != ref.call
            and call.tool in self.tools
            and ref.label in named_outputs(self.tools[call.tool])
        ]
        if not made:
            return None
        before = [i for i in made if i < ref.call]
        return Meaning(before[-1] if before else made[0], ref.label)

    def _by_tool(self, ref: Reference) -> Meaning | None:
        """``{search.id}``: the one other call of the tool of this name."""
        made = [
            i
            for i, c in enumerate(self.calls)
            if i != ref.call and squash_name(c.tool) == squash_name(ref.label)
        ]
        return Meaning(made[0]) if len(made) == 1 else None


@cache_by_text(most=65_536, longest=128)
def strip_label_number(label: str) -> str:
    """A label without its number: labels of one kind share it."""
    return re.sub(r"\d+", "", squash_name(label))


def label_number(label: str) -> int:
    """The number in a label; 0 where there is none."""
    return int(re.sub(r"\D+", "", label) or 0)


def labels_of(calls: Sequence[ToolCall], tools: Mapping[str, Tool]) -> list[tuple[str, ...]]:
    """The labels that the ids of calls are: several are separated by blanks or commas; a first
    ``API_call_k`` alone stands for as many as the tool has outputs, up to a label of another call.
    """
    given = [tuple(filter(None, re.split(r"[\s,]+", call.id))) for call in calls]
    taken = {label for own in given for label in own}
    found: list[tuple[str, ...]] = []
    for call, own in zip(calls, given, strict=True):
        m = re.fullmatch(r"API_call_(\d+)", own[0]) if len(own) == 1 else None
        if m and call.tool in tools:
            outputs = range(1, len(named_outputs(tools[call.tool])))
            more = (f"API_call_{int(m[1]) + k}" for k in outputs)
            own += tuple(takewhile(lambda label: label not in taken, more))
        found.append(own)
    return found


Rewrite = Callable[[Reference], str]


def rewrite_references(call: ToolCall, changes: Sequence[tuple[Reference, str]]) -> ToolCall:
    """The call with some of its references replaced by other text."""
    if not changes or not isinstance(call.arguments, dict):
        return call
    by_path: dict[tuple[str | int, ...], list[tuple[Reference, str]]] = {}
    for ref, text in changes:
        by_path.setdefault(ref.path, []).append((ref, text))
    arguments: JsonObject = call.arguments
    for path, spans in by_path.items():
        arguments = _replace_spans(arguments, path, spans)
    return replace(call, arguments=arguments)


def _replace_spans(
    value: Json, path: tuple[str | int, ...], spans: list[tuple[Reference, str]]
) -> Json:
    if not path:
        for ref, text in sorted(spans, key=lambda s: -s[0].start):
            value = value[: ref.start] + text + value[ref.end :]
        return value
    head, rest = path[0], path[1:]
    if isinstance(value, dict):
        return {k: _replace_spans(v, rest, spans) if k == head else v for k, v in value.items()}
    return [_replace_spans(v, rest, spans) if i == head else v for i, v in enumerate(value)]
