from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from callwright.proxy.session.turns import arrange_messages

TURNS = st.lists(
    st.builds(
        lambda role, word, parts: {
            "role": role,
            "content": [{"type": "text", "text": word}] if parts else word,
        },
        st.sampled_from(["system", "user", "assistant", "tool"]),
        st.text("abc", min_size=1, max_size=4),
        st.booleans(),
    ),
    max_size=8,
)


def say(role: str, text: Any) -> dict[str, Any]:
    return {"role": role, "content": text}


def test_what_the_system_says_before_the_first_answer_is_one_message_at_the_beginning() -> None:
    turns: Any = [
        say("system", "A"),
        say("system", "B"),
        say("user", "hi"),
        say("system", "C"),
        say("assistant", "x"),
    ]
    assert arrange_messages(turns) == [
        say("system", "A\n\nB\n\nC"),
        say("user", "hi"),
        say("assistant", "x"),
    ]


def test_what_it_says_later_is_a_reminder_in_the_users_turn() -> None:
    turns: Any = [
        say("user", "hi"),
        say("assistant", "x"),
        say("user", "go"),
        say("system", "careful"),
    ]
    reminded = "go\n\n<system-reminder>\ncareful\n</system-reminder>"
    assert arrange_messages(turns) == [
        say("user", "hi"),
        say("assistant", "x"),
        say("user", reminded),
    ]


def test_the_users_turns_become_one_with_their_pictures() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:x"}}
    turns: Any = [say("user", "context"), say("user", "look"), say("user", [picture])]
    (made,) = arrange_messages(turns)
    assert made == say("user", [{"type": "text", "text": "context\n\nlook"}, picture])


@given(TURNS)
def test_templates_find_their_order_and_every_word_is_kept(turns: list[Any]) -> None:
    made: Any = arrange_messages(turns)
    roles = [m["role"] for m in made]
    assert "system" not in roles[1:]
    assert ("user", "user") not in pairwise(roles)
    others = [m for m in turns if m["role"] in ("assistant", "tool")]
    assert [m for m in made if m["role"] in ("assistant", "tool")] == others
    for turn in turns:
        word = turn["content"] if isinstance(turn["content"], str) else turn["content"][0]["text"]
        assert any(word in str(m["content"]) for m in made)
    assert arrange_messages(made) == made


def test_messages_that_are_none_stay() -> None:
    odd: Any = [3, say("user", "hi"), {"role": "user", "content": None}]
    assert arrange_messages(odd) == [3, say("user", "hi")]
