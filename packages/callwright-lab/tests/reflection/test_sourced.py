"""Nothing in a kept reflection that was not known where it is written."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callwright.nouns.errors import Failure
from callwright.nouns.trajectory import Step
from callwright.nouns.types import ToolCall, ToolResult, to_canonical_json
from callwright_lab.reflection.row import Reflected
from callwright_lab.reflection.sourced import explain_unsourced, iter_claims

RIGHT = {"iata": "OSL", "day": "2024-12-25"}
FRAGMENTS = ["OSL", "ENGM", "2024-12-25", "2031-01-01", "forecast", "get_weather", "'Oslo'", "'Bergen'", "station",
             "iata", "47", "-14", "Oslo", "Bergen", "IATA", "It failed.", "I call", "reference", "tool_error",
             "kelvin", "celsius", "a@b.no"]  # fmt: skip


def row(world: Any, reflection: str, right: Any = None) -> Reflected:
    wrong = {"iata": "Oslo", "day": "2024-12-25"}
    failed = ToolResult(
        "w1", "forecast", wrong, None, Failure("tool_error", "there is no station Oslo (rule 47)")
    )
    step = Step("", (ToolCall("w1", "forecast", wrong),), (failed,))
    call = ToolCall("c2", "forecast", RIGHT if right is None else right)
    return Reflected(world.trajectory.before(1), step, reflection, (call,), "calling", "e")


@pytest.mark.parametrize(
    ("reflection", "why"),
    [
        (
            (
                "There is no station Oslo; the code OSL came back before, so I call forecast with"
                " iata = OSL."
            ),
            "",
        ),
        ("Rule 47 says so. The unit may be celsius.", ""),
        ("I try 'ENGM'.", "'ENGM'"),
        ("The answer is -14 degrees.", "14"),
        ("I call get_weather instead.", "get_weather"),
        ("It must be in Bergen.", "Bergen"),
        ("The verified call gives OSL.", "verified"),
        ("I write to post@oslo.no.", "post@oslo.no"),
    ],
)
def test_a_reflection_may_say_what_stands_before_it(world: Any, reflection: str, why: str) -> None:
    found = explain_unsourced(row(world, reflection))
    assert (why in found) if why else found == ""


@pytest.mark.parametrize(
    ("right", "why"),
    [
        ({**RIGHT, "iata": "ENGM"}, "iata of the right call"),
        ({**RIGHT, "day": "2025-01-03"}, "day of the right call"),
        ({**RIGHT, "unit": "celsius"}, ""),
        ({**RIGHT, "unit": None}, ""),
    ],
)
def test_a_right_call_may_hold_what_stands_before_it(world: Any, right: Any, why: str) -> None:
    found = explain_unsourced(row(world, "It failed.", right))
    assert (why in found) if why else found == ""


def test_what_is_only_the_errors_own_example_is_no_value(world: Any) -> None:
    said = "use a three-letter code such as FCO"
    one = row(world, "It failed.", {**RIGHT, "iata": "FCO"})
    result = replace(one.wrong.results[0], failure=Failure("tool_error", said))
    one = replace(one, wrong=replace(one.wrong, results=(result,)))
    assert "only the error's own example" in explain_unsourced(one)
    echoed = ToolResult("c0", "news", {"city": "FCO"}, {"about": "FCO"})
    heard = replace(echoed, arguments={"city": "Rome"})
    for came, why in ((echoed, "own example"), (heard, "")):
        before = replace(
            one.before, steps=(Step("", (ToolCall("c0", "news", came.arguments),), (came,)),)
        )
        found = explain_unsourced(replace(one, before=before))
        assert (why in found) if why else "example" not in found


def test_a_right_call_of_a_tool_that_is_not_on_offer_is_dropped(world: Any) -> None:
    one = row(world, "It failed.")
    assert "not on offer" in explain_unsourced(replace(one, right=(ToolCall("c2", "nothing", {}),)))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=6))
def test_every_figure_quotation_and_identifier_of_a_kept_reflection_stands_in_its_context(
    world: Any, parts: list[str]
) -> None:
    one = row(world, " ".join(parts))
    if explain_unsourced(one):
        return
    context = " ".join(
        [one.before.query, to_canonical_json([tool.description for tool in one.before.tools]), to_canonical_json([
            [tool.name, tool.input_schema] for tool in one.before.tools]), "there is no station Oslo (rule 47)",
         *(to_canonical_json([s.calls, s.results, s.thought]) for s in (*one.before.steps, one.wrong))]
    ).lower()  # fmt: skip
    for claim in iter_claims(one.reflection):
        plain = re.sub(r"[^\w]", "", claim).lower()
        assert plain in re.sub(r"[^\w]", "", context), claim
    assert "reference" not in one.reflection
