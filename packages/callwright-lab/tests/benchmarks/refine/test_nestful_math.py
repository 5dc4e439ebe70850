"""MathQA's operations, and sequences of them run."""

from __future__ import annotations

import math

import pytest

from callwright.nouns.types import ToolCall
from callwright_lab.benchmarks.refine.nestful_math import FUNCTIONS, run_sequence


@pytest.mark.parametrize(
    ("name", "arguments", "value"),
    [
        ("choose", (5, 2), 10),
        ("permutation", (5, 2), 20),
        ("speed_in_still_water", (10, 6), 8),
        ("stream_speed", (10, 6), 2),
        ("original_price_before_loss", (20, 80), 100),
        ("original_price_before_gain", (25, 125), 100),
        ("p_after_gain", (10, 100), 110),
        ("triangle_area_three_edges", (3, 4, 5), 6),
        ("volume_cylinder", (1, 2), 2 * math.pi),
        ("surface_rectangular_prism", (1, 2, 3), 22),
        ("quadrilateral_area", (10, 2, 4), 30),
        ("diagonal", (3, 4), 5),
        ("reminder", (7, 4), 3),
        ("cube_edge_by_volume", (27,), 3),
    ],
)
def test_operations_are_what_mathqa_means_by_them(
    name: str, arguments: tuple[float, ...], value: float
) -> None:
    assert FUNCTIONS[name](*arguments) == pytest.approx(value)


def test_a_sequence_runs_and_text_numbers_are_numbers() -> None:
    calls = [
        ToolCall("var_1", "divide", {"arg_0": "20", "arg_1": 100}),
        ToolCall("var2", "multiply", {"arg_1": "$var_1.result$", "arg_0": 10000}),
    ]
    assert run_sequence(calls) == (2000.0, True)


@pytest.mark.parametrize(
    "call",
    [
        ToolCall("var1", "divide", {"arg_0": 1, "arg_1": 0}),
        ToolCall("var1", "teleport", {"arg_0": 1}),
        ToolCall("var1", "add", {"arg_0": 1}),
        ToolCall("var1", "add", "{"),
        ToolCall("var1", "add", {"arg_0": 1, "arg_1": "one"}),
        ToolCall("var1", "power", {"arg_0": 10.0, "arg_1": 999}),
    ],
)
def test_what_has_no_result_ends_the_run(call: ToolCall) -> None:
    assert run_sequence([call]) == (None, False)


def test_no_calls_are_no_run() -> None:
    assert run_sequence([]) == (None, False)
