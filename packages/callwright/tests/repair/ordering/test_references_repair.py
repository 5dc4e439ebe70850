from callwright.nouns.types import Tool, ToolCall
from callwright.repair.ordering.sequence import order


def tool(name: str, inputs: str, outputs: str) -> Tool:
    fields = [
        {"type": "object", "properties": {k: {"type": "string"} for k in part.split()}}
        for part in (inputs, outputs)
    ]
    return Tool(name, input_schema=fields[0], output_schema=fields[1])


ISBN = tool("scan_isbn", "isbn", "book_details availability")
SHELF = tool("locate_book", "book_details", "location_desc")
GUIDE = tool("guide", "availability location_desc", "message")
TOOLS = [ISBN, SHELF, GUIDE]


def library() -> list[ToolCall]:
    return [
        ToolCall("API_call_0 API_call_1", "scan_isbn", {"isbn": "9-78"}),
        ToolCall("API_call_2", "locate_book", {"book_details": "API_call_0"}),
        ToolCall(
            "API_call_3", "guide", {"availability": "API_call_1", "location_desc": "API_call_2"}
        ),
    ]


def test_lost_response_labels_are_the_numbers_nobody_has() -> None:
    calls = library()
    calls[0] = ToolCall("", "scan_isbn", {"isbn": "9-78"})
    done = order(calls, TOOLS)
    assert list(done.calls) == library()
    assert done.edits[0].after == "API_call_0 API_call_1"


def test_an_unknown_response_is_pointed_at_the_output_the_argument_plainly_takes() -> None:
    calls = library()
    calls[2] = ToolCall(
        "API_call_3", "guide", {"availability": "API_call_9", "location_desc": "API_call_2"}
    )
    assert order(calls, TOOLS).calls[2].arguments == {
        "availability": "API_call_1",
        "location_desc": "API_call_2",
    }


def test_a_reference_to_an_output_that_answers_nothing_goes_to_the_one_that_does() -> None:
    calls = library()
    calls[2] = ToolCall(
        "API_call_3", "guide", {"availability": "API_call_2", "location_desc": "API_call_2"}
    )
    done = order(calls, TOOLS)
    assert [(e.path, e.after) for e in done.edits] == [("/2/arguments/availability", "API_call_1")]


def test_a_call_never_refers_to_itself() -> None:
    calls = library()
    calls[1] = ToolCall("API_call_2", "locate_book", {"book_details": "API_call_2"})
    assert order(calls, TOOLS).calls[1].arguments == {"book_details": "API_call_0"}


def test_two_calls_without_labels_are_not_guessed_between() -> None:
    calls = library()
    calls[0] = ToolCall("", "scan_isbn", {"isbn": "9-78"})
    calls[1] = ToolCall("", "locate_book", {"book_details": "x"})
    done = order(calls, TOOLS)
    assert not [e for e in done.edits if e.rule == "label_added"]
    assert done.problems


def test_output_names_of_tools_are_references_too() -> None:
    birthplace = tool("find_birthplace", "celebrity_name", "output_birthplace")
    capital = tool("find_capital", "information_content", "output_capital")
    calls = [
        ToolCall("call_1", "find_capital", {"information_content": "output_birthplace"}),
        ToolCall("call_2", "find_birthplace", {"celebrity_name": "Ada"}),
    ]
    assert [c.tool for c in order(calls, [birthplace, capital]).calls] == [
        "find_birthplace",
        "find_capital",
    ]


def test_a_reference_to_a_later_call_is_in_doubt_where_an_earlier_one_returns_the_same() -> None:
    """Labels that count upwards were not shuffled: the order or the label is wrong, and nobody can
    tell which.
    """

    tools = [tool("locate", "query", "geo_id"), tool("hotels", "geo_id", "hotel_id")]
    lisbon, porto = (
        ToolCall("var1", "locate", {"query": "Lisbon"}),
        ToolCall("var3", "locate", {"query": "Porto"}),
    )
    hotels = ToolCall("var2", "hotels", {"geo_id": "$var3.geo_id$"})
    doubtful = order([lisbon, hotels, porto], tools)
    assert (doubtful.calls, doubtful.edits) == ((lisbon, hotels, porto), ())
    assert "an earlier one returns the same" in doubtful.problems[0].message
    assert order([hotels, porto], tools).calls == (porto, hotels)  # no other call could be meant
    assert order([porto, hotels, lisbon], tools).calls == (porto, hotels, lisbon)
    shuffled = order([lisbon, ToolCall("var4", "hotels", hotels.arguments), porto], tools)
    assert [c.id for c in shuffled.calls] == ["var1", "var3", "var4"]
