"""Tools verified by calling them: who is alive, who is fed by whom, what is learned, and what is
never called.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from callwright.agent.probing.policy import TrialPolicy
from callwright.nouns.errors import Failure, ToolError
from callwright.nouns.types import READ_LOCAL, WRITE, JsonObject, Tool, ToolOutput
from callwright.testing import ScriptedModel
from callwright.tools.catalog import open_catalog
from callwright.tools.evidence import EvidenceStore, Observation
from callwright.tools.python.functions import tool
from callwright_lab.verify.apis import ApiVerifier, Watch, build_overlay
from callwright_lab.verify.budget import Budget
from callwright_lab.verify.committee import name_judges
from callwright_lab.verify.sweep import Finding, Journal, Sweep, open_journal, run_sweep

OFFICES = {"OF-1": "Oslo", "OF-2": "Rome"}
WRITTEN: list[str] = []


class Killed(BaseException):
    """Ends the process, as far as the test goes."""


@tool(effects=READ_LOCAL)
def list_offices() -> list[dict[str, str]]:
    """All offices."""
    return [{"office_id": key, "city": city} for key, city in OFFICES.items()]


@tool(effects=READ_LOCAL)
def get_office(office_id: str) -> dict[str, str]:
    """The office of an id."""
    if office_id not in OFFICES:
        raise ToolError(f"there is no office {office_id!r}")
    return {"office_id": office_id, "city": OFFICES[office_id]}


@tool(effects=READ_LOCAL)
def weather(city: str, days: int = 1) -> dict[str, Any]:
    """Weather."""
    if days > 3:
        raise ToolError("days must be at most 3")
    return {"city": city, "days": days, "sky": "clear"}


@tool(effects=READ_LOCAL)
def broken(city: str) -> str:
    """Weather of old."""
    raise ToolError("401: invalid api key")


@tool(effects=READ_LOCAL)
def renamed(city: str) -> str:
    """Weather by place."""
    raise ToolError("missing required parameter: 'place_id'")


@tool(effects=READ_LOCAL)
def by_number(serial: str) -> str:
    """The thing of a serial number."""
    return serial


@tool(effects=WRITE)
def write_note(text: str) -> str:
    """Write a note."""
    WRITTEN.append(text)
    return "written"


UNITS = {"kilometers": 1.0, "miles": 1.6}
UNIT = {"type": "string", "enum": ["km", "mi"]}
DISTANCE = Tool(
    "distance",
    "A distance.",
    {"type": "object", "properties": {"unit": UNIT}, "required": ["unit"]},
    effects=READ_LOCAL,
)


async def distance(name: str, arguments: JsonObject) -> ToolOutput:
    """A server whose documentation is out of date."""
    unit = arguments["unit"]
    if unit in UNITS:
        return ToolOutput({"distance": UNITS[unit]})
    said = f"Invalid value '{unit}' for 'unit'. Allowed values: {', '.join(UNITS)}"
    return ToolOutput(failure=Failure("tool_error", said))


@tool(effects=READ_LOCAL)
def retired() -> str:
    """An old tool."""
    raise ToolError("retired is retired. Use distance.")


ALL = (get_office, list_offices, weather, broken, renamed, by_number, write_note)


async def verified(
    tools: Sequence[Any] = ALL,
    journal: Journal | None = None,
    budget: Budget | None = None,
    **watch: Any,
) -> Sweep:
    async with open_catalog(list(tools)) as catalog:
        verifier = ApiVerifier(
            catalog.tools, catalog.call, Watch(today=date(2026, 11, 22), **watch)
        )
        kept = journal if journal is not None else Journal(None, {})
        return await run_sweep(
            verifier.rows(), verifier.judge, kept, levels=verifier.levels, budget=budget
        )


def by_id(made: Sweep) -> dict[str, Finding]:
    return {one.id: one for one in made.findings}


async def test_the_living_the_dead_and_the_untried_are_told_apart_with_reasons() -> None:
    WRITTEN.clear()
    made = by_id(await verified())
    assert {name: (one.kept, one.category) for name, one in made.items()} == {
        "get_office": (True, "alive"),
        "list_offices": (True, "alive"),
        "weather": (True, "alive"),
        "broken": (False, "dead: auth"),
        "renamed": (False, "drifted"),
        "by_number": (False, "untried: no input"),
        "write_note": (False, "untried: may write"),
    }
    assert all(one.why for one in made.values())
    assert "401" in made["broken"].why
    assert "'serial'" in made["by_number"].why
    assert "asks for 'place_id', which is not documented" in made["renamed"].found["drift"][0]
    assert WRITTEN == [], "what may write is not called"


async def test_what_a_tool_says_it_takes_is_tried_and_a_stale_list_replaced() -> None:
    verifier = ApiVerifier([DISTANCE], distance, Watch(today=date(2026, 11, 22)))
    made = await run_sweep(
        verifier.rows(), verifier.judge, Journal(None, {}), levels=verifier.levels
    )
    (found,) = made.findings
    assert found.category == "alive"
    assert "has other options for 'unit' than are documented" in found.why
    laid = build_overlay(made.findings).apply([DISTANCE])
    assert laid.problem == ""
    assert laid.tools[0].properties["unit"]["enum"] == ["kilometers", "miles"]


async def test_a_tool_that_says_it_is_replaced_cannot_be_used() -> None:
    assert by_id(await verified([retired]))["retired"].category == "drifted"


@tool(effects=READ_LOCAL)
def all_items() -> Any:
    """Items."""
    return {"items": [{"sku": "SKU-1", "name": "Lamp"}, {"sku": "SKU-2", "name": "Desk"}]}


@tool(effects=READ_LOCAL)
def stock_of(sku: str) -> Any:
    """How many there are."""
    return {"sku": sku, "in_stock": len(sku)}


@tool(effects=READ_LOCAL)
def called(name: str) -> Any:
    """Whoever is called so."""
    return {"found": name}


async def test_a_reply_that_nobody_documented_feeds_an_input_of_its_own_name() -> None:
    made = by_id(await verified([stock_of, called, all_items]))
    assert [call["arguments"] for call in made["stock_of"].found["calls"]] == [
        {"sku": "SKU-1"},
        {"sku": "SKU-2"},
    ]
    tried = {call["arguments"]["name"] for call in made["called"].found["calls"]}
    assert tried, "a plain text has a sample"
    assert not tried & {"Lamp", "Desk"}, "a name of anything is no name of this"


async def test_what_was_found_of_a_tool_does_not_hold_where_somebody_else_answers(
    tmp_path: Path,
) -> None:
    path = tmp_path / "journal.jsonl"
    told = {"weather": "https://a.example"}
    with open_journal(path, {}) as journal:
        await verified([weather], journal, place=told.__getitem__)
    with open_journal(path, {}) as journal:
        same = await verified([weather], journal, place=told.__getitem__)
        other = await verified(
            [weather], journal, place={"weather": "https://b.example"}.__getitem__
        )
    assert (same.again, same.cost.calls) == (1, 0)
    assert other.again == 0
    assert other.cost.calls > 0


async def test_why_documentation_is_refused_is_said_once_however_many_judges_wrote_it() -> None:
    renames = {
        "is_api_valid": True,
        "refine_api": {"type": "function", "function": {"name": "other"}},
    }
    judges = name_judges([ScriptedModel(lambda _: renames), ScriptedModel(lambda _: renames)])
    (found,) = (await verified([weather], refiners=judges)).findings
    assert found.found["refused"] == [
        "the refined documentation is refused: it renames the tool to 'other'"
    ]


@tool(effects=READ_LOCAL)
def leaves(city: str) -> str:
    """The weather, and out."""
    raise SystemExit(1)


@tool(effects=READ_LOCAL)
def interrupts(city: str) -> str:
    """The weather until somebody speaks."""
    raise KeyboardInterrupt


@tool(effects=READ_LOCAL)
async def interrupts_the_loop(city: str) -> str:
    """The weather until somebody else speaks."""
    raise KeyboardInterrupt


@tool(effects=READ_LOCAL)
def recurses(city: str) -> str:
    """The weather of a city of a city."""
    return str(recurses(city))


@tool(effects=READ_LOCAL)
def breaks(city: str) -> str:
    """The weather if all goes well."""
    raise RuntimeError("boom")


@tool(effects=READ_LOCAL)
def breaks_alone() -> str:
    """The weather here."""
    raise ValueError("boom")


@tool(effects=READ_LOCAL)
def refuses(city: str) -> str:
    """The weather of a city it knows."""
    raise ValueError("unknown city")


@tool(effects=READ_LOCAL)
def looks_up(city: str) -> str:
    """The weather of a city of its list."""
    return {"Atlantis": "wet"}[city]


@tool(effects=READ_LOCAL)
def at_times(days: int) -> str:
    """The weather on some days; it breaks for a few of them."""
    if days < 2:
        raise RuntimeError("boom")
    return f"after {days} days: clear"


@pytest.mark.parametrize(
    "broken", [leaves, interrupts, interrupts_the_loop, recurses, breaks, breaks_alone]
)
async def test_a_tool_that_no_call_can_make_answer_is_dead_and_ends_nothing(broken: Any) -> None:
    made = by_id(await verified([broken, weather]))
    assert made["weather"].kept, "the sweep goes on"
    found = made[broken.__name__]
    assert (found.kept, found.category) == (False, "dead: failed")
    assert found.lasting
    assert "failed (crashed): " in found.why


async def test_a_server_that_tells_only_words_of_its_error_is_dead_by_them() -> None:
    async def server(name: str, arguments: JsonObject) -> ToolOutput:
        said = "Error executing tool distance: maximum recursion depth exceeded"
        return ToolOutput(failure=Failure("tool_error", said))

    verifier = ApiVerifier([DISTANCE], server, Watch(today=date(2026, 11, 22)))
    (found,) = (
        await run_sweep(verifier.rows(), verifier.judge, Journal(None, {}), levels=verifier.levels)
    ).findings
    assert found.category == "dead: failed"


@pytest.mark.parametrize(
    ("works", "category"), [(refuses, "responds"), (looks_up, "responds"), (at_times, "alive")]
)
async def test_a_tool_that_refuses_values_or_breaks_at_a_few_of_them_is_kept(
    works: Any, category: str
) -> None:
    assert by_id(await verified([works]))[works.__name__].category == category


async def test_a_tool_is_fed_by_what_another_returned() -> None:
    made = by_id(await verified([get_office, list_offices]))["get_office"]
    assert [call["arguments"] for call in made.found["calls"]] == [
        {"office_id": "OF-1"},
        {"office_id": "OF-2"},
    ]


async def test_what_is_in_a_sandbox_is_called() -> None:
    WRITTEN.clear()
    made = by_id(await verified([write_note], policy=TrialPolicy(sandbox=("write_*",))))
    assert made["write_note"].category == "alive"
    assert len(WRITTEN) == 3


async def test_the_overlay_of_what_was_found_lets_through_what_worked_and_teaches_what_was_refused() -> (
    None
):
    made = await verified([weather])
    async with open_catalog([weather, build_overlay(made.findings)]) as catalog:
        assert catalog.problems == ()
        part = catalog["weather"].properties["days"]
        assert part["maximum"] == 3
        assert catalog["weather"].properties["city"]["examples"][0] == "London"
        assert set(catalog["weather"].properties) == {"city", "days"}


async def test_no_call_is_made_beyond_the_budget_and_a_resumed_sweep_ends_as_a_whole_one(
    tmp_path: Path,
) -> None:
    path = tmp_path / "apis.jsonl"
    with open_journal(path, {}) as journal:
        first = await verified(journal=journal, budget=Budget(calls=4))
    assert first.cost.calls <= 4
    assert first.left
    with open_journal(path, {}) as journal:
        second = await verified(journal=journal)
    whole = await verified()
    assert {k: (f.category, f.found) for k, f in by_id(second).items()} == {
        k: (f.category, f.found) for k, f in by_id(whole).items()
    }
    assert second.again >= 1
    assert first.cost.calls + second.cost.calls <= whole.cost.calls + 3, (
        "only what was cut short is called again"
    )


async def test_what_worked_before_is_tried_first_and_every_call_is_evidence(tmp_path: Path) -> None:
    with EvidenceStore(tmp_path / "evidence.db") as store:
        async with open_catalog([by_number]) as catalog:
            digest = catalog["by_number"].digest
        store.record([Observation("by_number", digest, "functional_success", {"serial": "S-7"})])
        made = by_id(await verified([by_number], evidence=store))["by_number"]
        assert made.category == "alive"
        assert made.found["calls"][0]["arguments"] == {"serial": "S-7"}
        assert (store.health(digest).counts or {}) == {"functional_success": 2}


REFINED = {
    "is_api_valid": True,
    "refine_api": {
        "function": {
            "name": "weather",
            "description": "The weather of a city for some days.",
            "parameters": {
                "properties": {"city": {}, "days": {"description": "At most 3."}},
                "required": ["city"],
            },
        }
    },
}


async def test_a_model_proposes_and_describes_within_what_was_seen() -> None:
    script = {
        "verify.examples": {"calls": [{"city": "Bergen"}, {"city": "Rome", "days": 9}]},
        "verify.document": REFINED,
    }
    model = ScriptedModel(script)
    made = by_id(await verified([weather], proposer=model, refiners=name_judges([model])))[
        "weather"
    ]
    assert {"city": "Bergen"} in [call["arguments"] for call in made.found["calls"]]
    words = {c["key"]: c["value"] for c in made.found["changes"] if c["change"] == "description"}
    assert words == {
        "": "The weather of a city for some days.",
        "city": words["city"],
        "days": "At most 3.",
    }
    assert (made.cost.model_calls, made.found["votes"]) == (2, {"scripted": "valid"})


@pytest.mark.parametrize(
    ("said", "kept"),
    [((True, False, False), False), ((True, True, False), True), ((True, False), True)],
)
async def test_the_majority_of_judges_can_doubt_a_tool_that_answers(
    said: tuple[bool, ...], kept: bool
) -> None:
    judges = name_judges(
        [ScriptedModel([{"is_api_valid": one}], name=f"judge {i}") for i, one in enumerate(said)]
    )
    made = by_id(await verified([list_offices], refiners=judges))["list_offices"]
    assert (made.kept, made.category) == (kept, "alive" if kept else "doubted")
    assert len(made.found["votes"]) == len(said)


async def test_a_model_imitates_the_dead_and_nothing_of_it_becomes_documentation() -> None:
    model = ScriptedModel({"simulate": {"error": "", "response": "rain"}})
    made = await verified([broken], imitator=model)
    found = by_id(made)["broken"]
    assert not found.kept
    assert found.found["stand_in"] == {
        "arguments": {"city": "London"},
        "reply": "rain",
        "simulated": "model",
    }
    assert build_overlay(made.findings).tools["broken"].changes == ()
    assert build_overlay(made.findings).tools["broken"].status == "dead: auth"


async def test_a_write_in_the_sandbox_that_was_under_way_is_in_doubt_and_not_made_again(
    tmp_path: Path,
) -> None:
    made: list[JsonObject] = []

    async def dies(name: str, arguments: JsonObject) -> ToolOutput:
        made.append(arguments)
        raise Killed

    for _ in range(3):
        async with open_catalog([write_note]) as catalog:
            watch = Watch(today=date(2026, 11, 22), policy=TrialPolicy(sandbox=("write_*",)))
            verifier = ApiVerifier(catalog.tools, dies, watch)
            with (
                open_journal(tmp_path / "journal", {}) as journal,
                suppress(Killed, BaseExceptionGroup),
            ):
                swept = await run_sweep(
                    verifier.rows(), verifier.judge, journal, levels=verifier.levels
                )
    (finding,) = swept.findings
    assert (finding.category, finding.kept, len(made)) == ("in doubt", False, 1)
    assert f'write_note({{"text":"{made[0]["text"]}"}}) was under way' in finding.why
    assert build_overlay(swept.findings).tools == {}
