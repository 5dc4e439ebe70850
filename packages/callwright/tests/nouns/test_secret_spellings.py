"""A secret is found however it is spelled, also one encoding inside another, and nothing else
is.
"""

from __future__ import annotations

import base64
import html
import json
import string
import time
from collections.abc import Callable
from itertools import cycle
from urllib.parse import quote

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from callwright.nouns.secret_spellings import SHORTEST, SecretFinder

MARK = "[taken out]"
Spelling = Callable[[str], str]


def _bytes(text: str, form: str, between: str = "") -> str:
    return between.join(form.format(byte) for byte in text.encode())


def _some(text: str, form: str) -> str:
    """Every third character escaped."""
    return "".join(_bytes(c, form) if n % 3 == 1 else c for n, c in enumerate(text))


def _wrapped(text: str) -> str:
    whole = base64.b64encode(text.encode()).decode()
    return "\n  ".join(whole[n : n + 8] for n in range(0, len(whole), 8))


SPELLINGS: dict[str, Spelling] = {
    "as it is": str,
    "base64": lambda s: base64.b64encode(s.encode()).decode(),
    "base64, url-safe": lambda s: base64.urlsafe_b64encode(s.encode()).decode(),
    "base64, no padding": lambda s: base64.urlsafe_b64encode(s.encode()).decode().rstrip("="),
    "base64 behind 1 byte": lambda s: base64.b64encode(f":{s}".encode()).decode(),
    "base64 behind 2 bytes": lambda s: base64.b64encode(f"u:{s}@".encode()).decode(),
    "base64 in a longer text": lambda s: base64.b64encode(f"user: {s}, and more".encode()).decode(),
    "base64 in lines": _wrapped,
    "base64 of UTF-16": lambda s: base64.b64encode(s.encode("utf-16-le")).decode(),
    "hexadecimal": lambda s: s.encode().hex(),
    "hexadecimal, capitals": lambda s: s.encode().hex().upper(),
    "hexadecimal, colons": lambda s: s.encode().hex(":"),
    "hexadecimal, blanks": lambda s: s.encode().hex(" ").upper(),
    "bytes as literals": lambda s: _bytes(s, "0x{:02x}", ", "),
    "percent": lambda s: quote(s, safe=""),
    "percent, all": lambda s: _bytes(s, "%{:02x}"),
    "percent, some": lambda s: _some(s, "%{:02X}"),
    "HTML": html.escape,
    "HTML, decimal": lambda s: "".join(f"&#{ord(c)};" for c in s),
    "HTML, hexadecimal": lambda s: "".join(f"&#x{ord(c):X};" for c in s),
    "HTML, some": lambda s: "".join(
        f"&#{ord(c):05};" if n % 3 == 1 else c for n, c in enumerate(s)
    ),
    "JSON": lambda s: json.dumps(s)[1:-1],
    "JSON, solidus": lambda s: json.dumps(s)[1:-1].replace("/", "\\/"),
    "unicode escapes": lambda s: "".join(f"\\u{ord(c):04x}" for c in s),
    "unicode escapes, some": lambda s: "".join(
        f"\\u{ord(c):04X}" if n % 3 == 1 else c for n, c in enumerate(s)
    ),
    "unicode escapes, ES6": lambda s: "".join(f"\\u{{{ord(c):x}}}" for c in s),
    "byte escapes": lambda s: _bytes(s, "\\x{:02x}"),
    "octal escapes": lambda s: _bytes(s, "\\{:03o}"),
    "percent u": lambda s: "".join(f"%u{ord(c):04x}" for c in s),
    "quoted-printable": lambda s: _bytes(s, "={:02X}"),
}
ALONE: dict[str, Spelling] = {
    "capitals": str.upper,
    "small letters": str.lower,
    "backwards": lambda s: s[::-1],
    "a form": lambda s: s.replace(" ", "+"),
    "base32": lambda s: base64.b32encode(f"u:{s}".encode()).decode(),
    "cut off": lambda s: s[: (len(s) + 1) // 2 if len(s) > 16 else max(8, len(s) - 1)],
}
ALPHABET = string.ascii_letters + string.digits + "-_.~+/=:&%\"' "
secrets = st.text(ALPHABET, min_size=6, max_size=40).filter(
    lambda s: len({*s}) > 4 and s == s.strip()
)
plain = st.text(string.ascii_letters + ' .,\n{}[]":', max_size=60)


def found(text: str, *secrets: str) -> str:
    return SecretFinder(secrets).replace(text, MARK)


@settings(max_examples=12)
@given(secrets, plain, plain)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_secret_is_found_in_every_spelling_whatever_stands_around_it(
    spelling: str, secret: str, before: str, after: str
) -> None:
    around = f"{before} {after}".lower()
    assume(not any(secret.lower()[:4] in text for text in (around, around[::-1])))
    written = SPELLINGS[spelling](secret)
    shown = found(f"{before} <{written}> {after}", secret)
    assert MARK in shown
    assert written not in shown
    assert shown.startswith(f"{before} <")
    assert shown.endswith(f"> {after}")


@pytest.mark.parametrize("outer", SPELLINGS)
def test_and_in_one_encoding_inside_another(outer: str) -> None:
    alike = (
        "quoted-printable" if outer == "quoted-printable" else ""
    )  # of which one level is resolved
    inside = [
        name for name in SPELLINGS if name not in ("bytes as literals", "base64 in lines", alike)
    ]
    for inner, secret in zip(
        inside, cycle(("sk-Live_AbC/123+xyz=", "hunter2&co", "Zürich-Ωmega-42")), strict=False
    ):
        once = SPELLINGS[inner](secret)
        if outer == "unicode escapes, some" and "\\" in once:
            continue  # no escaping leaves backslashes as they are: nobody could read it
        written = SPELLINGS[outer](once)
        assert MARK in found(f"<{written}>", secret), (inner, written)


@pytest.mark.parametrize("spelling", ALONE)
def test_other_spellings_are_found_by_themselves(spelling: str) -> None:
    for secret in ("sk-Live_AbC/123+xyz=", "correct horse 42"):
        assert MARK in found(f"<{ALONE[spelling](secret)}", secret)


@given(st.text(max_size=200))
def test_a_text_without_a_secret_stays_as_it_is(text: str) -> None:
    assert found(text, "sk-Live_AbC/123+xyz=", "correct horse battery staple") == text


@given(secrets, st.lists(st.sampled_from(sorted(SPELLINGS)), max_size=4))
def test_what_was_taken_out_once_stays_as_it_is(secret: str, spellings: list[str]) -> None:
    once = found(" | ".join(SPELLINGS[one](secret) for one in spellings), secret)
    assert found(once, secret) == once


def test_only_the_secret_is_taken_out_of_a_longer_encoded_text() -> None:
    text = base64.b64encode(b"the beginning " + b"Open-Sesame-77" + b" and the end of it").decode()
    shown = found(text, "Open-Sesame-77")
    begin, end = shown.split(MARK)
    assert base64.b64decode(begin[: len(begin) // 4 * 4]).startswith(b"the beginnin")
    assert b"the end of it" in base64.b64decode(end[len(end) % 4 :])


def test_of_two_secrets_of_which_one_holds_the_other_nothing_is_left() -> None:
    assert found("abcd-efgh, abcd", "abcd", "abcd-efgh") == f"{MARK}, {MARK}"


def test_what_is_too_short_to_be_a_secret_is_left_in_the_text() -> None:
    assert not SecretFinder(["x" * (SHORTEST - 1), ""])
    assert found("xxx and more", "x" * (SHORTEST - 1)) == "xxx and more"


@pytest.mark.parametrize(
    "piece",
    [
        "A",
        "%41",
        "\\u0041",
        "&#65;",
        "&amp;",
        "ab ",
        "00",
        "=41",
        " ",
        "\n",
        "\\",
        "0x41, ",
        "Zm9v",
        "é",
    ],
)
def test_time_grows_with_the_text_and_not_with_its_square(piece: str) -> None:
    finder = SecretFinder(["sk-Live_AbC/123+xyz="])

    def seconds(characters: int) -> float:
        text = piece * (characters // len(piece))
        began = time.process_time()
        assert finder.replace(text, MARK) == text
        return time.process_time() - began

    seconds(1_000)
    assert seconds(80_000) < 30 * max(seconds(8_000), 0.005)
