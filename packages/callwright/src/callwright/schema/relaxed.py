"""A schema without the keywords that its validator refuses: they assert nothing, and are named.

Schemas come from strangers. A pattern of another language, a reference to nowhere or a list of
60,000 options is no reason to refuse a call that is right. What is left never refuses a value that
the whole schema would take: where a keyword is dropped below ``not``, ``if`` or ``oneOf``, or
beside ``additionalProperties``, those are dropped too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from callwright.jsontext.pointer import is_pointer, resolve_reference, split_reference
from callwright.nouns.types import Json
from callwright.schema.cost import MAX_NODES, MAX_TEXT

MAX_NAMED = 20  # what asserts nothing is named up to here, then counted
_DEEPEST = 90  # keys on the way to a subschema
_DEEPEST_VALUE = 40  # of an enum, a const or an unknown keyword
_SCANNED = 200_000  # parts of a schema in which references are looked for

_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_ONE = (
    *(
        "additionalProperties",
        "unevaluatedProperties",
        "unevaluatedItems",
        "propertyNames",
        "contains",
        "items",
    ),
    *("contentSchema", "not", "if", "then", "else", "additionalItems"),
)
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_BELOW = frozenset({*_MAPS, *_LISTS, *_ONE, "dependencies"})
_KEPT_BESIDE = frozenset({"$defs", "definitions", "title", "description", "default", "examples"})
_SAYINGS = frozenset({*_KEPT_BESIDE, "$comment", "deprecated", "example", "readOnly", "writeOnly"})
_OLD_DRAFTS = ("draft-03", "draft-04", "draft-06", "draft-07")  # nothing beside ``$ref`` counts
_STANDS_ON = (  # what refuses more once something is gone from what it stands on
    ("properties", "additionalProperties"),
    ("patternProperties", "additionalProperties"),
    ("prefixItems", "items"),
    ("items", "additionalItems"),
)

Refuses: TypeAlias = Callable[[Json], str]
Place: TypeAlias = tuple[str | int, ...]


def relax_schema(
    schema: Json, refuses: Refuses, *, references: bool = True
) -> tuple[Json, tuple[str, ...]]:
    """As much of a schema as the validator takes, and what of it asserts nothing, as ``pointer:
    why``.

    ``refuses`` says why the validator does not take a schema, "" where it does. Every value that
    the schema takes is taken by the result; where nothing can be made of the schema, everything is.
    ``references=False``: references assert nothing either.
    """
    why = ""
    for dropped in ((), _REFERENCES) if references else (_REFERENCES,):
        work = _Relaxing(refuses, frozenset(dropped))
        made = work.relax_root(schema)
        why = refuses(made)
        if not why:
            return made, work.names
    return {}, (f"#: {why}",)


class _Relaxing:
    """One relaxation. ``lost`` tells, by the id of a subschema made here, which of its keywords
    lost something.
    """

    def __init__(self, refuses: Refuses, dropped: frozenset[str]) -> None:
        self._refuses, self._dropped = refuses, dropped
        self._parts, self._characters = MAX_NODES // 2, MAX_TEXT // 2
        self._dialect: dict[str, Json] = {}
        self._old = False
        self._named: frozenset[Place] = frozenset()  # by references
        self._towards: frozenset[Place] = frozenset()  # such a place
        self._whys: list[str] = []
        self._count = 0
        self.lost: dict[int, set[str]] = {}
        self._made: list[Json] = []  # keeps ids from being given twice

    @property
    def names(self) -> tuple[str, ...]:
        more = self._count - len(self._whys)
        return (*self._whys, *([f"and {more} more"] if more else []))

    def relax_root(self, schema: Json) -> Json:
        named = schema.get("$schema") if isinstance(schema, dict) else None
        if named is not None:
            why = self._refuses({"$schema": named})
            self._dialect = {} if why else {"$schema": named}
            self._old = not why and any(draft in named for draft in _OLD_DRAFTS)
            if why:
                self._name(("$schema",), why)
        self._named = frozenset(_named_places(schema))
        self._towards = frozenset(
            place[:i] for place in self._named for i in range(1, min(len(place), _DEEPEST) + 1)
        )
        made = self._node(schema, ())
        if isinstance(made, dict):
            made |= self._dialect
            self._settle_references(made)
            _drop_dependents(made, self)
        return made

    def lose(self, node: dict[str, Json], keyword: str, at: Place, why: str) -> None:
        """A keyword of a subschema, or something in it, asserts nothing."""
        self.lost.setdefault(id(node), set()).add(keyword)
        self._name(at, why)

    def _name(self, at: Place, why: str) -> None:
        self._count += 1
        if len(self._whys) < MAX_NAMED:
            self._whys.append(f"{_format_pointer(at)}: {why}"[:300])

    # ------------------------------------------------------------ one subschema

    def _node(self, schema: Json, at: Place) -> Json:
        if isinstance(schema, bool):
            return schema
        made: dict[str, Json] = {}
        self._made.append(made)
        if not isinstance(schema, dict):
            self.lose(
                made, "", at, f"a schema is an object or a boolean, not {type(schema).__name__}"
            )
            return made
        if len(at) > _DEEPEST:
            self.lose(made, "", at, "nested too deep to be checked")
            return made
        self._own(
            {k: v for k, v in schema.items() if isinstance(k, str) and k not in _BELOW}, made, at
        )
        for keyword, value in schema.items():
            if keyword in _BELOW:
                self._descend(keyword, value, made, (*at, keyword))
        self._bare(made)
        return made

    def _own(self, own: dict[str, Json], made: dict[str, Json], at: Place) -> None:
        """Copy to ``made`` the keywords that concern the value itself, without those that cannot be
        checked.
        """
        for keyword, value in own.items():
            if keyword in self._dropped:
                self.lose(
                    made, keyword, (*at, keyword), "references lead to more than can be checked"
                )
            elif keyword == "$schema":
                continue
            elif self._affordable(value):
                made[keyword] = self._reachable(value, (*at, keyword))
            elif keyword not in _SAYINGS:
                self.lose(made, keyword, (*at, keyword), "too large to be checked")
        told = {k: v for k, v in made.items() if k not in _REFERENCES}
        if not self._refuses({**self._dialect, **told}):
            return
        for keyword, value in told.items():
            why = self._refuses({**self._dialect, keyword: value})
            if why:
                del made[keyword]
                if keyword not in _SAYINGS:
                    self.lose(made, keyword, (*at, keyword), why)

    def _reachable(self, value: Json, at: Place) -> Json:
        """An unknown keyword's value, relaxed where a reference names something in it."""
        if not isinstance(value, dict) or at not in self._towards:
            return value
        if at in self._named:
            return self._node(value, at)
        return {k: self._reachable(v, (*at, str(k))) for k, v in value.items()}

    def _descend(self, keyword: str, value: Json, made: dict[str, Json], here: Place) -> None:
        if keyword in _MAPS and isinstance(value, dict):
            made[keyword] = self._map(keyword, value, made, here)
        elif keyword == "dependencies" and isinstance(value, dict):
            self._dependencies(value, made, here)
        elif keyword in _LISTS or (keyword == "items" and isinstance(value, list)):
            if isinstance(value, list) and value and self._pay(len(value)):
                made[keyword] = [self._node(part, (*here, i)) for i, part in enumerate(value)]
            else:
                self.lose(
                    made, keyword, here, "it is no list of schemas, or too long to be checked"
                )
        elif keyword in _ONE and self._pay(1):
            made[keyword] = self._node(value, here)
        else:
            self.lose(made, keyword, here, "it does not hold schemas, or too many to be checked")

    def _map(
        self, keyword: str, value: dict[str, Json], node: dict[str, Json], here: Place
    ) -> dict[str, Json]:
        made: dict[str, Json] = {}
        for done, (name, part) in enumerate(value.items()):
            if not isinstance(name, str):
                continue
            if not self._pay(1, len(name)):
                self.lose(
                    node,
                    keyword,
                    here,
                    f"{len(value) - done} of {len(value)} are too many to be checked",
                )
                break
            why = keyword == "patternProperties" and self._refuses(
                {**self._dialect, keyword: {name: True}}
            )
            if why:
                self.lose(node, keyword, (*here, name), why)
            else:
                made[name] = self._node(part, (*here, name))
        return made

    def _dependencies(self, value: dict[str, Json], made: dict[str, Json], here: Place) -> None:
        found: dict[str, Json] = {}
        for name, needs in value.items():
            if isinstance(name, str) and self._affordable(
                needs if isinstance(needs, list) else name
            ):
                found[name] = needs if isinstance(needs, list) else self._node(needs, (*here, name))
        why = self._refuses(
            {**self._dialect, "dependencies": {k: v for k, v in found.items() if type(v) is list}}
        )
        if why:
            self.lose(made, "dependencies", here, why)
        else:
            made["dependencies"] = found

    def _bare(self, node: dict[str, Json]) -> None:
        """In an old draft nothing counted beside the reference that is gone; it shall not begin
        to.
        """
        if self._old and "$ref" in self.lost.get(id(node), ()):
            for keyword in node.keys() - _KEPT_BESIDE:
                del node[keyword]

    # ------------------------------------------------------------ references

    def _settle_references(self, root: dict[str, Json]) -> None:
        """Pointers that name nothing are dropped. Other references are only where the validator
        refuses the rest with them: it knows ids and anchors.
        """
        others = []
        for node, at in list(_iter_subschemas(root)):
            for keyword in _REFERENCES:
                reference = node.get(keyword)
                if reference is None:
                    continue
                if not is_pointer(reference):
                    others.append((node, keyword, at))
                elif not isinstance(resolve_reference(reference, root), dict | bool):
                    self._unlink(node, keyword, at)
        if others and self._refuses(root):
            for node, keyword, at in others:
                self._unlink(node, keyword, at)

    def _unlink(self, node: dict[str, Json], keyword: str, at: Place) -> None:
        self.lose(
            node, keyword, (*at, keyword), f"the schema holds no {str(node.pop(keyword))[:120]!r}"
        )
        self._bare(node)

    # ------------------------------------------------------------ size

    def _affordable(self, value: Json) -> bool:
        size = _measure_size(value, self._parts, self._characters)
        return size is not None and self._pay(*size)

    def _pay(self, parts: int, characters: int = 0) -> bool:
        if self._parts < parts or self._characters < characters:
            return False
        self._parts -= parts
        self._characters -= characters
        return True


