"""Going on untouched, from wherever a request had come when the proxy failed over it."""

from __future__ import annotations

import json

import pytest

from callwright.proxy.apis.adapters import FRONTS
from callwright.proxy.server.meter import Unmetered
from callwright.proxy.server.outbound import CHAT, Outbound
from callwright.proxy.session.events import (
    ClientGone,
    CloseUpstream,
    Faulted,
    Finish,
    Log,
    Request,
    SendBody,
    SendHead,
    SendUpstream,
    UpstreamData,
    UpstreamEnd,
    UpstreamHead,
)
from callwright.proxy.session.faults import OverBudget
from callwright.proxy.session.phases.passing import pass_on, take_over
from callwright.proxy.session.phases.transaction import Transaction
from callwright.proxy.session.record import Record
from callwright.proxy.session.settings import Settings
from tests.proxy.playbook import JSON, body

FAULT = RuntimeError("on purpose")
ANSWER = UpstreamHead(200, {**JSON, "content-length": "4"})
GUARDED = Settings(guard="on")
OFFERING = json.dumps(body()).encode()


def begun(path: str = CHAT, raw: bytes = b"{ }", settings: Settings | None = None) -> Transaction:
    made = Transaction(record=Record("t1", ""), settings=settings or Settings())
    made.outbound = Outbound(Request("POST", path, body=raw))
    return made


def answered(
    pieces: bytes = b"abcd", sent: int = 0, raw: bytes = b"{ }", settings: Settings | None = None
) -> Transaction:
    """A request whose answer has come, as far as it has not gone out."""
    made = begun(raw=raw, settings=settings)
    made.progress.under_way = made.progress.was_under_way = "own"
    made.progress.tape.begin(ANSWER)
    made.progress.tape.add(pieces)
    made.progress.tape.keep(len(pieces) - sent)
    made.progress.head_sent = made.progress.head_was_sent = bool(sent)
    return made


def test_a_request_that_was_not_sent_is_sent_as_it_came() -> None:
    made = begun()
    told, asked = next(pass_on(made, FAULT, made.outbound.request))
    assert isinstance(told, Faulted)
    assert isinstance(asked, SendUpstream)
    assert asked.body == b"{ }"
    assert (made.record.fault, made.record.outcome) == ("RuntimeError", "passed")


def test_a_question_of_ours_is_closed_for_it() -> None:
    made = begun()
    made.progress.under_way, made.asking = "question", "guided"
    _, close, asked = next(pass_on(made, FAULT, UpstreamData(b"x")))
    assert (type(close), type(asked)) == (CloseUpstream, SendUpstream)
    assert made.asking == ""


@pytest.mark.parametrize("sent", [0, 3])
def test_the_rest_of_an_answer_goes_out_and_what_follows_is_relayed(sent: int) -> None:
    made = answered(sent=sent)
    steps = pass_on(made, FAULT, UpstreamData(b""))
    commands = next(steps)
    assert b"".join(c.data for c in commands if isinstance(c, SendBody)) == b"abcd"[sent:]
    assert sum(isinstance(c, SendHead) for c in commands) == (not sent)
    made.commands = []
    assert steps.send(UpstreamData(b"more")) == [SendBody(b"more")]
    made.commands = []
    with pytest.raises(StopIteration):
        steps.send(UpstreamEnd())
    assert made.commands[0] == Finish()


def test_what_the_event_had_led_to_for_the_client_is_sent_first_and_nothing_else_of_it() -> None:
    made = answered(sent=3)
    made.commands = [SendBody(b"abc"), SendUpstream("POST", "/", "", (), b"")]
    _, *commands = next(pass_on(made, FAULT, UpstreamData(b"")))
    assert commands == [SendBody(b"abc"), SendBody(b"d")]


def test_a_client_that_has_gone_is_sent_nothing() -> None:
    made = answered()
    _, *commands = next(pass_on(made, FAULT, ClientGone()))
    assert commands == [CloseUpstream()]
    assert made.progress.over


def test_a_lost_session_goes_on_translated_where_nothing_has_gone_out() -> None:
    raw = json.dumps({"model": "m", "max_tokens": 5, "messages": body()["messages"]}).encode()
    made = begun("/v1/messages", raw)
    front, request = FRONTS["/v1/messages"], made.outbound.request
    steps = take_over(made, front, request, OverBudget("lost"), Unmetered(), 1.0)
    _, asked = next(steps)
    assert isinstance(asked, SendUpstream)
    assert asked.path == CHAT
    assert made.front is front


