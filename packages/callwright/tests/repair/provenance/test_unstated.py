"""Optional values that nobody said are left out; what may have been meant stays."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from callwright.nouns.types import READ, UNKNOWN, Effects, Tool, ToolResult
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.repair.provenance.unstated import find_unstated_options

WRITE = Effects(destructive=False, declared=True)
PARTS: dict[str, Any] = {
    "item": {"type": "string"},
    "count": {"type": "integer"},
    "scan_frequency": {"type": "integer"},
    "level": {"type": "integer", "description": "from 1 to 5"},
    "page_size": {"type": "integer", "default": 20},
    "day": {"type": "string", "format": "date"},
    "code": {"type": "string", "pattern": "^[A-Z]-[0-9]+$"},
    "ratio": {"type": "number"},
    "speed": {"type": "string", "enum": ["normal", "express"], "description": "how urgent it is"},
    "priority_support": {"type": "boolean"},
    "focus_area": {"type": "string"},
    "note": {"type": "string"},
    "lines": {"type": "array", "items": {"type": "integer"}},
    "box": {
        "type": "object",
        "properties": {
            "colour": {"type": "string"},
            "weight": {"type": "number"},
            "owner": {
                "type": "object",
                "properties": {"owner_id": {"type": "string"}, "visits": {"type": "array"}},
                "required": ["owner_id"],
            },
        },
    },
}
LAMPS = {
    "en": "Order one of the desk lamps for us, please.",
    "de": "Bestelle bitte eine von den Schreibtischlampen für das Büro.",
    "es": "Pide una de las lámparas para el despacho que está en Oslo.",
    "zh": "请订购一盏台灯。",
    "ar": "اطلب مصباحا إلى المكتب من فضلك.",
}


def left_out(
    said: str, effects: Effects = WRITE, result: Any = None, **options: Any
) -> tuple[Any, ...]:
    schema = {"type": "object", "properties": PARTS, "required": ["item"]}
    sources = ProvenanceIndex(said)
    if result is not None:
        sources.add_result(ToolResult("r1", "look", {}, result))
    tool = Tool("order", "Orders something.", schema, effects=effects)
    found = find_unstated_options({"item": "lamp", **options}, tool, sources, [said])
    return tuple(at[0] if len(at) == 1 else at for at in found)


@pytest.mark.parametrize("effects", [WRITE, READ, UNKNOWN])
@pytest.mark.parametrize("said", LAMPS.values(), ids=LAMPS)
@pytest.mark.parametrize(
    "option",
    [
        {"scan_frequency": 7},
        {"day": "2024-05-17"},
        {"code": "B-777"},
        {"ratio": 2.5},
        {"note": "unknown"},
    ],
    ids=str,
)
def test_values_with_a_form_that_nobody_said_go_in_every_language(
    effects: Effects, said: str, option: dict[str, Any]
) -> None:
    assert left_out(said, effects, **option) == tuple(option)


@pytest.mark.parametrize(
    "said",
    [
        "Order thirty-six of the desk lamps for us.",
        "Bestelle bitte sechsunddreißig von den Lampen für das Büro.",
        "Pide treinta y seis de las lámparas para el despacho que está en Oslo.",
        "请订购三十六盏台灯。",
        "اطلب ستة وثلاثين مصباحا إلى المكتب.",
        "Order 36 of the desk lamps for us.",
        "请订购36盏台灯。",
    ],
)
def test_a_number_that_was_said_stays(said: str) -> None:
    assert left_out(said, count=36) == ()


@pytest.mark.parametrize(
    ("option", "effects"),
    [
        ({"speed": "express"}, WRITE),
        ({"speed": "express"}, READ),
        ({"priority_support": True}, WRITE),
        ({"priority_support": True}, READ),
        ({"focus_area": "communication"}, WRITE),
    ],
)
def test_words_that_nobody_said_go_where_effects_are_declared(
    option: dict[str, Any], effects: Effects
) -> None:
    assert left_out(LAMPS["en"], effects, **option) == tuple(option)


@pytest.mark.parametrize("code", ["de", "es", "zh", "ar"])
@pytest.mark.parametrize(
    "option", [{"speed": "express"}, {"priority_support": True}, {"focus_area": "communication"}]
)
def test_words_stay_where_they_cannot_be_compared(code: str, option: dict[str, Any]) -> None:
    assert left_out(LAMPS[code], **option) == ()


@pytest.mark.parametrize(
    ("said", "option"),
    [
        ("Order one of the lamps by express, please.", {"speed": "express"}),
        ("Order one of the lamps, it is urgent.", {"speed": "express"}),
        ("Order one of the lamps, with support.", {"priority_support": True}),
        (LAMPS["en"], {"priority_support": False}),
        (LAMPS["en"], {"page_size": 20}),
        (LAMPS["en"], {"note": "to be delivered to the office"}),
        (LAMPS["en"], {"ratio": 8.9875e9}),
        (LAMPS["en"], {"ratio": 6.674e-11}),
        (LAMPS["en"], {"ratio": 0}),
        (LAMPS["en"], {"lines": [3, 4]}),
        (LAMPS["en"], {"note": None}),
        ("Order one of the lamps, at a high level of care.", {"level": 4}),
        ("Bestelle bitte eine von den Lampen, es ist sehr dringend.", {"level": 4}),
        ("Order one of the lamps on 17 May 2024, please.", {"day": "2024-05-17"}),
    ],
)
def test_what_was_said_or_may_have_been_meant_stays(said: str, option: dict[str, Any]) -> None:
    assert left_out(said, **option) == ()


@pytest.mark.parametrize(
    "option", [{"speed": "express"}, {"priority_support": True}, {"focus_area": "communication"}]
)
def test_words_stay_where_a_tool_declares_nothing(option: dict[str, Any]) -> None:
    assert left_out(LAMPS["en"], UNKNOWN, **option) == ()


def test_what_a_result_holds_stays() -> None:
    assert left_out(LAMPS["en"], result={"every": 7}, scan_frequency=7) == ()
    assert left_out(LAMPS["en"], result={"every": 8}, scan_frequency=7) == ("scan_frequency",)


def test_a_required_value_is_never_left_out_nor_any_where_nothing_is_said_to_be_optional() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": PARTS, "required": ["count"]}
    sources = ProvenanceIndex(LAMPS["en"])
    said = [LAMPS["en"]]
    assert find_unstated_options({"count": 36}, Tool("f", "", schema), sources, said) == ()
    del schema["required"]
    assert find_unstated_options({"count": 36}, Tool("f", "", schema), sources, said) == ()


def test_a_unit_follows_from_other_values() -> None:
    assert left_out("Order 3 metres of cable for us.", focus_area="cm") == ()


def test_a_number_beside_a_declared_default_goes_where_effects_are_declared() -> None:
    said = "Order one of the desk lamps for us."
    assert left_out(said, WRITE, page_size=50) == ("page_size",)
    assert left_out(said, UNKNOWN, page_size=50) == ()


UNDATED = (
    "When is my appointment with the dentist?",
    "Wann ist eigentlich der Friseurtermin, den ich verschieben wollte?",
    "¿Cuándo tengo la cita con el médico que quería cambiar?",
    "我和牙医的预约是什么时候？",
    "متى موعدي عند طبيب الأسنان؟",
)
DATED = (
    "What do I have today?",
    "Was habe ich heute noch für Termine?",
    "¿Qué citas tengo esta tarde?",
    "我今天有什么安排？",
    "ما هي مواعيدي اليوم؟",
    "How much did I spend this week?",
    "Wie viele Termine habe ich diese Woche noch vor mir?",
)


@pytest.mark.parametrize(
    ("said", "effects", "expected"),
    [
        *((said, READ, ("from_day", "to_day")) for said in UNDATED),
        *((said, READ, ()) for said in DATED),
        (UNDATED[0], UNKNOWN, ()),
        ("Log a run of 5 km for me, please.", WRITE, ()),
    ],
)
def test_today_goes_from_a_lookup_where_nobody_spoke_of_a_day(
    said: str, effects: Effects, expected: tuple[str, ...]
) -> None:
    day = {"type": "string", "format": "date"}
    schema = {"type": "object", "properties": {"from_day": day, "to_day": day}, "required": []}
    tool = Tool("list_appointments", "Lists appointments.", schema, effects=effects)
    today = date(2026, 3, 12)
    sources = ProvenanceIndex(said, days=[today], today=today)
    given = {"from_day": "2026-03-12", "to_day": "2026-03-12"}
    found = find_unstated_options(given, tool, sources, [said])
    assert tuple(at[0] for at in found) == expected


@pytest.mark.parametrize("said", LAMPS.values(), ids=LAMPS)
@pytest.mark.parametrize(
    ("box", "gone"),
    [
        ({"colour": "red, as on the picture", "weight": 2.5}, [("box", "weight")]),
        ({"weight": 2.5}, ["box"]),
        ({"owner": {"owner_id": "C-12345", "visits": []}}, ["box"]),
        ({"owner": {"owner_id": "the neighbour"}}, []),
        ({"owner": {"owner_id": "C-12345", "visits": [1]}, "weight": 2.5}, [("box", "weight")]),
        ({"owner": {"visits": []}}, []),
        ({}, []),
    ],
    ids=str,
)
def test_members_of_objects_are_judged_too(said: str, box: Any, gone: list[Any]) -> None:
    assert [*left_out(said, box=box)] == gone


def test_a_member_that_was_said_stays() -> None:
    said = "Order the lamp in the box of 2.5 kg for C-12345, please, and nothing else of it."
    assert left_out(said, box={"weight": 2.5, "owner": {"owner_id": "C-12345"}}) == ()
