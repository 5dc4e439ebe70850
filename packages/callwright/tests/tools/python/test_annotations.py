from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import pathlib
import re
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, Optional, TypedDict, Union

import annotated_types
import jsonschema_rs
import pydantic
import pytest

from callwright.models.grammar import reduce_schema
from callwright.tools.python.annotations import NoJsonForm, SchemaWriter, is_described, schema_of


class Unit(enum.Enum):
    CELSIUS = "C"
    FAHRENHEIT = "F"


class Movie(TypedDict):
    title: str
    year: NotRequired[int]


class Point(NamedTuple):
    x: int
    y: int = 0


@dataclasses.dataclass
class Stop:
    """A place on the way.

    Args:
        city: its name in English
    """

    city: str
    nights: Annotated[int, annotated_types.Ge(1)] = 1
    unit: Unit = Unit.CELSIUS


@dataclasses.dataclass
class Tree:
    value: int
    children: list[Tree] = dataclasses.field(default_factory=list)


class Address(pydantic.BaseModel):
    street: str = pydantic.Field(description="with number")
    zip: Annotated[str, pydantic.Field(pattern="^[0-9]{5}$")]


class Person(pydantic.BaseModel):
    home: Address
    friends: list[Person] = []


class Odd:
    """A class that JSON cannot carry."""


STRING = {"type": "string"}
INTEGER = {"type": "integer"}


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (Any, {}),
        (None, {"type": "null"}),
        (bool, {"type": "boolean"}),
        (float, {"type": "number"}),
        (decimal.Decimal, {"type": "number"}),
        (bytes, {"type": "string", "contentEncoding": "base64"}),
        (datetime.date, {"type": "string", "format": "date"}),
        (uuid.UUID, {"type": "string", "format": "uuid"}),
        (pathlib.Path, STRING),
        (list, {"type": "array"}),
        (dict, {"type": "object"}),
        (list[int], {"type": "array", "items": INTEGER}),
        (Sequence[str], {"type": "array", "items": STRING}),
        (Iterable[str], {"type": "array", "items": STRING}),
        (set[int], {"type": "array", "items": INTEGER}),  # what stands there twice is lost nowhere
        (tuple[int, ...], {"type": "array", "items": INTEGER}),
        (
            tuple[int, str],
            {"type": "array", "prefixItems": [INTEGER, STRING], "minItems": 2, "maxItems": 2},
        ),
        (dict[str, int], {"type": "object", "additionalProperties": INTEGER}),
        (Mapping[str, Any], {"type": "object"}),
        (
            dict[Literal["a", "b"], int],
            {
                "type": "object",
                "propertyNames": {"enum": ["a", "b"]},
                "additionalProperties": INTEGER,
            },
        ),
        (Optional[int], {"type": ["integer", "null"]}),  # noqa: UP045
        (Union[int, str], {"type": ["integer", "string"]}),  # noqa: UP007
        (list[int] | None, {"type": ["array", "null"], "items": INTEGER}),
        (list[int] | str, {"anyOf": [{"type": "array", "items": INTEGER}, STRING]}),
        (int | Any, {}),
        (Literal["a", 1, None], {"type": ["string", "integer", "null"], "enum": ["a", 1, None]}),
        (Literal["a"] | None, {"type": ["string", "null"], "enum": ["a", None]}),
        (Unit, {"type": "string", "enum": ["C", "F"]}),
        (Annotated[int, "how many"], {"type": "integer", "description": "how many"}),
        (
            Annotated[int, annotated_types.Interval(ge=1, lt=9)],
            {**INTEGER, "minimum": 1, "exclusiveMaximum": 9},
        ),
        (Annotated[str, annotated_types.Len(2, 5)], {**STRING, "minLength": 2, "maxLength": 5}),
        (
            Annotated[list[int], annotated_types.MinLen(1)],
            {"type": "array", "items": INTEGER, "minItems": 1},
        ),
        (
            Annotated[int, pydantic.Field(gt=0, multiple_of=5, description="fives", examples=[5])],
            {
                **INTEGER,
                "exclusiveMinimum": 0,
                "multipleOf": 5,
                "description": "fives",
                "examples": [5],
            },
        ),
        (
            Annotated[str, pydantic.Field(pattern="^a", json_schema_extra={"format": "x"})],
            {**STRING, "pattern": "^a", "format": "x"},
        ),
        (
            Movie,
            {
                "type": "object",
                "properties": {"title": STRING, "year": INTEGER},
                "required": ["title"],
                "additionalProperties": False,
            },
        ),
        (
            Point,
            {
                "type": "object",
                "properties": {"x": INTEGER, "y": {"type": "integer", "default": 0}},
                "required": ["x"],
                "additionalProperties": False,
            },
        ),
    ],
)
def test_types_become_schemas(annotation: Any, schema: dict[str, Any]) -> None:
    assert schema_of(annotation) == schema
    jsonschema_rs.meta.validate(schema_of(annotation))


