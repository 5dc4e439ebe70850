"""What goes upstream for a request, and which requests are read."""

from __future__ import annotations

import json

import pytest

from callwright.proxy.apis.adapters import FRONTS
from callwright.proxy.server.outbound import CHAT
from callwright.proxy.session.context import Toolsets
from callwright.proxy.session.events import Request, SendHead, SendUpstream
from callwright.proxy.session.faults import OverBudget
from callwright.proxy.session.phases.reading import find_front, is_read, read_request
from callwright.proxy.session.phases.transaction import Transaction
from callwright.proxy.session.record import Record
from callwright.proxy.session.settings import Settings
from tests.proxy.playbook import body


def read(request: Request, most_items: int = 99) -> tuple[SendUpstream | None, Transaction]:
    made = Transaction(record=Record("t1", ""), settings=Settings())
    return read_request(made, request, Toolsets(), FRONTS, most_items), made


def test_chat_requests_of_every_api_are_read_and_nothing_else() -> None:
    for path in (CHAT, "/v1/messages/count_tokens", *FRONTS):
        assert is_read(Request("POST", path))
        assert not is_read(Request("GET", path))
    assert not is_read(Request("POST", "/v1/embeddings"))
    assert find_front(Request("POST", "/v1/messages"), FRONTS) is FRONTS["/v1/messages"]
    assert find_front(Request("POST", CHAT), FRONTS) is None


def test_a_request_that_needs_nothing_goes_upstream_with_its_bytes() -> None:
    raw = json.dumps(body(), indent=1).encode()
    sent, made = read(Request("POST", CHAT, body=raw))
    assert sent is not None
    assert sent.body == raw
    assert made.context is not None
    assert made.record.tools == ("get_weather", "send_mail")
    assert made.stream
    assert made.bare is None


def test_calls_are_not_read_where_no_tools_are_offered() -> None:
    sent, made = read(Request("POST", CHAT, body=b'{"messages": []}'))
    assert sent is not None
    assert made.context is None


@pytest.mark.parametrize(("path", "status"), [("/v1/messages", 400), (CHAT, None)])
def test_what_is_no_json_is_refused_only_where_it_would_be_translated(
    path: str, status: int | None
) -> None:
    sent, made = read(Request("POST", path, body=b"nothing"))
    heads = [c.status for c in made.commands if isinstance(c, SendHead)]
    assert heads == ([] if status is None else [status])
    assert (sent is None) == (status is not None)


def test_a_request_of_too_many_items_is_over_budget() -> None:
    with pytest.raises(OverBudget, match="3 items"):
        read(Request("POST", CHAT, body=json.dumps(body()).encode()), most_items=2)
