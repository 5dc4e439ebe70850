from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from callwright.gateway.session.round_state import (
    RoundState,
    build_input_required,
    read_round_state,
)


@given(st.booleans(), st.booleans(), st.none() | st.text(), st.text())
def test_a_state_is_read_as_it_was_written(
    asked: bool, approved: bool, server: str | None, parked: str
) -> None:
    state = RoundState(asked, approved, server, parked.encode("utf-8", "replace").decode())
    if server is not None and server.encode("utf-8", "replace").decode() != server:
        return
    assert read_round_state(state.dump()) == state


def test_what_is_no_state_is_that_of_a_new_call() -> None:
    for text in (None, "", "{", "[]", '{"approved": "yes", "server": 5}'):
        state = read_round_state(text)
        assert (state.approved, state.server) == (False, None)


def test_an_interim_result_asks_and_brings_its_state() -> None:
    made = build_input_required({"a": {"method": "roots/list"}}, RoundState(asked=True))
    assert made["resultType"] == "input_required"
    assert made["inputRequests"] == {"a": {"method": "roots/list"}}
    assert read_round_state(made["requestState"]).asked
