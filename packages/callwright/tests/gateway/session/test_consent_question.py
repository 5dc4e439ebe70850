from __future__ import annotations

from mcp_types import ElicitRequestFormParams

from callwright.gateway.session.commands import AskConsent
from callwright.gateway.session.consent_question import build_question, is_granted
from callwright.nouns.types import CheckedCall, ToolCall
from tests.gateway.session.offers import catalog


def test_the_question_names_the_tool_its_server_the_reason_and_the_arguments() -> None:
    made = catalog()
    (offer,) = made
    checked = made.gate.check(ToolCall("1", offer.exposed, {"city": "Oslo" * 1_000}))
    assert isinstance(checked, CheckedCall)
    asked = build_question(AskConsent(offer, checked, "it may write"))
    for said in ("'forecast'", "'weather'", "it may write", "OsloOslo"):
        assert said in asked["message"]
    assert len(asked["message"]) < 1_500
    assert asked["message"].endswith("and 3011 characters more"), "what is not shown is counted"
    ElicitRequestFormParams.model_validate(asked, by_name=False)


def test_no_text_of_the_arguments_steers_what_is_shown() -> None:
    made = catalog()
    (offer,) = made
    checked = made.gate.check(ToolCall("1", offer.exposed, {"city": "a\u202eb\x1b[2J"}))
    assert isinstance(checked, CheckedCall)
    said = build_question(AskConsent(offer, checked, "why"))["message"]
    assert said.replace("\n", "").isprintable()


def test_only_a_yes_is_one() -> None:
    assert is_granted({"action": "accept", "content": {}})
    for answer in ({"action": "decline"}, {"action": "cancel"}, {}, {"action": True}):
        assert not is_granted(answer)