LOCAL_TIMES = [
    "2026-05-01T10:00:00Z",
    "2026-05-01T10:00:00.25+02:00",
    "2026-05-01T10:00:00",
    "2026-05-01T10:00",
    "2026-05-01 10:00",
    "2026-5-1 9:00",
    "2026-05-01",
    "20260501T1000",
    "2026-W18-5T10",
    "2026-05-01T10:00+0200",
]
NO_TIMES = ["tomorrow", "2026-05-01T25:00:00Z", "2026-05-01 at ten", "10:00", ""]


class Booking(pydantic.BaseModel):
    start: datetime.datetime = pydantic.Field(description="when it starts")
    alarm: datetime.time | None = None
    format: str = ""


@pytest.mark.parametrize("annotation", [datetime.datetime, datetime.datetime | None])
def test_a_moment_needs_no_offset(annotation: Any) -> None:
    schema = schema_of(annotation)
    jsonschema_rs.meta.validate(schema)
    check = jsonschema_rs.validator_for(schema, validate_formats=True)
    assert [text for text in LOCAL_TIMES if not check.is_valid(text)] == []
    assert [text for text in [*NO_TIMES, 5] if check.is_valid(text)] == []
    assert check.is_valid(None) == (annotation is not datetime.datetime)
    assert "YYYY-MM-DDTHH:MM" in schema["description"]


def test_a_decoder_may_end_a_moment_without_an_offset() -> None:
    one, other = reduce_schema(schema_of(datetime.datetime))["anyOf"]
    assert one == {"type": "string", "format": "date-time"}
    assert re.search(other["pattern"], "2026-05-01T10:00")


def test_a_time_of_day_has_a_form() -> None:
    schema = schema_of(datetime.time)
    assert all(jsonschema_rs.is_valid(schema, text) for text in ("9:00", "09:00", "09:00:30+02:00"))
    assert not any(jsonschema_rs.is_valid(schema, text) for text in ("nine", "25:00", "9:00 PM"))


def test_the_times_of_a_pydantic_model_need_no_offset_either() -> None:
    schema = schema_of(Booking)
    check = jsonschema_rs.validator_for(schema, validate_formats=True)
    assert check.is_valid({"start": "2026-05-01T10:00", "alarm": "09:30", "format": "pdf"})
    assert not check.is_valid({"start": "tomorrow"})
    assert schema["properties"]["start"]["description"] == (
        "when it starts (date and time, YYYY-MM-DDTHH:MM)"
    )


def test_a_description_leaves_the_form_that_a_type_asks_for() -> None:
    @dataclasses.dataclass
    class Talk:
        length: datetime.timedelta = dataclasses.field(metadata={"description": "how long"})

    assert schema_of(Talk)["properties"]["length"]["description"] == "how long (seconds)"
    assert schema_of(Annotated[datetime.timedelta, "how long"])["description"] == (
        "how long (seconds)"
    )


def test_dataclasses_bring_their_docstring_bounds_and_defaults() -> None:
    assert schema_of(list[Stop])["items"] == {
        "description": "A place on the way.",
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "its name in English"},
            "nights": {"type": "integer", "minimum": 1, "default": 1},
            "unit": {"type": "string", "enum": ["C", "F"], "default": "C"},
        },
        "required": ["city"],
        "additionalProperties": False,
    }


