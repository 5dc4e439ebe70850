from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.http import HttpResponse, HttpStream
from callwright.http.stream import LineSplitter
from callwright.nouns.errors import Failure


def stream_of(*pieces: bytes | Failure, max_bytes: int = 1000) -> HttpStream:
    waiting = iter([*pieces, b""])

    async def read() -> bytes | Failure:
        return next(waiting)

    return HttpStream(200, {}, "http://a.test/", read, max_bytes)


@settings(deadline=None)
@given(
    st.lists(st.sampled_from([b"\r", b"\n", b"\r\n", b"a", "\u00e9".encode(), b"data: x"])),
    st.data(),
)
def test_lines_do_not_depend_on_where_the_pieces_end(
    parts: list[bytes], data: st.DataObject
) -> None:
    whole = b"".join(parts)
    splitter, lines, rest = LineSplitter(), [], whole
    while rest:
        size = data.draw(st.integers(1, len(rest)))
        lines += splitter.feed(rest[:size])
        rest = rest[size:]
    lines += splitter.close()
    text = whole.decode().replace("\r\n", "\n").replace("\r", "\n")
    expected = text.split("\n")
    assert lines == (expected[:-1] if expected[-1] == "" else expected)


async def test_an_answer_that_breaks_off_ends_in_a_failure() -> None:
    broken = Failure("unavailable", "broke")
    assert [x async for x in stream_of(b"a\nb", broken).lines()] == ["a", broken]
    assert await stream_of(b"a", broken).read() == broken


async def test_an_answer_that_grows_too_long_is_cut_off_there() -> None:
    items = [x async for x in stream_of(b"12345", b"67890", b"1", max_bytes=10).chunks()]
    assert items[:2] == [b"12345", b"67890"]
    assert isinstance(items[2], Failure)
    assert items[2].kind == "too_large"


async def test_a_stream_can_be_read_whole() -> None:
    assert await stream_of(b"a", b"b").read() == HttpResponse(200, {}, b"ab", "http://a.test/")
