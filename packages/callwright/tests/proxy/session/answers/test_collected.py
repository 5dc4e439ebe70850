from __future__ import annotations

from callwright.proxy.session.answers.collected import Collected


def test_pieces_are_joined_and_counted() -> None:
    made = Collected(5)
    made.add(b"abc")
    made.add(b"de")
    assert not made.too_long
    made.add(b"f")
    assert made.too_long
    assert made.take() == b"abcdef"
    assert not made.too_long
    assert made.take() == b""


def test_events_are_known_by_their_beginning_wherever_it_is_cut() -> None:
    made = Collected(99)
    for piece in (b"\n", b"da", b"ta: {}"):
        assert not made.events
        made.add(piece)
    assert made.events
    whole = Collected(99)
    whole.add(b'{"data": 1}')
    assert not whole.events
