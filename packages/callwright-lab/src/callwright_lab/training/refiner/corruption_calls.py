"""Errors inside calls that can be read: names, keys, values, missing and surplus arguments and
calls.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from callwright.language.tokens import squash_name
from callwright.nouns.types import Json, ToolCall
from callwright_lab.training.refiner.corrupted import (
    Corrupted,
    Corruptor,
    Given,
    Site,
    draw_one,
    write_reply,
)

_REFERENCE = re.compile(r"\$?\bvar_?\d+\b|\bAPI_call_\d+\b|\$\{?\d+\b|<result_\d+>")
_SUFFIXES = ("_tool", "_api", "_v2", "_function", "Tool")
_PREFIXES = ("functions.", "tools.", "default_api.", "mcp__server__")
_GHOSTS: dict[str, Json] = {
    "explanation": "as asked",
    "verbose": True,
    "limit": 10,
    "format": "json",
    "context": "",
}
_PLACEHOLDERS = ("$1", "<{key}>", "{{{key}}}", "YOUR_{KEY}", "[{key}]")


def _build_corrupted(
    kind: str, given: Given, calls: tuple[ToolCall, ...], answerable: bool, note: str
) -> Corrupted:
    return Corrupted(kind, "calls", answerable, note, given.calls, calls)


# ---------------------------------------------------------------- values

Change = Callable[[Site, random.Random], Json]


def _build_value_corruptor(kind: str, fits: Callable[[Site], bool], change: Change) -> Corruptor:
    """A corruption of one argument's value from which the right value can always be told."""

    def corruptor(given: Given, rng: random.Random) -> Corrupted | None:
        site = draw_one(rng, [s for s in given.sites() if fits(s)])
        if site is None:
            return None
        value = change(site, rng)
        note = (
            f"{given.calls[site.call].tool}.{site.key}: {write_reply(site.value)} became"
            f" {write_reply(value)}"
        )
        return _build_corrupted(kind, given, given.with_value(site, value), True, note)

    return corruptor


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _has_locale_form(value: float) -> bool:
    """Return True if a number's grouped notation differs from its plain one and is unambiguous.
    3,125 may be 3.125 or 3125, so neither is made.
    """
    if isinstance(value, int):
        return abs(value) >= 1000
    decimals = write_reply(value).partition(".")[2]
    return value % 1 != 0 and "e" not in decimals and (abs(value) >= 1000 or len(decimals) != 3)


def _format_locale(site: Site, rng: random.Random) -> Json:
    """12345.5 as 12,345.5 or 12.345,5; 3.5 as 3,5; whole numbers with English thousands only (1.234
    is no whole).
    """
    english = f"{site.value:,}"
    if isinstance(site.value, int) or (rng.random() < 0.5 and site.value >= 1000):
        return english
    return english.translate(str.maketrans(",.", ".,"))


def _enum_choices(site: Site) -> list[str]:
    found = site.schema.get("enum")
    return [v for v in found if isinstance(v, str)] if isinstance(found, list) else []


def _build_enum_change(spoil: Callable[[str], list[str]]) -> tuple[Callable[[Site], bool], Change]:
    """Spellings of an enum value that no other value of the enum has once case and separators are
    set aside.
    """

    def spellings(site: Site) -> list[str]:
        choices = _enum_choices(site)
        if not isinstance(site.value, str) or site.value not in choices:
            return []
        alike = [c for c in choices if squash_name(c) == squash_name(site.value)]
        return [s for s in spoil(site.value) if s not in choices and len(alike) == 1]

    return lambda site: bool(spellings(site)), lambda site, rng: rng.choice(spellings(site))


def _respace_value(value: str) -> list[str]:
    swapped = [re.sub(r"[_\- ]", mark, value) for mark in ("_", "-", " ")]
    return [s for s in [*swapped, f" {value}", f"{value} "] if s != value]


