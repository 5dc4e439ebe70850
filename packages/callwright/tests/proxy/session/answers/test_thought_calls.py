from __future__ import annotations

import pytest

from callwright.nouns.types import ToolCall
from callwright.parsing import CallPiece
from callwright.proxy.session.answers.thought_calls import find_written_calls, watch_thoughts
from callwright.proxy.session.context import Context, Toolsets, read_context
from callwright.proxy.session.settings import Settings
from tests.proxy.playbook import body
from tests.proxy.session.test_guard import NO_HARM, READ_ONLY, offered


def context() -> Context:
    text = {"path": {"type": "string"}}
    tools = [offered("look", text, READ_ONLY), offered("pay", text, NO_HARM), offered("bare", text)]
    found = read_context(body(tools=tools), b"x", Toolsets(), Settings())
    assert found is not None
    return found


def decided(*said: str) -> list[str]:
    """The tools called, where each word that begins with "=" is a call and all else is text."""
    calls = watch_thoughts(context())
    for one in said:
        if one.startswith("="):
            calls.add(CallPiece(ToolCall("", one[1:], {}), "", "json"))
        else:
            calls.see(one)
    return [piece.call.tool for piece in calls.list_decided()]


@pytest.mark.parametrize("tool", ["pay", "bare"])
@pytest.mark.parametrize(
    ("behind", "is_made"),
    [
        ([], True),
        ([" \n"], True),
        (["\n``", "`\n"], True),
        (["</thi", "nk>\n\n"], True),
        (["<|im_", "end|>"], True),
        (["\n```\n<|im_end|>"], True),
        (["."], False),
        (["\n```\nBut I must ask first."], False),
        ([" ", "x"], False),
    ],
)
def test_what_may_write_is_made_only_at_the_end(
    tool: str, behind: list[str], is_made: bool
) -> None:
    assert decided("I see.", f"={tool}", *behind) == [tool] * is_made
    assert decided("=look", "So:", f"={tool}", *behind) == ["look", *[tool] * is_made]


def test_a_read_is_made_wherever_it_stands_and_a_draft_stays_one() -> None:
    assert decided("=look", "Then I pay.") == ["look"]
    assert decided("=pay", "Rather not.", "=look", "\n", "=bare") == ["look", "bare"]
    assert decided("=pay", "\n", "=bare") == ["pay", "bare"]
    assert decided("=pay", "\n", "=bare", " or not") == []
    assert decided("Nothing.") == []


PAY = '{"name": "pay", "arguments": {"path": "a"}}'


@pytest.mark.parametrize(
    ("text", "called"),
    [
        (f"{PAY} is done.", ["pay"]),
        (f"<think>{PAY}</think>", ["pay"]),
        (f"<think>{PAY}, but I must ask.</think>", []),
        (f"I could {PAY}, but I must ask.</think>\n", []),
        (f"<think>{PAY}</think>I ask.", []),
        (f"<think>{PAY}?</think>{PAY.replace('pay', 'bare')}", ["bare"]),
        (PAY[:-4], []),
    ],
)
def test_calls_of_a_text_are_read_beside_thoughts_or_at_their_end(
    text: str, called: list[str]
) -> None:
    assert [piece.call.tool for piece in find_written_calls(text, context())] == called
