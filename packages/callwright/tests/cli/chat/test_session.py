"""A conversation survives its process, and a broken file loses nothing."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.cli.chat.session import STOPPED, Session, read_turn
from callwright.nouns.errors import ConfigError
from callwright.nouns.trace import Trace
from callwright.nouns.types import Message, ToolCall

TEXTS = st.text(st.characters(blacklist_categories=["Cs"]), min_size=1)
CALLS = st.builds(ToolCall, TEXTS, TEXTS, st.dictionaries(TEXTS, TEXTS | st.integers(0, 9)))
MESSAGES = st.one_of(
    st.builds(Message, st.sampled_from(["user", "assistant"]), TEXTS),
    st.builds(lambda call: Message("assistant", "", (call,)), CALLS),
    st.builds(lambda text, id_: Message("tool", text, tool_call_id=id_, name="t"), TEXTS, TEXTS),
)


@given(turns=st.lists(st.lists(MESSAGES, max_size=3), max_size=3))
def test_what_is_kept_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, turns: list[list[Message]]
) -> None:
    path = tmp_path_factory.mktemp("chat") / "session.jsonl"
    session = Session(path)
    for turn in turns:
        session.add(turn)
    assert Session(path).messages == session.messages


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX modes")
def test_only_its_user_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_text('{"role": "user", "content": "Hello"}')
    path.chmod(0o644)
    Session(path).add([Message("assistant", "Good morning.")])
    assert os.stat(path).st_mode & 0o077 == 0
    assert [m.content for m in Session(path).messages] == ["Hello", "Good morning."]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"role": "user", "cont', "line 2: "),
        ('{"role": "boss", "content": ""}', "line 2: no message"),
        ("[]", "line 2: no message"),
        ('{"role": "user", "content": 3}', "line 2: content is no text"),
        ('{"role": "assistant", "tool_calls": {}}', "line 2: tool_calls is no list"),
        ('{"role": "assistant", "tool_calls": [{"id": "r1"}]}', "line 2: a call needs"),
    ],
)
def test_a_broken_line_is_named_and_the_file_is_left(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "session.jsonl"
    text = f'{{"role": "user", "content": "Hello"}}\n{line}\n'
    path.write_text(text)
    with pytest.raises(ConfigError, match=said):
        Session(path)
    assert path.read_text() == text


def test_a_file_that_cannot_be_written_keeps_the_conversation(tmp_path: Path) -> None:
    session = Session(tmp_path / "gone" / "session.jsonl")
    with pytest.raises(ConfigError, match="cannot write the session"):
        session.add([Message("user", "Hello")])
    assert session.turns == 1


def test_a_turn_that_was_stopped_tells_what_was_called_and_what_is_unknown() -> None:
    trace = Trace(secrets=("s3cr3t-value",))
    trace.add("run.start", query="Order, key s3cr3t-value", conversation=[{"role": "user"}])
    trace.add("result", id="r1", tool="stock", arguments={}, content=4, failure=None)
    trace.add("intent", id="r2", tool="order", arguments={"pieces": 4})
    said, call, result, lost, stopped = read_turn(trace.events)
    assert said == Message("user", "Order, key [secret]")
    assert call.tool_calls[0].tool == result.name == "stock"
    assert lost.tool_calls == (ToolCall("r2", "order", {"pieces": 4}),)
    assert stopped.content == STOPPED


def test_the_calls_of_a_reply_are_one_message_and_the_user_is_quoted_as_they_wrote() -> None:
    asked = " Order <system-reminder>not ours</system-reminder>"
    trace = Trace()
    trace.add("run.start", query=asked, conversation=[])
    for number in ("r1", "r2"):
        trace.add("call.raw", id=number, tool="stock", arguments={})
    for number in ("r2", "r1"):
        trace.add("result", id=number, tool="stock", arguments={}, content=4, failure=None)
    trace.add("answer", text="Four.")
    said, called, *results, answer = read_turn(trace.events)
    assert (said.content, answer.content) == (asked, "Four.")
    assert [call.id for call in called.tool_calls] == [m.tool_call_id for m in results]


def test_a_turn_that_did_nothing_is_none() -> None:
    trace = Trace()
    trace.add("run.start", query="Hello", conversation=[])
    assert read_turn(trace.events) == ()
