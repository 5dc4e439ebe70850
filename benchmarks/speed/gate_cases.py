"""What the gate's rows check: tools of three sizes, a right call of each, and wrong ones. Knows no
library.
"""

from __future__ import annotations

from typing import Any

Value = dict[str, Any]

SMALL: Value = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
    "required": ["city"],
    "additionalProperties": False,
}
MIDDLE: Value = {
    "type": "object",
    "properties": {
        "origin": {"type": "string", "pattern": "^[A-Z]{3}$"},
        "destination": {"type": "string", "pattern": "^[A-Z]{3}$"},
        "depart": {"type": "string", "format": "date"},
        "back": {"type": ["string", "null"], "format": "date"},
        "cabin": {"type": "string", "enum": ["economy", "premium", "business", "first"]},
        "adults": {"type": "integer", "minimum": 1, "maximum": 9},
        "direct": {"type": "boolean"},
        "max_price": {"type": "number", "exclusiveMinimum": 0},
        "airlines": {
            "type": "array",
            "items": {"type": "string", "minLength": 2, "maxLength": 2},
            "maxItems": 10,
        },
        "passengers": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "minLength": 1},
                    "age": {"type": "integer", "minimum": 0, "maximum": 130},
                },
                "required": ["name", "age"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["origin", "destination", "depart", "adults"],
    "additionalProperties": False,
}
LARGE: Value = {
    "type": "object",
    "properties": {
        "order": {"type": "string"},
        "lines": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "sku": {"type": "string", "pattern": "^[A-Z]-[0-9]+$"},
                    "count": {"type": "integer", "minimum": 1},
                    "price": {"type": "number"},
                    "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                },
                "required": ["sku", "count"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["order", "lines"],
    "additionalProperties": False,
}
SCHEMAS = {"small": SMALL, "middle": MIDDLE, "large": LARGE}


def right() -> dict[str, Value]:
    """A right call of each size: 2 values, 15 values, 60 lines of 4 values."""
    passengers = [{"name": "Ada Byron", "age": 36}, {"name": "Alan Turing", "age": 41}]
    middle: Value = {
        "origin": "OSL",
        "destination": "FCO",
        "depart": "2026-12-01",
        "back": "2026-12-08",
        "cabin": "economy",
        "adults": 2,
        "direct": True,
        "max_price": 420.5,
        "airlines": ["SK", "LH", "AZ"],
        "passengers": passengers,
    }
    lines = [{"sku": f"A-{n}", "count": n + 1, "price": n * 1.25, "note": None} for n in range(60)]
    return {
        "small": {"city": "Oslo", "days": 3},
        "middle": middle,
        "large": {"order": "77", "lines": lines},
    }


def wrong() -> dict[str, Value]:
    """Calls as models spoil them: to be repaired without loss (``coerced``), or refused with all that
    is wrong.
    """
    good = right()
    middle, lines = good["middle"], good["large"]["lines"]
    passengers = [{"name": "Ada Byron", "age": "36"}, {"name": "Alan Turing", "age": 41}]
    return {
        "small, coerced": {"city": "Oslo", "days": "3"},
        "small, refused": {"days": 0, "city": None},
        "middle, coerced": {
            **middle,
            "adults": "2",
            "direct": "true",
            "max_price": "420.5",
            "passengers": passengers,
        },
        "middle, refused": {
            **middle,
            "origin": "Oslo",
            "cabin": "luxury",
            "adults": 12,
            "airlines": "none of them",
        },
        "large, coerced": {
            "order": "77",
            "lines": [{**line, "count": str(line["count"])} for line in lines],
        },
        "large, refused": {"order": "77", "lines": [{**line, "count": 0} for line in lines]},
    }


REQUIRED_ELSEWHERE: Value = {
    "type": "object",
    "properties": {"query": {"type": "string"}},
    # one required key is not among the properties: schemas in the wild do so
    "required": ["query", "account"],
}
LACKING: Value = {"query": "rain"}
