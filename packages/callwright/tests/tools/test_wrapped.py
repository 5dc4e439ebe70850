"""A source in front of another passes on what it does not change."""

from __future__ import annotations

from pathlib import Path

import pytest

from callwright import open_catalog, tool
from callwright.nouns.protocols import Confirmations
from callwright.nouns.types import WRITE, JsonObject, Tool, ToolOutput
from callwright.simulation.recording import RecordingSource
from callwright.testing import FakeTool, FaultySource, fake_source
from callwright.tools.python.functions import FunctionSource
from callwright.tools.trust import TrustStore
from callwright.tools.wrapped import WrappedSource


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


class Asking:
    """A source that asks what the user has confirmed."""

    name, unconfirmed = "asking", ("not believed",)

    def __init__(self) -> None:
        self.believed = False

    def consult(self, trust: Confirmations) -> None:
        self.believed = trust.is_trusted("document", "/a", "1")

    async def open(self) -> list[Tool]:
        return [Tool("a")]

    async def call(self, tool: Tool, arguments: JsonObject) -> ToolOutput:
        return ToolOutput("ok")

    async def aclose(self) -> None: ...


async def test_a_wrapped_source_still_asks_what_the_user_has_confirmed(tmp_path: Path) -> None:
    store, source = TrustStore(tmp_path), Asking()
    store.trust("document", "/a", "1")
    async with open_catalog(
        [WrappedSource(source), WrappedSource(fake_source(FakeTool("b")))],
        trust=store,
        strict=False,
    ) as catalog:
        assert catalog.unconfirmed == ("not believed",)
    assert source.believed
