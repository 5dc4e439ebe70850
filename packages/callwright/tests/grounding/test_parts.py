import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.grounding import check_statement, facts_of
from callwright.grounding.claims import claims_of
from callwright.grounding.parts import iter_parts
from callwright.grounding.quantity import find_numbers
from callwright.nouns.types import ToolResult

SERVERS = facts_of(
    "Which servers need attention?",
    [
        ToolResult(
            "r1",
            "list_servers",
            {},
            [
                {"host": "alder", "memory_gb": 64, "used_gb": 51.2, "cpu_percent": 82},
                {"host": "birch", "memory_gb": 32, "used_gb": 9.6, "cpu_percent": 17},
            ],
        ),
        ToolResult("r2", "leg", {}, {"to": "Malmo", "minutes": 312, "distance_km": 402}),
    ],
)


@pytest.mark.parametrize(
    "text",
    [
        "Alder uses 80% of its memory.",
        "Birch has 22.4 GB of memory left.",
        "Alder has 12.8 GB free.",
        "20 percent of alder's memory is not used.",
        "The average speed to Malmo was 77 km/h.",
    ],
)
def test_shares_rests_and_rates_of_one_record_are_supported(text: str) -> None:
    verdict = check_statement(text, SERVERS)
    assert verdict.support == "supported", verdict.problems


@pytest.mark.parametrize(
    "text",
    [
        "Alder uses 70% of its memory.",
        "Alder uses 30% of its memory.",
        "Birch has 12.8 GB of memory left.",
        "Alder has 14.8 GB free.",
        "The average speed to Malmo was 97 km/h.",
    ],
)
def test_another_records_share_and_a_wrong_rest_are_flagged(text: str) -> None:
    assert check_statement(text, SERVERS).support == "unsupported"


def ways(text: str, record: dict[str, object]) -> set[float]:
    facts = facts_of("q", [ToolResult("r1", "t", {}, record)])
    return {
        round(v, 6) for _, v, _ in iter_parts(find_numbers(text)[0], claims_of(text, facts), facts)
    }


@given(st.integers(0, 10**6), st.integers(1, 10**6))
def test_part_and_rest_make_the_whole(part: int, rest: int) -> None:
    assert float(rest) in ways("7 races were lost.", {"races": part + rest, "wins": part})


def test_nothing_is_computed_unless_the_sentence_speaks_of_a_field() -> None:
    assert ways("7 remain.", {"races": 12, "wins": 7}) == set()


def test_nothing_is_computed_unless_it_is_announced() -> None:
    assert ways("There were 5 races.", {"races": 12, "wins": 7}) == set()


def test_values_of_different_units_are_no_part_and_whole() -> None:
    assert ways("3 % of the memory", {"memory_gb": 64, "disk_tb": 2}) == set()
