"""Describes the structure of Python types: their fields, hints and origins. Shared by schemas and
conversion.
"""

from __future__ import annotations

import collections.abc as abc
import dataclasses
import enum
import functools
import operator
import types
import typing
from typing import Any, TypeVar, Union, get_args, get_origin

from callwright.nouns.errors import CatalogError

SEQUENCES = (
    list,
    abc.Sequence,
    abc.MutableSequence,
    abc.Iterable,
    abc.Collection,
    abc.Iterator,
    tuple,
)
SETS = (set, frozenset, abc.Set, abc.MutableSet)
MAPPINGS = (dict, abc.Mapping, abc.MutableMapping)
UNIONS = (Union, types.UnionType)


class Nothing:
    """Stands where there is no default. (dataclasses.MISSING as a default would mean that the field
    has none.)
    """


NOTHING = Nothing()


@dataclasses.dataclass(frozen=True)
class Field:
    """One field of a dataclass, TypedDict or NamedTuple."""

    name: str
    annotation: Any
    required: bool
    default: Any = NOTHING
    description: str = ""


def fields_of(annotation: Any) -> tuple[Field, ...] | None:
    """The fields of a class that has named, typed fields; None for any other."""
    cls = get_origin(annotation) or annotation
    known = dict(zip(getattr(cls, "__parameters__", ()), get_args(annotation), strict=False))
    hints = {name: _fill_type_variables(hint, known) for name, hint in hints_of(cls).items()}
    if dataclasses.is_dataclass(cls):
        return tuple(_dataclass_field(f, hints[f.name]) for f in dataclasses.fields(cls) if f.init)
    if typing.is_typeddict(cls):
        needed: frozenset[str] = cls.__required_keys__
        return tuple(
            Field(name, hint, _is_needed(hint, name in needed)) for name, hint in hints.items()
        )
    if hasattr(cls, "_field_defaults") and hasattr(cls, "_fields"):
        defaults: dict[str, Any] = cls._field_defaults
        return tuple(
            Field(n, hints.get(n, Any), n not in defaults, defaults.get(n, NOTHING))
            for n in cls._fields
        )
    return None


def hints_of(owner: Any) -> dict[str, Any]:
    """Resolved annotations. Raises CatalogError naming the one that cannot be resolved."""
    try:
        return typing.get_type_hints(owner, include_extras=True)
    except TypeError:
        return {}
    except Exception as error:  # the text of an annotation is a program
        raise CatalogError(
            f"an annotation of {getattr(owner, '__qualname__', owner)!r} cannot be resolved:"
            f" {error}",
            hint=(
                "names in annotations must exist at module level, not only under TYPE_CHECKING or"
                " inside a function"
            ),
        ) from None


def resolve_alias(annotation: Any) -> Any:
    """``NewType``, ``type X = …`` and TypeVars stand for another type."""
    for _ in range(20):
        if hasattr(annotation, "__supertype__"):
            annotation = annotation.__supertype__
        elif type(annotation).__name__ == "TypeAliasType":
            annotation = annotation.__value__
        elif isinstance(annotation, TypeVar):
            constraints = annotation.__constraints__
            annotation = annotation.__bound__ or (
                functools.reduce(operator.or_, constraints) if constraints else Any
            )
        else:
            break
    return annotation


def member_value(member: enum.Enum) -> Any:
    """Return the JSON form of an enum member: its value, or its name if JSON cannot carry the
    value.
    """
    return (
        member.value
        if isinstance(member.value, str | int | float) or member.value is None
        else member.name
    )


def _is_needed(hint: Any, default: bool) -> bool:
    """``Required`` and ``NotRequired`` inside text annotations are not seen by TypedDict itself."""
    return {typing.Required: True, typing.NotRequired: False}.get(get_origin(hint), default)


def _dataclass_field(f: dataclasses.Field[Any], hint: Any) -> Field:
    required = f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
    default = NOTHING if f.default is dataclasses.MISSING else f.default
    return Field(f.name, hint, required, default, str(f.metadata.get("description", "")))


def _fill_type_variables(hint: Any, known: dict[Any, Any]) -> Any:
    """A generic class's field with its type variables replaced."""
    if isinstance(hint, TypeVar):
        return known.get(hint, hint)
    parameters = getattr(hint, "__parameters__", ())
    return hint[tuple(known.get(p, Any) for p in parameters)] if parameters and known else hint
