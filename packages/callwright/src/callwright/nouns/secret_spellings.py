"""Finding a secret in a text however it is spelled there. Pure; linear in the text.

A server that is sent a credential may send it back in any encoding, and in one encoding inside
another. So a text is looked through as it is and as it reads decoded: with percent, HTML, backslash
and quoted-printable escapes resolved, whether all or a few of its characters are escaped; without
the line breaks in it; and with base64 (either alphabet, at any offset in a longer text, padded or
not) and hexadecimal decoded. What was found in a decoded text is traced back to the characters of
the text that it came from.
"""

from __future__ import annotations

import re
from base64 import b32encode
from binascii import a2b_base64, a2b_hex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from html import unescape

SHORTEST = 4  # characters: to hide every "1" would make a trace unreadable and hide nothing
# encodings of base64 or hexadecimal inside each other; escapes inside escapes go one deeper
_DEPTH = 2
_PREFIX = 8  # bytes: so much of a secret at the very end of a text, where something cut it, is taken for it

Span = tuple[int, int]
Back = Callable[[int, int], Span]
"""From a place in a decoded text to the place in the text it was decoded from."""

_HEX4 = rb"[0-9A-Fa-f]{4}"
_PERCENT = rb"%u" + _HEX4 + rb"|%[0-9A-Fa-f]{2}"
_HTML = rb"&#[0-9]{1,7};?|&#[xX][0-9A-Fa-f]{1,6};?|&[A-Za-z][A-Za-z0-9]{1,31};"
_BACKSLASH = (
    rb"\\u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}|\\u\{[0-9A-Fa-f]{1,6}\}|\\u"
    + _HEX4
    + rb"|\\U[0-9A-Fa-f]{8}|\\x[0-9A-Fa-f]{2}|\\[0-3][0-7]{2}|\\[\\\"'/bfnrtav]"
)
_QUOTED = rb"=[0-9A-Fa-f]{2}|=\r?\n"
_ESCAPES = tuple(
    (mark, re.compile(pattern))
    for mark, pattern in (
        (b"%", _PERCENT),
        (b"&", _HTML),
        (b"\\", _BACKSLASH),
        (b"=", _QUOTED),
    )
)
_ANY_ESCAPE = re.compile(rb"|".join((_PERCENT, _HTML, _BACKSLASH)))
_LETTER = (  # of UTF-8
    rb"(?:[\t\n\r -~]|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3})"
)
_BREAK = re.compile(rb"\r?\n[ \t]*")
_NAMED = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"a": b"\a", b"v": b"\v"}

_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_"
_SEXTETS = bytes(byte if byte in _BASE64 else ord("A") for byte in range(256)).translate(
    bytes.maketrans(b"-_", b"+/")
)
_NO_BASE64 = re.compile(rb"[^A-Za-z0-9+/_-]")
_HEXDIGITS = bytes(byte if byte in b"0123456789abcdefABCDEF" else ord("0") for byte in range(256))
_NO_HEX = re.compile(rb"[^0-9A-Fa-f]")
_DIGITS = re.compile(rb"[0-9A-Fa-f]+")
_BETWEEN_HEX = re.compile(rb"0x|[\s:,;-]")
_NUL = re.compile(rb"\0")
_SPACED_HEX = re.compile(rb"(?:(?:0x)?[0-9A-Fa-f]{2}[\s:,;-]{1,2}){3}")


@dataclass(frozen=True, slots=True)
class _View:
    """A text in another reading. ``back`` leads to the text that was looked through."""

    data: bytes
    back: Back


