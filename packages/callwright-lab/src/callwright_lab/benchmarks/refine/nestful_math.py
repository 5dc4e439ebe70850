"""The arithmetic tools of NESTFUL's mathematical set (MathQA's operations), so that a sequence can
be run.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from callwright.nouns.types import Json, ToolCall

_REFERENCE = re.compile(r"\$(?P<label>var_?\d+)(?:\.(?P<field>\w+))?\$?")
Number = Any


def _compute_binomial(n: Number, k: Number) -> Number:
    return math.comb(int(n), int(k))


def _compute_heron_area(a: Number, b: Number, c: Number) -> Number:
    s = (a + b + c) / 2
    return math.sqrt(s * (s - a) * (s - b) * (s - c))


FUNCTIONS: dict[str, Callable[..., Number]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "power": lambda a, b: a**b if abs(b) <= 1000 else math.inf,
    "sqrt": math.sqrt,
    "log": math.log,
    "factorial": lambda a: math.factorial(int(a)),
    "gcd": lambda a, b: math.gcd(int(a), int(b)),
    "lcm": lambda a, b: math.lcm(int(a), int(b)),
    "max": max,
    "min": min,
    "floor": math.floor,
    "negate": lambda a: -a,
    "inverse": lambda a: 1 / a,
    "reminder": lambda a, b: a % b,
    "remainder": lambda a, b: a % b,
    "choose": _compute_binomial,
    "permutation": lambda n, k: math.perm(int(n), int(k)),
    "negate_prob": lambda p: 1 - p,
    "sine": math.sin,
    "cosine": math.cos,
    "tangent": math.tan,
    "speed": lambda distance, time: distance / time,
    "speed_in_still_water": lambda down, up: (down + up) / 2,
    "stream_speed": lambda down, up: (down - up) / 2,
    "p_after_gain": lambda gain, price: (1 + gain / 100) * price,
    "original_price_before_gain": lambda gain, price: price * 100 / (100 + gain),
    "original_price_before_loss": lambda loss, price: price * 100 / (100 - loss),
    "circle_area": lambda r: math.pi * r**2,
    "circumface": lambda r: 2 * math.pi * r,
    "rectangle_perimeter": lambda a, b: 2 * (a + b),
    "rectangle_area": lambda a, b: a * b,
    "square_perimeter": lambda a: 4 * a,
    "square_area": lambda a: a**2,
    "square_edge_by_perimeter": lambda p: p / 4,
    "square_edge_by_area": math.sqrt,
    "cube_edge_by_volume": lambda v: v ** (1 / 3),
    "rhombus_perimeter": lambda a: 4 * a,
    "rhombus_area": lambda d, e: d * e / 2,
    "quadrilateral_area": lambda diagonal, h, k: diagonal * (h + k) / 2,
    "diagonal": math.hypot,
    "triangle_perimeter": lambda a, b, c: a + b + c,
    "triangle_area": lambda base, height: base * height / 2,
    "triangle_area_three_edges": _compute_heron_area,
    "volume_cone": lambda r, h: math.pi * r**2 * h / 3,
    "volume_cube": lambda a: a**3,
    "volume_sphere": lambda r: 4 / 3 * math.pi * r**3,
    "volume_cylinder": lambda r, h: math.pi * r**2 * h,
    "volume_rectangular_prism": lambda a, b, c: a * b * c,
    "surface_cube": lambda a: 6 * a**2,
    "surface_sphere": lambda r: 4 * math.pi * r**2,
    "surface_cylinder": lambda r, h: 2 * math.pi * r * (r + h),
    "surface_rectangular_prism": lambda a, b, c: 2 * (a * b + b * c + a * c),
}


def run_sequence(calls: Sequence[ToolCall]) -> tuple[Json, bool]:
    """The last call's result, and whether every call really ran: an unknown tool, a reference to
    nothing, or an operation without a result (division by zero) ends the run.
    """
    results: dict[str, Json] = {}
    value: Json = None
    for number, call in enumerate(calls, 1):
        function = FUNCTIONS.get(call.tool)
        if function is None or not isinstance(call.arguments, dict):
            return None, False
        try:
            value = function(
                *(
                    _resolve_reference(call.arguments[k], results)
                    for k in _sort_arguments(call.arguments)
                )
            )
        except (ArithmeticError, TypeError, ValueError, KeyError):
            return None, False
        results[_normalise_label(call.slot or call.id) or f"var{number}"] = value
    return value, bool(calls)


def _sort_arguments(arguments: dict[str, Json]) -> list[str]:
    """``arg_0``, ``arg_1`` … by number."""
    return sorted(arguments, key=lambda k: int(re.sub(r"\D", "", k) or 0))


def _resolve_reference(value: Json, results: dict[str, Json]) -> Json:
    if isinstance(value, str):
        found = _REFERENCE.fullmatch(value)
        return results[_normalise_label(found["label"])] if found else float(value)
    return value


def _normalise_label(label: str) -> str:
    found = re.search(r"var_?(\d+)", label)
    return f"var{found[1]}" if found else ""
