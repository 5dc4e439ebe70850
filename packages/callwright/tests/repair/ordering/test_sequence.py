"""What the sequence group promises: right lists of calls stay, disorder is undone, doubt is
reported.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.types import READ, JsonObject, Tool, ToolCall
from callwright.repair.ordering.sequence import order


def made(name: str, inputs: str, outputs: str, read: bool = True) -> Tool:
    """A tool of text arguments; names end in ``?`` where optional."""
    keys = inputs.split()
    schema: JsonObject = {
        "type": "object",
        "properties": {k.rstrip("?"): {"type": "string"} for k in keys},
        "required": [k for k in keys if not k.endswith("?")],
    }
    out: JsonObject = {
        "type": "object",
        "properties": {k: {"type": "string"} for k in outputs.split()},
    }
    tool = Tool(name, input_schema=schema, output_schema=out)
    return Tool(name, "", schema, out, READ) if read else tool


LOCATE = made("search_location", "query", "geo_id name")
HOTELS = made("search_hotels", "geo_id check_in", "hotel_id price")
ROOMS = made("list_rooms", "hotel_id", "room_id")
BOOK = made("book_room", "room_id", "booking_id", read=False)
TOOLS = (LOCATE, HOTELS, ROOMS, BOOK)
QUERY = "Which rooms are free in 'Lisbon' from 2025-03-01?"


def trip() -> list[ToolCall]:
    return [
        ToolCall("var1", "search_location", {"query": "Lisbon"}),
        ToolCall("var2", "search_hotels", {"geo_id": "$var1.geo_id$", "check_in": "2025-03-01"}),
        ToolCall("var3", "list_rooms", {"hotel_id": "$var2.hotel_id$"}),
    ]


def test_a_right_list_comes_back_as_the_same_objects() -> None:
    calls = trip()
    done = order(calls, TOOLS, query=QUERY)
    assert all(a is b for a, b in zip(done.calls, calls, strict=True))
    assert (done.edits, done.problems, done.layers) == ((), (), ((0,), (1,), (2,)))


def test_calls_that_do_not_need_each_other_share_a_layer() -> None:
    calls = [*trip()[:1], ToolCall("var4", "search_location", {"query": "Porto"}), *trip()[1:2]]
    assert order(calls, TOOLS).layers == ((0, 1), (2,))


@given(st.permutations(range(3)))
def test_shuffled_calls_are_sorted_and_the_move_is_listed(places: list[int]) -> None:
    calls = trip()
    done = order([calls[i] for i in places], TOOLS, query=QUERY)
    assert list(done.calls) == calls
    assert [e.rule for e in done.edits] == ([] if places == [0, 1, 2] else ["topological_order"])


def test_sorting_moves_as_little_as_possible() -> None:
    locate = ToolCall("lisbon", "search_location", {"query": "Lisbon"})
    hotels = ToolCall(
        "hotels", "search_hotels", {"geo_id": "{lisbon.geo_id}", "check_in": "2025-03-01"}
    )
    other = ToolCall("porto", "search_location", {"query": "Porto"})
    last = ToolCall("faro", "search_location", {"query": "Faro"})
    assert order([hotels, other, locate, last], TOOLS).calls == (other, locate, hotels, last)


def test_calls_that_move_follow_the_numbers_of_their_labels() -> None:
    locate, hotels, _ = trip()
    other = ToolCall("var3", "search_location", {"query": "Porto"})
    assert order([other, hotels, locate], TOOLS).calls == (locate, hotels, other)
    assert order([other, locate, hotels], TOOLS).calls == (
        other,
        locate,
        hotels,
    )  # nothing has to move


def test_calls_counted_by_place_are_renumbered_when_they_move() -> None:
    calls = [
        ToolCall("call_1", "search_hotels", {"geo_id": "$2", "check_in": "2025-03-01"}),
        ToolCall("call_2", "search_location", {"query": "Lisbon"}),
    ]
    done = order(calls, TOOLS, query=QUERY)
    assert [c.tool for c in done.calls] == ["search_location", "search_hotels"]
    assert done.calls[1].arguments == {"geo_id": "$1", "check_in": "2025-03-01"}
    assert [e.rule for e in done.edits] == ["topological_order", "reference_renumbered"]


def test_a_label_nobody_has_is_pointed_at_the_one_call_that_returns_the_field() -> None:
    calls = trip()
    calls[2] = ToolCall("var3", "list_rooms", {"hotel_id": "$var7.hotel_id$"})
    done = order(calls, TOOLS, query=QUERY)
    assert done.calls[2].arguments == {"hotel_id": "$var2.hotel_id$"}
    assert [(e.path, e.rule) for e in done.edits] == [
        ("/2/arguments/hotel_id", "reference_relabelled")
    ]


def test_a_field_in_another_spelling_is_respelled() -> None:
    calls = trip()
    calls[1] = ToolCall(
        "var2", "search_hotels", {"geo_id": "$var1.geoId$", "check_in": "2025-03-01"}
    )
    done = order(calls, TOOLS, query=QUERY)
    assert done.calls[1].arguments == {"geo_id": "$var1.geo_id$", "check_in": "2025-03-01"}
    assert done.edits[0].rule == "field_respelled"


def test_a_field_nobody_returns_is_reported_and_left() -> None:
    calls = trip()
    calls[1] = ToolCall(
        "var2", "search_hotels", {"geo_id": "$var1.altitude$", "check_in": "2025-03-01"}
    )
    done = order(calls, TOOLS, query=QUERY)
    assert done.calls == tuple(calls)
    assert [(v.kind, v.path) for v in done.problems] == [("ungrounded", "/1/arguments/geo_id")]
    assert done.suggestions


def test_a_call_that_lost_its_label_gets_it_back() -> None:
    calls = trip()
    calls[1] = ToolCall("", "search_hotels", calls[1].arguments)
    done = order(calls, TOOLS, query=QUERY)
    assert list(done.calls) == trip()
    assert [(e.path, e.after, e.rule) for e in done.edits] == [("/1/id", "var2", "label_added")]


def test_a_missing_producer_is_added_before_the_call_that_needs_it() -> None:
    done = order(trip()[1:], TOOLS, query=QUERY)
    assert list(done.calls) == trip()
    assert [(e.path, e.before, e.rule) for e in done.edits] == [("/0", None, "producer_added")]


def test_a_producer_that_may_write_is_never_added_but_named() -> None:
    tools = (*TOOLS, made("get_invoice", "booking_id", "invoice"))
    calls = [ToolCall("var2", "get_invoice", {"booking_id": "$var1.booking_id$"})]
    done = order(calls, tools, query="room_id 'r1'")
    assert list(done.calls) == calls
    assert "'book_room' would provide it, but may change something" in done.problems[0].message


def test_one_of_two_possible_producers_is_never_chosen() -> None:
    tools = (*TOOLS, made("find_place", "query", "geo_id"))
    done = order(trip()[1:], tools, query=QUERY)
    assert list(done.calls) == trip()[1:]
    assert len(done.problems) == 1


def test_calls_that_wait_for_each_other_are_reported() -> None:
    calls = [
        ToolCall("var1", "search_hotels", {"geo_id": "$var2.room_id$", "check_in": "x"}),
        ToolCall("var2", "list_rooms", {"hotel_id": "$var1.hotel_id$"}),
    ]
    done = order(calls, TOOLS)
    assert list(done.calls) == calls
    assert [v.keyword for v in done.problems] == ["cycle"]


def test_without_references_a_placeholder_waits_for_its_producer() -> None:
    calls = [
        ToolCall("call_1", "search_location", {"query": "Lisbon"}),
        ToolCall("call_2", "search_hotels", {"geo_id": "<geo_id>", "check_in": "2025-03-01"}),
    ]
    done = order(calls, TOOLS, query=QUERY)
    assert list(done.calls) == calls[:1]
    assert [(e.path, e.rule) for e in done.edits] == [("/1", "wait_for_result")]


def test_without_references_the_missing_producer_takes_the_place_of_the_call_that_needs_it() -> (
    None
):
    calls = [
        ToolCall("call_1", "search_hotels", {"geo_id": "YOUR_GEO_ID", "check_in": "2025-03-01"})
    ]
    done = order(calls, TOOLS, query=QUERY)
    assert [(c.tool, c.arguments) for c in done.calls] == [("search_location", {"query": "Lisbon"})]
    assert sorted(e.rule for e in done.edits) == ["producer_added", "wait_for_result"]


@given(
    st.lists(
        st.tuples(
            st.sampled_from([t.name for t in TOOLS] + ["nobody"]),
            st.dictionaries(
                st.sampled_from(["geo_id", "query", "x"]),
                st.sampled_from(
                    ["$var1.geo_id$", "$9", "{call_2.x}", "API_call_3", "$var3", "plain", "{x}"]
                )
                | st.text()
                | st.none(),
            )
            | st.text(),
        ),
        max_size=6,
    ),
    st.text(max_size=40),
)
def test_whatever_a_model_writes_is_ordered_twice_alike(
    raw: list[tuple[str, JsonObject | str]], query: str
) -> None:
    calls = [ToolCall(f"var{i}", name, arguments) for i, (name, arguments) in enumerate(raw)]
    once = order(calls, TOOLS, query=query)
    assert once == order(calls, TOOLS, query=query)
    places = sorted(n for layer in once.layers for n in layer)
    assert places == list(range(len(once.calls)))
    waits = any(e.rule in ("wait_for_result", "producer_added", "label_added") for e in once.edits)
    counted = any(
        v.got in ("$9", "API_call_3") for v in once.problems
    )  # left, and counts from other places now
    assert waits or counted or order(once.calls, TOOLS, query=query).calls == once.calls


def test_a_doubtful_reference_is_left_as_it_was_written_and_doubted_again() -> None:
    calls = [
        ToolCall("var0", "search_location", {"query": "$var1.geo_id$"}),
        ToolCall("var1", "search_location", {"query": "$var1.geo_id$"}),
        ToolCall("var2", "search_location", {"query": "Lisbon"}),
    ]
    done = order(calls, TOOLS, query=QUERY)
    assert list(done.calls) == [calls[1], calls[0], calls[2]]
    assert [(v.path, v.got) for v in done.problems] == [("/1/arguments/query", "$var1.geo_id$")]
    again = order(done.calls, TOOLS, query=QUERY)
    assert again.calls == done.calls
    assert len(again.problems) == 1


def test_a_reference_is_not_pointed_to_a_call_numbered_later() -> None:
    calls = [
        ToolCall("var0", "search_location", {"query": "Lisbon"}),
        ToolCall("var1", "search_hotels", {"geo_id": "$var3", "check_in": "2025-03-01"}),
        ToolCall("var2", "search_location", {"query": "Porto"}),
        ToolCall("var3", "list_rooms", {"hotel_id": "1"}),
    ]
    once = order(calls, TOOLS, query=QUERY)
    assert order(once.calls, TOOLS, query=QUERY).calls == once.calls
