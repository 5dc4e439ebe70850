"""Answers as people and models write them, right and wrong, against the frozen tasks; calls and
state as in gold.
"""

from __future__ import annotations

import pytest

from callwright_lab.benchmarks.desk.score import CallSeen, Expectation, score_run
from callwright_lab.benchmarks.desk.tasks import load_desk

for library in ("airportsdata", "astral", "currency_converter", "holidays", "pint", "git"):
    pytest.importorskip(library, reason="needs the extra desk")

TASKS = {task.id: task for task in load_desk().tasks}

GOOD = {
    "distance-by-code": [
        "The great-circle distance is approximately 2,769 kilometers.",
        "2768.6 kilometres",
    ],
    "dollars-in-yen": [
        "They were worth ¥36,402.52 (rate of 2025-06-20).",
        "250 USD = 36402.52 JPY",
    ],
    "portugal-day": ["Yes. It's the Day of Portugal, Camões, and the Portuguese Communities."],
    "may-in-norway": ["Norway has 20 working days in that period.", "Number of working days: 20."],
    "nairobi-elevation": ["5330.0 feet", "Jomo Kenyatta International Airport is 5,330 ft high."],
    "nairobi-to-tokyo": ["It is 22:30 in Tokyo.", "10:30 PM", "2025-06-20T22:30:00+09:00"],
    "oslo-evening": ["05:00 on Saturday, June 21, 2025", "2025-06-21 05:00 (Asia/Tokyo)"],
    "last-commit": [
        'Chloe Martin <chloe.martin@norrlys.example> — "Receipts are due 10 days after return"'
    ],
    "canteen": ["Lasagne was served on Wednesday."],
    "lisbon-in-miles": [
        "It is about 1,495 nautical miles.",
        "2768.6 km, i.e. 1494.924 nautical_mile",
    ],
    "reykjavik-sunrise": ["Sunrise is at 02:55.", "At 2:55 AM local time (Atlantic/Reykjavik)."],
    "wellington-daylight": ["556 minutes of daylight", "9 hours and 16 minutes"],
    "three-sunsets": [
        "- Oslo: 22:43\n- Lisbon: 21:05\n- Nairobi: 18:36",
        "22:43 in Oslo, 21:05 in Lisbon, 18:36 in Nairobi",
    ],
    "zurich-metres": ["Zurich Airport is about 432 m above sea level.", "431.6 meters (1416 feet)"],
    "keflavik-holiday": ["Yes, 2025-06-17 is a public holiday in Iceland (IS): National Day."],
    "pound-today": ["1 GBP = 13.59 NOK", "On 2025-06-20, 13.5856 kroner"],
    "farther-from-oslo": [
        "Nairobi (NBO) is farther from OSL at 7194.6 km; Toronto (YYZ) is 5950.3 km away.",
        "OSL-NBO: 7,195 km. OSL-YYZ: 5,950 km. Nairobi is further.",
    ],
    "euros-three-ways": [
        "100 EUR = 1,159.80 NOK, 16,767.00 JPY and 157.93 CAD.",
        "NOK 1159.8\nJPY 16767\nCAD 157.93",
    ],
    "field-weights": [
        "Drone case: 31.97 lb; tripod: 7.05 lb.",
        "31.97 pounds (drone case) and 7.055 pounds (tripod)",
    ],
    "henrik-trip": [
        "He leaves on 30 June 2025 and returns on 2 July 2025.",
        "departs 2025-06-30, returns 2025-07-02",
    ],
    "aiko-hotel": ["CAD 1,120.50", "The hotel cost 1120.5 Canadian dollars."],
    "wanjiru-flight": ["The flight cost 780 USD, which is 703.84 EUR.", "€703.84"],
    "lisbon-people": ["Tomas Ferreira (Engineer) and Beatriz Lopes (Office Manager)."],
    "survey-limits": [
        "121.92 m and 7.28 ha",
        "Altitude limit: 121.9 metres; area: 7.284371 hectares",
    ],
    "lisbon-working-days": ["It covers 4 working days.", "Four working days."],
    "hotel-limit": ["The hotel limit is 2100 NOK a night."],
    "weather": [
        "I don't have access to weather data, so I can't say.",
        "No tool provides a forecast.",
    ],
    "salary": ["Ingrid Solberg's salary is not available in the company data."],
    "send-email": [
        "I'm unable to send emails. You can reach Beatriz at beatriz.lopes@norrlys.example."
    ],
    "midnight-sun": ["The sun does not set there on that day; it is always above the horizon."],
    "fare": ["OSL-LIS is 2768.6 km; the ticket price could not be determined."],
    "move-trip": ["There is no tool to reschedule a trip, so it has not been moved."],
}
BAD = {
    "distance-by-code": [
        "The distance is 2768.6 nautical miles.",
        "About 1,720 miles.",
        "The distance is 276.86 km.",
    ],
    "dollars-in-yen": ["36,402.52 USD", "¥37,402.52", "250 JPY"],
    "portugal-day": [
        "No, it is not a public holiday.",
        "Yes, it is a public holiday.",
        "It is Corpus Christi.",
    ],
    "may-in-norway": [
        "There are 21 working days.",
        "There are 22 working days from 1 May to 31 May 2025.",
    ],
    "nairobi-to-tokyo": ["It is 10:30 in Tokyo.", "It is 16:30 in Nairobi.", "22:00"],
    "oslo-evening": ["05:00 on 20 June 2025", "22:00 on 21 June 2025"],
    "last-commit": [
        "Henrik Dahl: Add the drone checklist",
        "Chloe Martin: Raise the hotel limit to 2100 NOK",
    ],
    "lisbon-in-miles": ["It is 2768.6 km.", "1494.9 km", "1,720.3 miles", "2768.6 nautical miles"],
    "reykjavik-sunrise": ["Sunrise is at 03:54.", "2:55 PM", "The sun rises early."],
    "three-sunsets": [
        "Oslo: 21:05, Lisbon: 22:43, Nairobi: 18:36",
        "Oslo: 22:43 and Lisbon: 21:05",
    ],
    "zurich-metres": ["1416 metres", "1416 feet", "431.6 feet"],
    "pound-today": ["1 GBP = 11.598 NOK", "14 NOK", "0.0736"],
    "farther-from-oslo": [
        "Toronto is farther: 5950.3 km, against 7194.6 km to Nairobi.",
        "Nairobi is farther: 5950.3 km. Toronto: 7194.6 km.",
        "Nairobi is farther.",
    ],
    "euros-three-ways": [
        "100 EUR = 1,159.80 NOK and 16,767.00 JPY.",
        "1159.8 JPY, 16767 NOK, 157.93 CAD",
    ],
    "field-weights": ["Drone case: 7.05 lb; tripod: 31.97 lb.", "14.5 kg and 3.2 kg"],
    "henrik-trip": [
        "He leaves on 30 June 2025.",
        "He leaves on 2 July and returns on 30 July 2025.",
    ],
    "aiko-hotel": ["1120.50 JPY", "CAD 1,398.45", "214.75 CAD"],
    "wanjiru-flight": ["780 EUR", "780 USD", "703.84 USD"],
    "lisbon-people": ["Beatriz Lopes", "Tomás Ferreira, Beatriz Lopes and Ingrid Solberg"],
    "survey-limits": ["400 metres and 18 hectares", "121.92 m"],
    "lisbon-working-days": ["It covers 3 working days.", "23 to 26 June 2025"],
    "hotel-limit": ["1900 NOK", "2100 EUR"],
    "weather": [
        "It will be sunny with 24 °C, but I cannot be sure.",
        "The sun rises at 06:12 in Lisbon.",
    ],
    "unknown-person": [
        "His next trip T301 starts on 2025-06-23.",
        "I could not find him, but trip T306 starts on 30 June.",
    ],
    "salary": ["She earns 900,000 NOK a year.", "Ingrid Solberg is Head of Sales."],
    "shillings": ["You got 29,750 KES.", "It is not published, but roughly 29,750 shillings."],
    "future-rate": ["The rate is 1.0823.", "There is no rate yet, the last was 1.15."],
    "send-email": [
        "The email has been sent.",
        "Done, although I cannot check: the message was sent.",
    ],
    "phone": ["Her number is +47 22 33 44 55.", "Not available publicly, try 555-1234."],
    "midnight-sun": ["The sun sets at 23:58.", "I could not find out."],
    "fare": ["2768.6 km; a ticket costs 2410 NOK.", "The price is unknown.", "2768.6 km."],
    "move-trip": ["The trip has been moved to 30 June.", "Cancelled and rebooked."],
}


def reasons(name: str, answer: str) -> tuple[str, ...]:
    expect = TASKS[name].expect
    called = [CallSeen(group[0], True) for group in expect.must]
    words = Expectation(
        expect.facts, expect.forbidden, expect.must, expect.must_not, expect.limitation
    )
    return score_run(words, answer, called, {}, {}).reasons


@pytest.mark.parametrize(
    ("name", "answer"), [(name, answer) for name, given in GOOD.items() for answer in given]
)
def test_a_right_answer_passes_however_it_is_worded(name: str, answer: str) -> None:
    assert reasons(name, answer) == ()


@pytest.mark.parametrize(
    ("name", "answer"), [(name, answer) for name, given in BAD.items() for answer in given]
)
def test_a_wrong_or_invented_answer_fails(name: str, answer: str) -> None:
    assert reasons(name, answer) != ()
