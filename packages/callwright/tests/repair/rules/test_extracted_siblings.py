"""What the reply's other calls and the call's own partner values say about a value."""

from __future__ import annotations

from callwright.repair.provenance.conversation_text import ConversationText
from callwright.repair.rules.extracted import Candidate, extract_value
from callwright.repair.rules.extracted_siblings import find_shared_value, list_partner_values

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}


def test_the_member_of_a_list_that_no_other_call_has() -> None:
    said = ConversationText("Stock prices of Apple, Microsoft and Tesla")
    assert extract_value(
        "company", TEXT, said, ["Apple", "Tesla"], ["Apple", "Tesla"]
    ) == Candidate("Microsoft", "listed")


def test_the_number_of_a_list_that_no_other_call_has() -> None:
    said = ConversationText("Interest over 10, 20 and 30 years")
    assert extract_value("years", WHOLE, said, [10, 30], [10, 30]) == Candidate(20, "listed")


def test_the_other_one_of_two_names() -> None:
    said = ConversationText("The distance between Oslo and Rome")
    arguments = {"origin": "Oslo", "unit": "km"}
    assert list_partner_values("destination", arguments) == ["Oslo"]
    found = extract_value(
        "destination",
        TEXT,
        said,
        arguments.values(),
        (),
        list_partner_values("destination", arguments),
    )
    assert found == Candidate("Rome", "listed")


def test_keys_that_name_different_things_are_no_partners() -> None:
    assert list_partner_values("destination", {"airline": "Delta", "date": "today"}) == []
    assert list_partner_values("place2", {"place1": "Oslo"}) == ["Oslo"]


def test_one_value_for_all_calls_is_shared_but_one_other_call_is_too_few() -> None:
    assert find_shared_value([5, 5]) == [5]
    assert find_shared_value([5]) == []


def test_a_value_that_another_of_several_calls_has_is_not_taken_again() -> None:
    said = ConversationText("weights of 5 and then 7 kilograms")
    assert extract_value("weight_in_kilograms", WHOLE, said, [5, 7], [5, 7]) is None