def test_a_lost_session_breaks_off_an_answer_that_has_begun_in_another_api() -> None:
    made = answered(sent=3)
    front = FRONTS["/v1/messages"]
    steps = take_over(made, front, UpstreamData(b""), OverBudget("lost"), Unmetered(), 1.0)
    close, finish, _ = next(steps)
    assert (close, finish) == (CloseUpstream(), Finish(broken=True))
    assert made.record.outcome == "failed"


def test_a_request_that_cannot_be_translated_goes_on_as_it_came() -> None:
    made = begun("/v1/messages", b'{"messages": 3}')
    front, request = FRONTS["/v1/messages"], made.outbound.request
    _, asked = next(take_over(made, front, request, OverBudget("lost"), Unmetered(), 1.0))
    assert isinstance(asked, SendUpstream)
    assert (asked.path, asked.body) == ("/v1/messages", b'{"messages": 3}')


def test_an_answer_of_our_own_making_that_had_begun_is_broken_off() -> None:
    made = begun()
    made.progress.under_way = made.progress.was_under_way = "question"
    made.progress.head_sent = made.progress.head_was_sent = True
    told, *commands = next(pass_on(made, FAULT, UpstreamData(b"x")))
    assert isinstance(told, Faulted)
    assert [type(c) for c in commands] == [CloseUpstream, Finish, Log]
    assert commands[1] == Finish(broken=True), "nobody else can end it"


def test_with_the_guard_on_an_answer_that_was_not_read_is_an_error_of_which_nothing_passes() -> (
    None
):
    made = answered(raw=OFFERING, settings=GUARDED)
    made.progress.under_way = made.progress.was_under_way = ""
    made.commands = [SendHead(200, ()), SendBody(b"ab")]  # nobody has carried them out yet
    told, head, sent, end, log = next(pass_on(made, OverBudget("processor time"), UpstreamEnd()))
    assert isinstance(told, Faulted)
    assert isinstance(head, SendHead)
    assert (head.status, dict(head.headers)["x-callwright-outcome"]) == (503, "failed")
    assert isinstance(sent, SendBody)
    said = json.loads(sent.data)["error"]["message"]
    assert "over-budget: processor time" in said
    assert "Send it again" in said
    assert end == Finish()
    assert isinstance(log, Log)


def test_with_the_guard_on_a_request_that_was_not_read_is_not_sent() -> None:
    made = begun(raw=OFFERING, settings=GUARDED)
    _, *commands = next(pass_on(made, FAULT, made.outbound.request))
    assert not [c for c in commands if isinstance(c, SendUpstream)]
    assert b"on purpose" not in b"".join(c.data for c in commands if isinstance(c, SendBody)), (
        "the text of an exception may hold what a client sent"
    )


def test_with_the_guard_on_a_stream_that_has_begun_ends_in_an_error_in_place_of_its_rest() -> None:
    made = answered(sent=3, raw=OFFERING, settings=GUARDED)
    made.stream = True
    made.commands = [SendBody(b"abc")]
    _, *commands = next(pass_on(made, FAULT, UpstreamData(b"")))
    data = b"".join(c.data for c in commands if isinstance(c, SendBody))
    assert data.startswith(b"abc\n\ndata: ")
    assert json.loads(data.split(b"data: ")[1])["error"]["type"] == "upstream_error"
    assert [type(c) for c in commands][-3:] == [SendBody, Finish, Log]
    assert CloseUpstream() in commands


@pytest.mark.parametrize(
    ("raw", "settings"),
    [(OFFERING, Settings()), (OFFERING, Settings(guard="report")), (b'{"n": 1}', GUARDED)],
)
def test_all_else_passes_unread(raw: bytes, settings: Settings) -> None:
    made = answered(raw=raw, settings=settings)
    _, *commands = next(pass_on(made, FAULT, UpstreamData(b"")))
    assert SendBody(b"abcd") in commands
    assert made.record.outcome == "passed"


def test_a_lost_session_under_the_guard_is_refused_in_the_api_of_its_client() -> None:
    raw = json.dumps({"model": "m", "max_tokens": 5, "messages": [], "tools": []}).encode()
    made = begun("/v1/messages", raw, GUARDED)
    front, request = FRONTS["/v1/messages"], made.outbound.request
    commands = next(take_over(made, front, request, OverBudget("lost"), Unmetered(), 1.0))
    (sent,) = [c for c in commands if isinstance(c, SendBody)]
    assert json.loads(sent.data)["type"] == "error", "Anthropic's shape"