def _drop_dependents(root: dict[str, Json], work: _Relaxing) -> None:
    """Drop what would refuse more than before, because something in it, or what it stands on, says
    less.
    """
    before = -1
    while before != (before := sum(map(len, work.lost.values()))):
        weak = _find_weakened(root, work.lost)
        for node, at in list(_iter_subschemas(root)):
            lost = work.lost.get(id(node), set())
            doomed = [k for k in ("not", "if") if id(node.get(k)) in weak]
            doomed += ["oneOf"] if any(id(part) in weak for part in node.get("oneOf") or ()) else []
            doomed += ["maxContains"] if id(node.get("contains")) in weak else []
            doomed += ["unevaluatedProperties", "unevaluatedItems"] if id(node) in weak else []
            doomed += [keyword for beside, keyword in _STANDS_ON if beside in lost]
            for keyword in doomed:
                if keyword in node:
                    del node[keyword]
                    work.lose(node, keyword, (*at, keyword), "it stands on what cannot be checked")


def _find_weakened(root: dict[str, Json], lost: dict[int, set[str]]) -> set[int]:
    """The ids of the subschemas that say less than they did, by themselves or through what they
    lead to.
    """
    users: dict[int, list[int]] = {}
    waiting = list(lost)
    for node, _ in _iter_subschemas(root):
        for _, part in _iter_children(node):
            users.setdefault(id(part), []).append(id(node))
        for reference in filter(None, map(node.get, _REFERENCES)):
            named = resolve_reference(reference, root)
            if isinstance(named, dict):
                users.setdefault(id(named), []).append(id(node))
            elif lost:
                waiting.append(id(node))  # an id or an anchor may name anything here
    weak: set[int] = set()
    while waiting:
        one = waiting.pop()
        if one not in weak:
            weak.add(one)
            waiting += users.get(one, ())
    return weak


