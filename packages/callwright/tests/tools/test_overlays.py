"""An overlay among the sources says more of the tools of the others; they are called as they
were.
"""

from __future__ import annotations

from pathlib import Path

from callwright.nouns.types import ToolOutput
from callwright.tools.catalog import open_catalog
from callwright.tools.overlay import Overlay, OverlayChange, ToolOverlay, documented


def stock(article: str, place: str = "Oslo") -> str:
    """Pieces in the warehouse."""
    return f"{article} in {place}"


async def _laid(*changes: OverlayChange, of: str = "") -> Overlay:
    async with open_catalog([stock]) as catalog:
        return Overlay(
            {"stock": ToolOverlay(of or documented(catalog["stock"]), changes)}, name="stock.json"
        )


async def test_the_catalogue_offers_what_the_overlay_says_and_calls_the_tool_itself(
    tmp_path: Path,
) -> None:
    laid = await _laid(
        OverlayChange("article", "examples", ["hammer"]),
        OverlayChange("", "description", "How many."),
    )
    laid.write(tmp_path / "stock.json")
    for named in (laid, tmp_path / "stock.json", str(tmp_path / "stock.json")):
        async with open_catalog([stock, named]) as catalog:
            assert [tool.name for tool in catalog] == ["stock"]
            assert catalog["stock"].description == "How many."
            assert catalog["stock"].properties["article"]["examples"] == ["hammer"]
            assert await catalog.call("stock", {"article": "hammer"}) == ToolOutput(
                "hammer in Oslo"
            )
            assert catalog.problems == catalog.unlaid == ()
            assert catalog.overlays == laid.tools


async def test_an_overlay_of_another_version_is_left_out_and_said_so() -> None:
    laid = await _laid(OverlayChange("", "description", "How many."), of="of another")
    async with open_catalog([laid, stock]) as catalog:
        assert catalog["stock"].description == "Pieces in the warehouse."
        assert catalog.problems == catalog.unlaid
        assert "1 of a tool whose documentation has changed since (stock)" in catalog.unlaid[0]
        assert catalog.overlays == {}


async def test_what_no_source_may_bring_no_overlay_may_bring_either() -> None:
    laid = await _laid(OverlayChange("article", "pattern", "a{1,9000}"))
    async with open_catalog([stock, laid]) as catalog:
        assert "pattern" not in catalog["stock"].properties["article"]
        assert "removed" in catalog.problems[0]


async def test_an_overlay_offers_and_runs_nothing_itself() -> None:
    async with open_catalog([await _laid()]) as catalog:
        assert len(catalog) == 0
