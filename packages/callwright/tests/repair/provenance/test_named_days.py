from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from callwright.nouns.types import Message, Tool, ToolResult
from callwright.repair.provenance.named_days import find_wrong_day
from callwright.repair.provenance.sources import ProvenanceIndex

DATE = {"type": "string", "format": "date"}
TEXT = {"type": "string"}
TODAY = "Today is Thursday, 2026-03-12."
SAID = {
    "en": "Enter the stocktaking for tomorrow at 09:00.",
    "de": "Trag für morgen um 09:00 Uhr 'Inventur' ein.",
    "es": "Apunta 'Inventario' para mañana a las 09:00.",
    "zh": "明天09:00盘点，请记下来。",
    "ar": "سجّل موعد الجرد غدا الساعة 09:00",
}


def tool(**properties: Any) -> Tool:
    schema = {"type": "object", "properties": properties, "required": [*properties]}
    return Tool("enter", "", schema)


def found(said: str, arguments: Any, *results: ToolResult, system: str = TODAY) -> str:
    known = ProvenanceIndex(said, [Message("system", system)], results)
    parts = {key: DATE if key in ("day", "until") else TEXT for key in arguments}
    wrong = find_wrong_day(arguments, tool(**parts), known, [said])
    return wrong.right if wrong is not None else ""


@pytest.mark.parametrize("code", ["en", "de"])
def test_a_wrong_day_is_the_one_that_was_named(code: str) -> None:
    assert found(SAID[code], {"title": "x", "day": "2026-03-14"}) == "2026-03-13"
    assert found(SAID[code], {"title": "x", "day": "2026-03-13"}) == ""
    assert found(SAID[code], {"at": "2023-10-06T09:00:00"}) == "2026-03-13T09:00:00"


@pytest.mark.parametrize("code", SAID)
def test_a_right_day_is_never_another_one(code: str) -> None:
    assert found(SAID[code], {"day": "2026-03-13"}) == ""


def test_a_word_with_one_meaning_counts_in_every_language() -> None:
    for said in (
        "Apunta 'Inventario' para pasado mañana a las 09:00.",
        "Trag für übermorgen um 09:00 Uhr 'Inventur' ein.",
        "后天09:00盘点，请记下来。",
    ):
        assert found(said, {"day": "2026-03-13"}) == "2026-03-14"


def test_what_is_not_certain_changes_nothing() -> None:
    said = SAID["de"]
    assert found(said, {"day": "2026-03-15", "until": "2026-03-16"}) == "", "two days in the call"
    assert found(said, {"day": "2026-03-15"}, system="Hallo.") == "", "today is not known"
    assert found(said, {"day": "2026-03-15"}, system=f"{TODAY} Closed on 2026-03-20.") == ""
    assert found("Trag es für morgen oder übermorgen ein.", {"day": "2026-03-15"}) == ""
    assert found("Trag es für den 15. ein.", {"day": "2026-03-16"}) == ""
    assert found(said, {"title": "2026"}) == ""


def test_a_day_that_a_result_gives_stays_unless_it_was_asked_for() -> None:
    said, day = SAID["de"], "2026-03-15"
    other = ToolResult("r1", "orders", {}, {"due": day})
    assert found(said, {"day": day}, other) == ""
    asked = ToolResult("r1", "events", {"day": day}, {"day": day, "events": []})
    assert found(said, {"day": day}, asked) == "2026-03-13"


def test_an_optional_day_stays() -> None:
    schema = {"type": "object", "properties": {"day": DATE}, "required": []}
    known = ProvenanceIndex(SAID["de"], days=[date(2026, 3, 12)])
    arguments = {"day": "2026-03-15"}
    assert find_wrong_day(arguments, Tool("f", "", schema), known, [SAID["de"]]) is None


SLOTS: Any = ["2026-03-17T15:00", {"from": "2026-03-20T09:00:00Z"}]
FIRST_FREE = {
    "en": ("Today is 2026-03-10.", "I leave tomorrow. Book the room for the first free slot."),
    "de": (
        "Heute ist der 2026-03-10.",
        "Ich fahre morgen weg. Buche den Raum, sobald er frei ist.",
    ),
    "es": ("Hoy es 2026-03-10.", "Pasado mañana me voy. Reserva la sala en cuanto esté libre."),
    "zh": ("今天是2026-03-10。", "我后天出发，会议室一有空就请预订。"),
    "ar": ("اليوم هو 2026-03-10.", "سأسافر غدا، احجز الغرفة عندما تكون متاحة"),
}


@pytest.mark.parametrize("code", FIRST_FREE)
def test_a_day_within_a_result_is_no_wrong_one(code: str) -> None:
    system, said = FIRST_FREE[code]
    slots = ToolResult("r1", "slots", {"room": "Blue"}, SLOTS)
    for day in ("2026-03-17", "2026-03-20"):
        assert found(said, {"day": day}, slots, system=system) == ""


@pytest.mark.parametrize(
    ("system", "said"),
    [
        ("Today is 2026-03-10. The user's birthday is on 5 May.", "I call them tomorrow; book it."),
        ("Today is 2026-03-10. The user's birthday: 2026-05-05.", "I call them tomorrow; book it."),
        (
            "Heute ist der 2026-03-10. Geburtstag: 5. Mai.",
            "Ich rufe morgen an; buche für das Fest.",
        ),
        ("Heute ist der 2026-03-10. Geburtstag am 05.05.2026.", "Ich rufe morgen an; buche das."),
        ("Hoy es 2026-03-10. Cumpleaños: 5 de mayo.", "Llamo pasado mañana; reserva la sala."),
        ("今天是2026-03-10。生日是5月5日。", "我后天打电话，请预订会议室。"),
    ],
)
def test_a_day_that_a_message_names_is_no_wrong_one(system: str, said: str) -> None:
    assert found(said, {"day": "2026-05-05"}, system=system) == ""


def test_a_day_that_stands_nowhere_and_todays_own_are_wrong_ones() -> None:
    said, system = "I leave tomorrow, book it.", "Today is 2026-03-10."
    assert found(said, {"day": "2026-03-12"}, system=system) == "2026-03-11"
    assert found(said, {"day": "2026-03-10"}, system=system) == "2026-03-11"
    clock = ToolResult("r1", "now", {}, {"now": "2026-03-10T08:00"})
    assert found(said, {"day": "2026-03-10"}, clock, system=system) == "2026-03-11"
    asked = ToolResult("r1", "slots", {"from": "2026-03-12T00:00"}, ["2026-03-12T09:00"])
    assert found(said, {"day": "2026-03-12"}, asked, system=system) == "2026-03-11"
