"""Images, audio and files in messages. They pass as they came; of what they show, nothing is read
here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from callwright.agent.fold import LOST
from callwright.nouns.types import Json, JsonObject

_BEGINS = re.compile(rb';base64,|"(?:data|file_data)"\s*:\s*"|"images"\s*:\s*\[\s*"')
_BASE64 = re.compile(rb"[A-Za-z0-9+/=_-]*")
_SAMPLE = 64  # characters by which base64 is told from other text
_KINDS = {b"/9j/": "image/jpeg", b"R0lGOD": "image/gif", b"UklGR": "image/webp"}
TOKENS = 1_600
"""What one image, recording or file counts for where tokens are estimated: an image of 1.15
megapixels, by Anthropic's formula.
"""


def list_media(content: Json) -> list[JsonObject]:
    """The parts of a message's content that are no text."""
    if not isinstance(content, list):
        return []
    return [
        part
        for part in content
        if isinstance(part, dict) and "text" not in part and "refusal" not in part
    ]


def holds_media(messages: Json) -> bool:
    """Return True if a message of a conversation holds an image, a recording or a file."""
    found = messages if isinstance(messages, list) else []
    return any(list_media(m.get("content")) for m in found if isinstance(m, dict))


def list_newest_media(messages: Sequence[Json]) -> list[JsonObject]:
    """The media of the user's last message."""
    said = (m for m in reversed(messages) if isinstance(m, dict) and m.get("role") == "user")
    return list_media(next(said, {}).get("content"))


def add_media(messages: Sequence[Json], media: Sequence[JsonObject]) -> list[Json]:
    """The messages with media in the last one of the user."""
    made = list(messages)
    for place in reversed(range(len(made))):
        message = made[place]
        if media and isinstance(message, dict) and message.get("role") == "user":
            text = {"type": "text", "text": message.get("content")}
            made[place] = {**message, "content": [text, *media]}
            break
    return made


def move_result_media(messages: Sequence[Json]) -> list[Json]:
    """The messages with the media of results in a message of the user behind the results: servers
    of chat completions take only text as a result. The message begins as one of a result does that
    lost its place, so no reader takes it for words of the user.
    """
    made: list[Json] = []
    waiting: list[JsonObject] = []
    names: dict[str, str] = {}
    for message in messages:
        if not isinstance(message, dict) or message.get("role") != "tool":
            made += _tell_media(waiting)
            waiting = []
            names |= _read_names(message)
            made.append(message)
            continue
        media = list_media(message.get("content"))
        made.append({**message, "content": _read_text(message["content"])} if media else message)
        if media:
            name = names.get(str(message.get("tool_call_id")), "")
            label = f"{LOST} of {name}:" if name else f"{LOST}:"
            waiting += [{"type": "text", "text": label}, *media]
    return [*made, *_tell_media(waiting)]


def is_result_media(content: Json) -> bool:
    """Return True if a content is that of a message with the media of results."""
    first = content[0] if isinstance(content, list) and content else None
    return isinstance(first, dict) and str(first.get("text")).startswith(LOST)


def name_image_type(data: str) -> str:
    """Return the media type of an image, from the beginning of its base64; PNG where it is none of
    the others that APIs take.
    """
    found = (kind for sign, kind in _KINDS.items() if data.startswith(sign.decode()))
    return next(found, "image/png")


def measure_media(body: bytes) -> int:
    """Return the number of bytes of a JSON body that are base64 of media. They cost next to nothing
    to read.
    """
    return sum(end - begin for begin, end in _iter_spans(body))


def _iter_spans(body: bytes) -> Iterator[tuple[int, int]]:
    place = 0
    while (found := _BEGINS.search(body, place)) is not None:
        begin, end = found.end(), body.find(b'"', found.end())
        end = len(body) if end < 0 else end
        sample = body[begin : min(end, begin + _SAMPLE)]
        is_media = end - begin > _SAMPLE and _BASE64.fullmatch(sample) is not None
        if is_media:
            yield begin, end
        place = end if is_media else begin


def _tell_media(parts: list[JsonObject]) -> list[Json]:
    return [{"role": "user", "content": parts}] if parts else []


def _read_names(message: Json) -> dict[str, str]:
    calls: Any = message.get("tool_calls") if isinstance(message, dict) else None
    found = [one for one in calls or () if isinstance(one, Mapping)]
    return {
        str(one.get("id")): str(one["function"].get("name") or "")
        for one in found
        if isinstance(one.get("function"), Mapping)
    }


def _read_text(content: Sequence[Any]) -> str:
    """The text of a result, and of one without any the kinds of what it holds."""
    texts = [str(part["text"]) for part in content if part.get("text")]
    kinds = [f"[{part.get('type')}]" for part in content]
    return "\n\n".join(texts) or "\n".join(kinds)
