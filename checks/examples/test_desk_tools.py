"""The desk's tools do what their docstrings say, on real data, and cannot leave their folder."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from callwright.nouns.errors import ToolError
from callwright_lab.benchmarks.desk.tasks import load_desk

for library in ("airportsdata", "astral", "currency_converter", "holidays", "pint"):
    pytest.importorskip(library, reason="needs the extra desk")

DESK = load_desk()
company, daylight, geography, measures, notes, workdays, world = (
    sys.modules[f"desk.{name}"]
    for name in ("company", "daylight", "geography", "measures", "notes", "workdays", "world")
)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return DESK.fresh(tmp_path_factory.mktemp("desk") / "home")


@pytest.fixture
def home(template: Path, tmp_path: Path) -> Iterator[Path]:
    from shutil import copytree

    yield world.use(copytree(template, tmp_path / "home"))
    world.use(template)


def test_two_desks_are_the_same_down_to_the_commit_hashes(template: Path, tmp_path: Path) -> None:
    other = world.build(tmp_path / "other")
    assert world.snapshot(other) == world.snapshot(template)
    assert world.snapshot(other)["git"]["main"] == "ca04a20d8cc61a401908415cdaee89346a36a6c6"
    assert world.snapshot(other)["git"]["changes"] == ""


def test_airports_are_found_by_city_name_or_accentless_name() -> None:
    assert geography.find_airports("Oslo Gardermoen")["airports"][0]["iata"] == "OSL"
    assert {a["iata"] for a in geography.find_airports("Tokyo")["airports"]} == {"NRT", "HND"}
    assert geography.find_airports("ponta delgada")["airports"][0]["iata"] == "PDL"
    with pytest.raises(ToolError, match="no airport found"):
        geography.find_airports("Atlantis")


def test_great_circle_distances_agree_with_published_ones() -> None:
    assert geography.flight_distance("osl", "LIS")["kilometres"] == pytest.approx(2769, rel=0.005)
    assert geography.flight_distance("JFK", "SIN")["kilometres"] == pytest.approx(15_332, rel=0.005)
    assert geography.flight_distance("OSL", "OSL")["kilometres"] == 0
    with pytest.raises(ToolError, match="no airport with the IATA code"):
        geography.flight_distance("OSL", "XQZ")


def test_the_sun_rises_when_almanacs_say() -> None:
    found = daylight.sun_times(64.1467, -21.9426, "2025-06-21", "Atlantic/Reykjavik")
    assert found["sunrise"] in ("02:54", "02:55", "02:56")
    assert found["sunset"] in ("00:02", "00:03", "00:04")
    assert found["sunset_date"] == "2025-06-22"
    assert 1260 < found["daylight_minutes"] < 1275
    with pytest.raises(ToolError, match="does not rise or does not set"):
        daylight.sun_times(69.65, 18.96, "2025-06-21", "Europe/Oslo")


@pytest.mark.parametrize(("latitude", "longitude"), [(95, 0), (10, 999), (float("nan"), 0)])
def test_a_position_that_is_nowhere_is_told_to_the_model_by_every_tool_that_takes_one(
    latitude: float, longitude: float
) -> None:
    where = (latitude, longitude)
    for ask in (
        lambda: daylight.sun_times(*where, "2025-06-21", "UTC"),
        lambda: daylight.twilight_times(*where, "2025-06-21", "UTC", "civil"),
        lambda: geography.position_distance(0, 0, *where),
        lambda: geography.nearest_airports(*where),
    ):
        with pytest.raises(ToolError, match="latitude must lie in"):
            ask()


def test_local_times_follow_daylight_saving() -> None:
    summer = daylight.convert_local_time("2025-07-01", "12:00", "Europe/Oslo", "Asia/Tokyo")
    winter = daylight.convert_local_time("2025-01-01", "12:00", "Europe/Oslo", "Asia/Tokyo")
    assert (summer["time"], winter["time"]) == ("19:00", "20:00")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("2025-13-01", "12:00", "UTC", "UTC"), "not a date"),
        (("2025-01-01", "noon", "UTC", "UTC"), "not a time"),
        (("2025-01-01", "12:00", "Mars/Olympus", "UTC"), "no time zone"),
        (("2025-01-01", "12:00", "../../etc/passwd", "UTC"), "no time zone"),
    ],
)
def test_nonsense_is_told_to_the_model(arguments: tuple[str, ...], said: str) -> None:
    with pytest.raises(ToolError, match=said):
        daylight.convert_local_time(*arguments)


def test_holidays_and_working_days_agree() -> None:
    assert workdays.check_holiday("no", "2025-05-17")["is_holiday"]
    assert not workdays.check_holiday("NO", "2025-05-18")["is_holiday"]
    assert (
        workdays.count_working_days("NO", "2025-04-14", "2025-04-21")["working_days"] == 3
    )  # Easter week
    assert {h["date"] for h in workdays.list_holidays("CA", 2025)["holidays"]} >= {
        "2025-07-01",
        "2025-12-25",
    }
    with pytest.raises(ToolError, match="no holidays known"):
        workdays.check_holiday("ZZ", "2025-01-01")


@pytest.mark.parametrize(
    ("value", "start", "end", "result"),
    [
        (1, "nautical miles", "km", 1.852),
        (100, "°C", "°F", 212),
        (-40, "degF", "degC", -40),
        (1, "acre", "hectare", 0.4046873),
        (1, "km/h", "m/s", 0.2777778),
    ],
)
def test_units_are_converted_as_people_write_them(
    value: float, start: str, end: str, result: float
) -> None:
    assert measures.convert_units(value, start, end)["value"] == pytest.approx(result, rel=1e-6)


@pytest.mark.parametrize(
    ("start", "end"), [("km", "kg"), ("blorps", "km"), ("", "km"), ("km", "__import__('os')")]
)
def test_units_that_do_not_fit_are_refused(start: str, end: str) -> None:
    with pytest.raises(ToolError, match="cannot convert"):
        measures.convert_units(1, start, end)


def test_rates_are_those_the_central_bank_published() -> None:
    found = measures.exchange_rate("EUR", "USD", "2025-06-20")  # 1.1515 in the ECB's own table
    assert (found["rate"], found["date"]) == (1.1515, "2025-06-20")
    sunday = measures.exchange_rate("EUR", "USD", "2025-06-22")
    assert (sunday["rate"], sunday["date"]) == (1.1515, "2025-06-20")
    assert measures.convert_currency(200, "EUR", "USD", "2025-06-20")["amount"] == 230.3
    for bad in (("EUR", "KES", "2025-06-20"), ("EUR", "USD", "1980-01-01")):
        with pytest.raises(ToolError, match="rate"):
            measures.exchange_rate(*bad)


def test_people_are_found_by_any_part_of_their_name(home: Path) -> None:
    assert company.find_employee("tomas")["employees"][0]["employee_id"] == "E102"
    assert company.find_employee("Jónsdottir Sigrún")["employees"][0]["employee_id"] == "E106"
    with pytest.raises(ToolError, match="no employee"):
        company.find_employee("Gunnar Hansen")


def test_arguments_are_values_and_never_sql(home: Path) -> None:
    before = world.snapshot(home)
    for call in (
        lambda: company.list_trips("E101' OR '1'='1"),
        lambda: company.delete_expense("X514'; DROP TABLE expenses; --"),
        lambda: company.get_office("OF-1' --"),
    ):
        with pytest.raises(ToolError, match="there is no"):
            call()
    assert world.snapshot(home) == before


def test_a_taken_room_cannot_be_booked_twice(home: Path) -> None:
    span = ("2025-06-23", "10:00", "11:00")
    assert company.find_rooms("OF-1", 4, *span)["free_rooms"] == [{"room": "Skog", "seats": 4}]
    assert company.book_room("Skog", *span, "E101")["booking_id"] == "B707"
    assert company.find_rooms("OF-1", 4, *span)["free_rooms"] == []
    with pytest.raises(ToolError, match="is taken"):
        company.book_room("Skog", "2025-06-23", "10:30", "12:00", "E101")
    assert company.book_room("Skog", "2025-06-23", "11:00", "12:00", "E101")["booking_id"] == "B708"


def test_cancelling_takes_the_trip_with_its_expenses_and_nothing_else(home: Path) -> None:
    before = world.snapshot(home)
    company.cancel_trip("T302")
    after = world.snapshot(home)
    assert set(before["trips"]) - set(after["trips"]) == {"T302"}
    assert set(before["expenses"]) - set(after["expenses"]) == {"X501", "X502", "X503", "X504"}
    assert {k: v for k, v in after.items() if k not in ("trips", "expenses")} == {
        k: v for k, v in before.items() if k not in ("trips", "expenses")
    }


def test_expenses_are_added_with_the_next_id(home: Path) -> None:
    assert company.add_expense("T301", "taxi", 34.5, "eur")["expense_id"] == "X517"
    with pytest.raises(ToolError, match="must be positive"):
        company.add_expense("T301", "taxi", -1, "EUR")


@pytest.mark.parametrize(
    "name",
    [
        "../secret.md",
        "/etc/passwd",
        "a/b.md",
        "..",
        ".hidden.md",
        "note.txt",
        "a\x00.md",
        "a.md/../../b.md",
        "",
    ],
)
def test_no_name_leaves_the_folder_of_notes(home: Path, name: str) -> None:
    (home / "secret.md").write_text("secret")
    for call in (notes.read_note, notes.delete_note, lambda n: notes.write_note(n, "x")):
        with pytest.raises(ToolError):
            call(name)
    assert (home / "secret.md").read_text() == "secret"


def test_a_link_out_of_the_folder_is_not_followed(home: Path) -> None:
    (home / "secret.md").write_text("secret")
    (home / "notes" / "link.md").symlink_to(home / "secret.md")
    for call in (notes.read_note, lambda n: notes.write_note(n, "x")):
        with pytest.raises(ToolError, match="link"):
            call("link.md")
    assert all(line["line"] != "secret" for line in notes.search_notes("secret")["lines"])


def test_notes_are_written_read_searched_and_deleted(home: Path) -> None:
    notes.write_note("plan.md", "# Plan\n\nMeet Åse at noon")
    assert "plan.md" in notes.list_notes()["notes"]
    assert notes.read_note("plan.md")["text"].endswith("Åse at noon\n")
    assert {"name": "plan.md", "line": "Meet Åse at noon"} in notes.search_notes("ase AT")["lines"]
    notes.delete_note("plan.md")
    with pytest.raises(ToolError, match="there is no note"):
        notes.read_note("plan.md")
