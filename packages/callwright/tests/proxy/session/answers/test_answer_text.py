"""The text of an answer while it comes."""

from __future__ import annotations

import pytest

from callwright.proxy.session.answers.answer_text import AnswerText
from callwright.proxy.session.answers.outbox import Outbox
from callwright.proxy.session.context import Toolsets, read_context
from callwright.proxy.session.settings import Settings
from tests.proxy.playbook import body

CALL = '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>'


def fed(text: str, pieces: int) -> AnswerText:
    context = read_context(body(), b"x", Toolsets(), Settings())
    assert context is not None
    made, box = AnswerText(context), Outbox()
    step = max(1, -(-len(text) // pieces))
    for at in range(0, len(text), step):
        made.feed(text[at : at + step], box, is_over=False)
    made.close(box)
    return made


@pytest.mark.parametrize("pieces", [1, 7, 200])
def test_a_call_is_found_and_the_rest_is_what_was_said(pieces: int) -> None:
    found = fed(f"Let me see. {CALL} Done.", pieces)
    assert [piece.call.tool for piece in found.calls] == ["get_weather"]
    assert found.text.split() == ["Let", "me", "see.", "Done."]
    assert found.fed == found.decided


@pytest.mark.parametrize("pieces", [1, 7, 200])
def test_a_call_that_is_cut_off_stays_text(pieces: int) -> None:
    found = fed("Let me see. " + CALL[:50], pieces)
    assert found.calls == []
    assert found.text.startswith("Let me see. ")


def test_leftovers_of_a_template_are_removed_and_listed() -> None:
    found = fed("Hello!<|im_end|>", 1)
    assert (found.text, found.removed) == ("Hello!", ["<|im_end|>"])
