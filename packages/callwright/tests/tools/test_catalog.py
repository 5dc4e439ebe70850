from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from callwright.nouns.errors import CatalogError
from callwright.nouns.types import JsonObject, Tool, ToolOutput
from callwright.schema.untrusted import SchemaLimits
from callwright.tools.catalog import Catalog, open_catalog
from callwright.tools.overlay import Overlay, ToolOverlay


class Source:
    """Tools that answer with the name under which their source knows them."""

    def __init__(
        self, name: str, *names: str, fail: bool = False, problems: Sequence[str] = ()
    ) -> None:
        self.name = name
        self.names = names
        self.fail = fail
        self.problems = problems
        self.secrets: tuple[str, ...] = ()
        self.opened = self.closed = 0

    async def open(self) -> Sequence[Tool]:
        self.opened += 1
        if self.fail:
            raise CatalogError(f"{self.name} cannot be read", hint="try again")
        return [Tool(name, source=self.name) for name in self.names]

    async def call(self, tool: Tool, arguments: JsonObject) -> ToolOutput:
        return ToolOutput([self.name, tool.name, arguments])

    async def aclose(self) -> None:
        self.closed += 1


async def names(*sources: Any, **options: Any) -> list[str]:
    async with open_catalog(list(sources), **options) as catalog:
        return [t.name for t in catalog.tools]


async def test_a_catalogue_finds_and_calls_its_tools() -> None:
    def double(a: int) -> int:
        """Twice as much."""
        return 2 * a

    async with open_catalog([double, Source("s", "f")]) as catalog:
        assert isinstance(catalog, Catalog)
        assert [t.name for t in catalog] == ["double", "f"]
        assert (len(catalog), "f" in catalog, "g" in catalog) == (2, True, False)
        assert catalog["double"].description == "Twice as much."
        assert await catalog.call("double", {"a": 2}) == ToolOutput(4)
        assert catalog.problems == ()


async def test_one_source_needs_no_list() -> None:
    async with open_catalog(Source("s", "f")) as catalog:
        assert "f" in catalog


async def test_the_first_of_a_name_keeps_it_and_the_later_ones_are_renamed_and_said() -> None:
    sources = [Source("a", "f", "b_f"), Source("b", "f"), Source("My Desk!", "f"), Source("b", "f")]
    async with open_catalog(sources) as catalog:
        assert [t.name for t in catalog] == ["f", "b_f", "b_f_2", "my_desk_f", "b_f_3"]
        assert (await catalog.call("my_desk_f", {"x": 1})).content == ["My Desk!", "f", {"x": 1}]
        assert catalog.problems[0] == "f of b is called b_f_2: the name was taken"
        assert len(catalog.problems) == 3


async def test_a_prefix_names_every_tool_after_its_source() -> None:
    assert await names(Source("a", "f", "g"), Source("b", "f"), prefix=True) == [
        "a_f",
        "a_g",
        "b_f",
    ]


@pytest.mark.parametrize(
    ("options", "left"),
    [
        ({"include": ["get_*"]}, ["get_a", "get_b"]),
        ({"exclude": ["*_b"]}, ["get_a", "set_a"]),
        ({"include": ["get_*", "set_a"], "exclude": ["get_b"]}, ["get_a", "set_a"]),
    ],
)
async def test_patterns_choose_tools(options: dict[str, Any], left: list[str]) -> None:
    assert await names(Source("s", "get_a", "get_b", "set_a"), **options) == left


async def test_every_source_is_closed_whatever_happens() -> None:
    good, bad = Source("good", "f"), Source("bad", fail=True)
    with pytest.raises(CatalogError, match="bad cannot be read"):
        async with open_catalog([good, bad]):
            pass
    assert (good.closed, bad.closed) == (1, 1)
    with pytest.raises(RuntimeError, match="in the block"):
        async with open_catalog([good]):
            raise RuntimeError("in the block")
    assert good.closed == 2


async def test_sources_are_opened_at_the_same_time() -> None:
    meeting = asyncio.Barrier(2)

    class Waiting(Source):
        async def open(self) -> Sequence[Tool]:
            await meeting.wait()
            return await super().open()

    async with asyncio.timeout(5):
        assert await names(Waiting("a", "f"), Waiting("b", "g")) == ["f", "g"]