_VALUES: dict[str, Corruptor] = {
    "object_as_text": _build_value_corruptor(
        "object_as_text", lambda s: isinstance(s.value, dict), lambda s, _: write_reply(s.value)
    ),
    "array_as_text": _build_value_corruptor(
        "array_as_text", lambda s: isinstance(s.value, list), lambda s, _: write_reply(s.value)
    ),
    "scalar_for_array": _build_value_corruptor(
        "scalar_for_array",
        lambda s: isinstance(s.value, list) and len(s.value) == 1 and not isinstance(s.value[0], list | dict),
        lambda s, _: s.value[0],
    ),
    "array_of_one": _build_value_corruptor(
        "array_of_one",
        lambda s: not isinstance(s.value, list) and s.type not in ("", "array"),
        lambda s, _: [s.value],
    ),
    "number_as_text": _build_value_corruptor(
        "number_as_text",
        lambda s: _is_number(s.value) and s.type in ("number", "integer"),
        lambda s, _: write_reply(s.value),
    ),
    "boolean_as_text": _build_value_corruptor(
        "boolean_as_text",
        lambda s: isinstance(s.value, bool) and s.type == "boolean",
        lambda s, rng: rng.choice([str(s.value), str(s.value).lower()]),
    ),
    "null_as_text": _build_value_corruptor(
        "null_as_text", lambda s: s.value is None, lambda _, rng: rng.choice(["null", "None"])
    ),
    "locale_number": _build_value_corruptor(
        "locale_number",
        lambda s: _is_number(s.value) and _has_locale_form(s.value),
        _format_locale,
    ),
    "enum_case": _build_value_corruptor(
        "enum_case",
        *_build_enum_change(
            lambda v: [s for s in (v.upper(), v.lower(), v.title(), v.capitalize()) if s != v]
        ),
    ),
    "enum_spacing": _build_value_corruptor("enum_spacing", *_build_enum_change(_respace_value)),
    "schema_echo": _build_value_corruptor(
        "schema_echo",
        lambda s: bool(s.schema) and not isinstance(s.value, dict),
        lambda s, rng: {**s.schema, rng.choice(["value", "default"]): s.value},
    ),
}  # fmt: skip


def _echo_schema(given: Given, rng: random.Random) -> Corrupted | None:
    """The parameter's schema stands where its value should; the value is gone from the call."""
    site = draw_one(rng, [s for s in given.sites() if s.schema])
    if site is None:
        return None
    note = f"{given.calls[site.call].tool}.{site.key} holds its own schema"
    return _build_corrupted(
        "schema_echo_lost",
        given,
        given.with_value(site, dict(site.schema)),
        given.stated(site.value),
        note,
    )


def _insert_placeholder(given: Given, rng: random.Random) -> Corrupted | None:
    site = draw_one(rng, [s for s in given.sites() if isinstance(s.value, str) and s.value])
    if site is None:
        return None
    mark = rng.choice(_PLACEHOLDERS).format(key=site.key, KEY=site.key.upper())
    note = f"{given.calls[site.call].tool}.{site.key} is still {mark}"
    return _build_corrupted(
        "placeholder", given, given.with_value(site, mark), given.stated(site.value), note
    )


def _wrong_value(given: Given, rng: random.Random) -> Corrupted | None:
    """Another value of the same type: what the paper's third prompt asks for. Nothing shows that it
    is wrong.
    """
    site = draw_one(
        rng, [s for s in given.sites() if isinstance(s.value, str | int | float) and s.value != ""]
    )
    if site is None:
        return None
    value: Json = _change_value(site, rng)
    note = f"{given.calls[site.call].tool}.{site.key}: {write_reply(site.value)} became {write_reply(value)}"
    return _build_corrupted("wrong_value", given, given.with_value(site, value), False, note)


def _change_value(site: Site, rng: random.Random) -> Json:
    value = site.value
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + rng.choice([-2, -1, 1, 2, 10])
    if others := [c for c in _enum_choices(site) if c != value]:
        return rng.choice(others)
    words = str(value).split()
    if len(words) > 1:
        return " ".join(words[: rng.randrange(1, len(words))])
    at = rng.randrange(len(value))
    return value[:at] + value[at + 1 :] if len(value) > 2 else value + rng.choice("aeiou")


# ---------------------------------------------------------------- keys


def _build_key_corruptor(kind: str, rename: Callable[[str], str]) -> Corruptor:
    def corruptor(given: Given, rng: random.Random) -> Corrupted | None:
        found = []
        for site in given.sites():
            tool, new = given.tool(given.calls[site.call].tool), rename(site.key)
            arguments = given.calls[site.call].arguments
            if tool is not None and new and new not in tool.properties and new not in arguments:
                found.append((site, new, tool))
        chosen = draw_one(rng, found)
        if chosen is None:
            return None
        site, new, tool = chosen
        near = [k for k in tool.properties if squash_name(k).endswith(squash_name(new))]
        answerable = near == [site.key]
        return _build_corrupted(
            kind,
            given,
            given.with_key(site, new),
            answerable,
            f"{tool.name}: {site.key} became {new}",
        )

    return corruptor


def _other_case(key: str) -> str:
    """snake_case as camelCase and the other way round; "" for a single word."""
    if "_" in key:
        first, *rest = key.split("_")
        return first + "".join(part[:1].upper() + part[1:] for part in rest)
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).lower()
    return snake if "_" in snake else ""


