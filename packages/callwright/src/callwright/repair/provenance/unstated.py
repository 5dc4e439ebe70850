"""Optional values that nothing supports: neither the conversation nor a result states them, none
could be computed from what they state, and the schema does not give them.

A model that fills a form tends to fill all of it. What is left out means the tool's own default, so
only what is surely nobody's wish may go:

* Whole and short decimal numbers, dates, addresses and texts with a format or a pattern, judged as
  required ones are (:mod:`callwright.repair.provenance.invention`), and texts that say nothing
  ("unknown"). This depends on no language beyond its number words. A number whose argument is
  spoken of stays ("high priority"), and so does one on a declared scale where that cannot be read,
  or beside a declared default where a tool does not declare its effects. Of a declared lookup
  today goes too where nobody spoke of a day: with it less is found than was asked for.
* Where a tool declares its effects also a yes and an option; of a write also a short text. They are
  words: they are judged only where the user's words are surely English, as the schema's are, and
  each word of the value, of the argument's name or of its description that the conversation uses
  supports them. On right calls of public data sets, whose tools declare nothing, leaving these out
  cost more than it would save.

A no stays: it is what most tools do anyway. So does a longer text, which may be a paraphrase, and a
list. Of an object the members are judged.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence

from callwright.dataflow.flow import STOP
from callwright.language.pack import pack
from callwright.language.tokens import split_identifier
from callwright.nouns.types import Json, JsonObject, Tool, required_keys, to_canonical_json
from callwright.repair.provenance.grounding import is_filler
from callwright.repair.provenance.readable import reads_english
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.repair.provenance.value_judge import ValueJudge, is_schema_value
from callwright.schema.compiled import Node, compiled_for
from callwright.schema.value_edits import Pointer

_MOST_WORDS = 3  # of a short text: a longer one may be a paraphrase
_TELLING = 3  # letters of a word that can support a value
_MOST_PLACES = 2  # of a decimal number: one with more may be a constant that everybody knows
_LARGEST = 1e6
_DEPTH = 12  # of objects in each other
_WORD = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_PLAIN_WORDS = re.compile(r"[a-z]+(?:[ _-][a-z]+)*")  # no code, no name, no abbreviation
_ENGLISH = pack("en")
_UNITS = frozenset(_ENGLISH.units if _ENGLISH is not None else ())


def find_unstated_options(
    arguments: JsonObject,
    tool: Tool,
    sources: ProvenanceIndex,
    said: Sequence[str],
    looked_up: Container[str] = (),
) -> tuple[Pointer, ...]:
    """The optional arguments of a valid call that nothing supports, in order, and the optional members
    of its objects; an optional object whole where nothing of it is supported. ``said`` is what the
    user said. Without a list of required parameters a schema says nothing of what is optional.
    """
    if "required" not in tool.input_schema:
        return ()
    judge = _OptionJudge(tool, sources, said, looked_up, arguments)
    return tuple(judge.find_unstated(arguments, compiled_for(tool).root, (), 0))


class _OptionJudge:
    """Judges the optional arguments of one call."""

    def __init__(
        self,
        tool: Tool,
        sources: ProvenanceIndex,
        said: Sequence[str],
        looked_up: Container[str],
        call: JsonObject,
    ) -> None:
        self._tool, self._sources, self._said = tool, sources, said
        self._values = ValueJudge(sources, said, looked_up=looked_up, tool=tool, call=call)

    def find_unstated(
        self, value: JsonObject, node: Node, path: Pointer, depth: int
    ) -> Iterator[Pointer]:
        """Yield the places of an object's members that may go."""
        node = node.resolved()
        needed = required_keys(node.schema) if isinstance(node.schema, dict) else ()
        for key, member in value.items():
            part, at = node.property(key), (*path, key)
            if part is None or depth > _DEPTH or isinstance(member, list | None):
                continue
            if isinstance(member, dict):
                found = [*self.find_unstated(member, part, at, depth + 1)]
                is_bare = key not in needed and self._is_bare(member, part, at, found)
                yield from [at] if is_bare else found
            elif key not in needed and self._is_unstated(key, member, part):
                yield at

    def _is_bare(
        self, value: JsonObject, node: Node, path: Pointer, unstated: Container[Pointer]
    ) -> bool:
        """Return True if no member of an object is supported, those that it must have included, and
        it has others than empty lists.
        """
        told = {name: member for name, member in value.items() if member != []}
        return bool(told) and all(
            (*path, name) in unstated or self._is_from_nowhere(name, member, node)
            for name, member in told.items()
        )

    def _is_from_nowhere(self, key: str, value: Json, node: Node) -> bool:
        part = node.property(key)
        is_scalar = isinstance(value, str | int | float)
        return part is not None and is_scalar and not self._values.holds(key, value, part)

    def _is_unstated(self, key: str, value: Json, node: Node) -> bool:
        """Return True if a scalar is certainly nobody's."""
        if is_default(value, node) or value is False:
            return False
        if value is True:
            return self._tool.effects.declared and self._is_unspoken(key, value, node)
        if isinstance(value, int | float):
            return self._is_unstated_number(key, value, node)
        return isinstance(value, str) and self._is_unstated_text(key, value, node)

    def _is_unstated_number(self, key: str, value: int | float, node: Node) -> bool:
        if abs(value) > _LARGEST or round(value, _MOST_PLACES) != value:
            return False
        if self._values.holds(key, value, node):
            return False
        if not self._tool.effects.declared and _find_keyword(node, "default") is not None:
            return False  # to write another value than the schema's is no filling of a form
        if any(self._sources.mentions(w) for w in split_identifier(key)[-1:] if len(w) >= _TELLING):
            return False
        return reads_english(self._said) or not _is_scale(node)

    def _is_unstated_text(self, key: str, value: str, node: Node) -> bool:
        if value.strip() and is_filler(value):
            return not is_schema_value(value, node) and not self._sources.holds_words(value)
        if not self._values.holds(key, value, node):
            return True
        effects, is_option = self._tool.effects, _find_keyword(node, "enum") is not None
        is_lookup = effects.declared and effects.read_only
        if is_lookup and self._values.is_day_from_nowhere(key, value, node):
            return True
        is_judged = effects.declared and (is_option or effects.may_write)
        return is_judged and _is_few_words(value) and self._is_unspoken(key, value, node)

    def _is_unspoken(self, key: str, value: Json, node: Node) -> bool:
        """Return True if the conversation is English and uses no word of a value, of its name or of
        its description, and the schema does not give the value.
        """
        if not reads_english(self._said):
            return False
        if isinstance(value, str) and (self._sources.holds(value) or is_schema_value(value, node)):
            return False
        about = _find_keyword(node, "description")
        named = {*split_identifier(key), *_WORD.findall(str(about or "").lower())}
        named |= {*split_identifier(value)} if isinstance(value, str) else set()
        telling = (word for word in named if len(word) >= _TELLING and word not in STOP)
        return not any(map(self._sources.mentions, telling))


def _is_few_words(value: str) -> bool:
    """Return True if a text is a few plain words, and no unit, which follows from other values."""
    is_plain = _PLAIN_WORDS.fullmatch(value) is not None
    return is_plain and len(value.split()) <= _MOST_WORDS and value not in _UNITS


def _is_scale(node: Node) -> bool:
    """Return True if a number is a grade: its schema says from where to where it goes."""
    about = str(_find_keyword(node, "description") or "")
    bounds = [_find_keyword(node, key) for key in ("minimum", "maximum")]
    return None not in bounds or len(_NUMBER.findall(about)) > 1


def _find_keyword(node: Node, key: str) -> Json:
    schema = node.resolved().schema
    return schema.get(key) if isinstance(schema, dict) else None


def is_default(value: Json, node: Node) -> bool:
    """Return True if the schema's default is the value: leaving it out changes nothing."""
    default = _find_keyword(node, "default")
    return default is not None and to_canonical_json(default) == to_canonical_json(value)
