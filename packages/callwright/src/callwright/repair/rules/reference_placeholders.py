"""References and nulls set aside while a schema is asked: neither is wrong for not being of the
parameter's type.

A reference (``API_call_0``, ``$var1.id$``, ``$1``) stands for a value that comes later; a null in
an optional parameter says "not given"; ``true`` says what the option "True" says. They are replaced
by something that the schema accepts and put back afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from callwright.nouns.types import Json, JsonObject, Tool, to_canonical_json
from callwright.nouns.wire_names import EditRules
from callwright.repair.draft import LocatedEdit
from callwright.repair.ordering.references import Reference
from callwright.schema.value_edits import get_member


@dataclass(slots=True)
class ReferencePlaceholders:
    """Arguments that the schema can judge, and what has to be put back into them."""

    arguments: JsonObject
    references: list[tuple[tuple[str | int, ...], Json]] = field(default_factory=list)
    referring: frozenset[str] = frozenset()  # arguments that are or hold references
    nulls: dict[str, int] = field(default_factory=dict)  # optional key -> its place
    own_text: dict[str, tuple[str, Json]] = field(
        default_factory=dict
    )  # key -> its option, the value it spells

    def restored(self, arguments: JsonObject, edits: Sequence[LocatedEdit] = ()) -> JsonObject:
        """The arguments with references and nulls back in their places; renamed keys are
        followed.
        """
        if not self.references and not self.nulls and not self.own_text:
            return arguments
        renamed = {
            e.before: e.after
            for e in edits
            if e.rule in (EditRules.RENAME_KEY, EditRules.ASSIGN_KEY)
            and len(e.location.argument or ()) == 1
        }
        made = arguments
        for path, value in self.references:
            made = _replace_at_path(made, (renamed.get(path[0], path[0]), *path[1:]), value)
        for key, (text, value) in self.own_text.items():
            if made.get(key) == text:
                made = {**made, key: value}
        for key, place in self.nulls.items():
            if key not in made:
                items = list(made.items())
                items.insert(place, (key, None))
                made = dict(items)
        return made


def replace_references(
    arguments: JsonObject, tool: Tool, references: Sequence[Reference]
) -> ReferencePlaceholders:
    """The arguments with stand-ins. ``references`` are those of this call."""
    made = ReferencePlaceholders(arguments, referring=frozenset(str(r.path[0]) for r in references))
    for ref in references:
        if ref.whole and get_member(made.arguments, ref.path) == ref.text:
            part = _schema_at(tool, ref.path)
            made.references.append((ref.path, get_member(made.arguments, ref.path)))
            made.arguments = _replace_at_path(
                made.arguments, ref.path, build_sample(part, ref.text)
            )
    optional = tool.properties.keys() - set(tool.required)
    for place, (key, value) in enumerate(arguments.items()):
        if value is None and key in optional and not _takes_null(tool.properties[key]):
            made.nulls[key] = place
        text = _option_spelt(value, tool.properties.get(key))
        if text:
            made.own_text[key] = (text, value)
            made.arguments = {**made.arguments, key: text}
    if made.nulls:
        made.arguments = {k: v for k, v in made.arguments.items() if k not in made.nulls}
    return made


def _option_spelt(value: Json, part: Any) -> str:
    """The option that spells a truth value or number where all options are texts ("True" for true);
    "" for none.
    """
    if not isinstance(value, bool | int | float) or not isinstance(part, dict):
        return ""
    options = part.get("enum")
    if not isinstance(options, list) or not all(isinstance(o, str) for o in options):
        return ""
    return next((o for o in options if o in (str(value), to_canonical_json(value))), "")


def build_sample(part: Any, text: str = "") -> Json:
    """Something that a simple schema accepts: an option, a number in range, an empty list; else the
    text.
    """
    if not isinstance(part, dict):
        return text
    if isinstance(part.get("enum"), list) and part["enum"]:
        return part["enum"][0]
    if "const" in part:
        return part["const"]
    kind = part.get("type")
    kind = next((k for k in kind if k != "null"), None) if isinstance(kind, list) else kind
    if kind in ("integer", "number"):
        low = part.get("minimum", part.get("maximum", 1))
        return low if isinstance(low, int | float) else 1
    simple: dict[str, Json] = {"boolean": True, "array": [], "object": {}}
    return simple.get(str(kind), text)


def _takes_null(part: Any) -> bool:
    if not isinstance(part, dict) or not part:
        return True
    kind = part.get("type")
    return kind is None or kind == "null" or (isinstance(kind, list) and "null" in kind)


def _schema_at(tool: Tool, path: Sequence[str | int]) -> Any:
    part: Any = tool.input_schema
    for step in path:
        if not isinstance(part, dict):
            return None
        part = (
            part.get("items") if isinstance(step, int) else (part.get("properties") or {}).get(step)
        )
    return part


def _replace_at_path(value: Json, path: Sequence[str | int], new: Json) -> Json:
    """The value with one place replaced; unchanged where that place is no longer there."""
    if not path:
        return new
    step, rest = path[0], path[1:]
    if isinstance(value, dict) and step in value:
        return {k: _replace_at_path(v, rest, new) if k == step else v for k, v in value.items()}
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        return [_replace_at_path(v, rest, new) if i == step else v for i, v in enumerate(value)]
    return value
