"""Names of hosts that nothing in a conversation leads to.

A site is often named by what it is called, not by its address: "the New York Times" is nytimes.com.
So a name counts as said where one of its labels stands in a text, holds a word that was said, or
shortens such words. Texts in other scripts than Latin are not compared.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from collections.abc import Container, Iterable, Sequence
from urllib.parse import urlsplit

from callwright.language.detect import script_of
from callwright.language.tokens import fold_text, squash_text

ADDRESS_FORMATS = frozenset({"ipv4", "ipv6"})
NAME_FORMATS = frozenset(
    {"uri", "url", "iri", "uri-reference", "iri-reference", "hostname", "idn-hostname"}
)
_WORD = re.compile(r"[^\W_]+")
_NAME = re.compile(r"(?=.*[a-z])[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9][a-z0-9-]*)*")
_PUNYCODE = re.compile(r"(?<![\w-])xn--[a-z0-9-]+", re.IGNORECASE)
_LABEL = re.compile(r"[\w-]+")
_LOCAL = "localhost"
_TELLING = 3  # letters by which one word is found in another
_SHORT = 6  # letters of a label that may be made of first letters


def is_local(value: str) -> bool:
    """Return True if an address means the machine itself, which nobody has to name."""
    host = find_host(value)
    if host == _LOCAL or host.endswith(f".{_LOCAL}"):
        return True
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return False
    return found.is_loopback or found.is_unspecified


def find_host(value: str) -> str:
    """The host of an address or URL, or the value itself, in lower case; "" where there is none."""
    if "://" not in value:
        return value.strip().lower() if "/" not in value else ""
    try:
        return urlsplit(value.strip()).hostname or ""
    except ValueError:
        return ""


def decode_stated_labels(value: str, texts: Iterable[str]) -> str:
    """The value with the labels of a host in Punycode as the letters they stand for, where a text
    has these letters as a word: xn--mnchen-3ya.de for "münchen.de". Other letters that look alike
    are another host.
    """
    if _PUNYCODE.search(value) is None:
        return value
    known = {*_LABEL.findall(" ".join(map(_compose, texts)))}
    return _PUNYCODE.sub(lambda label: _decode_label(label[0], known), value)


def _decode_label(label: str, known: Container[str]) -> str:
    try:
        letters = _compose(label.encode().decode("idna"))
    except UnicodeError:
        return label
    return letters if letters in known else label


def _compose(text: str) -> str:
    return unicodedata.normalize("NFC", text).lower()


def is_unsaid_name(value: str, said: Sequence[str], texts: Iterable[str]) -> bool:
    """Return True if a value has the name of a host to which nothing leads. ``said``: the user's
    words; ``texts``: all else that may name a host.
    """
    host = find_host(value)
    if not _NAME.fullmatch(host) or is_local(value) or any(map(_is_other_script, said)):
        return False
    labels = [squash_text(label) for label in host.split(".")]
    telling = labels[:-1] or labels
    words = [word for text in said for word in _WORD.findall(fold_text(text))]
    known = [*said, *texts]
    squashed = [squash_text(text) for text in known]
    every = {word for text in known for word in _WORD.findall(fold_text(text))}
    return not any(
        label in every
        or (len(label) >= _TELLING and any(label in text for text in squashed))
        or any(len(word) >= _TELLING and word in label for word in every)
        or _is_shortened(label, words)
        for label in telling
    )


def _is_other_script(text: str) -> bool:
    return script_of(text) not in ("", "Latn")


def _is_shortened(label: str, words: Sequence[str]) -> bool:
    """Return True if a short label may be made of the first letters of words, or of letters of
    one.
    """
    if not 1 < len(label) <= _SHORT:
        return False
    firsts = "".join(word[0] for word in words)
    return _is_within(label, firsts) or any(
        word[0] == label[0] and _is_within(label, word) for word in words
    )


def _is_within(part: str, whole: str) -> bool:
    """Return True if the letters of one text stand in another in the same order."""
    rest = iter(whole)
    return all(letter in rest for letter in part)
