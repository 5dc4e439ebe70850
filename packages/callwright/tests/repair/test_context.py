"""What was said is counted once, whether it came as query, as messages or as both."""

from __future__ import annotations

from callwright.nouns.types import Message
from callwright.repair.context import RepairContext


def test_query_and_last_message_are_the_same_words() -> None:
    situation = RepairContext([], "hello", [Message("user", "before"), Message("user", "hello")])
    assert situation.said == ["before", "hello"]
    assert situation.informed


def test_the_last_user_message_is_the_query_where_none_is_given() -> None:
    situation = RepairContext([], "", [Message("user", "ask"), Message("tool", '{"id": 77123}')])
    assert situation.query == "ask"
    assert situation.sources.holds(77123)


def test_without_a_conversation_nothing_is_known() -> None:
    assert not RepairContext([]).informed
