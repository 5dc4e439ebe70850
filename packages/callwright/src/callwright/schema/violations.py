"""From a validator's errors to violations a small model can act on, most relevant first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, TypeAlias

from callwright.jsontext.pointer import resolve_reference
from callwright.nouns.errors import Violation
from callwright.nouns.types import Json, to_canonical_json
from callwright.schema.compiled import Compiled, Node
from callwright.schema.value_edits import Pointer, render_pointer

Located: TypeAlias = tuple[Pointer, Violation]
"""A violation, and where in the value it is."""

_ORDER = {
    word: rank
    for rank, words in enumerate(
        (
            ("required", "dependentRequired"),
            ("type",),
            ("enum", "const"),
            ("format", "pattern"),
            ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
            ("minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "contains"),
            ("additionalProperties", "unevaluatedProperties", "propertyNames", "falseSchema"),
        )
    )
    for word in words
}
_SHOWN = 12  # allowed values, or unknown keys, listed
_MOST = 100
_LONGEST_NAME = 200  # that may be a slip of another
_TOO_DEEP = 200


def from_errors(schema: Compiled, value: Json) -> tuple[Violation, ...]:
    """Return the schema's errors in a value, at most a hundred. The result is never empty for a
    refused value.
    """
    return tuple(violation for _, violation in located_errors(schema, value))


def located_errors(
    schema: Compiled, value: Json, unknown: Iterable[Pointer] = ()
) -> tuple[Located, ...]:
    """The violations of :func:`from_errors`, each with the keys that lead to its place. ``unknown``:
    keys that are errors although the schema leaves them open.
    """
    found = list(islice(_iter_violations(schema.root, value, ()), _MOST))
    keys = (key for key, *inner in unknown if not inner)
    found += [_report_unknown_key(str(key), (), schema.root.schema, value) for key in keys]
    if not found and not schema.accepts(value):
        message = "the arguments hold what JSON cannot say"
        found.append(((), Violation("schema", message, "", "", None, None)))
    options = {
        v.path for _, v in found if v.keyword in ("enum", "const")
    }  # say the type too, by saying the values
    found = [(at, v) for at, v in found if v.keyword != "type" or v.path not in options]
    unique = {(v.path, v.keyword, v.message): (at, v) for at, v in found}
    return tuple(sorted(unique.values(), key=_rank_violation))


def _iter_violations(node: Node, value: Json, path: Pointer) -> Iterator[Located]:
    """All errors where they can be listed at a bounded cost; else what the subschema says of the
    value by itself and what is wrong with its members, and if that is nothing, that it does not
    fit.
    """
    node = node.resolved()
    listed = node.lists(value)
    count = 0
    for error in node.errors(value) if listed else node.alone().errors(value):
        yield from _from_error(error, node, path)
        count += 1
    if listed or len(path) > _TOO_DEEP:
        return
    for key, child, member in _iter_members(node, value):
        if child is not None and not child.accepts(member):
            yield from _iter_violations(child, member, (*path, key))
            count += 1
    if not count and not node.accepts(value):
        at = render_pointer(path)
        branches = next((k for k in ("anyOf", "oneOf") if node.get(k)), "")
        many = (
            f"fits none of the {len(node.get(branches))} alternatives of"
            if branches
            else "does not fit"
        )
        said = f"{_describe_place(at)} {many} its schema."
        yield path, Violation("schema", said, at, branches, node.schema, value)


def _iter_members(node: Node, value: Json) -> Iterator[tuple[str | int, Node | None, Json]]:
    if isinstance(value, dict):
        yield from ((key, node.member(key), member) for key, member in value.items())
    elif isinstance(value, list):
        yield from ((i, node.item(i), item) for i, item in enumerate(value))


def build_unasserted_note(tool: str, parts: tuple[str, ...]) -> Violation:
    """The note that not all of a tool's schema was asserted of a call, and which parts of it were
    not.
    """
    said = f"The schema of tool '{tool}' was not asserted in all its parts: {'; '.join(parts)}."
    return Violation("unasserted", said, "", "", list(parts), None)


def unknown_tool(name: str, known: Iterable[str]) -> Violation:
    """The violation for a call of a tool that is not in view, with the nearest names that are."""
    names = list(known)
    near = find_nearest(name, names)
    said = f"There is no tool '{name}'." + (f" Did you mean '{near}'?" if near else "")
    return Violation(
        "unknown_tool", f"{said} Tools: {_join_values(names)}.", "", "", names[:50], name
    )


_NEAR = 70  # percent alike: a choice for error texts alone, no call is changed by it


def find_nearest(name: str, known: Iterable[str], least: float = _NEAR) -> str:
    """The most similar of the known names, or "" where none is similar."""
    from rapidfuzz import (
        fuzz,
        process,
    )  # megabytes that a process without such a call need not load

    if len(name) > _LONGEST_NAME:
        return ""
    hit = process.extractOne(name, list(known), scorer=fuzz.WRatio, score_cutoff=least)
    return hit[0] if hit else ""


def suggest_name(name: object, known: Iterable[str]) -> str:
    """The beginning of a hint: the most similar of the known names, or "" where none is similar."""
    near = find_nearest(str(name), known)
    return f"did you mean {near!r}? " if near else ""


def _rank_violation(located: Located) -> tuple[int, int, str]:
    violation = located[1]
    return (_ORDER.get(violation.keyword, 9), violation.path.count("/"), violation.path)


def _from_error(error: Any, base: Node, above: Pointer) -> list[Located]:
    """The violations of one error of a subschema, ``above`` being the path of its value."""
    kind = error.kind
    keyword = str(kind.name)
    pointer = (*above, *error.instance_path)
    path = render_pointer(pointer)
    if keyword in ("anyOf", "oneOf") and hasattr(kind, "context"):
        best = _best_branch(kind.context, len(error.instance_path))
        if best:
            return [v for inner in best for v in _from_error(inner, base, above)]
    node = _schema_at(base, error.schema_path)
    if keyword == "required":
        return [_report_missing_key(kind.value, pointer, node, error.instance)]
    if keyword in ("additionalProperties", "unevaluatedProperties"):
        return [
            _report_unknown_key(key, pointer, node, error.instance) for key in kind.value[:_SHOWN]
        ]
    expected = _get_expected(keyword, kind, node)
    message = _MESSAGES.get(keyword, _explain_other)(_describe_place(path), expected, error)
    said = message + _format_description(node)
    return [(pointer, Violation("schema", said, path, keyword, expected, error.instance))]


def _describe_place(path: str) -> str:
    return f"'{path[1:].replace('/', '.')}'" if path else "the arguments"


def _report_missing_key(key: str, above: Pointer, node: Any, got: Any) -> Located:
    part = _get_property(node, key)
    about = part.get("description") if isinstance(part, dict) else None
    wanted = _describe_property(part)
    path = render_pointer(above)
    inside = f" in '{path[1:].replace('/', '.')}'" if path else ""
    message = f"Missing required key '{key}'{inside}{f' ({wanted})' if wanted else ''}."
    if isinstance(about, str) and about.strip():
        message += f" {_shorten_text(about)}"
    unknown = (
        [k for k in got if k not in (node.get("properties") or {})] if isinstance(got, dict) else []
    )
    near = find_nearest(key, unknown) if unknown else ""
    if near:
        message += f" You gave '{near}', which is no key of this tool."
    at = (*above, key)
    return at, Violation("schema", message, render_pointer(at), "required", part, None)


def _report_unknown_key(key: str, above: Pointer, node: Any, got: Any) -> Located:
    known = list(node.get("properties") or {}) if isinstance(node, dict) else []
    near = find_nearest(
        key, [k for k in known if not isinstance(got, dict) or k not in got] or known
    )
    said = f" Did you mean '{near}'?" if near else ""
    message = f"Unknown key '{key}'.{said} Known keys: {_join_values(known)}."
    given = got.get(key) if isinstance(got, dict) else None
    at, keyword = (*above, key), "additionalProperties"
    return at, Violation("schema", message, render_pointer(at), keyword, known, given)


def _get_expected(keyword: str, kind: Any, node: Any) -> Any:
    if isinstance(node, dict) and keyword in node:
        return node[keyword]
    try:
        return kind.value
    except Exception:  # kinds without a value
        return None


def _explain_type(where: str, expected: Any, error: Any) -> str:
    names = expected if isinstance(expected, list) else [expected]
    return f"{where} must be {' or '.join(map(str, names))}, not {_format_value(error.instance)}."


def _explain_options(where: str, expected: Any, error: Any) -> str:
    options = expected if isinstance(expected, list) else [expected]
    text = error.instance if isinstance(error.instance, str) else ""
    near = find_nearest(text, [str(o) for o in options if isinstance(o, str)])
    said = f" Nearest: {_format_value(near)}." if near else ""
    return f"{where} must be one of {_join_values(options)}, not {_format_value(error.instance)}.{said}"


def _explain_format(where: str, expected: Any, error: Any) -> str:
    example = _FORMAT_EXAMPLES.get(str(expected), "")
    return (
        f"{where} must be a {expected}{f' such as {example}' if example else ''}, not"
        f" {_format_value(error.instance)}."
    )


def _explain_pattern(where: str, expected: Any, error: Any) -> str:
    return f"{where} must match the pattern {expected}, not {_format_value(error.instance)}."


def _explain_other(where: str, _expected: Any, error: Any) -> str:
    return f"{where}: {_shorten_text(str(error.message))}."


_MESSAGES = {
    "type": _explain_type,
    "enum": _explain_options,
    "const": _explain_options,
    "format": _explain_format,
    "pattern": _explain_pattern,
}
_FORMAT_EXAMPLES = {
    "date": "2024-05-03",
    "date-time": "2024-05-03T10:00:00Z",
    "time": "10:00:00Z",
    "email": "name@example.org",
    "uri": "https://example.org/page",
    "uuid": "6f1c2c1e-0d4b-4a53-9a3e-3a4d0f6f5b11",
    "ipv4": "192.0.2.1",
    "duration": "PT1H30M",
}


def _format_description(node: Any) -> str:
    about = node.get("description") if isinstance(node, dict) else None
    return f" It means: {_shorten_text(about)}" if isinstance(about, str) and about.strip() else ""


def _best_branch(context: list[list[Any]], depth: int) -> list[Any]:
    """The branch that the value came nearest to: its errors lie deepest, and are fewest."""

    def near(errors: list[Any]) -> tuple[int, int]:
        here = sum(
            1
            for e in errors
            if len(e.instance_path) <= depth and str(e.kind.name) in ("type", "const")
        )
        return (here, len(errors))

    ranked = sorted((errors for errors in context if errors), key=near)
    clear = ranked and (len(ranked) == 1 or near(ranked[0]) < near(ranked[1]))
    return ranked[0] if clear and near(ranked[0])[0] == 0 else []


def _schema_at(base: Node, path: list[str | int]) -> Any:
    """The schema object that holds the failing keyword, references on the way followed where they
    are local. The path is one from ``base``, or from the whole schema once a reference was
    followed.
    """
    root = base.within.schema
    for start in (base.schema, root):
        node = start
        try:
            for key in path[:-1]:
                node = resolve_reference(node["$ref"], root) if key == "$ref" else node[key]
        except (KeyError, IndexError, TypeError):
            continue
        if isinstance(node, dict) and (path[-1:] == [] or path[-1] in node):
            return node
    return {}


def _get_property(node: Any, key: str) -> Any:
    properties = node.get("properties") if isinstance(node, dict) else None
    return properties.get(key) if isinstance(properties, dict) else None


def _describe_property(part: Any) -> str:
    """A property's type and options in a few words."""
    if not isinstance(part, dict):
        return ""
    if isinstance(part.get("enum"), list):
        return "one of " + _join_values(part["enum"])
    kind = part.get("type")
    named = " or ".join(map(str, kind)) if isinstance(kind, list) else str(kind or "")
    return f"{named}, {part['format']}" if named and isinstance(part.get("format"), str) else named


def _join_values(values: list[Any]) -> str:
    shown = ", ".join(_format_value(v) for v in values[:_SHOWN])
    more = f" and {len(values) - _SHOWN} more" if len(values) > _SHOWN else ""
    return shown + more or "none"


def _format_value(value: Any) -> str:
    return _shorten_text(f"'{value}'" if isinstance(value, str) else to_canonical_json(value), 80)


def _shorten_text(text: str, most: int = 200) -> str:
    text = " ".join(text[: 4 * most].split())
    return text if len(text) <= most else text[: most - 1] + "…"
