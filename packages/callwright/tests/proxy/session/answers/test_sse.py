from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.proxy.session.answers.sse import (
    EventSplitter,
    encode_event,
    encode_named_event,
    extract_data,
    json_bytes,
    json_object,
)


@given(
    st.lists(
        st.sampled_from([b"a", b"\n", b"\r", b"\r\n", b"data: x", b"\n\n", b": c"]), max_size=30
    ),
    st.data(),
)
def test_events_joined_again_are_the_stream_and_cuts_change_nothing(
    parts: list[bytes], data: st.DataObject
) -> None:
    stream = b"".join(parts)
    whole = EventSplitter()
    expected = [*whole.feed(stream), whole.close()]
    assert b"".join(expected) == stream
    at = data.draw(st.integers(0, len(stream)))
    cut = EventSplitter()
    found = [*cut.feed(stream[:at]), *cut.feed(stream[at:]), cut.close()]
    assert b"".join(found) == stream
    assert [extract_data(e) for e in found if extract_data(e)] == [
        extract_data(e) for e in expected if extract_data(e)
    ]


def test_byte_by_byte_gives_the_same_events() -> None:
    stream = b"data: a\n\n: c\r\n\r\ndata: b\ndata: c\n\n\ndata: d"
    splitter = EventSplitter()
    events = [e for i in range(len(stream)) for e in splitter.feed(stream[i : i + 1])]
    assert [extract_data(e) for e in [*events, splitter.close()] if extract_data(e)] == [
        b"a",
        b"b\nc",
        b"d",
    ]


def test_data_is_what_stands_behind_data() -> None:
    assert extract_data(b'data: {"a": 1}\n\n') == b'{"a": 1}'
    assert extract_data(b"data:x\r\n\r\n") == b"x"
    assert extract_data(b"event: ping\ndata: {}\n\n") == b"{}"
    assert extract_data(b": comment\n\n") == b""


def test_what_is_written_can_be_read() -> None:
    assert encode_event({"a": "é"}) == 'data: {"a":"é"}\n\n'.encode()
    assert encode_named_event("ping", {}) == b"event: ping\ndata: {}\n\n"
    assert json_object(json_bytes({"n": 2**70})) == {"n": 2**70}


@pytest.mark.parametrize("data", [b"", b"[1]", b"{", b"\xff", b"3"])
def test_what_is_no_object_is_none(data: bytes) -> None:
    assert json_object(data) is None


def test_what_only_lenient_readers_take_does_not_pass_unread() -> None:
    for encoding in ("utf-8-sig", "utf-16", "utf-32"):
        assert json_object('{"a": "é"}'.encode(encoding)) == {"a": "é"}
    assert json_object(b'{"a": "\\ud83d x", "b": ["\\ud83d\\ude00"]}') == {
        "a": "\ufffd x",
        "b": ["😀"],
    }
    assert str((json_object(b'{"a": NaN}') or {})["a"]) == "nan"
    assert json_object(b'{"a":' * 100_000) is None
