"""An exploration's page: every sample once, the kept ones with what was wrong, what came back and
the reflection.
"""

from __future__ import annotations

from typing import Any

from callwright.viewer import Lines
from callwright_lab.reflection.page import build_exploration_report
from callwright_lab.verify.budget import Budget, Cost
from callwright_lab.verify.sweep import Finding, Sweep
from tests.reflection.test_exploration import explored, forecast


async def test_errors_are_shown_with_their_reflection_and_other_samples_are_counted(
    world: Any,
) -> None:
    actions = await explored(world, [forecast(unit="kelvin"), forecast(), forecast()])
    cost = Cost(calls=2, model_calls=3)
    made = Sweep((Finding(True, "x", "", {"actions": actions}, "point", cost=cost),), cost=cost)
    page = build_exploration_report(made, Budget())
    assert (page.facts["calls of tools"], page.facts["model calls"]) == ("2", "3")
    assert [(item.kept, item.category) for item in page.items] == [
        (True, "calling: value not allowed"),
        (False, "right"),
        (False, "right"),
    ]
    shown = {part.title: part for part in page.items[0].evidence}
    assert set(shown) >= {
        "Wrong and right",
        "What came back",
        "Reflection (by rule)",
        "What had been done",
    }
    said = shown["What came back"]
    assert isinstance(said, Lines)
    assert "kelvin" in said.text
    assert page.items[1].evidence == ()
