"""The part of an answer that waits for the client, and how much of it has gone."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from callwright.proxy.session.answers.outbox import Outbox, Waiting


def test_what_waits_comes_out_as_it_came_what_follows_the_finish_last() -> None:
    box = Outbox()
    box.wait(Waiting(b"one", 0, 3, 0.0), is_over=False)
    assert box.next_start == 3
    box.wait(Waiting(b"end", 3, 3, 0.0), is_over=True)
    box.wait(Waiting(b"two", 3, 6, 0.0), is_over=False)
    assert box.size == 9
    assert box.empty() == [b"one", b"two", b"end"]
    box.pass_through(6)
    assert (box.sent, box.handed, box.next_start) == (6, 6, 6)


@given(st.lists(st.text("ab", max_size=5), max_size=6), st.lists(st.integers(0, 30), max_size=6))
def test_the_shown_text_comes_out_once_wherever_it_is_cut(
    texts: list[str], cuts: list[int]
) -> None:
    box, at = Outbox(), 0
    for text in texts:
        box.shown.append((at, text))
        at += len(text)
    places = sorted({0, at, *(cut for cut in cuts if cut < at)})
    seen = [box.visible(*pair) for pair in itertools.pairwise(places)]
    assert "".join(seen) == "".join(texts)
