"""Whose output can feed whose input: judged by names, places, descriptions and types, never by a
bare type.

A *field* is one leaf of a schema. What a field means is more than its own name: ``id`` below
``movies[]`` of ``SearchMovie`` is a movie's id. :func:`find_links` scores every (output field -> input
field) pair between two tools; :func:`find_best_link` is the best one. Tools that declare no output are judged
by what their name says they return, at less than full score.

Pure and deterministic; a :class:`Profile` is computed once per tool and kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rapidfuzz.fuzz import ratio

from callwright.language import ENGLISH, FEATURES_V1
from callwright.nouns.memo import cache_by_text
from callwright.nouns.thresholds import threshold
from callwright.nouns.types import JsonObject, Tool

MAX_FIELDS = 160  # of one schema; what lies deeper says little and costs time
MAX_DEPTH = 6

_WORD = FEATURES_V1.pattern("flow.word")

_SHORT: Mapping[str, str] = FEATURES_V1.table("flow.short")
_PLURALS: Mapping[str, str] = ENGLISH.table("stemming.plurals")
_NOT_PLURALS = ENGLISH.listed("stemming.not_plurals")


def parse_word_set(text: str) -> frozenset[str]:
    """The words of a table written as one text."""
    return frozenset(text.split())


ID_WORDS = FEATURES_V1.words("flow.id_words")
"""Words that make a field an identifier of something rather than a description of it."""

GENERIC = FEATURES_V1.words("flow.generic")
"""Words that name a field without saying of what; they prove little when two fields share them."""

STOP = FEATURES_V1.words("flow.stop")

VERBS = {kind: parse_word_set(verbs) for kind, verbs in FEATURES_V1.table("flow.verbs").items()}
_VERB_OF = {word: kind for kind, words in VERBS.items() for word in words}


@cache_by_text(most=65_536, longest=512)
def split_words(text: str) -> tuple[str, ...]:
    """The words of a name or sentence in order: camelCase, snake_case and digits split, singular,
    lower case.
    """
    return tuple(_normalize_word(w) for w in _WORD.findall(text.replace("'", "")))


@lru_cache(maxsize=65_536)
def _normalize_word(word: str) -> str:
    low = word.lower()
    if low in _SHORT:
        return _SHORT[low]
    if len(low) > 4:
        for ending, instead in _PLURALS.items():
            if low.endswith(ending):
                return low.removesuffix(ending) + instead
    if len(low) > 3 and low.endswith("s") and not low.endswith(_NOT_PLURALS):
        return low[:-1]
    return low


@cache_by_text(most=4_096, longest=2_048)
def content_words(text: str) -> frozenset[str]:
    """The words of a sentence that carry meaning."""
    return frozenset(w for w in split_words(text) if w not in STOP and len(w) > 1)


STAGES: Mapping[str, int] = FEATURES_V1.table("flow.stages")
"""How late in a task a kind of verb usually comes."""


def find_verb_kind(tool_name: str) -> str:
    """Return the kind of verb in a tool's name: a key of :data:`VERBS`, or ""."""
    return next((_VERB_OF[w] for w in split_words(tool_name) if w in _VERB_OF), "")


@dataclass(frozen=True, slots=True)
class Field:
    """One leaf of an input or output schema. ``owner`` are words of what it belongs to (parents,
    tool).
    """

    path: tuple[str, ...]
    name: tuple[str, ...]
    owner: frozenset[str]
    about: frozenset[str]  # words of its description
    type: str = ""
    required: bool = False
    declared: bool = True  # False: only guessed from the tool's name
    enum: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return ".".join(self.path)

    @property
    def identifies(self) -> bool:
        """Return True if the field holds an identifier rather than a fact."""
        return bool(self.name) and self.name[-1] in ID_WORDS


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """Properties of one tool that matter for data flow."""

    name: str
    called: frozenset[str]  # all words of its name
    subject: frozenset[str]  # what it is about: words of its name without verbs
    about: frozenset[str]  # words of its description
    verb: str
    inputs: tuple[Field, ...]
    outputs: tuple[Field, ...]
    echoed: frozenset[
        tuple[str, ...]
    ]  # names of outputs that repeat what the tool must be given itself
    index: dict[str, tuple[int, ...]]  # word -> outputs whose name or owner has it

    @property
    def declares_output(self) -> bool:
        return any(f.declared for f in self.outputs)


