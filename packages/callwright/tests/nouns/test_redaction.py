from __future__ import annotations

import base64
import json
from urllib.parse import quote

from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.redaction import SHORTEST, redact_secrets, select_redactable
from callwright.nouns.trace import Trace
from callwright.nouns.types import Json


def test_what_is_too_short_to_be_a_secret_is_left_in_the_text() -> None:
    assert select_redactable(["1", "x" * (SHORTEST - 1)]) == ()


@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"]), min_size=SHORTEST, max_size=12),
        min_size=1,
    )
)
def test_no_secret_survives_in_a_trace_however_it_is_written(secrets: list[str]) -> None:
    trace = Trace(secrets=select_redactable(secrets))
    for secret in secrets:
        for written in (
            secret,
            quote(secret, safe=""),
            json.dumps(secret),
            json.dumps(secret, ensure_ascii=False),
        ):
            (text,) = trace.add("note", text=f"<{written}>").data.values()
            if not set(secret) <= set("[secret]<>"):
                assert secret not in text
                assert written.strip('"') not in text


def test_basic_authentication_is_taken_out_whatever_the_name_of_the_user() -> None:
    for user in ("", "a", "ab", "abc"):
        sent = "Basic " + base64.b64encode(f"{user}:s3cr3t-value".encode()).decode()
        (text,) = (
            Trace(secrets=select_redactable(["s3cr3t-value"]))
            .add("note", text=f"sent {sent}")
            .data.values()
        )
        assert "[secret]" in text
        assert sent[-12:] not in text


@given(
    st.recursive(
        st.sampled_from(["Oslo", "YWJj", "%41", "s3cr3t-va", "x", 5]),
        lambda v: st.lists(v) | st.dictionaries(st.text(max_size=3), v),
    )
)
def test_one_secret_among_many_texts_is_taken_out_and_without_one_nothing_changes(
    value: Json,
) -> None:
    secret = "s3cr3t-value-of-20ch"
    assert redact_secrets(value, [secret]) == value
    spelled = base64.b64encode(f"u:{secret}".encode()).decode()
    assert redact_secrets([value, {"a": spelled}, value], [secret])[0::2] == [value, value]
    assert "[secret]" in redact_secrets([value, {spelled: 1}], [secret])[1].popitem()[0]
    assert redact_secrets([value, f"cut: {secret[:12]}"], [secret])[1] == "cut: [secret]"


def test_digits_that_are_a_secret_are_taken_out_of_numbers() -> None:
    assert redact_secrets({"pin": 48151623, "n": 5, "x": True}, ["48151623"]) == {
        "pin": "[secret]",
        "n": 5,
        "x": True,
    }


def test_of_two_secrets_of_which_one_holds_the_other_nothing_is_left() -> None:
    trace = Trace(secrets=select_redactable(["abcd", "abcd-efgh"]))
    assert trace.add("note", text="abcd-efgh").data == {"text": "[secret]"}


def test_secrets_are_taken_out_of_texts_and_keys_wherever_they_stand_and_nothing_else_changes() -> (
    None
):
    value = {"a": ["x-s3cret-y", 1, None, {"s3cret": True}], "b": 2.5}
    assert redact_secrets(value, ["s3cret"]) == {
        "a": ["x-[secret]-y", 1, None, {"[secret]": True}],
        "b": 2.5,
    }
    assert redact_secrets(value, ()) == value
