"""What goes upstream for a request, and which requests are read."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from callwright.proxy.apis.adapters import FRONTS, OLDER
from callwright.proxy.server.outbound import CHAT
from callwright.proxy.session.context import Toolsets
from callwright.proxy.session.events import Request, SendHead, SendUpstream
from callwright.proxy.session.faults import OverBudget
from callwright.proxy.session.phases.reading import find_front, is_read, read_request
from callwright.proxy.session.phases.transaction import Transaction
from callwright.proxy.session.record import Record
from callwright.proxy.session.settings import Settings
from tests.proxy.playbook import WEATHER, body


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


@pytest.mark.parametrize(
    "path",
    [
        f"{CHAT}/",
        "/v1//chat/completions",
        "/v1/chat/completion%73",
        "/v1/chat%252Fcompletions",
        "/V1/Chat/Completions",
        "/openai/deployments/x/chat/completions",
    ],
)
def test_a_path_that_a_server_may_take_for_another_is_read_as_that(path: str) -> None:
    sent, made = read(Request("POST", path, "a=b", body=json.dumps(body()).encode()))
    assert is_read(Request("POST", path))
    assert made.context is not None
    assert made.front is None
    assert sent is not None
    assert (sent.path, sent.query) == (path, "a=b")
    assert find_front(Request("POST", "/v1/Messages/"), FRONTS) is FRONTS["/v1/messages"]


@pytest.mark.parametrize("more", [{"user": "\ud83d"}, {"top_p": float("nan")}])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_body_that_only_lenient_servers_take_is_read_and_goes_on_with_its_bytes(
    more: Any, encoding: str
) -> None:
    raw = json.dumps({**body(), **more}).encode(encoding)
    sent, made = read(Request("POST", CHAT, body=raw))
    assert made.context is not None
    assert sent is not None
    assert sent.body == raw


@pytest.mark.parametrize("n", [None, 1, 1.0])
def test_one_choice_is_the_rule_and_whatever_else_n_is_asks_for_several(n: Any) -> None:
    for asked, wants_several in (({"n": n}, False), ({"n": 2}, True), ({"n": "1"}, True)):
        sent, made = read(Request("POST", CHAT, body=json.dumps({**body(), **asked}).encode()))
        assert made.wants_several is wants_several
        assert made.context is not None
        assert "n" not in made.context.body
        assert sent is not None
        assert json.loads(sent.body)["n"] == asked["n"]


def test_functions_are_tools_and_one_call_is_all_that_an_answer_holds() -> None:
    asked = {**body(tools=None), "functions": [WEATHER["function"]]}
    sent, made = read(Request("POST", CHAT, body=json.dumps(asked).encode()))
    assert made.front is OLDER
    assert made.context is not None
    assert not made.context.parallel
    assert sent is not None
    assert made.bare == sent
    assert json.loads(sent.body)["tools"] == [WEATHER]


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


@pytest.mark.parametrize("more", [(), (("content-encoding", "identity"),)])
@pytest.mark.parametrize("path", [CHAT, "/v1/messages"])
def test_a_compressed_body_is_refused_where_it_would_have_to_be_read(path: str, more: Any) -> None:
    raw = gzip.compress(json.dumps(body()).encode())
    packed = (("content-encoding", "gzip"), *more)
    sent, made = read(Request("POST", path, "", packed, raw))
    assert sent is None
    (head,) = [c for c in made.commands if isinstance(c, SendHead)]
    assert head.status == 415
    assert "gzip" in made.record.notes[-1]
    sent, _ = read(Request("POST", "/v1/files", "", packed, raw))
    assert sent is not None
    assert sent.body == raw
    plain = Request(
        "POST", CHAT, "", (("content-encoding", "identity"),), json.dumps(body()).encode()
    )
    assert read(plain)[0] is not None


def test_a_request_of_too_many_items_is_over_budget() -> None:
    with pytest.raises(OverBudget, match="3 items"):
        read(Request("POST", CHAT, body=json.dumps(body()).encode()), most_items=2)
