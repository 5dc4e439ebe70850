"""A number without end: the embedded model asks again with numbers that end, and shows nothing
twice.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, cast

import pytest

from callwright.models.engine import Engine
from callwright.models.local import LONGEST_NUMBER, _Question

from .conftest import ask

SCORE = {"type": "object", "properties": {"score": {"type": "number"}, "name": {"type": "string"}}}
GOOD = ['{"sco', 're": ', "8", "5.", "5", ', "name": ', '"Bo', 'b"}']
ENDLESS = ['{"sco', 're": ', "85.", *"5" * 700]


class Decoder:
    """Plays pieces by whether numbers are bounded; counts its tokens as llama.cpp does."""

    def __init__(self, free: Iterable[str], bounded: Iterable[str]) -> None:
        self.played = {False: list(free), True: list(bounded)}
        self.bodies: list[dict[str, Any]] = []
        self.made = 0

    def choose_adapter(self, adapter: Path | None, kind: str) -> dict[str, Any]:
        return {}  # it has none

    def chat(self, body: dict[str, Any], on_chunk: Callable[[dict[str, Any]], bool]) -> None:
        self.bodies.append(body)
        for count, piece in enumerate(self.played["multipleOf" in body["grammar"]], 1):
            self.made += 1
            usage = {"prompt_tokens": 10, "completion_tokens": count}
            if on_chunk({"choices": [{"delta": {"content": piece}}], "usage": usage}):
                return
        on_chunk({"choices": [{"delta": {}, "finish_reason": "stop"}]})


def question(decoder: Decoder, watch: Callable[[str], bool] | None = None) -> _Question:
    request = ask("How good is Bob?", schema=SCORE)
    return _Question(cast(Engine, decoder), request, watch, threading.Event(), "m", True, None)


def test_a_number_that_does_not_end_is_asked_for_again_and_both_are_counted() -> None:
    decoder = Decoder(ENDLESS, GOOD)
    reply = question(decoder).ask()
    assert reply.text == "".join(GOOD)
    assert len(decoder.bodies) == 2
    assert decoder.made < LONGEST_NUMBER + len(GOOD) + 5  # it was not waited for
    assert reply.usage.prompt_tokens == 20
    assert reply.usage.completion_tokens == decoder.made


def test_a_watcher_sees_the_reply_once_though_it_was_begun_twice() -> None:
    seen: list[str] = []
    question(Decoder(ENDLESS, GOOD), lambda piece: bool(seen.append(piece))).ask()
    assert "".join(seen) == "".join(GOOD)


def test_a_watcher_that_has_seen_enough_ends_a_reply_behind_a_number() -> None:
    seen: list[str] = []

    def watch(piece: str) -> bool:
        seen.append(piece)
        return "85.5" in "".join(seen)

    reply = question(Decoder(GOOD, ()), watch).ask()
    assert (reply.finish_reason, "".join(seen)) == ("cut", '{"score": 85.5, "name": ')


@pytest.mark.parametrize("text", ['{"name": "' + "5" * 60 + '"}', '{"score": 0.' + "1" * 20 + "}"])
def test_long_texts_of_digits_and_long_numbers_are_no_runaways(text: str) -> None:
    decoder = Decoder(list(text), ())
    assert question(decoder).ask().text == text
    assert len(decoder.bodies) == 1
