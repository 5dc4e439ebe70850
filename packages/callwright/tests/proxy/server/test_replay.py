"""What brings another session to the same place."""

from __future__ import annotations

import json
import pickle
from types import MappingProxyType

from hypothesis import given
from hypothesis import strategies as st

from callwright.proxy.server.outbound import CHAT
from callwright.proxy.server.replay import Replay, SentDigest
from callwright.proxy.session.context import Toolsets
from callwright.proxy.session.events import (
    Command,
    Event,
    Request,
    SendBody,
    SendHead,
    SendUpstream,
    Tick,
    UpstreamData,
    UpstreamEnd,
    UpstreamHead,
)
from callwright.proxy.session.session import Session
from callwright.proxy.session.settings import Settings
from tests.proxy.playbook import SSE, body, text_stream

HEAD = UpstreamHead(200, MappingProxyType(SSE))
CALL = '<tool_call>{"name": "getWeather", "arguments": {"city": "Paris", "days": "2"}}</tool_call>'


def test_events_and_their_times_are_kept_in_a_form_that_another_process_can_read() -> None:
    made = Replay(10_000)
    made.add(HEAD, 1.0, [])
    made.add(UpstreamData(b"abc"), 2.5, [SendBody(b"abc")])
    told = made.events
    assert told is not None
    assert pickle.loads(pickle.dumps(told)) == told
    assert [(type(event), now) for event, now in told] == [(UpstreamHead, 1.0), (UpstreamData, 2.5)]


def test_more_than_the_limit_is_not_kept() -> None:
    made = Replay(1_000)
    made.add(Request("POST", CHAT, body=b"x" * 500), 0.0, [])
    assert made.events is not None
    made.add(UpstreamData(b"x" * 400), 0.0, [])
    made.add(Tick(), 0.0, [])
    assert made.events is None


def test_the_answer_under_a_head_is_what_came_before_the_next_head() -> None:
    made, other = Replay(10_000), UpstreamHead(200, {})
    for event in (HEAD, UpstreamData(b"a"), UpstreamData(b"b"), UpstreamEnd(), other):
        made.add(event, 0.0, [])
    last = UpstreamData(b"c")
    assert (made.list_answer(HEAD, last), made.list_answer(other, last)) == (b"ab", b"c")
    assert made.list_answer(other, UpstreamEnd()) == b""
    assert made.list_answer(UpstreamHead(200, {}), last) == b""


def test_the_digest_tells_kinds_statuses_and_bytes() -> None:
    def read(*commands: Command) -> bytes:
        digest = SentDigest()
        digest.add(commands)
        return digest.read()

    def ask(data: bytes) -> Command:
        return SendUpstream("POST", CHAT, "", (), data)

    assert read(SendBody(b"abc")) == read(SendBody(b"abc"))
    different = [SendBody(b"abd"), SendBody(b""), SendHead(200, ()), SendHead(503, ()), ask(b"a")]
    assert len({read(one) for one in (*different, ask(b"b"))}) == 6


@given(st.lists(st.integers(1, 400), max_size=6), st.integers(0, 8))
def test_a_session_that_is_told_the_same_sends_the_same(cuts: list[int], left: int) -> None:
    stream, pieces = text_stream("It rains. ", CALL), list[bytes]()
    for cut in cuts:
        pieces.append(stream[:cut])
        stream = stream[cut:]
    asked = json.dumps(body()).encode()
    events: list[Event] = [Request("POST", CHAT, body=asked), HEAD]
    events += [UpstreamData(piece) for piece in (*pieces, stream) if piece]
    events.append(UpstreamEnd())
    first, second = (Session(Settings(guided="off", guard="on"), Toolsets(), "n") for _ in range(2))
    replay, digest = Replay(1_000_000), SentDigest()
    for at, event in enumerate(events[: left + 1]):
        replay.add(event, at / 10, first.handle(event, at / 10))
    for event, now in replay.events or ():
        digest.add(second.handle(event, now))
    assert digest.read() == replay.sent
    for event in events[left + 1 :]:
        assert first.handle(event, 9.0) == second.handle(event, 9.0)
