"""The choices of an answer to a request for several (``n``): each is given as a chat completion of
its own, and written back into the answer. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping

from callwright.nouns.types import Json, JsonObject
from callwright.proxy.session.answers.native import CALLS, NativeCalls
from callwright.proxy.session.answers.sse import (
    EventSplitter,
    encode_event,
    extract_data,
    json_bytes,
    json_object,
)
from callwright.tools.lists import chat_messages as chat


class WholeChoices:
    """The choices of a chat completion that was not streamed, by their places; none where it is no
    chat completion.
    """

    def __init__(self, body: bytes) -> None:
        self._document = json_object(body) or {}

    @property
    def parts(self) -> dict[int, bytes]:
        """Each choice as a chat completion of its own."""
        choices = enumerate(list_choices(self._document))
        return {place: _render_alone(self._document, choice) for place, choice in choices}

    def write(self, changed: Mapping[int, bytes]) -> bytes:
        """The answer with other completions in the places of some choices."""
        made = list_choices(self._document)
        for place, body in changed.items():
            made[place] = {**_read_alone(body), "index": made[place].get("index")}
        return json_bytes({**self._document, "choices": made})


class StreamedChoices:
    """The choices of a streamed chat completion, by their indices. Feed it the upstream's bytes."""

    def __init__(self) -> None:
        self.is_done = False  # its mark has come
        self.error = b""  # the events that say that the answer failed
        self._splitter = EventSplitter()
        self._events: list[tuple[bytes, frozenset[int]]] = []  # with the choices that are in each
        self._choices: dict[int, _Gathered] = {}
        self._like: JsonObject = {}

    def feed(self, data: bytes) -> None:
        """Add upstream data."""
        for event in self._splitter.feed(data):
            self._take(event)

    @property
    def is_complete(self) -> bool:
        """Return True if every choice has come to its end."""
        ended = all(one.finish for one in self._choices.values())
        return not self.error and (self.is_done or (ended and bool(self._choices)))

    @property
    def parts(self) -> dict[int, bytes]:
        """Each choice as a chat completion of its own."""
        found = sorted(self._choices.items())
        return {place: _render_alone(self._like, one.build()) for place, one in found}

    def write(self, changed: Mapping[int, bytes]) -> bytes:
        """The answer with other completions in the places of some choices. The events of the other
        choices stay as they came. A choice that is new stands where the one before it began: some
        clients want them to begin in order.
        """
        out: list[bytes] = []
        left = dict(changed)
        for raw, places in self._events:
            if places.isdisjoint(changed):
                out.append(raw)
                continue
            document = json_object(extract_data(raw)) or {}
            for choice in list_choices(document):
                place = _get_index(choice)
                if place in left:
                    out.append(self._compose(place, _read_alone(left.pop(place))))
                elif place not in changed:
                    out.append(encode_event({**document, "choices": [choice], "usage": None}))
            if document.get("usage"):
                out.append(encode_event({**document, "choices": []}))
        return b"".join(out)

    def _take(self, raw: bytes) -> None:
        data = extract_data(raw)
        self.is_done = self.is_done or data == b"[DONE]"
        document = json_object(data) or {}
        if document.get("error"):
            self.error += raw
        choices = list_choices(document)
        for choice in choices:
            self._like = self._like or document
            self._choices.setdefault(_get_index(choice), _Gathered()).feed(choice)
        self._events.append((raw, frozenset(map(_get_index, choices))))

    def _compose(self, place: int, choice: JsonObject) -> bytes:
        message = dict(choice["message"])
        if calls := message.get("tool_calls"):
            message["tool_calls"] = [{"index": n, **entry} for n, entry in enumerate(calls)]
        chunks = (
            chat.build_chunk(self._like, message),
            chat.build_chunk(self._like, {}, choice.get("finish_reason")),
        )
        for chunk in chunks:
            chunk["choices"][0]["index"] = place
        return b"".join(map(encode_event, chunks))


class _Gathered:
    """One choice of a stream."""

    def __init__(self) -> None:
        self.finish = ""
        self._native = NativeCalls()
        self._texts: dict[str, list[str]] = {}
        self._others: JsonObject = {}

    def feed(self, choice: JsonObject) -> None:
        self.finish = str(choice.get("finish_reason") or self.finish)
        delta = choice.get("delta")
        delta = delta if isinstance(delta, dict) else {}
        self._native.feed(delta)
        for key, value in delta.items():
            if isinstance(value, str) and key != "role":
                self._texts.setdefault(key, []).append(value)
            elif key not in CALLS and value is not None:
                self._others[key] = value

    def build(self) -> JsonObject:
        """The choice as a whole chat completion has it."""
        texts = {key: "".join(pieces) for key, pieces in self._texts.items()}
        message: JsonObject = {"content": None, **self._others, **texts}
        calls = self._native.calls
        if calls:
            # one that is not well-formed here is not passed on as it came
            message["tool_calls"] = [
                one.render() if one.sound else {**one.render(), "id": ""} for one in calls
            ]
        ended = "tool_calls" if calls else "stop"
        return {"message": message, "finish_reason": self.finish or ended}


def list_choices(document: JsonObject) -> list[JsonObject]:
    """The choices of a chat completion or of one of its chunks, whatever else is in their list."""
    found = document.get("choices")
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _get_index(choice: JsonObject) -> int:
    index: Json = choice.get("index")
    return index if isinstance(index, int) else 0


def _render_alone(document: JsonObject, choice: JsonObject) -> bytes:
    return json_bytes({**document, "choices": [{**choice, "index": 0}]})


def _read_alone(body: bytes) -> JsonObject:
    return list_choices(json_object(body) or {})[0]
