"""Derives changes to a tool's documentation from its calls (Tool-MVR's DocRefiner, B.1, without a
model).

A constraint needs a refusal. Types, options, ranges and patterns are taken from the tool's own
message when it refused a value, and only if no accepted value contradicts them. Accepted values
become examples, filled-in values defaults, results an output schema. A disagreement with the
documentation is drift: it is reported, and no parameter is added or removed to repair it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from callwright.agent.probing.values import is_credential
from callwright.jsontext import JsonError, parse
from callwright.nouns.types import Json, JsonObject, Tool, to_canonical_json
from callwright.repair.diagnose import is_replaced
from callwright.repair.learned_overlay import overlay_from_error
from callwright.schema.compiled import BadSchema, compile_schema
from callwright.tools.evidence import Outcome
from callwright.tools.overlay import OverlayChange, ToolOverlay, documented, is_refused
from callwright_lab.verify.inferred import canonical_shape, infer_schema
from callwright_lab.verify.places import Flat, Place, list_places
from callwright_lab.verify.samples import is_placeholder

EXAMPLES = 3  # of one parameter
_LONGEST = 60  # characters of an example
_SAID = 160  # characters of an error that are quoted
_HINTS = 2  # errors that a description quotes
_UNTYPED = 2  # accepted values from which the type of a parameter without one is known
_TYPES = ("string", "boolean", "array", "object", "number")


@dataclass(frozen=True, slots=True)
class Seen:
    """One real call and what came of it. ``said`` is the failure's text, ``reply`` what was
    returned, secrets removed from both; ``proof`` one line for people.
    """

    arguments: JsonObject
    outcome: Outcome
    kind: str = ""
    proof: str = ""
    said: str = ""
    reply: Json = None

    @property
    def works(self) -> bool:
        return self.outcome == "functional_success"


def observe_calls(tool: Tool, seen: Sequence[Seen]) -> ToolOverlay:
    """The changes to the documentation that the calls show, and where the tool disagrees with it:
    by rule alone.
    """
    flat = Flat(tool)
    said = list(_iter_stated_changes(flat, seen))
    changes = [
        change for place in list_places(tool) for change in _iter_place_changes(place, said, seen)
    ]
    made = {(c.key, c.change): c for c in changes}
    for change in (_infer_output(tool, seen), _collect_hints(tool, seen, changes)):
        if change is not None:
            made[change.key, change.change] = change
    drift: dict[str, str] = {}
    for line in _iter_drift(tool, said, seen):
        drift.setdefault(line.partition(": ")[0], line)  # said of several calls, told once
    return ToolOverlay(documented(tool), tuple(made.values()), drift=tuple(drift.values()))


def collect_accepted_values(place: Place, seen: Iterable[Seen]) -> list[Json]:
    """The distinct values that stand at a place in calls that answered."""
    values = [value for s in seen if s.works for value in place.values(s.arguments)]
    return list({to_canonical_json(value): value for value in values}.values())


def _iter_place_changes(
    place: Place, said: Sequence[tuple[Seen, Place, OverlayChange]], seen: Sequence[Seen]
) -> Iterator[OverlayChange]:
    key, part = place.key, place.schema
    values = collect_accepted_values(place, seen)
    limits = list(_iter_constraint_changes(place, said, values))
    yield from limits
    if (
        not _is_typed(part)
        and len(values) >= _UNTYPED
        and len({canonical_shape(v) for v in values}) == 1
    ):
        shape = canonical_shape(values[0])
        if shape in _TYPES:
            yield OverlayChange(
                key, "type", shape, f"all of {len(values)} accepted values are of it"
            )
    lost = "default" in part and any(is_refused(c.change, c.value, part["default"]) for c in limits)
    if ("default" not in part or lost) and not place.required:
        yield from _iter_default_changes(place, seen)
    if examples := _select_examples(place.leaf, part, values):
        because = (
            f"accepted in {sum(s.works and bool(place.values(s.arguments)) for s in seen)} calls"
            " that answered"
        )
        known = part.get("examples")
        listed = [*(known if isinstance(known, list) else []), *examples]
        yield OverlayChange(key, "examples", listed, because)
        yield from _iter_description_changes(key, part, values, examples, because)


def _is_typed(part: JsonObject) -> bool:
    return any(
        word in part
        for word in ("type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref", "properties")
    )


def _select_examples(key: str, part: JsonObject, values: Sequence[Json]) -> list[Json]:
    """Accepted values that are worth showing, and that the documentation does not show."""
    if is_credential(key) or "enum" in part or "const" in part or part.get("type") == "boolean":
        return []
    known = part.get("examples")
    shown = set(map(to_canonical_json, known if isinstance(known, list) else []))
    fit = [
        v
        for v in values
        if not isinstance(v, bool)
        and v not in ("", [], {})
        and len(to_canonical_json(v)) <= _LONGEST
    ]
    fit = [v for v in fit if not is_placeholder(v)]
    return [v for v in fit if to_canonical_json(v) not in shown][: max(0, EXAMPLES - len(shown))]


def _iter_description_changes(
    key: str, part: JsonObject, values: Sequence[Json], examples: Sequence[Json], because: str
) -> Iterator[OverlayChange]:
    """Yield a description of the accepted values, for readers of descriptions only, if the
    parameter has none. It gives the form of texts with an example, or the range of numbers.
    """
    if str(part.get("description") or "").strip() or "format" in part:
        return
    numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
    if len(numbers) == len(values) > 1:
        yield OverlayChange(
            key, "description", f"tried with {min(numbers)} to {max(numbers)}", because
        )
    elif not numbers and examples:
        shown = ", ".join(to_canonical_json(v) for v in examples[:2])
        yield OverlayChange(key, "description", f"{_infer_form(values)}e.g. {shown}", because)


_FORMS: Mapping[str, re.Pattern[str]] = {
    "a day, YYYY-MM-DD, ": re.compile(r"\d{4}-\d\d-\d\d"),
    "a moment, ": re.compile(r"\d{4}-\d\d-\d\dT\S+"),
    "a time of day, HH:MM, ": re.compile(r"\d\d:\d\d"),
    "an email address, ": re.compile(r"[^@\s]+@[^@\s]+\.\w+"),
    "an address on the web, ": re.compile(r"https?://\S+"),
    "a UUID, ": re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.I),
}


def _infer_form(values: Sequence[Json]) -> str:
    """The form that all of several accepted texts have; "" for none."""
    found = [
        form
        for form, shape in _FORMS.items()
        if all(isinstance(v, str) and shape.fullmatch(v) for v in values)
    ]
    return found[0] if found and len(values) > 1 else ""


# ---------------------------------------------------------------- what refusals say


def _iter_constraint_changes(
    place: Place, said: Sequence[tuple[Seen, Place, OverlayChange]], values: Sequence[Json]
) -> Iterator[OverlayChange]:
    for one, of, change in said:
        holds = _HOLDS.get(change.change)
        if of.key != place.key or holds is None or _is_contradiction(change, place.schema):
            continue
        fits = holds(change.value)
        refused = next((value for value in place.values(one.arguments) if not fits(value)), _NONE)
        if refused is not _NONE and all(map(fits, values)):
            yield OverlayChange(
                place.key,
                change.change,
                change.value,
                f'it refused {to_canonical_json(refused)}: "{_truncate_line(one.said)}"',
            )


_NONE: Json = object()


def _is_contradiction(change: OverlayChange, part: JsonObject) -> bool:
    """Return True if the documentation and the tool's message cannot both hold. This is drift and
    no change. A list of options is replaced whole, so it contradicts nothing.
    """
    value = change.value
    if change.change == "type":
        return _is_typed(part)
    if change.change == "pattern":
        return "format" in part
    other = part.get({"minimum": "maximum", "maximum": "minimum"}.get(change.change, ""))
    if not isinstance(other, int | float):
        return False
    return bool(value > other if change.change == "minimum" else value < other)


def _iter_stated_changes(
    flat: Flat, seen: Sequence[Seen]
) -> Iterator[tuple[Seen, Place, OverlayChange]]:
    """Yield the undocumented constraints that refused calls were told, with their places. An
    unknown parameter gets an empty place.
    """
    for one in seen:
        if one.works or not one.said:
            continue
        arguments = flat.arguments(one.arguments)
        overlay = overlay_from_error(flat.text(one.said), flat.tool, arguments)
        for change in overlay.changes if overlay else ():
            place = flat.places.get(change.key) or Place("", (flat.named(change.key),), {})
            yield one, place, replace(change, value=flat.named(change.value))


def _compile_keyword(keyword: str) -> Callable[[Json], Callable[[Json], bool]]:
    def limited(limit: Json) -> Callable[[Json], bool]:
        try:
            return compile_schema({keyword: limit}).accepts
        except BadSchema:  # what is no constraint holds for nothing
            return lambda _: False

    return limited


_HOLDS: Mapping[str, Callable[[Json], Callable[[Json], bool]]] = {
    word: _compile_keyword(word) for word in ("type", "enum", "pattern", "minimum", "maximum")
}


_ADVISES = re.compile(
    r"\b(?:try|use|must|should|needs?|expected|expects|only|instead|format|valid|between|such"
    r" as|e\.g)\b",
    re.I,
)
_VALUE = re.compile(r"'[^']*'|\"[^\"]*\"|\d+")


def _collect_hints(
    tool: Tool, seen: Sequence[Seen], known: Iterable[OverlayChange]
) -> OverlayChange | None:
    """Return a change that adds the first two hints of refusals to the tool's description; None if
    there are none. Only hints that no keyword can express count, and only if the tool answered
    other calls.
    """
    if not any(one.works for one in seen):
        return None
    because = " ".join(change.because for change in known)
    refused = [
        _truncate_line(one.said)
        for one in seen
        if one.outcome == "parameter_mismatch" and _ADVISES.search(one.said)
    ]
    kinds = {
        _VALUE.sub("", said): said for said in reversed(refused)
    }  # of those that differ in a value alone, the first
    told = [
        said
        for said in reversed(kinds.values())
        if said not in because and said not in tool.description
    ][:_HINTS]
    if not told:
        return None
    about = tool.description.rstrip()
    text = " ".join(
        [about, *(f'It refuses with "{said}"' + "." * (not said.endswith(".")) for said in told)]
    ).strip()
    return OverlayChange("", "description", text, f"said in {len(refused)} calls that it refused")


# ---------------------------------------------------------------- what replies say


def _iter_default_changes(place: Place, seen: Sequence[Seen]) -> Iterator[OverlayChange]:
    """Yield the default that a tool fills in. Its replies must repeat given values, and hold the
    same value whenever none was given.
    """
    if None in place.steps:
        return  # of an item that was not sent nothing is filled in
    works = [(place.values(s.arguments), place.values(s.reply)) for s in seen if s.works]
    sent = [(given[0], back[0]) for given, back in works if given and back]
    filled = {to_canonical_json(back[0]): back[0] for given, back in works if back and not given}
    echoes = bool(sent) and all(
        to_canonical_json(given) == to_canonical_json(back) for given, back in sent
    )
    value = next(iter(filled.values()), None)
    if echoes and len(filled) == 1 and value is not None and not isinstance(value, dict | list):
        yield OverlayChange(
            place.key,
            "default",
            value,
            "its replies repeat the value, and have this one where none was given",
        )


def _infer_output(tool: Tool, seen: Sequence[Seen]) -> OverlayChange | None:
    replies = [parse_json_text(s.reply) for s in seen if s.works]
    if (
        tool.output_schema is not None
        or not replies
        or not all(isinstance(r, dict | list) for r in replies)
    ):
        return None
    return OverlayChange(
        "", "output_schema", infer_schema(replies), f"inferred from {len(replies)} replies"
    )


def parse_json_text(reply: Json) -> Json:
    """A reply that is the text of a JSON document, as that document."""
    if isinstance(reply, str) and reply.lstrip()[:1] in ("{", "["):
        try:
            return parse(reply)
        except JsonError:
            return reply
    return reply


# ---------------------------------------------------------------- drift


def _iter_drift(
    tool: Tool, said: Sequence[tuple[Seen, Place, OverlayChange]], seen: Sequence[Seen]
) -> Iterator[str]:
    for one in seen:
        if one.said and is_replaced(one.said, tool.name):
            yield f'says that it is replaced: "{_truncate_line(one.said)}"'
    for one, place, change in said:
        for text in filter(
            None,
            (
                _explain_disagreement(place, change),
                _explain_misdocumentation(tool, place, change, one.said),
            ),
        ):
            yield f'{text}: "{_truncate_line(one.said)}"'
    if tool.output_schema is None:
        return
    try:
        documented = compile_schema(tool.output_schema, formats=False)
    except BadSchema:
        return
    for one in seen:
        errors = documented.errors(parse_json_text(one.reply)) if one.works else []
        if errors:
            yield (
                "replies otherwise than documented:"
                f" {_truncate_line(str(getattr(errors[0], 'message', errors[0])))}"
            )


def _explain_disagreement(place: Place, change: OverlayChange) -> str:
    key, part = place.name, place.schema
    if change.change == "require":
        if not place.key:
            return f"asks for {key.rpartition('.')[2]!r}, which is not documented"
        return f"requires {key!r}, documented as optional"
    if change.change == "forbid":
        return f"does not know {key!r}, which is documented"
    if change.change == "type" and _is_typed(part) and change.value != part.get("type"):
        return f"wants {change.value} for {key!r}, documented as {part.get('type', 'another type')}"
    if change.change == "pattern" and "format" in part:
        return f"wants another form of {key!r} than the documented {part['format']}"
    if change.change == "enum" and isinstance(part.get("enum"), list):
        return f"has other options for {key!r} than are documented"
    return ""


def _explain_misdocumentation(tool: Tool, place: Place, change: OverlayChange, said: str) -> str:
    """Return how the documentation of a parameter misleads; "" if it does not. The tool refuses the
    documented default or the documented form of a day.
    """
    part = place.schema
    if "default" in part and is_refused(change.change, change.value, part["default"]):
        return (
            f"refuses the documented default {to_canonical_json(part['default'])} of {place.name!r}"
        )
    about = f"{part.get('description') or ''} {tool.description}"
    told, taken = (list(dict.fromkeys(_DAY.findall(text))) for text in (about, said))
    if change.change != "pattern" or not told or not taken or set(told) & set(taken):
        return ""
    return f"takes {place.name!r} as {taken[0]}, documented as {told[0]}"


_DAY = re.compile(r"\b(?:[YMD]{1,4}[-/.]){2}[YMD]{1,4}\b|\bYYYYMMDD\b")


def _truncate_line(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _SAID else flat[: _SAID - 1] + "…"