class SecretFinder:
    """Finds any of some secrets in texts. Those of fewer than :data:`SHORTEST` characters are not
    looked for.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        looked_for = sorted(
            {one for one in secrets if len(one) >= SHORTEST}, key=lambda one: (-len(one), one)
        )
        self._secrets = tuple(_encode_utf8(one).lower() for one in looked_for)
        self._needles = tuple(
            dict.fromkeys(form for one in looked_for for form in _iter_spellings(one))
        )
        least = min(map(len, self._secrets), default=0)
        self._run64 = re.compile(rb"[A-Za-z0-9+/_-]{%d}" % (least * 4 // 3))
        self._run16 = re.compile(rb"[0-9A-Fa-f]{%d}" % (least * 2))
        self._text = re.compile(_LETTER + rb"{%d,}" % min(map(len, looked_for), default=1))

    def __bool__(self) -> bool:
        return bool(self._secrets)

    def may_be_in(self, texts: Iterable[str]) -> bool:
        """Return True if any of these texts may spell a secret. One search covers all of them, and
        only False is certain.
        """
        data = b"\0".join(map(_encode_utf8, texts))
        low = data.lower()
        cut = any(secret[: max(_PREFIX, (len(secret) + 1) // 2)] in low for secret in self._secrets)
        return cut or any(True for _ in self._spans(data, _DEPTH))

    def replace(self, text: str, by: str) -> str:
        """The text with whatever spells a secret replaced; what replaced one before stays as it
        is.
        """
        if not self._secrets or len(text) < SHORTEST:
            return text
        data, mark = _encode_utf8(text), by.encode()
        found = [span for span in self._spans(data, _DEPTH) if not _is_inside(span, data, mark)]
        found += self._cut_off(data)
        if not found:
            return text
        parts, at = [], 0
        for start, end in _merge_spans(found):
            parts += [data[at:start], mark]
            at = end
        return b"".join([*parts, data[at:]]).decode("utf-8", "surrogatepass")

    def _cut_off(self, data: bytes) -> Iterator[Span]:
        """A secret of which a text that was cut holds the first half or more, at its end."""
        low = data.lower()
        for secret in self._secrets:
            for size in range(len(secret) - 1, max(_PREFIX, (len(secret) + 1) // 2) - 1, -1):
                if low.endswith(secret[:size]):
                    yield len(low) - size, len(low)
                    break

    def _spans(self, data: bytes, depth: int) -> Iterator[Span]:
        for view in _iter_readings(data):
            yield from _trace_spans(view.back, self._as_written(view.data))
            if depth:
                for inner in self._decoded(view.data):
                    yield from _trace_spans(
                        view.back, _trace_spans(inner.back, self._within(inner.data, depth - 1))
                    )

    def _as_written(self, data: bytes) -> Iterator[Span]:
        low = data.lower()
        for needle in self._needles:
            at = low.find(needle)
            while at >= 0:
                yield at, at + len(needle)
                at = low.find(needle, at + len(needle))

    def _within(self, decoded: bytes, depth: int) -> Iterator[Span]:
        """Yield the spans of secrets in decoded data, which may be noise. Secrets are searched
        everywhere, their encodings only in parts that are text.
        """
        yield from self._as_written(decoded)
        for text in self._text.finditer(decoded):
            yield from (
                (text.start() + a, text.start() + b) for a, b in self._spans(text[0], depth)
            )
        if decoded.count(0) > len(decoded) // 3:  # UTF-16
            narrow = _substitute_matches(decoded, _NUL, _drop_match)
            yield from _trace_spans(narrow.back, self._spans(narrow.data, depth))

    def _decoded(self, data: bytes) -> Iterator[_View]:
        if self._run64.search(data):
            yield from _from_base64(data)
        if self._run16.search(data):
            yield from _from_hex(data)
        if _SPACED_HEX.search(data):
            dense = _substitute_matches(data, _BETWEEN_HEX, _drop_match)
            yield from (
                _View(one.data, _chain_maps(dense.back, one.back)) for one in _from_hex(dense.data)
            )


def _iter_spellings(secret: str) -> Iterator[bytes]:
    """A secret as it is, in a form's query, backwards, in UTF-16, and in base32 at any offset; in
    lower case.
    """
    whole = _encode_utf8(secret)
    low = whole.lower().decode("utf-8", "surrogatepass")  # ASCII letters only, as in the texts
    yield whole.lower()
    yield from (_encode_utf8(form) for form in (low.replace(" ", "+"), low[::-1]))
    yield low.encode("utf-16-le", "surrogatepass").removesuffix(b"\0")
    for before in range(5):  # bytes in front of it that its first letter shares
        letters = b32encode(bytes(before) + whole).lower()
        yield letters[-(-before * 8 // 5) : (before + len(whole)) * 8 // 5]


def _iter_readings(data: bytes) -> Iterator[_View]:
    """The text as it is; with each kind of escapes resolved, then all of them, repeatedly; without
    line breaks.
    """
    seen = {data}
    yield from _iter_unbroken(whole := _View(data, lambda start, end: (start, end)), seen)
    begins = [
        whole,
        *(
            _substitute_matches(data, pattern, _unescape_match)
            for mark, pattern in _ESCAPES
            if mark in data
        ),
    ]
    for begun in begins:  # which grows once
        last = begun
        for depth in range(_DEPTH + 1):
            if last.data not in seen:
                seen.add(last.data)
                yield from _iter_unbroken(last, seen)
            elif depth and last is not whole:
                break
            made = _substitute_matches(last.data, _ANY_ESCAPE, _unescape_match)
            last = _View(made.data, _chain_maps(last.back, made.back))
        if begun is whole and b"=" in last.data and last.data != data:
            made = _substitute_matches(last.data, _ESCAPES[-1][1], _unescape_match)
            begins.append(_View(made.data, _chain_maps(last.back, made.back)))


def _iter_unbroken(view: _View, seen: set[bytes]) -> Iterator[_View]:
    """A reading, and the same without the line breaks in it."""
    yield view
    if b"\n" in view.data:
        joined = _substitute_matches(view.data, _BREAK, _drop_match)
        if joined.data not in seen:
            seen.add(joined.data)
            yield _View(joined.data, _chain_maps(view.back, joined.back))


def _drop_match(_: re.Match[bytes]) -> bytes:
    return b""


def _encode_utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _substitute_matches(
    data: bytes, pattern: re.Pattern[bytes], by: Callable[[re.Match[bytes]], bytes]
) -> _View:
    """The text with every match replaced."""
    places: list[
        tuple[int, int, int, int]
    ] = []  # of a replacement: start and end in the text, start and end in ours

    def back(start: int, end: int) -> Span:
        if not places:
            shift = 0
            for found in pattern.finditer(data):
                new = by(found)
                places.append(
                    (
                        found.start(),
                        found.end(),
                        found.start() + shift,
                        found.start() + shift + len(new),
                    )
                )
                shift += len(new) - len(found[0])
        return _map_position(places, start, outward=False), _map_position(places, end, outward=True)

    return _View(pattern.sub(b"" if by is _drop_match else by, data), back)


def _map_position(places: list[tuple[int, int, int, int]], at: int, *, outward: bool) -> int:
    """Return the position in the original text of a boundary in the replaced text. A boundary
    inside an escape moves before it, or with ``outward`` behind it.
    """
    low, high = 0, len(places)
    while low < high:  # the last replacement that begins before it
        middle = (low + high) // 2
        begin = places[middle][2]
        low, high = (
            (middle + 1, high) if begin < at or (begin == at and not outward) else (low, middle)
        )
    if not low:
        return at
    start, end, begin, stop = places[low - 1]
    if not outward and begin <= at < stop:
        return start
    if outward and begin < at <= stop:
        return end
    return end + at - stop if at >= stop else start


def _unescape_match(found: re.Match[bytes]) -> bytes:
    return _resolve_escape(found[0])


@lru_cache(maxsize=4096)
def _resolve_escape(text: bytes) -> bytes:
    """Return the bytes that one escape stands for."""
    kind, rest = text[:1], text[1:]
    if kind == b"&":
        return unescape(text.decode()).encode("utf-8", "surrogatepass")
    if kind == b"=":
        return a2b_hex(rest) if rest.strip() else b""
    if rest[:1] in (b"u", b"U") and len(rest) > 1:
        return _code_points(rest)
    if kind == b"%":
        return a2b_hex(rest)
    if rest[:1] == b"x":
        return a2b_hex(rest[1:])
    return bytes([int(rest, 8)]) if rest.isdigit() else _NAMED.get(rest, rest)


def _code_points(escape: bytes) -> bytes:
    """``u0041``, ``ud83d\\ude00``, ``u{41}`` and ``U00000041`` in UTF-8."""
    codes = [
        int(digits, 16)
        for digits in re.findall(rb"[0-9A-Fa-f]+", escape.replace(b"u", b" ").replace(b"U", b" "))
    ]
    text = "".join(chr(code) if code < 0x110000 else "\ufffd" for code in codes)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _from_base64(data: bytes) -> Iterator[_View]:
    """All of the text read as base64, beginning with its first, second, third and fourth
    character.
    """
    letters = data.translate(_SEXTETS) + b"AAAA"
    for first in range(4):
        read = letters[first : first + (len(letters) - first) // 4 * 4]

        def back(start: int, end: int, first: int = first) -> Span:
            span = first + start * 8 // 6, min(first - (-end * 8 // 6), len(data))
            return _if_all(_NO_BASE64, data, span)

        yield _View(a2b_base64(read), back)


def _from_hex(data: bytes) -> Iterator[_View]:
    digits = data.translate(_HEXDIGITS) + b"0"
    for first in range(2):
        read = digits[first : first + (len(digits) - first) // 2 * 2]

        def back(start: int, end: int, first: int = first) -> Span:
            return _if_all(_NO_HEX, data, (first + start * 2, min(first + end * 2, len(data))))

        yield _View(a2b_hex(read), back)


def _if_all(others: re.Pattern[bytes], data: bytes, span: Span) -> Span:
    """The span, or an empty one where other characters stand in it: then it only seemed to spell a
    secret.
    """
    return (span[0], span[0]) if others.search(data, *span) else span


def _chain_maps(outer: Back, inner: Back) -> Back:
    return lambda start, end: outer(*inner(start, end))


def _trace_spans(back: Back, spans: Iterable[Span]) -> Iterator[Span]:
    """Return the spans' positions in the text before decoding, without those that become empty."""
    return (there for there in (back(*span) for span in spans) if there[0] < there[1])


def _is_inside(span: Span, data: bytes, mark: bytes) -> bool:
    """Return True if the span is part of a mark that is already in place."""
    return 0 <= data.find(mark, max(0, span[1] - len(mark)), span[0] + len(mark)) <= span[0]


def _merge_spans(spans: Iterable[Span]) -> list[Span]:
    """In order, overlapping and touching ones as one."""
    made: list[Span] = []
    for start, end in sorted(spans):
        if made and start <= made[-1][1]:
            made[-1] = (made[-1][0], max(end, made[-1][1]))
        else:
            made.append((start, end))
    return made
