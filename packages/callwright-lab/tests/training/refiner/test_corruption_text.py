"""Errors of texts and streams."""

from __future__ import annotations

import pytest

from callwright.jsontext import JsonError, parse
from callwright.nouns.types import ToolCall
from callwright_lab.training.refiner.corrupted import Corrupted, write_hermes
from callwright_lab.training.refiner.corruption import corrupt
from tests.training.corruption_case import CALLS, TOOLS

RIGHT = write_hermes(CALLS)


def spoil(kind: str, seed: int = 0) -> Corrupted:
    made = corrupt(CALLS, TOOLS, kind, seed)
    assert made is not None
    return made


def readable(text: str) -> bool:
    """Whether every tagged body is JSON."""
    try:
        for part in text.split("<tool_call>")[1:]:
            body, closed, _ = part.partition("</tool_call>")
            if not closed:
                return False
            parse(body.strip())
    except JsonError:
        return False
    return True


def test_the_right_text_is_readable() -> None:
    assert readable(RIGHT)


@pytest.mark.parametrize(
    "kind", ["single_quotes", "python_literals", "trailing_comma", "truncated", "not_a_number"]
)
def test_the_json_is_broken(kind: str) -> None:
    for seed in range(5):
        assert not readable(spoil(kind, seed).text)


def test_a_missing_closer_takes_one_tag_or_bracket_and_nothing_else() -> None:
    for seed in range(10):
        text = spoil("missing_closer", seed).text
        assert RIGHT.replace("</tool_call>", "").replace("}", "") == text.replace(
            "</tool_call>", ""
        ).replace("}", "")
        assert len(RIGHT) - len(text) in (1, len("</tool_call>"))
        assert len(spoil("extra_closer", seed).text) > len(RIGHT)


def test_a_cut_reply_has_lost_part_of_an_argument_and_is_not_answerable() -> None:
    for seed in range(20):
        made = spoil("truncated", seed)
        assert RIGHT.startswith(made.text)
        assert '"Nice"' not in made.text
        assert not made.answerable


def test_wrapping_keeps_the_text_whole() -> None:
    for kind in ("fence", "prose", "think_leak"):
        assert RIGHT in spoil(kind).text


def test_other_words_stand_for_name_and_arguments() -> None:
    texts = " ".join(spoil("wrapper_keys", seed).text for seed in range(12))
    assert '"arguments"' not in texts
    assert '"tool": "weather"' in texts or '"function": "weather"' in texts


def test_arguments_are_encoded_once_or_twice_too_often() -> None:
    calls = [ToolCall("", "weather", {"place": "Lyon"})]
    once, twice = (corrupt(calls, TOOLS, kind) for kind in ("arguments_as_text", "escaped_twice"))
    assert once is not None
    assert twice is not None
    value = parse(once.text.split("\n")[1])["arguments"]
    assert parse(value) == {"place": "Lyon"}
    assert parse(parse(parse(twice.text.split("\n")[1])["arguments"])) == {"place": "Lyon"}


def test_a_marker_inside_a_string_is_part_of_what_must_come_out() -> None:
    made = spoil("marker_in_string", 4)
    assert made.expected != CALLS
    assert made.text == write_hermes(made.expected)


def test_objects_run_together_without_tags() -> None:
    text = spoil("run_together").text
    assert text.count('"name"') == len(CALLS)
    assert "<tool_call>" not in text


def test_pieces_are_the_text_and_deltas_lack_what_their_kind_says() -> None:
    for seed in range(6):
        made = spoil("split", seed)
        assert "".join(made.pieces) == made.text == RIGHT
    heads = [d["tool_calls"][0] for d in spoil("delta_without_id").deltas]
    assert not [h for h in heads if "id" in h]
    assert {d["tool_calls"][0].get("index") for d in spoil("delta_without_index").deltas} == {None}
    assert {d["tool_calls"][0]["index"] for d in spoil("delta_reused_index").deltas} == {0}
    fragments = "".join(h["function"]["arguments"] for h in heads)
    assert fragments.endswith('{"place": "Nice"}')


def test_any_writer_can_be_spoiled() -> None:
    made = corrupt(
        CALLS[2:3], TOOLS, "missing_closer", write=lambda calls: "[weather(place='Lyon')]"
    )
    assert made is not None
    assert made.text in ("[weather(place='Lyon')", "[weather(place='Lyon']")
