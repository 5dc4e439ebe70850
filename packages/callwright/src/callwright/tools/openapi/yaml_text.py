"""YAML text -> the JSON value it stands for, from the parser's events: no recursion, every value
counted.

Plain values are read as in YAML 1.2 (section 10.3), which OpenAPI asks for: dates, ``yes`` and
``1:30`` are text, and so is ``007``, of which versions differ. Keys are text as written, and no tag
makes anything but JSON. Aliases share what they name; it counts each time. A merge key (``<<``)
adds the keys that the mapping lacks, and counts as what it names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from callwright.nouns.errors import MissingExtra

_NULL = re.compile(r"(?:~|null|Null|NULL)?")
_TRUTH = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)|0o[0-7]+|0x[0-9a-fA-F]+")
_NUMBER = re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NO_NUMBER = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_DIGITS = 4_000  # Python converts no longer ones

_TAG = "tag:yaml.org,2002:"
_TEXTS = ("!", f"{_TAG}str", f"{_TAG}timestamp", f"{_TAG}binary")
_PLAIN = (None, f"{_TAG}null", f"{_TAG}bool", f"{_TAG}int", f"{_TAG}float")
_SHAPES = (None, "!", f"{_TAG}map", f"{_TAG}seq")
_MERGE = object()


class YamlError(ValueError):
    """The text is not YAML, or is none that stands for JSON. Says why, and the line."""


class YamlTooLarge(YamlError):
    """The text stands for more values or levels than are allowed."""


@dataclass(slots=True)
class _Open:
    """A mapping or sequence that has not ended."""

    value: Any
    before: int  # values counted before it began
    anchor: str | None = None
    key: Any = None
    has_key: bool = False
    merged: list[Any] = field(default_factory=list)
    levels: int = 1


def parse_yaml(text: str, *, values: int, levels: int) -> Any:
    """The JSON value of one YAML document; None where it is empty. Raises YamlError.

    ``values`` and ``levels`` bound what the document unfolds to, aliases and merge keys included:
    YamlTooLarge as soon as one is exceeded. Numbers beyond a double's range are None.
    """
    try:
        import yaml
    except ImportError:
        raise MissingExtra("reading YAML", "openapi") from None
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    reader = _Reader(yaml, values, levels)
    try:
        for event in yaml.parse(text, Loader=loader):
            reader.take(event)
    except yaml.YAMLError as error:
        raise YamlError(str(error).replace("\n", " ")[:300]) from None
    return reader.root


class _Reader:
    def __init__(self, yaml: Any, values: int, levels: int) -> None:
        self._yaml, self._values, self._levels = yaml, values, levels
        self._stack: list[_Open] = []
        self._named: dict[
            str, tuple[Any, int, int]
        ] = {}  # by anchor: the value, how many values, how many levels
        self._documents = 0
        self._counted = 0
        self.root: Any = None

    def take(self, event: Any) -> None:
        yaml = self._yaml
        if isinstance(event, yaml.ScalarEvent):
            self._take_scalar(event)
        elif isinstance(event, yaml.AliasEvent):
            self._take_alias(event)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._begin(event, {} if isinstance(event, yaml.MappingStartEvent) else [])
        elif isinstance(event, yaml.CollectionEndEvent):
            self._end(event)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise YamlError(f"a second document begins{_format_position(event)}")

    def _take_scalar(self, event: Any) -> None:
        parent = self._stack[-1] if self._stack else None
        if parent is not None and isinstance(parent.value, dict) and not parent.has_key:
            is_merge = (
                event.tag in (None, f"{_TAG}merge") and event.value == "<<" and event.implicit[0]
            )
            self._begin_pair(parent, _MERGE if is_merge else event.value)
            if event.anchor:
                self._named[event.anchor] = (event.value, 1, 0)
            return
        value = _read_scalar(event)
        self._count(1, event)
        if event.anchor:
            self._named[event.anchor] = (value, 1, 0)
        self._put(value, 0, event)

    def _take_alias(self, event: Any) -> None:
        if event.anchor not in self._named:
            said = "names nothing that ended before it" if self._stack else "names nothing"
            raise YamlError(f"the alias *{event.anchor[:40]} {said}{_format_position(event)}")
        value, count, levels = self._named[event.anchor]
        parent = self._stack[-1] if self._stack else None
        if parent is not None and isinstance(parent.value, dict) and not parent.has_key:
            if not isinstance(value, str):
                raise YamlError(f"a key that is no text{_format_position(event)}")
            self._begin_pair(parent, value)
            return
        self._count(count, event)
        self._put(value, levels, event)

    def _begin(self, event: Any, empty: Any) -> None:
        if event.tag not in _SHAPES:
            raise YamlError(
                f"the tag {_format_tag(event.tag)} stands for no JSON value{_format_position(event)}"
            )
        if self._stack and isinstance(self._stack[-1].value, dict) and not self._stack[-1].has_key:
            raise YamlError(f"a key that is no text{_format_position(event)}")
        if len(self._stack) >= self._levels:
            raise self._too_large(event)
        if event.anchor:
            self._named.pop(
                event.anchor, None
            )  # an alias inside means this one, which has no end yet
        self._stack.append(_Open(empty, self._counted, event.anchor))
        self._count(1, event)

    def _end(self, event: Any) -> None:
        ended = self._stack.pop()
        value = ended.value
        if ended.merged:
            value = {}
            for mapping in reversed(
                ended.merged
            ):  # of two that hold a key the first wins, and an own key over both
                value.update(mapping)
            value.update(ended.value)
        if ended.anchor:
            self._named[ended.anchor] = (value, self._counted - ended.before, ended.levels)
        self._put(value, ended.levels, event)

    def _put(self, value: Any, levels: int, event: Any) -> None:
        """A whole value in its place: in what is open, or as the document."""
        if len(self._stack) + levels > self._levels:
            raise self._too_large(event)
        if not self._stack:
            self.root = value
            return
        parent = self._stack[-1]
        parent.levels = max(parent.levels, levels + 1)
        if isinstance(parent.value, list):
            parent.value.append(value)
            return
        if parent.key is _MERGE:
            mappings = value if isinstance(value, list) else [value]
            if not all(isinstance(mapping, dict) for mapping in mappings):
                raise YamlError(f"a merge key (<<) takes mappings{_format_position(event)}")
            parent.merged += mappings
        else:
            parent.value[parent.key] = value
        parent.has_key = False

    def _begin_pair(self, parent: _Open, key: Any) -> None:
        parent.key, parent.has_key = key, True

    def _count(self, more: int, event: Any) -> None:
        self._counted += more
        if self._counted > self._values:
            raise self._too_large(event)

    def _too_large(self, event: Any) -> YamlTooLarge:
        said = f"more than {self._values} values or {self._levels} levels{_format_position(event)}"
        return YamlTooLarge(said + (", its aliases and merge keys unfolded" if self._named else ""))


def _read_scalar(event: Any) -> Any:
    tag, text = event.tag, event.value
    if tag in _TEXTS or (tag is None and not event.implicit[0]):
        return text
    if tag not in _PLAIN:
        raise YamlError(
            f"the tag {_format_tag(tag)} stands for no JSON value{_format_position(event)}"
        )
    if _NULL.fullmatch(text):
        return None
    if text in _TRUTH:
        return _TRUTH[text]
    if _INTEGER.fullmatch(text):
        if len(text) > _DIGITS:
            raise YamlError(f"a number of {len(text)} digits{_format_position(event)}")
        return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
    if _NUMBER.fullmatch(text):
        number = float(text)
        return number if isfinite(number) else None
    return None if _NO_NUMBER.fullmatch(text) else text


def _format_tag(tag: str) -> str:
    return repr(tag.replace(_TAG, "!!")[:60])


def _format_position(event: Any) -> str:
    return f" at line {event.start_mark.line + 1}"
