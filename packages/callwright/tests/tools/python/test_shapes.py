from __future__ import annotations

import dataclasses
import enum
from typing import Any, Generic, NamedTuple, NewType, Required, TypedDict, TypeVar

import pytest

from callwright.nouns.errors import CatalogError
from callwright.tools.python.shapes import NOTHING, fields_of, hints_of, member_value, resolve_alias

T = TypeVar("T")
Metres = NewType("Metres", float)


class Movie(TypedDict, total=False):
    title: Required[str]
    year: int


class Point(NamedTuple):
    x: int
    y: int = 3


@dataclasses.dataclass
class Box(Generic[T]):
    content: T
    size: int = 1
    secret: str = dataclasses.field(default="", init=False)


class Level(enum.Enum):
    LOW = 1
    ODD = (1, 2)


def unknown_member(a: dataclasses.Missing) -> None:  # type: ignore[name-defined]
    """Its annotation names what the module does not hold."""


def no_expression(a: "a b") -> None:  # type: ignore[valid-type]  # noqa: F722
    """Its annotation is no Python."""


def undefined(a: Missing) -> None:  # type: ignore[name-defined]  # noqa: F821
    """Its annotation names nothing."""


def test_named_fields_are_found_in_every_kind_of_class() -> None:
    movie = fields_of(Movie)
    assert movie is not None
    assert [(f.name, f.required) for f in movie] == [("title", True), ("year", False)]
    point = fields_of(Point)
    assert point is not None
    assert [(f.name, f.required, f.default) for f in point] == [
        ("x", True, NOTHING),
        ("y", False, 3),
    ]
    box = fields_of(Box)
    assert box is not None
    assert [f.name for f in box] == ["content", "size"]  # what __init__ does not take is no field
    assert fields_of(int) is None


def test_a_generic_class_has_its_arguments_filled_in() -> None:
    box = fields_of(Box[list[int]])
    assert box is not None
    assert box[0].annotation == list[int]


@pytest.mark.parametrize(
    ("annotation", "meant"),
    [
        (Metres, float),
        (T, Any),
        (TypeVar("B", bound=int), int),
        (TypeVar("C", int, str), int | str),
        (str, str),
    ],
)
def test_aliases_and_type_variables_stand_for_types(annotation: Any, meant: Any) -> None:
    assert resolve_alias(annotation) == meant


def test_enum_members_are_written_by_value_or_by_name() -> None:
    assert [member_value(m) for m in Level] == [1, "ODD"]


def test_an_annotation_that_cannot_be_resolved_is_named() -> None:
    with pytest.raises(CatalogError, match=r"'undefined' cannot be resolved.*Missing"):
        hints_of(undefined)
    with pytest.raises(CatalogError, match="'unknown_member' cannot be resolved"):
        hints_of(unknown_member)
    with pytest.raises(CatalogError, match="'no_expression' cannot be resolved"):
        hints_of(no_expression)
