"""Choosing among tools: names and first sentences are shown, schemas are not; any reply is read."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from callwright.agent.select import build_request, find_closest, find_mentioned, read_selection
from callwright.nouns.types import Reply, Tool
from callwright.prompts.run_prompt import RunPrompt

FIND = Tool(
    "find",
    "Finds things. At length.",
    {"type": "object", "properties": {"secret_key": {"type": "string"}}},
)
DROP = Tool("drop", "Drops things.")
TOOLS = (FIND, DROP)


def test_the_question_shows_names_and_first_sentences_only() -> None:
    request = build_request("Find x", TOOLS, "schema")
    body = request.messages[-1].content
    assert "- find: Finds things\n" in body
    assert "secret_key" not in body
    assert request.schema is not None
    assert request.purpose == "select"
    assert build_request("Find x", TOOLS, "text").schema is None


def test_the_named_tools_come_back_as_they_were_named_and_unknown_names_are_nothing() -> None:
    assert read_selection(Reply('{"needed": ["drop", "ghost", "find", "drop"]}'), TOOLS) == (
        DROP,
        FIND,
    )
    assert read_selection(Reply("find, ghost"), TOOLS) == (FIND,)
    assert read_selection(Reply('{"needed": []}'), TOOLS) == ()


@given(st.text(max_size=60))
def test_no_reply_is_an_exception(text: str) -> None:
    assert set(read_selection(Reply(text), TOOLS)) <= set(TOOLS)


def test_a_tool_is_mentioned_by_its_name_its_parameters_or_its_options() -> None:
    unit = {"type": "object", "properties": {"to": {"enum": ["nautical_mile", "foot"]}}}
    convert = Tool("convert_units", "Converts a number.", unit)
    other = Tool("list_rooms", "Lists rooms.")
    assert find_mentioned("How many nautical miles is it?", [convert, other]) == (convert,)
    assert find_mentioned("Which rooms are free?", [convert, other]) == (other,)


def test_of_a_run_the_question_stands_behind_what_all_questions_share() -> None:
    prompt = RunPrompt("Find x", results=("r1: drop() -> 1",))
    asked = build_request("Find x", TOOLS, "schema", prompt, "drop failed.").messages[-1].content
    assert (
        asked.index("r1: drop()")
        < asked.index("drop failed.")
        < asked.index("- find: Finds things")
    )
    alone = build_request("Find x", TOOLS, "schema", notes="drop failed.").messages[-1].content
    assert "Find x\n\ndrop failed." in alone


def test_a_description_is_as_long_as_is_asked_for() -> None:
    tool = Tool("find", "word " * 200)
    for most in (120, 360):
        asked = build_request("Find x", [tool], "text", description_chars=most)
        (line,) = [x for m in asked.messages for x in m.content.split("\n") if "- find: " in x]
        assert len(line.removeprefix("- find: ")) == most


def test_the_tools_closest_to_a_request_are_found_by_its_rare_words() -> None:
    tools = [
        Tool("book_room", "Book a meeting room."),
        Tool("list_rooms", "List all meeting rooms."),
        Tool("book_flight", "Book a flight."),
        *(Tool(f"add_{n}", "Add a number.") for n in range(9)),
    ]
    found = [tool.name for tool in find_closest("Book the room Birch for Friday", tools)]
    assert found[0] == "book_room"
    assert "add_0" not in found
    assert find_closest("预订桦木会议室", tools) == ()
    assert len(find_closest("Add a number to the list of rooms and book a flight", tools)) == 4
    assert find_closest("Book a room", []) == ()
