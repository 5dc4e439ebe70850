"""Checks the grounding of a call's values: identifiers must have a source, optional values should.

An identifier that no source contains was invented (RETO A.6: "do NOT make up IDs"). It is filled in
if the results hold exactly one that fits, otherwise the call is refused. An optional value without
support is left out if that is safe, else flagged. First do no harm: a value that could be derived,
translated or computed is never removed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

from callwright.language import ENGLISH
from callwright.language.pack import PACKS
from callwright.language.tokens import split_identifier, squash_text
from callwright.language.vocabulary import Vocabulary
from callwright.nouns.errors import ViolationKind
from callwright.nouns.types import Json, JsonObject, Tool, to_canonical_json
from callwright.nouns.wire_names import EditRules
from callwright.repair.diagnostics import Diagnostic, Severity
from callwright.repair.draft import Change, Draft
from callwright.repair.location import in_arguments
from callwright.repair.provenance.records import mixed_records
from callwright.repair.provenance.sources import Leaf, ProvenanceIndex
from callwright.schema.value_edits import Pointer, render_pointer

ValueOrigin = Literal["held", "identifier", "placeholder", "invented", "derived"]

_ID_WORDS = ENGLISH.words("keys.identifiers")
_CODE_WORDS = ENGLISH.words("keys.codes")
_GLUED_ID = ENGLISH.pattern("keys.glued_identifier")
_NOT_GLUED = ENGLISH.words("keys.not_glued")
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\Z", re.I)
_OPAQUE = re.compile(r"(?=(?:\D*\d){4})(?=(?:[^A-Za-z]*[A-Za-z]){2})[A-Za-z0-9_\-]{12,}\Z")
_NUMBERED = re.compile(r"(?=.*\d)[A-Za-z0-9_\-./#:]{4,}\Z")
_PLACEHOLDER = ENGLISH.pattern("placeholders.written")
_TYPE_WORDS = ENGLISH.words("placeholders.type_words")
_FILLER_ENTRY = "placeholders.fillers"
_EXAMPLE = "placeholders.example"


@dataclass(slots=True)
class _ValueCheck:
    """The arguments of one draft while they are grounded, and the change so far."""

    draft: int
    tool: Tool
    sources: ProvenanceIndex
    accepts: Callable[[JsonObject], bool]
    arguments: JsonObject
    change: Change

    def say(
        self,
        severity: Severity,
        kind: ViolationKind,
        pointer: Pointer,
        message: str,
        keyword: str,
        got: Json,
    ) -> None:
        place = in_arguments(self.draft, *pointer)
        self.change.diagnostics.append(
            Diagnostic(severity, kind, place, message, keyword, None, got)
        )


def ground_arguments(
    draft: Draft,
    tool: Tool,
    sources: ProvenanceIndex,
    accepts: Callable[[JsonObject], bool],
) -> Change | None:
    """Judge every argument by where it comes from. ``accepts`` is the schema's own check; no edit
    may break it. None where there is nothing to do or to say.
    """
    properties, arguments = tool.properties, draft.arguments
    judged = (
        (key, _classify_argument(key, value, properties.get(key), sources))
        for key, value in arguments.items()
    )
    doubtful = {key: found for key, found in judged if found}
    if not doubtful and mixed_records(arguments, sources) is None:
        return None
    work = _ValueCheck(draft.id, tool, sources, accepts, arguments, Change())
    for key, found in doubtful.items():
        _judge_argument(key, found, work)
    change = work.change
    if not any(d.severity == "error" for d in change.diagnostics):
        mixture = mixed_records(work.arguments, sources, draft.id)
        change.diagnostics += [mixture] if mixture is not None else []
    if work.arguments is not arguments:
        change.calls[draft.id] = replace(draft.call, arguments=work.arguments)
    return change if change else None


def classify_value(key: str, value: Json, part: Json, sources: ProvenanceIndex) -> ValueOrigin:
    """Return the origin of one scalar: held by a source or the schema, an identifier or a
    placeholder, invented or derived.
    """
    part = part if isinstance(part, dict) else {}
    if value is None or _is_default(value, part):
        return "held"
    if isinstance(value, bool) or _is_option(value, part):
        return "held" if _is_mentioned(key, value, sources) else "derived"
    seen = sources.holds(value)
    if seen and not _is_blank(value):
        return "held"
    if _in_words_of_schema(value, part) and not copies_example(value, part, sources):
        return "held"
    if seen:
        return "invented"
    if isinstance(value, str) and looks_unfilled(value):
        return "placeholder"
    if is_identifier(key, value, part):
        return "identifier"
    return "invented" if is_filler(value) else "derived"


def is_identifier(key: str, value: Json, part: Json = None) -> bool:
    """Return True if an argument holds an identifier: by its name, its declared format, or the look
    of its value.
    """
    if isinstance(value, float) or not isinstance(value, str | int):
        return False
    text = str(value).strip()
    if isinstance(value, str) and (_UUID.match(text) or _OPAQUE.match(text)):
        return True
    if isinstance(part, dict) and part.get("format") == "uuid":
        return True
    named = split_identifier(key)
    last = named[-1] if named else ""
    if last.isdigit() and len(named) > 1:
        last = named[-2]
    by_name = last in _ID_WORDS or (_GLUED_ID.match(last) is not None and last not in _NOT_GLUED)
    if by_name:
        return bool(text) and " " not in text
    return last in _CODE_WORDS and isinstance(value, str) and _NUMBERED.match(text) is not None


def _classify_argument(
    key: str, value: Json, part: Json, sources: ProvenanceIndex
) -> dict[ValueOrigin, tuple[Pointer, Json]]:
    """Return the origins of the scalars of one argument, with a place for each; empty if all are
    held.
    """
    if not isinstance(value, dict | list):
        verdict = classify_value(key, value, part, sources)
        return {} if verdict == "held" else {verdict: ((key,), value)}
    found = {
        classify_value(name, leaf, schema, sources): (path, leaf)
        for path, name, leaf, schema in _iter_within(value, part, key, (key,), 0)
    }
    return found if found.keys() - {"held"} else {}


def _judge_argument(
    key: str, found: Mapping[ValueOrigin, tuple[Pointer, Json]], work: _ValueCheck
) -> None:
    """Drop, fill or flag an argument of which not every scalar is held."""
    value = work.arguments[key]
    optional = key not in work.tool.required
    if "placeholder" in found:
        if not (optional and _drop_argument(key, work)):
            at, leaf = found["placeholder"]
            said = (
                f"'{key}' holds the placeholder {to_canonical_json(leaf)} instead of a value. Give the real"
                " value."
            )
            work.say("error", "ungrounded", at, said, "placeholder", leaf)
    elif "identifier" in found:
        at, leaf = found["identifier"]
        if not _fill_from_results(key, at, leaf, work) and not (
            optional and _drop_argument(key, work)
        ):
            said = (
                f"'{key}' is {to_canonical_json(leaf)}, an identifier that neither the request nor any"
                " result contains."
            )
            work.say("error", "ungrounded", at, said, "identifier", leaf)
    elif optional and "invented" in found and "held" not in found and "derived" not in found:
        if not _drop_argument(key, work):
            _say_unsourced(key, (key,), value, work)
    elif "derived" in found:
        _say_unsourced(key, *found["derived"], work)


def _say_unsourced(key: str, pointer: Pointer, value: Json, work: _ValueCheck) -> None:
    said = (
        f"'{key}' is {to_canonical_json(value)[:80]}, which neither the request nor any result says in"
        " these words."
    )
    work.say("warning", "unsourced", pointer, said, "source", value)


def iter_leaves(key: str, value: Json, part: Json) -> Iterator[tuple[str, str, Json, Any]]:
    """(pointer, nearest key, scalar, its schema) for everything inside one argument."""
    found = _iter_within(value, part, key, (key,), 0)
    return ((render_pointer(at), name, leaf, schema) for at, name, leaf, schema in found)


def _iter_within(
    value: Json, part: Json, name: str, path: Pointer, depth: int
) -> Iterator[tuple[Pointer, str, Json, Any]]:
    part = part if isinstance(part, dict) else {}
    if depth < 20 and isinstance(value, dict):
        properties = part.get("properties") if isinstance(part.get("properties"), dict) else {}
        for k, v in value.items():
            yield from _iter_within(v, properties.get(k), k, (*path, k), depth + 1)
    elif depth < 20 and isinstance(value, list):
        for i, v in enumerate(value):
            yield from _iter_within(v, part.get("items"), name, (*path, i), depth + 1)
    else:
        yield path, name, value, part


def _is_default(value: Json, part: JsonObject) -> bool:
    for keyword in ("default", "const"):
        offered = part.get(keyword)
        if offered is not None and to_canonical_json(offered) == to_canonical_json(value):
            return True
    return False


def _is_option(value: Json, part: JsonObject) -> bool:
    return isinstance(part.get("enum"), list) and to_canonical_json(value) in map(
        to_canonical_json, part["enum"]
    )


def _is_mentioned(key: str, value: Json, sources: ProvenanceIndex) -> bool:
    """Return True if an option, or the subject of a boolean, is mentioned at all."""
    if not isinstance(value, bool) and sources.holds(value):
        return True
    named = (*split_identifier(key), *(split_identifier(value) if isinstance(value, str) else ()))
    return any(sources.mentions(word) for word in named if len(word) > 2)


def _in_words_of_schema(value: Json, part: JsonObject) -> bool:
    """Return True if the description or an example names the value ("1 = Bangkok"; "dontcare" for
    any).
    """
    examples, about = part.get("examples"), part.get("description")
    if isinstance(examples, list) and to_canonical_json(value) in map(to_canonical_json, examples):
        return True
    if not isinstance(about, str):
        return False
    text = value.strip() if isinstance(value, str) else to_canonical_json(value)
    if not squash_text(text):
        return False
    same = (
        {text, to_canonical_json(int(value))}
        if isinstance(value, float) and value.is_integer()
        else {text}
    )
    return any(_is_word_of(t, about) for t in same)


def _is_word_of(text: str, about: str) -> bool:
    """Return True if a description holds a text between things that are no letters."""
    if text.isascii() and about.isascii() and text.lower() not in about.lower():
        return False  # most are not there at all, and a pattern takes long to compile
    return re.search(rf"(?<![\w.]){re.escape(text)}(?![\w]|\.\d)", about, re.I) is not None


def copies_example(value: Json, part: Json, sources: ProvenanceIndex) -> bool:
    """Return True if a value is the specific example of the description, and no source mentions it.

    "an IANA zone, such as Europe/Paris" does not mean Paris. Words and short codes are vocabulary
    ("such as feet").
    """
    about = part.get("description") if isinstance(part, dict) else None
    if (
        not isinstance(value, str)
        or not isinstance(about, str)
        or len(value) < 4
        or not value[:1].isupper()
    ):
        return False
    if value not in examples_in(about):
        return False
    return not sources.holds(value) and not any(
        sources.mentions(word) for word in split_identifier(value) if len(word) > 2
    )


def examples_in(text: str) -> frozenset[str]:
    """Return the words that follow "such as", "e.g." and similar phrases of all languages with a
    pack: one word each.
    """
    found = (word for pattern in _list_example_patterns() for word in pattern.findall(text))
    return frozenset(word.strip("'\"`.,;:)") for word in found)


@cache
def _list_example_patterns() -> tuple[re.Pattern[str], ...]:
    known = (Vocabulary(code) for code in PACKS)
    return tuple(one.pattern(_EXAMPLE) for one in known if one.has(_EXAMPLE))


def looks_unfilled(value: str) -> bool:
    """Return True if a text has the form of a placeholder: ``<id>``, ``YOUR_KEY``, "string"."""
    text = value.strip()
    return text.lower() in _TYPE_WORDS or _PLACEHOLDER.match(text) is not None


def _is_blank(value: Json) -> bool:
    return isinstance(value, str) and not value.strip()


def is_filler(value: Json) -> bool:
    """A value that stands for nothing, in a language with a pack: taking it away loses nothing."""
    return isinstance(value, str) and value.strip().lower() in _list_fillers()


@cache
def _list_fillers() -> frozenset[str]:
    known = (Vocabulary(code) for code in PACKS)
    return frozenset(
        word for one in known if one.has(_FILLER_ENTRY) for word in one.words(_FILLER_ENTRY)
    )


def _drop_argument(key: str, work: _ValueCheck) -> bool:
    """Drop an optional argument where the schema stays satisfied."""
    kept = {k: v for k, v in work.arguments.items() if k != key}
    if not work.accepts(kept):
        return False
    place = in_arguments(work.draft, key)
    work.change.list_edit(place, work.arguments[key], None, EditRules.DROP_UNSOURCED)
    work.arguments = kept
    return True


def _fill_from_results(key: str, path: Pointer, leaf: Json, work: _ValueCheck) -> bool:
    """Take the identifier from the results where exactly one value there fits the argument's name
    and schema.
    """
    if path != (key,):
        return False
    fitting: dict[str, Json] = {}
    for candidate in _list_candidates(key, work):
        for value in (candidate.value, str(candidate.value)):
            if type(value) is type(leaf) and work.accepts({**work.arguments, key: value}):
                fitting[to_canonical_json(value)] = value
                break
    if len(fitting) != 1:
        return False
    (value,) = fitting.values()
    work.change.list_edit(in_arguments(work.draft, key), leaf, value, EditRules.FILL_FROM_RESULT)
    work.arguments = {**work.arguments, key: value}
    return True


def _list_candidates(key: str, work: _ValueCheck) -> list[Leaf]:
    """Result scalars whose name is the argument's, or its last word inside a thing of its first
    word.
    """
    wanted = split_identifier(key)
    exact = [
        leaf
        for leaf in work.sources.leaves
        if leaf.path and split_identifier(leaf.path[-1]) == wanted
    ]
    if exact:
        return exact
    thing = {w.rstrip("s") for w in wanted[:-1]}

    def related(leaf: Leaf) -> bool:
        if not leaf.path or not wanted:
            return False
        named = split_identifier(leaf.path[-1])
        if named != wanted[-1:]:
            return False
        about = {w.rstrip("s") for part in leaf.path[:-1] for w in split_identifier(part)}
        tool = next((r.tool for r in work.sources.results if r.id == leaf.result), "")
        about |= {w.rstrip("s") for w in split_identifier(tool)}
        return not thing or bool(thing & about)

    return [leaf for leaf in work.sources.leaves if related(leaf)]
