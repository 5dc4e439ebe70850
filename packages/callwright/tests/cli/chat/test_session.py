"""A conversation survives its process, and a broken file loses nothing."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.cli.chat.session import Session
from callwright.nouns.errors import ConfigError
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