@dataclass(frozen=True, slots=True)
class Link:
    """An output field that can feed an input field. ``score`` is in 0..1."""

    producer: str
    consumer: str
    output: Field
    input: Field
    score: float
    told: bool = False  # the input's description names the producer

    @property
    def reason(self) -> str:
        """One sentence for people."""
        if self.told:
            return (
                f"needs {self.input.text!r}, which its description says comes from {self.producer}"
            )
        source = (
            f"{self.output.text!r} of {self.producer}"
            if self.output.declared
            else f"what {self.producer} returns"
        )
        return f"needs {self.input.text!r}, which {source} provides"


def get_profile(tool: Tool) -> Profile:
    """The profile of a tool, kept by the tool's digest."""
    key = tool.digest
    found = _PROFILES.get(key)
    if found is None:
        if len(_PROFILES) > 8_192:
            _PROFILES.clear()
        found = _PROFILES[key] = _build_profile(tool)
    return found


_PROFILES: dict[str, Profile] = {}


def _build_profile(tool: Tool) -> Profile:
    named = split_words(tool.name)
    subject = frozenset(w for w in named if w not in _VERB_OF and w not in STOP and not w.isdigit())
    inputs = tuple(_iter_fields(tool.input_schema, frozenset(), required=True))[:MAX_FIELDS]
    outputs = (
        tuple(_iter_fields(tool.output_schema, subject, required=False))[:MAX_FIELDS]
        if tool.output_schema
        else ()
    )
    if not outputs:
        outputs = _guess_outputs(tool.name, subject)
    index: dict[str, list[int]] = {}
    for i, f in enumerate(outputs):
        for word in {*f.name, *f.owner}:
            index.setdefault(word, []).append(i)
    return Profile(
        name=tool.name,
        called=frozenset(w for w in named if w not in STOP and not w.isdigit()),
        subject=subject,
        about=content_words(tool.description),
        verb=find_verb_kind(tool.name),
        inputs=inputs,
        outputs=outputs,
        echoed=frozenset(f.name for f in inputs if f.required),
        index={w: tuple(where) for w, where in index.items()},
    )


def _guess_outputs(tool_name: str, subject: frozenset[str]) -> tuple[Field, ...]:
    """Outputs of a tool that declares none: the thing it is named after, and that thing's
    identifier.
    """
    if not subject - GENERIC:
        return ()
    thing = tuple(w for w in split_words(tool_name) if w in subject)
    made = Field(path=("result",), name=thing, owner=subject, about=frozenset(), declared=False)
    ident = Field(path=("id",), name=("id",), owner=subject, about=frozenset(), declared=False)
    return (made, ident)


def _iter_fields(
    schema: Any, owner: frozenset[str], required: bool, path: tuple[str, ...] = (), depth: int = 0
) -> Iterator[Field]:
    """The leaves of a schema; arrays are walked through, objects without properties are leaves
    themselves.
    """
    if not isinstance(schema, dict) or depth > MAX_DEPTH:
        return
    items = schema.get("items")
    if isinstance(items, dict) and isinstance(items.get("properties") or items.get("items"), dict):
        yield from _iter_fields(items, owner, required, path, depth + 1)
        return
    inner = schema.get("properties")
    if not isinstance(inner, dict) or not inner:
        if path:
            yield _build_field(schema, owner, required, path)
        return
    names = schema.get("required")
    must = set(map(str, names)) if isinstance(names, list) else set()
    below = owner | {w for part in path[-1:] for w in split_words(part)}
    for key, part in inner.items():
        yield from _iter_fields(
            part if isinstance(part, dict) else {},
            below,
            required and key in must,
            (*path, str(key)),
            depth + 1,
        )


def _build_field(
    schema: JsonObject, owner: frozenset[str], required: bool, path: tuple[str, ...]
) -> Field:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((k for k in kind if k != "null"), "")
    values = schema.get("enum")
    text = schema.get("description")
    return Field(
        path=path,
        name=split_words(path[-1]),
        owner=owner,
        about=content_words(text) if isinstance(text, str) else frozenset(),
        type=kind if isinstance(kind, str) else "",
        required=required,
        enum=tuple(map(str, values)) if isinstance(values, list) else (),
    )


LEAST_LINK = threshold("callwright.dataflow", "link")


def find_links(producer: Tool, consumer: Tool, floor: float = LEAST_LINK) -> list[Link]:
    """For every input of ``consumer`` the best output of ``producer`` that feeds it, best first.

    Only pairs that share a telling word are considered, and only scores of at least ``floor`` are
    kept.
    """
    made = links_between(get_profile(producer), get_profile(consumer))
    return [x for x in made if x.score >= floor]


def find_best_link(
    producer: Tool, consumer: Tool, required: bool = False, floor: float = LEAST_LINK
) -> Link | None:
    """The best link, of required inputs only if asked; None where nothing fits."""
    return next(
        (x for x in find_links(producer, consumer, floor) if x.input.required or not required), None
    )


