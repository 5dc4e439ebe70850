from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import math
import pathlib
import uuid
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import jsonschema_rs
import numpy
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.tools.python.annotations import schema_of
from callwright.tools.python.conversion import (
    NotConvertible,
    dump_result,
    dump_value,
    load_value,
)


class Unit(enum.Enum):
    CELSIUS = "C"
    FAHRENHEIT = "F"


class Movie(TypedDict, total=False):
    released: datetime.date


class Point(NamedTuple):
    x: int
    y: int = 0


@dataclasses.dataclass
class Stop:
    city: str
    arrive: datetime.date
    unit: Unit = Unit.CELSIUS


class Model(pydantic.BaseModel):
    when: datetime.date


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Reading(pydantic.BaseModel):
    celsius: float = pydantic.Field(alias="Celsius")


DAY = datetime.date(2026, 1, 2)


@pytest.mark.parametrize(
    ("annotation", "value", "loaded"),
    [
        (int, 3.0, 3),
        (float, 3, 3.0),
        (decimal.Decimal, 1.1, decimal.Decimal("1.1")),
        (bytes, "aGk=", b"hi"),
        (datetime.date, "2026-01-02", DAY),
        (
            datetime.datetime,
            "2026-01-02T03:04:05Z",
            datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC),
        ),
        (datetime.datetime, "2026-01-02T03:04:05", datetime.datetime(2026, 1, 2, 3, 4, 5)),
        (datetime.datetime, "2026-1-2 3:04", datetime.datetime(2026, 1, 2, 3, 4)),
        (
            datetime.datetime,
            "2026-01-02T03:04:05.5",
            datetime.datetime(2026, 1, 2, 3, 4, 5, 500000),
        ),
        (datetime.datetime, "2026-W01-5T03", datetime.datetime(2026, 1, 2, 3)),
        (datetime.date, "2026-1-2", DAY),
        (datetime.time, "03:04", datetime.time(3, 4)),
        (datetime.time, "3:04", datetime.time(3, 4)),
        (datetime.timedelta, 90, datetime.timedelta(seconds=90)),
        (
            uuid.UUID,
            "12345678-1234-5678-1234-567812345678",
            uuid.UUID("12345678-1234-5678-1234-567812345678"),
        ),
        (pathlib.Path, "a/b", pathlib.Path("a/b")),
        (Unit, "F", Unit.FAHRENHEIT),
        (Literal["a", 1], 1, 1),
        (list[datetime.date], ["2026-01-02"], [DAY]),
        (Sequence[int], [1], [1]),
        (tuple[int, datetime.date], [1, "2026-01-02"], (1, DAY)),
        (tuple[int, ...], [1, 2], (1, 2)),
        (set[int], [1, 1], {1}),
        (frozenset[str], ["a"], frozenset("a")),
        (dict[str, datetime.date], {"a": "2026-01-02"}, {"a": DAY}),
        (Mapping[Unit, int], {"C": 1}, {Unit.CELSIUS: 1}),
        (dict[int, str], {"7": "a"}, {7: "a"}),
        (dict[Level, str], {"2": "a"}, {Level.HIGH: "a"}),
        (dict[bool | None, str], {"true": "a", "null": "b"}, {True: "a", None: "b"}),
        (
            Stop,
            {"city": "Rome", "arrive": "2026-01-02", "unit": "F"},
            Stop("Rome", DAY, Unit.FAHRENHEIT),
        ),
        (Movie, {"released": "2026-01-02"}, {"released": DAY}),
        (Point, {"x": 1}, Point(1)),
        (Model, {"when": "2026-01-02"}, Model(when=DAY)),
        (datetime.date | None, None, None),
        (datetime.date | None, "2026-01-02", DAY),
        (datetime.date | str, "2026-01-02", DAY),
        (datetime.date | str, "tomorrow", "tomorrow"),
        (str | datetime.date, "2026-01-02", "2026-01-02"),
        (int | str, 3, 3),
        (bool | int, True, True),
        (int | list[int], [3], [3]),
        (Annotated[datetime.date, "when"], "2026-01-02", DAY),
        (Any, {"a": 1}, {"a": 1}),
    ],
)
def test_arguments_arrive_as_the_annotated_types(annotation: Any, value: Any, loaded: Any) -> None:
    found = load_value(annotation, value)
    assert found == loaded
    assert type(found) is type(loaded)


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (int, "3"),
        (int, True),
        (int, 3.5),
        (float, "3"),
        (bool, 1),
        (str, 3),
        (datetime.date, "yesterday"),
        (bytes, "not base64!"),
        (Unit, "K"),
        (Literal[1], True),
        (list[int], "1"),
        (tuple[int, int], [1]),
        (dict[str, int], [1]),
        (dict[int, int], {"seven": 1}),
        (Stop, {"city": "Rome"}),
        (Stop, {"city": "Rome", "arrive": "2026-01-02", "extra": 1}),
        (int | None, "x"),
        (Model, {"when": "soon"}),
    ],
)
def test_what_does_not_fit_is_a_value_error(annotation: Any, value: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        load_value(annotation, value)


def test_the_place_of_what_does_not_fit_is_named() -> None:
    with pytest.raises(NotConvertible, match="arrive: 'x' is not a date"):
        load_value(Stop, {"city": "Rome", "arrive": "x"})


@pytest.mark.parametrize(
    ("value", "json"),
    [
        (Stop("Rome", DAY), {"city": "Rome", "arrive": "2026-01-02", "unit": "C"}),
        (Point(1, 2), {"x": 1, "y": 2}),
        (Model(when=DAY), {"when": "2026-01-02"}),
        ({Unit.CELSIUS: {1, 3, 2}}, {"C": [1, 2, 3]}),
        ({1: "a", 2.5: "b", None: "c"}, {"1": "a", "2.5": "b", "null": "c"}),
        (decimal.Decimal("1.5"), 1.5),
        (decimal.Decimal("7"), 7),
        (b"hi", "aGk="),
        (datetime.timedelta(minutes=1), 60.0),
        (pathlib.PurePosixPath("a"), "a"),
        (collections.deque([1]), [1]),
        ((n for n in (1, 2)), [1, 2]),
        (numpy.float32(0.5), 0.5),
        (numpy.array([1, 2]), [1, 2]),
        (math.nan, None),
        (decimal.Decimal("Infinity"), None),
        (Reading(Celsius=math.inf), {"Celsius": None}),
    ],
)
def test_results_leave_as_json(value: Any, json: Any) -> None:
    assert dump_value(value) == json


def test_what_json_cannot_carry_is_named() -> None:
    with pytest.raises(NotConvertible, match="object has no JSON form"):
        dump_value({"a": [object()]})
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(NotConvertible, match="holds itself"):
        dump_value(endless)


class Order:
    """Has no JSON form and no text."""

    def __init__(self, text: str = "") -> None:
        self.text = text


class Ticket(Order):
    def __str__(self) -> str:
        return f"ticket {self.text or 1 / 0}"


class Parcel(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(arbitrary_types_allowed=True)
    weight: int
    order: Any = None


@pytest.mark.parametrize(
    ("value", "json"),
    [
        (Ticket("A7"), "ticket A7"),
        (Ticket(), "an object of Ticket, which has no JSON form"),
        ([Order(), 1], ["an object of Order, which has no JSON form", 1]),
        ({"ok": True, "ticket": Ticket("A7")}, {"ok": True, "ticket": "ticket A7"}),
        (Parcel(weight=3), {"weight": 3, "order": None}),
        (DAY, "2026-01-02"),
        ([10**5_000], ["an object of int, which has no JSON form"]),
        ({"sum": decimal.Decimal("1E+5000")}, {"sum": "1E+5000"}),
        (Model, str(Model)),
    ],
)
def test_a_result_without_a_json_form_is_kept_as_its_text(value: Any, json: Any) -> None:
    assert dump_result(value) == json


def test_a_result_that_cannot_be_written_is_a_text_too() -> None:
    endless: list[Any] = [1]
    endless.append(endless)
    assert dump_result(endless) == "[1, [...]]"
    assert dump_result(Parcel(weight=3, order=Ticket("A7"))) == {"weight": 3, "order": "ticket A7"}
    with pytest.raises(NotConvertible, match="Ticket has no JSON form"):
        dump_value(Parcel(weight=3, order=Ticket("A7")))


@pytest.mark.parametrize("kind", [dict[int, str], dict[Level, str], dict[float, str]])
def test_keys_that_are_no_texts_come_back_as_they_were(kind: Any) -> None:
    """No call could give an ``int`` key: the schema or the function refused each."""
    value = {Level.HIGH: "a"}
    written = dump_value(value)
    assert written == {"2": "a"}
    assert jsonschema_rs.is_valid(schema_of(kind), written)
    assert load_value(kind, written) == value


VALUES = st.builds(Stop, st.text(max_size=5), st.dates(), st.sampled_from(Unit))


@given(st.lists(VALUES, max_size=3))
def test_what_was_dumped_loads_as_the_same_and_fits_the_schema(stops: list[Stop]) -> None:
    import jsonschema_rs

    assert load_value(list[Stop], dump_value(stops)) == stops
    assert jsonschema_rs.is_valid(schema_of(list[Stop]), dump_value(stops))
