from __future__ import annotations

import json
from pathlib import Path

import pytest

from callwright.nouns.protocols import ToolSource
from callwright.tools.catalog import open_catalog
from callwright.tools.lists.source import ListSource
from callwright.tools.lists.tool_documents import registered_formats
from callwright.tools.sources import sources_of
from callwright_lab.datasets.toolbench_source import FORMAT, ToolBenchSource
from tests.cli.program import callwright
from tests.places import DATA

DOCUMENT = {
    "tool_name": "Dice Roll Simulator",
    "tool_description": "Rolls dice.",
    "host": "dice.p.rapidapi.com",
    "api_list": [
        {
            "name": "Roll",
            "description": "one roll",
            "method": "GET",
            "required_parameters": [{"name": "sides", "type": "NUMBER"}],
        },
        {"name": "", "method": "GET"},
        {"name": "Reset", "description": "", "method": "POST", "optional_parameters": []},
    ],
}


@pytest.mark.parametrize("as_text", [True, False])
def test_a_file_is_known_by_what_stands_in_it(tmp_path: Path, as_text: bool) -> None:
    path = tmp_path / "a.json"
    path.write_text(
        json.dumps({"tool_name": "T", "api_list": [{"name": "A", "required_parameters": []}]})
    )
    (source,) = sources_of(str(path) if as_text else path)
    assert type(source) is ToolBenchSource


def test_the_format_is_registered_and_its_source_fits_the_seam() -> None:
    assert FORMAT in registered_formats()
    source: ToolSource = ToolBenchSource(DOCUMENT)
    assert isinstance(source, ListSource)  # of which the core's tests say that it fits


async def test_a_document_is_planned_with_and_never_called() -> None:
    async with open_catalog([ToolBenchSource(DOCUMENT)]) as catalog:
        assert [t.name for t in catalog.tools] == [
            "roll_for_dice_roll_simulator",
            "reset_for_dice_roll_simulator",
        ]
        roll = catalog["roll_for_dice_roll_simulator"]
        assert roll.description == "one roll (Dice Roll Simulator: Rolls dice.)"
        assert roll.required == ("sides",)
        assert (
            roll.effects.may_write,
            catalog["reset_for_dice_roll_simulator"].effects.may_write,
        ) == (False, True)
        assert len(catalog.problems) == 1
        output = await catalog.call(roll.name, {"sides": 6})
        assert output.failure is not None
        assert output.failure.kind == "not_executable"


async def test_a_folder_of_documents_is_one_source(tmp_path: Path) -> None:
    (tmp_path / "Games").mkdir()
    (tmp_path / "Games" / "dice.json").write_text(json.dumps(DOCUMENT))
    (tmp_path / "Games" / "other.json").write_text("[]")
    (tmp_path / "Games" / "broken.json").write_text("{")
    async with open_catalog([tmp_path / "Games"]) as catalog:
        assert len(catalog) == 2
        assert len(catalog.problems) == 3
    (tmp_path / "Games" / "broken.json").unlink()
    async with open_catalog([str(tmp_path)]) as catalog:
        assert len(catalog) == 2


@pytest.mark.skipif(
    not (DATA / "stabletoolbench").is_dir(), reason="needs shared data: stabletoolbench"
)
async def test_the_candidates_of_stabletoolbenchs_queries_are_a_catalogue() -> None:
    async with open_catalog([DATA / "stabletoolbench" / "queries" / "G1_category.json"]) as catalog:
        assert len(catalog) > 300
        assert all("_for_" in tool.name for tool in catalog)


def test_documents_are_a_tool_source_of_a_command(tmp_path: Path) -> None:
    api = {
        "name": "Track",
        "description": "Where a parcel is",
        "required_parameters": [],
        "optional_parameters": [],
    }
    document = {
        "tool_name": "Post",
        "tool_description": "Parcels",
        "api_list": [api, {**api, "name": "Price", "description": "What it costs"}],
    }
    (tmp_path / "post.json").write_text(json.dumps(document))
    out = callwright(
        "retrieve", "Where is it? Track it.", "--tools", tmp_path, "--json", "--mode", "bm25"
    ).stdout
    assert json.loads(out)["tools"][0]["name"] == "track_for_post"