async def test_a_tool_that_cannot_be_used_is_left_out_with_its_reason() -> None:
    class Deep(Source):
        async def open(self) -> Sequence[Tool]:
            schema: JsonObject = {
                "type": "object",
                "properties": {"a": {"$ref": "https://example.org/a"}},
            }
            return [Tool("bad", input_schema=schema), Tool("good")]

    async with open_catalog([Deep("s", problems=["s: page 3 was empty"])]) as catalog:
        assert [t.name for t in catalog] == ["good"]
        assert catalog.problems[0] == "s: page 3 was empty"
        assert catalog.problems[1].startswith(
            "bad (s) left out: its schema refers to 'https://example.org/a'"
        )


async def test_limits_on_schemas_can_be_set() -> None:
    class Wide(Source):
        async def open(self) -> Sequence[Tool]:
            return [
                Tool(
                    "f",
                    input_schema={"type": "object", "properties": {str(i): {} for i in range(50)}},
                )
            ]

    assert await names(Wide("s"), limits=SchemaLimits(nodes=20)) == []


async def test_an_unknown_name_is_answered_with_the_near_ones() -> None:
    async with open_catalog([Source("s", "get_weather", "get_time")]) as catalog:
        with pytest.raises(CatalogError) as error:
            await catalog.call("get_wether", {})
        assert error.value.hint.startswith("near: get_weather")
        with pytest.raises(CatalogError):
            catalog["zzz"]


async def test_the_digest_changes_with_any_tool_and_not_with_the_order() -> None:
    async def of(*sources: Source) -> str:
        async with open_catalog(list(sources)) as catalog:
            return catalog.digest

    a, b = Source("a", "f"), Source("b", "g")
    assert await of(a, b) == await of(b, a)
    assert await of(a) != await of(a, b)


async def test_secrets_are_gathered_from_every_source_that_knows_some() -> None:
    keyed, also = Source("a", "f"), Source("b", "g")
    keyed.secrets, also.secrets = ("one", "two"), ("two", "three")
    async with open_catalog([keyed, also, Source("c", "h")]) as catalog:
        assert catalog.secrets == ("one", "two", "three")


def indoors(city: str) -> str:
    """Weather."""
    return "dry"


async def test_who_answers_a_tool_is_told_where_its_source_knows() -> None:
    outdoors: dict[str, Any] = {}
    exec("def indoors(city: str) -> str:\n    return 'wet'", outdoors)
    async with open_catalog([indoors, Source("far", "fetch")]) as catalog:
        assert 'return "dry"' in catalog.place("indoors")
        assert catalog.place("fetch") == ""
    async with open_catalog([outdoors["indoors"]]) as catalog:
        assert catalog.place("indoors") == "", "code that stands in no file"


async def test_a_source_that_cannot_be_opened_is_left_out_where_that_is_asked_for(
    tmp_path: Path,
) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('[{"name": ')
    dead, good = Source("dead", fail=True), Source("good", "f")
    async with open_catalog([dead, good, broken], strict=False) as catalog:
        assert [t.name for t in catalog] == ["f"]
        assert len(catalog.unopened) == 2
        assert "dead cannot be read" in " ".join(catalog.unopened)
        assert "broken.json is not JSON" in " ".join(catalog.unopened)
        assert set(catalog.unopened) <= set(catalog.problems)
    assert (dead.closed, good.closed) == (1, 1)
    for sources in ([dead, good], [broken, good]):
        with pytest.raises(CatalogError):
            await names(*sources)


async def test_where_no_source_opens_all_reasons_are_told() -> None:
    with pytest.raises(CatalogError, match=r"^one cannot be read") as error:
        await names(Source("one", fail=True), strict=False)
    assert error.value.hint == "try again"
    overlay = Overlay({"f": ToolOverlay("x")})
    with pytest.raises(
        CatalogError, match=r"no tool source can be opened: one cannot be read; two cannot be read"
    ):
        await names(Source("one", fail=True), Source("two", fail=True), overlay, strict=False)


@pytest.mark.parametrize("spec", ["no such thing", "missing.json", "no_such_module_"])
async def test_a_spec_that_names_nothing_is_an_error_all_the_same(spec: str) -> None:
    with pytest.raises(CatalogError):
        await names(Source("good", "f"), spec, strict=False)


async def test_a_reason_is_one_line_that_steers_no_terminal() -> None:
    class Shouting(Source):
        async def open(self) -> Sequence[Tool]:
            raise CatalogError("a\n  b\x1b[31m" + "c" * 1000)

    async with open_catalog([Source("good", "f"), Shouting("s")], strict=False) as catalog:
        (said,) = catalog.unopened
        assert said.isprintable()
        assert len(said) < 400
        assert said.startswith("left out: a b")