def test_a_type_that_holds_itself_is_written_once_by_reference() -> None:
    schema = schema_of(Tree)
    assert schema["$ref"] == "#/$defs/Tree"
    assert schema["$defs"]["Tree"]["properties"]["children"] == {
        "type": "array",
        "items": {"$ref": "#/$defs/Tree"},
    }
    assert jsonschema_rs.is_valid(schema, {"value": 1, "children": [{"value": 2, "children": []}]})
    assert not jsonschema_rs.is_valid(schema, {"value": 1, "children": [{"value": "2"}]})


def test_pydantic_models_are_written_in_place_unless_recursive() -> None:
    address = schema_of(Address)
    assert address["properties"]["street"]["description"] == "with number"
    assert address["properties"]["zip"]["pattern"] == "^[0-9]{5}$"
    person = schema_of(dict[str, Person])
    home = {"street": "High Street 1", "zip": "12345"}
    assert jsonschema_rs.is_valid(person, {"ann": {"home": home, "friends": [{"home": home}]}})
    assert not jsonschema_rs.is_valid(
        person, {"ann": {"home": home, "friends": [{"home": {**home, "zip": "1"}}]}}
    )


def test_two_types_of_one_name_keep_their_own_definitions() -> None:
    def tree(kind: type) -> type:
        made = dataclasses.make_dataclass("Tree", [("value", kind)])
        made.__annotations__["below"] = list[made]  # type: ignore[valid-type]
        return dataclasses.dataclass(made)

    def model(kind: type) -> type[pydantic.BaseModel]:
        space: dict[str, Any] = {"kind": kind, "BaseModel": pydantic.BaseModel}
        exec("class Tree(BaseModel):\n    value: kind\n    below: list['Tree'] = []", space)
        space["Tree"].model_rebuild(_types_namespace=space)
        made: type[pydantic.BaseModel] = space["Tree"]
        return made

    writer = SchemaWriter()
    types = [Tree, tree(str), model(int), model(str)]
    parts = {f"t{i}": writer.schema(kind) for i, kind in enumerate(types)}
    again = writer.schema(Tree)
    assert again == parts["t0"]
    schema = {"type": "object", "properties": parts, "$defs": writer.defs}
    jsonschema_rs.meta.validate(schema)
    assert jsonschema_rs.is_valid(
        schema, {"t2": {"value": 1}, "t3": {"value": "a", "below": [{"value": "b"}]}}
    )
    assert not jsonschema_rs.is_valid(schema, {"t3": {"value": "a", "below": [{"value": 1}]}})
    assert jsonschema_rs.is_valid(
        schema, {"t1": {"value": "a", "below": [{"value": "b", "below": []}]}}
    )
    assert not jsonschema_rs.is_valid(
        schema, {"t1": {"value": "a", "below": [{"value": 1, "below": []}]}}
    )


@pytest.mark.parametrize("annotation", [Odd, list[Odd], Callable[[int], int], type[int], complex])
def test_a_type_without_a_json_form_is_refused_by_name(annotation: Any) -> None:
    with pytest.raises(NoJsonForm, match="has no JSON form"):
        schema_of(annotation)


def test_a_pydantic_model_without_a_schema_is_refused_by_name() -> None:
    class Hook(pydantic.BaseModel):
        call: Callable[[int], int]

    with pytest.raises(NoJsonForm, match="Hook has no JSON form"):
        schema_of(Hook)


def test_whether_the_annotation_describes_is_known() -> None:
    assert is_described(Annotated[int, "how many"])
    assert is_described(Annotated[int, pydantic.Field(description="how many")])
    assert not is_described(Annotated[int, annotated_types.Ge(1)])
    assert not is_described(int)


def test_plain_types_need_no_pydantic() -> None:
    code = """
import sys
sys.modules["pydantic"] = None  # importing it fails
import dataclasses, enum, datetime
from callwright.tools.python.functions import tool_from_function
@dataclasses.dataclass
class A:
    day: datetime.date
def f(a: A, b: list[int] | None = None) -> dict[str, A]: "F."
print(tool_from_function(f).tool.required)
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "('a',)"