def links_between(a: Profile, b: Profile, required: bool = False) -> list[Link]:
    """All links from ``a`` to ``b`` with any score, one per (required) input, best first (ties by
    input order).

    An output that merely repeats one of the producer's own required inputs provides nothing.
    """
    found: list[Link] = []
    for wanted in b.inputs:
        if required and not wanted.required:
            continue
        best, score, told = None, 0.0, False
        if a.outputs and len(a.called) > 1 and a.called <= wanted.about:
            best, score, told = a.outputs[0], TOLD, True
        for i in _list_candidates(a, wanted):
            if a.outputs[i].name in a.echoed and a.outputs[i].declared:
                continue
            s = score_similarity(a.outputs[i], wanted, b)
            if s > score:
                best, score, told = a.outputs[i], s, False
        if best is not None:
            found.append(Link(a.name, b.name, best, wanted, score, told))
    return sorted(found, key=lambda x: -x.score)


_SCORES: Mapping[str, float] = FEATURES_V1.table("flow.scores")
TOLD = _SCORES["told"]  # of a link that the input's own description states


def measure_naming(producer: Profile, wanted: Field) -> float:
    """Share of the words of the producer's name that the input's description holds: "id from
    searchLocation".
    """
    return len(producer.called & wanted.about) / len(producer.called) if producer.called else 0.0


def _list_candidates(a: Profile, wanted: Field) -> Sequence[int]:
    return sorted({i for w in (*wanted.name, *wanted.about) if w in a.index for i in a.index[w]})


def score_similarity(given: Field, wanted: Field, consumer: Profile) -> float:
    """Return the similarity of an output field to an input field, 0..1. The same type alone gives
    0.
    """
    entity = _find_entity_words(wanted, consumer)
    base = _score_names(given, wanted, entity)
    if base <= 0.0:
        return 0.0
    if given.about and wanted.about:
        shared = len(given.about & wanted.about) / max(1, min(len(given.about), len(wanted.about)))
        base += _SCORES["about"] * shared * (1.0 - base)
    if not is_type_compatible(given.type, wanted.type):
        base *= _SCORES["other_type"]
    if wanted.enum:
        base *= _SCORES["choice"]  # a choice comes from the query, hardly from a result
    return base if given.declared else _SCORES["guessed"] * base


def _find_entity_words(wanted: Field, consumer: Profile) -> frozenset[str]:
    """Words that say what the input is a property of: its own name and parents; for a bare ``id``
    the tool too.
    """
    own = frozenset(wanted.name) | wanted.owner
    telling = own - GENERIC
    if telling:
        return telling
    return frozenset(w for w in (*wanted.about, *consumer.subject) if w not in GENERIC)


def _score_names(given: Field, wanted: Field, entity: frozenset[str]) -> float:
    a, b = set(given.name), set(wanted.name)
    telling_a, telling_b = a - GENERIC, b - GENERIC
    whole = a | given.owner
    if a == b and telling_b:
        return 1.0
    if telling_b and b <= whole and given.name[-1:] == wanted.name[-1:]:
        return _SCORES["named_by_owner"]  # movie_id <- id of a movie
    if telling_b and telling_a == telling_b:
        both_id = given.identifies and wanted.identifies
        either = given.identifies or wanted.identifies
        return _SCORES["same_words" if both_id or not either else "same_words_one_id"]
    if a == b and entity & whole:
        return _SCORES["same_of_entity"]  # id of a movie <- id of SearchMovie
    if telling_b and telling_a:
        shared = len(telling_a & telling_b)
        if shared:
            most = max(len(telling_a), len(telling_b))
            return _SCORES["shared_words"] + _SCORES["shared_more"] * shared / most
        if ratio(" ".join(given.name), " ".join(wanted.name)) >= _SCORES["spelled_alike_percent"]:
            return _SCORES["spelled_alike"]
    if telling_b and telling_b <= whole:
        return _SCORES["owner" if wanted.identifies == given.identifies else "owner_one_id"]
    if wanted.identifies and given.identifies and entity & whole:
        return _SCORES["both_of_entity"]
    if a == b:
        return _SCORES["generic"]
    return 0.0


_NUMBERS = frozenset({"integer", "number"})


def is_type_compatible(given: str, wanted: str) -> bool:
    """Return True if a value of one JSON Schema type can stand for the other; unknown types fit
    everything.
    """
    if not given or not wanted or given == wanted or {given, wanted} <= _NUMBERS:
        return True
    if "string" in (given, wanted):
        return not {given, wanted} & {"object", "boolean"}
    return "array" in (given, wanted)  # one of several