def _drop_first_word(key: str) -> str:
    """A key without its first word; "" for a single word."""
    return (
        key.partition("_")[2] or re.sub(r"^[a-z0-9]+(?=[A-Z])", "", key) if _other_case(key) else ""
    )


def _drop_required_argument(given: Given, rng: random.Random) -> Corrupted | None:
    found = []
    for site in given.sites():
        tool = given.tool(given.calls[site.call].tool)
        if tool is not None and site.key in tool.required:
            found.append(site)
    site = draw_one(rng, found)
    if site is None:
        return None
    note = f"{given.calls[site.call].tool} lacks {site.key} ({write_reply(site.value)})"
    return _build_corrupted(
        "required_missing", given, given.without(site), given.stated(site.value), note
    )


def _add_unknown_argument(given: Given, rng: random.Random) -> Corrupted | None:
    """An argument that the tool does not know. Where the schema welcomes any key nobody can tell:
    not answerable.
    """
    found = []
    for i, call in enumerate(given.calls):
        tool = given.tool(call.tool)
        keys = [k for k in _GHOSTS if tool is not None and k not in tool.properties]
        if tool is not None and keys and isinstance(call.arguments, dict):
            found.append((i, tool, keys))
    chosen = draw_one(rng, found)
    if chosen is None:
        return None
    i, tool, keys = chosen
    key = rng.choice(keys)
    call = replace(given.calls[i], arguments={**given.calls[i].arguments, key: _GHOSTS[key]})  # type: ignore[dict-item]
    closed = not tool.input_schema.get("additionalProperties") and bool(tool.properties)
    return _build_corrupted(
        "ghost_argument", given, given.with_call(i, call), closed, f"{tool.name} knows no {key}"
    )


# ---------------------------------------------------------------- tool names


def _build_name_corruptor(kind: str, rename: Callable[[str, random.Random], str]) -> Corruptor:
    """A tool name that is no tool's. Answerable where exactly one tool's name holds it or is held
    by it.
    """

    def corruptor(given: Given, rng: random.Random) -> Corrupted | None:
        names = {t.name for t in given.tools}
        found = [(i, rename(c.tool, rng)) for i, c in enumerate(given.calls) if c.tool in names]
        chosen = draw_one(rng, [(i, new) for i, new in found if new and new not in names])
        if chosen is None:
            return None
        i, new = chosen
        near = [
            n
            for n in names
            if squash_name(n) in squash_name(new) or squash_name(new) in squash_name(n)
        ]
        answerable = (
            near == [given.calls[i].tool] if kind != "name_typo" else _is_unique_typo(new, names)
        )
        return _build_corrupted(
            kind, given, given.with_name(i, new), answerable, f"{given.calls[i].tool} became {new}"
        )

    return corruptor


def _is_unique_typo(name: str, names: set[str]) -> bool:
    from rapidfuzz.distance import OSA

    return sum(OSA.distance(name, n) <= 2 for n in names) == 1


def _drop_namespace(name: str, _rng: random.Random) -> str:
    """The last part of ``a.b``, ``a/b``, ``a__b``, ``a:b``; else the name without its first
    word.
    """
    parts = re.split(r"\.|/|::|:|__", name)
    if len(parts) > 1:
        return parts[-1]
    return _drop_first_word(name)


def _recase_name(name: str, rng: random.Random) -> str:
    camel = re.sub(r"[_\-. ]+(\w)", lambda m: m[1].upper(), name)
    found = [
        n for n in (name.upper(), name.lower(), camel, camel[:1].upper() + camel[1:]) if n != name
    ]
    return str(draw_one(rng, found) or "")


def _make_typo(name: str, rng: random.Random) -> str:
    if len(name) < 5:
        return ""
    at = rng.randrange(1, len(name) - 1)
    return rng.choice(
        [name[:at] + name[at + 1 :], name[:at] + name[at + 1] + name[at] + name[at + 2 :]]
    )


def _wrong_tool(given: Given, rng: random.Random) -> Corrupted | None:
    """Another tool of the list. Answerable where that tool would refuse the arguments and no third
    takes them.
    """
    found = [
        (i, t.name)
        for i, c in enumerate(given.calls)
        for t in given.tools
        if t.name != c.tool and given.tool(c.tool)
    ]
    chosen = draw_one(rng, found)
    if chosen is None:
        return None
    i, new = chosen
    keys = set(given.calls[i].arguments)
    takers = [
        t.name
        for t in given.tools
        if keys and keys <= set(t.properties) and set(t.required) <= keys
    ]
    answerable = takers == [given.calls[i].tool]
    return _build_corrupted(
        "wrong_tool",
        given,
        given.with_name(i, new),
        answerable,
        f"{given.calls[i].tool} became {new}",
    )


