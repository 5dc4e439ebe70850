from __future__ import annotations

from callwright.gateway.session.call_result import (
    META_KEY,
    attach_edits,
    attach_meta,
    build_failure,
    build_refusal,
    describe_unknown,
)
from callwright.gateway.session.catalog import build_catalog, read_listing
from callwright.nouns.errors import Failure
from callwright.nouns.types import Edit
from callwright.nouns.wire_names import EditRules
from tests.gateway.session.offers import catalog, policy, tool

EDIT = Edit("/days", "3", 3, EditRules.TEXT_TO_NUMBER)


def test_edits_stand_in_the_result_under_one_key_beside_what_its_server_says() -> None:
    made = attach_edits({"content": [], "_meta": {"theirs": 1}}, [EDIT])
    assert made["_meta"] == {
        "theirs": 1,
        META_KEY: {
            "edits": [{"path": "/days", "before": "3", "after": 3, "rule": "text_to_number"}]
        },
    }
    assert attach_edits({"content": []}, []) == {"content": []}
    again = attach_meta(made, {"outcome": "unknown"})
    assert set(again["_meta"][META_KEY]) == {"edits", "outcome"}


def test_a_refusal_says_what_to_change() -> None:
    made = build_refusal("Correct it.", "arguments", [EDIT])
    assert made["isError"] is True
    assert made["content"] == [{"type": "text", "text": "Correct it."}]
    assert made["_meta"][META_KEY]["refused"] == "arguments"


def test_a_call_without_an_answer_is_said_to_have_had_an_effect_only_where_it_may_have() -> None:
    (offer,) = catalog()
    failure = Failure("timeout", "it was slow", retryable=True, outcome_unknown=True)
    unknown = build_failure(failure, offer, is_unknown=True)
    assert "may have taken effect" in unknown["content"][0]["text"]
    assert unknown["_meta"][META_KEY] == {"outcome": "unknown"}
    known = build_failure(failure, offer, is_unknown=False)
    assert "Nothing was changed" in known["content"][0]["text"]
    assert "_meta" not in known


def test_an_unknown_tool_is_told_with_those_that_may_have_been_meant() -> None:
    made = build_catalog([read_listing(policy(deny=["storm"]), [tool("forecast"), tool("storm")])])
    assert "'weather__forecast'" in describe_unknown("weather__forcast", made)
    assert "may not be called" in describe_unknown("weather__storm", made)
    assert "among the 1 tools" in describe_unknown("mail", made)
    assert describe_unknown("mail__send", made, "it died").endswith("was not sent: it died.")


def test_what_may_be_done_next_is_said_as_it_is() -> None:
    (once,), (often,) = catalog(), catalog(effects={"*": "idempotent"})
    failure = Failure("timeout", "it was slow", retryable=True, outcome_unknown=True)
    told = [build_failure(failure, one, is_unknown=True) for one in (once, often)]
    assert "It was not sent again" in told[0]["content"][0]["text"]
    assert "does no harm" in told[1]["content"][0]["text"], "it may have been sent twice"
    waits = Failure("rate_limit", "slow down", retryable=True, detail={"retry_after": 30.0})
    said = build_failure(waits, once, is_unknown=False)["content"][0]["text"]
    assert said.endswith("may succeed in 30 seconds.")
