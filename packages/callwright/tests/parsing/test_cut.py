from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.parsing import Cut, Cutter, cut

# After RETO A.11.1: one reply in which a model plays the whole conversation.
ACTION = """Thought: First, I need to get the tracking data for the given tracking ID.
Action: get_tracking_data_for_create_container_tracking
Action Input: {"is_id": "6045e2f44e1b233199a5e77a"}"""
STEP_1 = (
    ACTION
    + """Human:
Thought: Now, I will use the pack_send API.
Action: api_tracking_for_pack_send
Action Input: {"reference": "ReferenceNumberHere"}Human:
Thought: I have received the data.
Action: Finish
Action Input: {"return_type": "give_answer", "final_answer": "The status is delivered."}Human:"""
)
STEP_2 = (
    """Action: api_tracking_for_pack_send
Action Input: {"reference": "ReferenceNumberHere"}Thought: The API call failed.
Action: Finish
Action Input: {"return_type": "give_answer", "final_answer": "Unable to retrieve the tracking data."}
"""
    + "Assistant: I give up and restart.\n" * 30
)


@pytest.mark.parametrize("calls", [1, None])
def test_turns_played_by_the_model_are_discarded(calls: int | None) -> None:
    found = cut(STEP_1, calls=calls)
    assert found.text == ACTION
    assert found.discarded == STEP_1[len(ACTION) :]
    assert found.why == ("answer" if calls else "turn")


@pytest.mark.parametrize("calls", [1, None])
def test_a_thought_after_an_action_imagines_its_result(calls: int | None) -> None:
    found = cut(STEP_2, calls=calls)
    assert found.text.endswith('{"reference": "ReferenceNumberHere"}')
    assert "I give up" in found.discarded


@pytest.mark.parametrize("piece", [1, 3, 7, 50])
@pytest.mark.parametrize("text", [STEP_1, STEP_2])
def test_the_watcher_stops_the_reply_early_and_keeps_the_same(text: str, piece: int) -> None:
    watcher = Cutter()
    seen = 0
    for i in range(0, len(text), piece):
        seen = i + piece
        if watcher(text[i : i + piece]):
            break
    assert seen < len(cut(text).text) + piece + 60
    assert watcher.cut.text == cut(text).text


@pytest.mark.parametrize(
    ("text", "kept", "why"),
    [
        ("It is 5.\nUser: thanks\nAssistant: welcome", "It is 5.", "turn"),
        ("It is 5. Human: thanks", "It is 5.", "turn"),
        ("It is 5.\n**Observation:** {}", "It is 5.", "turn"),
        ("It is 5.<|im_end|>\n<|im_start|>user", "It is 5.", "turn"),
        ("Assistant: It is 5.\nHuman: ok", "Assistant: It is 5.", "turn"),
        ('{"name": "f", "arguments": {}}\nThen I call', '{"name": "f", "arguments": {}}', "answer"),
        ('```json\n{"a": 1}\n```\nThis means', '```json\n{"a": 1}\n```', "answer"),
        (
            'I call {"name": "f", "arguments": {}} and',
            'I call {"name": "f", "arguments": {}}',
            "answer",
        ),
        ("<tool_call>{}</tool_call> so", "<tool_call>{}</tool_call>", "answer"),
        ("Yes.\n" + "I will try again now.\n" * 10, "Yes.\nI will try again now.", "loop"),
        ("Yes, " + "and then once more, " * 20, "Yes, and then once more,", "loop"),
    ],
)
def test_what_is_not_the_models_own_answer_is_cut(text: str, kept: str, why: str) -> None:
    found = cut(text)
    assert (found.text, found.why) == (kept, why)
    assert found.discarded


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The answer is 42.",
        '{"name": "say", "arguments": {"text": "Human: hi\\nUser: x. Observation: y"}}',
        'Action: say\nAction Input: {"text": "He said. Human: hi"}',
        "The user: a person. An observation: none.",
        "- one\n- two\n- three\n- four\n- five",
        "See {a} and {b: 1} in the text.",
        "0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0",
        "ha\nha\nha\nha\nha",
    ],
)
def test_an_honest_answer_is_left_whole(text: str) -> None:
    assert cut(text) == Cut(text)


def test_a_turn_played_inside_an_unfinished_value_is_still_kept_as_text() -> None:
    text = 'Action: say\nAction Input: {"text": "Human: hello'
    assert cut(text) == Cut(text)


def test_several_calls_are_welcome_where_any_number_is() -> None:
    two = '{"name": "f", "arguments": {}}\n{"name": "g", "arguments": {}}'
    assert cut(two, calls=None) == Cut(two)
    assert cut(two, calls=1).text == '{"name": "f", "arguments": {}}'
    tags = "<tool_call>{}</tool_call>\n<tool_call>{}</tool_call>"
    assert cut(tags, calls=None) == Cut(tags)
    actions = "Action: f\nAction Input: {}\nAction: g\nAction Input: {}"
    assert cut(actions, calls=None) == Cut(actions)
    assert cut(actions, calls=2) == Cut(actions)


@given(st.text(alphabet='Human:\n{}[]"Actionpu <>|`', max_size=150))
def test_nothing_but_space_is_lost_and_what_is_kept_is_not_cut_again(text: str) -> None:
    found = cut(text)
    assert text.startswith(found.text)
    between = text[len(found.text) : len(text) - len(found.discarded)]
    assert not between.strip()
    assert text.endswith(found.discarded)
    assert cut(found.text) == Cut(found.text)


def test_a_reply_of_two_thousand_pieces_is_watched_in_a_second() -> None:
    watcher = Cutter(calls=None)
    started = time.process_time()
    for i in range(2_000):
        watcher(f"word{i} ")
    assert time.process_time() - started < 2
