"""Events that differ from one that was read in nothing but their text: read many at once, without a
JSON parser.

A server writes the same event around every piece of text. Once one was read, the bytes before and
after its text are known, and a JSON string between the same bytes is the text of an event that is
otherwise equal. Pure; linear.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from callwright.jsontext import JsonError, parse
from callwright.proxy.session.answers.sse import extract_data, json_object
from callwright.tools.lists import chat_messages as chat

_STRING = (  # RFC 8259, 7, without \u: half a pair is no text
    rb'[^"\\\x00-\x1f]*(?:\\["\\/bfnrt][^"\\\x00-\x1f]*)*'
)
_TEXT = re.compile(_STRING)
_MEMBER = {
    key: re.compile(b'"' + key.encode() + rb'"\s*:\s*"(' + _STRING + b')"')
    for key in ("content", "reasoning_content", "reasoning")
}


class Alike:
    """Common bytes before and after the text of uniform events; ``reasoning``: the text is the
    model's reasoning.
    """

    def __init__(self, before: bytes, after: bytes, *, reasoning: bool) -> None:
        self.reasoning = reasoning
        self._before, self._after = before, after
        self._joint = after + before

    def read(self, data: bytes, at: int = 0) -> tuple[int, list[str], list[bytes]]:
        """The events at ``data[at:]`` that are alike: their length in all, their texts as read and
        raw.
        """
        if not data.startswith(self._before, at):
            return 0, [], []
        raws: list[bytes] = []
        parts = data[at + len(self._before) :].split(self._joint)
        last = len(parts) - 1
        for place, part in enumerate(parts):
            # No text holds a line end, so what ends an event is found only where one ends.
            end = part.find(self._after)
            if (end < 0 and place == last) or not _TEXT.fullmatch(
                part, 0, end if end >= 0 else len(part)
            ):
                break
            raws.append(part if end < 0 else part[:end])
            if end >= 0:
                break
        try:
            texts: Any = parse(b'["' + b'","'.join(raws) + b'"]') if raws else []
        except JsonError:  # bytes that are no UTF-8
            return 0, [], []
        return sum(map(len, raws)) + len(raws) * len(self._joint), texts, raws

    def events(self, raws: Sequence[bytes]) -> list[bytes]:
        """The events of these raw texts."""
        return [self._before + text + self._after for text in raws]


def uniform_chunks(raw: bytes, document: Any) -> Alike | None:
    """Return the bytes that other events share with this one and its JSON. None if the event is
    more than a piece of text.
    """
    key, text = _only_text(document)
    if not text or not raw.endswith((b"\n", b"\r")):
        return None
    found = _MEMBER[key].findall(raw)
    if len(found) != 1:
        return None
    at = raw.index(b'"' + found[0] + b'"', raw.index(b'"' + key.encode() + b'"') + len(key) + 2) + 1
    before, after = raw[:at], raw[at + len(found[0]) :]
    # The proof: with other text between the same bytes, that text is all that is read differently.
    other = json_object(extract_data(before + b"another" + after))
    if _only_text(other) != (key, "another"):
        return None
    return Alike(before, after, reasoning=key != "content")


def _only_text(document: Any) -> tuple[str, str]:
    """The text of a chunk that carries nothing else, and before it the key of the delta that holds
    it.
    """
    choice = chat.only_choice(document) if document else None
    if choice is None or choice.get("finish_reason") or document.get("error"):
        return "", ""
    delta = choice.get("delta")
    given = {k: v for k, v in delta.items() if v and k != "role"} if isinstance(delta, dict) else {}
    key, text = next(iter(given.items())) if len(given) == 1 else ("", "")
    return (key, text) if key in _MEMBER and isinstance(text, str) else ("", "")
