import pytest

from callwright.grounding import check_answer, facts_of
from callwright.grounding.assertion import check_name_pairs, check_states, check_truths
from callwright.grounding.claims import claims_of
from callwright.grounding.grounding_result import GroundingResult
from callwright.nouns.types import ToolResult

FACTS = facts_of(
    "How are the huts?",
    [
        ToolResult(
            "r1", "hut", {}, {"hut": "Almar", "town": "Bergen", "heated": True, "state": "up"}
        ),
        ToolResult(
            "r2", "hut", {}, {"hut": "Brisk", "town": "Tromso", "heated": False, "state": "up"}
        ),
    ],
)


def problems(text: str) -> list[str]:
    claims, verdict = claims_of(text, FACTS), GroundingResult("supported")
    check_truths(claims, FACTS, verdict, [])
    check_name_pairs(claims, FACTS, verdict)
    check_states(claims, FACTS, verdict)
    return verdict.problems


@pytest.mark.parametrize(
    "text",
    [
        "Almar is heated.",
        "Brisk is not heated.",
        "Brisk isn't heated, but Almar is heated.",
        "Only one of Almar and Brisk is heated.",
        "Almar is in Bergen.",
        "Almar is up.",
    ],
)
def test_what_the_results_affirm_or_deny_may_be_said(text: str) -> None:
    assert problems(text) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Almar is not heated.", "r1 heated is true"),
        ("Brisk is heated.", "r2 heated is false"),
        ("Almar is in Tromso.", "Tromso does not stand with Almar; bergen does"),
        ("Almar is down.", "r1 state is up"),
    ],
)
def test_the_contrary_is_a_problem_that_names_the_truth(text: str, problem: str) -> None:
    assert problems(text) == [problem]


def test_a_switch_about_nothing_named_is_left_alone() -> None:
    assert problems("The hut is heated.") == []


@pytest.mark.parametrize(
    ("text", "is_right"),
    [
        ("The kitchen lamp is on.", True),
        ("The kitchen lamp is off.", False),
        ("The kitchen lamp is not off.", True),
        ("The bedroom lamp is off.", True),
        ("The bedroom lamp isn't off.", False),
        ("The kitchen lamp is on, but the bedroom lamp is off.", True),
    ],
)
def test_a_switch_is_also_denied_by_the_opposite_word(text: str, is_right: bool) -> None:
    lamps = [{"name": "Kitchen", "on": True}, {"name": "Bedroom", "on": False}]
    checked = check_answer(text, "Which lamps are on?", [ToolResult("r1", "list", {}, lamps)])
    assert (checked.statements[0].support == "supported") is is_right
