"""The middle call checked by other libraries, in the peers' environment. Alone, it prints who falls
into the trap.

pydantic and msgspec check types, not schemas: they are given what the frameworks that stand on them
make of a schema, a class with one field for each property.
"""

# The peers are not installed where types are checked: their classes count as Any there.
# mypy: disallow-subclassing-any=False, disable-error-code="call-arg"
from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import date
from typing import Annotated, Any, Literal

import fastjsonschema
import jsonschema
import msgspec
import pydantic
from gate_cases import LACKING, MIDDLE, REQUIRED_ELSEWHERE, right
from timing import Prepare, repeated

CALL = right()["middle"]
Cabin = Literal["economy", "premium", "business", "first"]


def _jsonschema() -> Prepare:
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    validator = jsonschema.Draft202012Validator(MIDDLE, format_checker=checker)
    assert validator.is_valid(CALL)
    return repeated(lambda: validator.is_valid(CALL))


def _fastjsonschema() -> Prepare:
    validate = fastjsonschema.compile(MIDDLE)
    validate(CALL)
    return repeated(lambda: validate(CALL))


class _Passenger(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")
    name: Annotated[str, pydantic.Field(min_length=1)]
    age: Annotated[int, pydantic.Field(ge=0, le=130)]


class _Flight(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")
    origin: Annotated[str, pydantic.Field(pattern="^[A-Z]{3}$")]
    destination: Annotated[str, pydantic.Field(pattern="^[A-Z]{3}$")]
    depart: date
    adults: Annotated[int, pydantic.Field(ge=1, le=9)]
    back: date | None = None
    cabin: Cabin = "economy"
    direct: bool = False
    max_price: Annotated[float | None, pydantic.Field(gt=0)] = None
    airlines: Annotated[
        list[Annotated[str, pydantic.Field(min_length=2, max_length=2)]],
        pydantic.Field(max_length=10),
    ] = []
    passengers: list[_Passenger] = []


def _pydantic() -> Prepare:
    _Flight.model_validate(CALL)
    return repeated(lambda: _Flight.model_validate(CALL))


class _Traveller(msgspec.Struct, forbid_unknown_fields=True):
    name: Annotated[str, msgspec.Meta(min_length=1)]
    age: Annotated[int, msgspec.Meta(ge=0, le=130)]


class _Trip(msgspec.Struct, forbid_unknown_fields=True):
    origin: Annotated[str, msgspec.Meta(pattern="^[A-Z]{3}$")]
    destination: Annotated[str, msgspec.Meta(pattern="^[A-Z]{3}$")]
    depart: date
    adults: Annotated[int, msgspec.Meta(ge=1, le=9)]
    back: date | None = None
    cabin: Cabin = "economy"
    direct: bool = False
    max_price: Annotated[float, msgspec.Meta(gt=0)] | None = None
    airlines: Annotated[
        list[Annotated[str, msgspec.Meta(min_length=2, max_length=2)]], msgspec.Meta(max_length=10)
    ] = []
    passengers: list[_Traveller] = []


def _msgspec() -> Prepare:
    msgspec.convert(CALL, _Trip)
    return repeated(lambda: msgspec.convert(CALL, _Trip))


ROWS = {
    "jsonschema": _jsonschema,
    "fastjsonschema": _fastjsonschema,
    "pydantic": _pydantic,
    "msgspec": _msgspec,
}


def _accepts() -> dict[str, bool]:
    """Who lets a call through that lacks a key which is required, but not among the properties."""
    properties = REQUIRED_ELSEWHERE["properties"]
    struct = msgspec.defstruct("Search", [(name, str) for name in properties])
    fields: dict[str, Any] = dict.fromkeys(properties, (str, ...))
    model = pydantic.create_model("Search", **fields)
    said = {"jsonschema": jsonschema.Draft202012Validator(REQUIRED_ELSEWHERE).is_valid(LACKING)}
    tried: dict[str, Callable[[], object]] = {
        "fastjsonschema": lambda: fastjsonschema.compile(REQUIRED_ELSEWHERE)(LACKING),
        "pydantic": lambda: model.model_validate(LACKING),
        "msgspec": lambda: msgspec.convert(LACKING, struct),
    }
    for name, check in tried.items():
        try:
            check()
        except (
            fastjsonschema.JsonSchemaException,
            pydantic.ValidationError,
            msgspec.ValidationError,
        ):
            said[name] = False
        else:
            said[name] = True
    return said


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_accepts()))