# ---------------------------------------------------------------- calls


def _duplicate_call(given: Given, rng: random.Random) -> Corrupted | None:
    if not given.calls:
        return None
    i = rng.randrange(len(given.calls))
    copy = replace(given.calls[i], id=f"{given.calls[i].id}_again" if given.calls[i].id else "")
    calls = (*given.calls[: i + 1], copy, *given.calls[i + 1 :])
    return _build_corrupted(
        "duplicate", given, calls, True, f"{copy.tool} is called twice with the same arguments"
    )


def _out_of_order(given: Given, rng: random.Random) -> Corrupted | None:
    """Calls in another order. Only where they name each other's results can the right order be
    known.
    """
    if len({write_reply([c.tool, c.arguments]) for c in given.calls}) < 2:
        return None
    calls = list(given.calls)
    while calls == list(given.calls):
        rng.shuffle(calls)
    answerable = any(_REFERENCE.search(write_reply(c.arguments)) for c in given.calls)
    names = ", ".join(c.tool for c in calls)
    return _build_corrupted(
        "out_of_order", given, tuple(calls), answerable, f"the order became {names}"
    )


def _merge_calls(given: Given, _rng: random.Random) -> Corrupted | None:
    """Several calls of one tool as one call with a list where the tool wants one value."""
    for i, call in enumerate(given.calls):
        alike = [c for c in given.calls[i:] if c.tool == call.tool]
        if len(alike) < 2 or not all(isinstance(c.arguments, dict) for c in alike):
            continue
        differing = [
            k
            for k in call.arguments
            if len({write_reply(c.arguments.get(k)) for c in alike}) > 1  # type: ignore[union-attr]
        ]
        same_keys = len({tuple(sorted(c.arguments)) for c in alike}) == 1
        tool = given.tool(call.tool)
        if len(differing) != 1 or not same_keys or tool is None:
            continue
        key = differing[0]
        if tool.properties.get(key, {}).get("type") not in (
            "string",
            "number",
            "integer",
            "boolean",
        ):
            continue
        values = [c.arguments[key] for c in alike]  # type: ignore[index]
        merged = replace(call, arguments={**call.arguments, key: values})  # type: ignore[dict-item]
        calls = [merged if c is call else c for c in given.calls if c is call or c not in alike]
        note = f"{len(alike)} calls of {call.tool} became one with {len(values)} values of {key}"
        return _build_corrupted("merged", given, tuple(calls), True, note)
    return None


def _build_id_corruptor(kind: str, make: Callable[[int], str]) -> Corruptor:
    def corruptor(given: Given, _rng: random.Random) -> Corrupted | None:
        if not given.calls or (kind == "reused_id" and len(given.calls) < 2):
            return None
        calls = tuple(replace(c, id=make(i)) for i, c in enumerate(given.calls))
        return _build_corrupted(
            kind, given, calls, True, f"{len(calls)} calls, ids {sorted({c.id for c in calls})}"
        )

    return corruptor


CALL_KINDS: Mapping[str, Corruptor] = {
    **_VALUES,
    "schema_echo_lost": _echo_schema,
    "placeholder": _insert_placeholder,
    "wrong_value": _wrong_value,
    "key_case": _build_key_corruptor("key_case", _other_case),
    "key_prefix_lost": _build_key_corruptor("key_prefix_lost", _drop_first_word),
    "required_missing": _drop_required_argument,
    "ghost_argument": _add_unknown_argument,
    "name_prefix_lost": _build_name_corruptor("name_prefix_lost", _drop_namespace),
    "name_prefix_added": _build_name_corruptor(
        "name_prefix_added", lambda n, rng: rng.choice(_PREFIXES) + n
    ),
    "name_suffix": _build_name_corruptor("name_suffix", lambda n, rng: n + rng.choice(_SUFFIXES)),
    "name_case": _build_name_corruptor("name_case", _recase_name),
    "name_typo": _build_name_corruptor("name_typo", _make_typo),
    "wrong_tool": _wrong_tool,
    "duplicate": _duplicate_call,
    "out_of_order": _out_of_order,
    "merged": _merge_calls,
    "missing_id": _build_id_corruptor("missing_id", lambda _: ""),
    "reused_id": _build_id_corruptor("reused_id", lambda _: "call_0"),
}
"""Every error at the level of calls, by name."""