def _iter_subschemas(root: Json) -> Iterator[tuple[dict[str, Json], Place]]:
    """Every subschema, and those that stand elsewhere and are named by a pointer, each once, with
    its place.
    """
    stack: list[tuple[Json, Place]] = [(root, ())]
    seen: set[int] = set()
    while stack:
        node, at = stack.pop()
        if not isinstance(node, dict) or id(node) in seen:
            continue
        seen.add(id(node))
        yield node, at
        stack += [(part, (*at, *keys)) for keys, part in _iter_children(node)]
        reference = node.get("$ref")
        if isinstance(reference, str) and reference.startswith("#/"):
            stack.append((resolve_reference(reference, root), tuple(split_reference(reference))))


def _iter_children(node: dict[str, Json]) -> Iterator[tuple[Place, Json]]:
    for keyword, value in node.items():
        if keyword in _ONE and isinstance(value, dict):
            yield (keyword,), value
        elif keyword in _MAPS or keyword == "dependencies":
            yield from (((keyword, k), v) for k, v in value.items() if isinstance(v, dict))
        elif keyword in _BELOW and isinstance(value, list):
            yield from (((keyword, i), v) for i, v in enumerate(value) if isinstance(v, dict))


def _named_places(schema: Json) -> Iterator[Place]:
    """Yield the places that local references name outside the keywords that hold schemas."""
    stack, seen = [schema], 0
    while stack and seen < _SCANNED:
        value = stack.pop()
        seen += 1
        if isinstance(value, dict):
            reference = value.get("$ref")
            if isinstance(reference, str) and reference.startswith("#/"):
                yield tuple(split_reference(reference))
            stack += value.values() if len(value) < _SCANNED else ()
        elif isinstance(value, list):
            stack += value if len(value) < _SCANNED else ()


def _measure_size(value: Any, parts: int, characters: int) -> tuple[int, int] | None:
    """Return the numbers of parts and characters of a keyword's value. None if they exceed the
    limits, or if it is too deep.
    """
    level, seen, text, depth = [value], 0, 0, 0
    while level:
        seen += len(level)
        text += sum(len(v) for v in level if isinstance(v, str))
        inner: list[Any] = []
        for one in level:
            if isinstance(one, dict):
                inner += one.values()
                text += sum(len(k) for k in one if isinstance(k, str))
            elif isinstance(one, list | tuple):
                inner += one
            if seen + len(inner) > parts:
                return None
        level, depth = inner, depth + 1
        if text > characters or depth > _DEEPEST_VALUE:
            return None
    return seen, text


def _format_pointer(at: Place) -> str:
    return "#" + "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in at)
