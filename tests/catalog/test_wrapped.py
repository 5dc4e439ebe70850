"""A source in front of another passes on what it does not change."""

from __future__ import annotations

import pytest

from callwright import tool
from callwright.catalog.functions import FunctionSource
from callwright.catalog.wrapped import WrappedSource
from callwright.execution.recording import RecordingSource
from callwright.testing import FaultySource, fake_source
from callwright.types import WRITE, ToolOutput


@tool(effects=WRITE, outcome=lambda key, guest: f"{key} for {guest}")
def book(guest: str) -> str:
    """Book."""
    return "booked"


@pytest.mark.parametrize(
    "wrapped",
    [
        WrappedSource,
        lambda source: FaultySource(source, {}),
        lambda source: RecordingSource(source, lambda event: None),
    ],
)
async def test_a_wrapped_source_can_still_be_asked_what_became_of_a_call(wrapped) -> None:  # type: ignore[no-untyped-def]
    source = wrapped(FunctionSource([book]))
    [made] = await source.open()
    assert await source.call(made, {"guest": "Ann"}) == ToolOutput("booked")
    assert await source.outcome(made, {"guest": "Ann"}, "k") == ToolOutput("k for Ann")
    assert await wrapped(fake_source()).outcome(made, {}, "k") is None
    await source.aclose()
