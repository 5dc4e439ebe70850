"""An upstream that calls natively, led in rounds: what it is asked, and what the client gets."""

from __future__ import annotations

import json
from typing import Any

import pytest

from callwright.nouns.errors import Failure
from callwright.proxy.session.events import Probed, UpstreamData, UpstreamFailed, UpstreamHead
from callwright.proxy.session.settings import GuidedPart, Settings
from tests.proxy.playbook import (
    JSON,
    SSE,
    Playbook,
    assembled,
    call,
    native_stream,
    text_stream,
    whole,
)
from tests.proxy.session.leading.test_lead import READ, TEXT, TOOLS, made, tool, user

NATIVE = Probed(native=True, schema=False)
ORDER_BOLTS = user("Order 200 hex bolts")
FOUND = made("find_part", {"name": "hex bolts"}, '{"code": "HB-8", "name": "hex bolt"}')
ORDER = {"part_code": "HB-8", "quantity": 200}
ORDERED = made("create_order", ORDER, '{"order": "O-1", "status": "placed"}', "c2")


def ask(
    *messages: Any, stream: bool = False, without: frozenset[GuidedPart] = frozenset(), **more: Any
) -> Playbook:
    book = Playbook(Settings(guided="native", without=without))
    body = {"model": "m", "messages": [*messages], "tools": TOOLS, "stream": stream, **more}
    book.ask(json.dumps(body, indent=1).encode())
    if book.probes:
        book.tell(NATIVE)
    return book


def offered(book: Playbook, at: int = -1) -> list[str]:
    return [t["function"]["name"] for t in json.loads(book.asked[at].body)["tools"]]


def reply(book: Playbook, text: str = "", *calls: tuple[str, Any]) -> Playbook:
    """The upstream's answer, streamed where it is asked so."""
    if json.loads(book.asked[-1].body).get("stream"):
        rows = [(f"n{n}", name, json.dumps(given)) for n, (name, given) in enumerate(calls)]
        return book.answer(native_stream(*rows) if rows else text_stream(text))
    entries = [call(name, given, f"n{n}") for n, (name, given) in enumerate(calls)]
    finish = "tool_calls" if calls else "stop"
    return book.answer(whole(text or None, entries, finish), JSON)


def got(book: Playbook) -> tuple[str, list[tuple[str, Any]]]:
    assert book.finished is not None
    if book.out.startswith(b"data:"):
        message = assembled(book.out)
        rows = [(c["name"], json.loads(c["arguments"])) for c in message["calls"]]
        return message["text"], rows
    message = json.loads(book.out)["choices"][0]["message"]
    pairs = [entry["function"] for entry in message.get("tool_calls") or ()]
    return message["content"] or "", [(p["name"], json.loads(p["arguments"])) for p in pairs]


@pytest.mark.parametrize("stream", [False, True])
def test_what_gives_a_value_is_offered_before_what_needs_it(stream: bool) -> None:
    book = ask(ORDER_BOLTS, stream=stream)
    assert offered(book) == ["find_part", "send_mail"]
    asked, own = (
        json.loads(book.asked[0].body),
        json.loads(book.session._transaction.outbound.request.body),
    )
    assert {k: v for k, v in asked.items() if k != "tools"} == {
        k: v for k, v in own.items() if k != "tools"
    }
    reply(book, "", ("find_part", {"name": "hex bolts"}))
    assert got(book) == ("", [("find_part", {"name": "hex bolts"})])
    assert len(book.asked) == 1


@pytest.mark.parametrize("stream", [False, True])
def test_with_what_was_found_every_tool_has_its_turn_byte_for_byte(stream: bool) -> None:
    book = ask(ORDER_BOLTS, *FOUND, stream=stream)
    assert book.asked[0].body == book.session._transaction.outbound.request.body
    reply(book, "", ("create_order", ORDER))
    assert got(book) == ("", [("create_order", ORDER)])
    assert book.record.outcome == "untouched"


@pytest.mark.parametrize("stream", [False, True])
def test_where_a_round_brings_no_call_the_next_is_asked_before_a_word_goes_out(
    stream: bool,
) -> None:
    book = ask(user("Hello!"), stream=stream)
    reply(book, "Shall I look a part up?")
    assert (book.out, book.head) == (b"", None)
    assert offered(book) == ["find_part", "create_order", "send_mail"]
    reply(book, "Hello, how can I help?")
    assert got(book) == ("Hello, how can I help?", [])


def test_the_words_of_the_last_round_stream() -> None:
    book = reply(ask(user("Hello!"), stream=True), "Shall I?")
    stream = text_stream("Hello", ", how can I help?")
    book.tell(UpstreamHead(200, SSE))
    for cut in range(0, len(stream), 50):
        book.tell(UpstreamData(stream[cut : cut + 50]))
        assert len(stream[: cut + 50]) - len(book.out) < 200
    assert book.out == stream


@pytest.mark.parametrize(
    "choice", ["none", "required", {"type": "function", "function": {"name": "create_order"}}]
)
def test_a_tool_choice_leaves_the_order_to_the_client(choice: Any) -> None:
    book = ask(ORDER_BOLTS, tool_choice=choice)
    assert book.asked[0].body == book.session._transaction.outbound.request.body
    assert book.record.led is None


def test_only_where_it_is_switched_on() -> None:
    body = json.dumps({"model": "m", "messages": [ORDER_BOLTS], "tools": TOOLS}).encode()
    for guided in ("auto", "off"):
        book = Playbook(Settings(guided=guided)).ask(body)
        if book.probes:
            book.tell(NATIVE)
        assert book.asked[0].body == body


def test_an_upstream_without_working_calls_is_asked_as_in_auto() -> None:
    body = {"model": "m", "messages": [ORDER_BOLTS], "tools": TOOLS}
    book = Playbook(Settings(guided="native")).ask(body)
    book.tell(Probed(native=False, schema=True))
    assert "response_format" in json.loads(book.asked[0].body)


def test_a_call_that_is_kept_back_in_a_round_leads_to_the_next_one() -> None:
    book = ask(user("Good morning!"))
    reply(book, "", ("send_mail", {"to": "friend@example.com", "body": "Good morning!"}))
    assert offered(book) == ["find_part", "create_order", "send_mail"]
    reply(book, "Good morning!")
    assert got(book) == ("Good morning!", [])
    assert [one.rule for one in book.record.guarding.held] == ["unstated_value"]
    assert [edit.rule for edit in book.record.edits] == ["unstated_value"]


@pytest.mark.parametrize("stream", [False, True])
def test_words_that_hold_after_results_pass(stream: bool) -> None:
    book = ask(ORDER_BOLTS, *FOUND, *ORDERED, stream=stream)
    reply(book, "The order O-1 is placed. Do you need 50 more?")
    assert got(book) == ("The order O-1 is placed. Do you need 50 more?", [])
    assert len(book.asked) == 1


@pytest.mark.parametrize("stream", [False, True])
def test_words_that_do_not_hold_are_written_from_the_results(stream: bool) -> None:
    book = ask(ORDER_BOLTS, *FOUND, *ORDERED, stream=stream)
    reply(book, "It arrives on Friday from Rome.")
    asked = json.loads(book.asked[1].body)
    assert "what came of it: one short" in asked["messages"][-1]["content"]
    assert asked["messages"][:-1] == json.loads(book.asked[0].body)["messages"], (
        "behind what was read"
    )
    reply(book, "The order is O-1. Its status is placed.")
    assert got(book) == ("The order is O-1. Its status is placed.", [])
    asked = offered(book, 0), len(book.asked)
    assert asked == (["find_part", "create_order", "send_mail"], 2)


def test_words_pass_unchecked_without_that_part_or_where_json_is_wanted() -> None:
    wrong, json_form = (
        "It arrives on Friday from Rome.",
        {"response_format": {"type": "json_object"}},
    )
    for more in ({"without": frozenset({"answer"})}, json_form):
        book = reply(ask(ORDER_BOLTS, *FOUND, *ORDERED, **more), wrong)
        assert got(book)[0] == wrong


def test_a_request_of_two_wishes_is_asked_for_the_second() -> None:
    two = user("Look up hex bolts and look up M8 nuts")
    book = reply(ask(two), "", ("find_part", {"name": "hex bolts"}))
    assert b"only a part of the request" in book.asked[1].body
    both = [("find_part", {"name": "hex bolts"}), ("find_part", {"name": "M8 nuts"})]
    assert got(reply(book, "", *both))[1] == both
    book = reply(ask(two, without=frozenset({"wishes"})), "", ("find_part", {"name": "hex bolts"}))
    assert got(book)[1] == both[:1]


def test_without_layers_all_tools_are_offered_at_once() -> None:
    book = ask(ORDER_BOLTS, without=frozenset({"layers"}))
    assert book.asked[0].body == book.session._transaction.outbound.request.body


FIND = tool("find_part", "Finds a part by its name and returns its code.", READ, name=TEXT)
MANY = [
    FIND,
    *TOOLS[1:],
    *(tool(f"tool_{n}", f"Does the thing of number {n}.", READ, text=TEXT) for n in range(12)),
]


def test_of_many_tools_those_are_chosen_that_the_request_needs() -> None:
    book = ask(ORDER_BOLTS, tools=MANY)
    assert b"names of the tools that are needed" in book.asked[0].body
    reply(book, "create_order, find_part")
    assert offered(book) == ["find_part"]
    reply(book, "", ("find_part", {"name": "hex bolts"}))
    assert got(book)[1] == [("find_part", {"name": "hex bolts"})]
    then = ask(ORDER_BOLTS, *FOUND, tools=MANY)
    assert offered(then) == ["find_part", "create_order"], "they were chosen before"


def test_nothing_is_taken_away_that_was_not_understood() -> None:
    book = ask(user("Hello"), tools=MANY)
    reply(book, "I cannot say.")
    assert len(offered(book)) == len(MANY)


def test_choosing_and_what_comes_first_can_be_left_out() -> None:
    whole_list = ask(user("Order 300 bolts"), tools=MANY, without=frozenset({"select"}))
    assert len(offered(whole_list)) == len(MANY) - 1, "an order waits for its code"
    alone = ask(user("Order 300 bolts"), tools=MANY, without=frozenset({"prerequisites"}))
    reply(alone, "create_order")
    assert offered(alone) == ["create_order"]


def test_the_headers_and_the_record_say_which_parts_led() -> None:
    book = ask(ORDER_BOLTS, without=frozenset({"wishes"}))
    reply(book, "", ("find_part", {"name": "hex bolts"}))
    assert book.head is not None
    assert dict(book.head.headers)["x-callwright-guided"] == "select, layers, prerequisites, answer"
    assert book.record.led.steps == (
        "offered: find_part, send_mail",
        "offered: create_order",
        "in the end: find_part, create_order, send_mail",
    )


def test_an_upstream_that_fails_or_refuses_is_told_as_it_came() -> None:
    refused = ask(ORDER_BOLTS).answer(b'{"error": "no"}', JSON, status=429)
    assert (refused.out, len(refused.asked)) == (b'{"error": "no"}', 1)
    gone = ask(ORDER_BOLTS)
    gone.tell(UpstreamHead(200, JSON))
    gone.tell(UpstreamFailed(Failure("unavailable", "gone")))
    assert b"upstream: gone" in gone.out


def test_a_stream_without_its_end_is_told_as_such() -> None:
    book = ask(ORDER_BOLTS, *FOUND, stream=True)
    stream = text_stream("The code is HB-8.")
    book.answer(stream[: stream.index(b'"delta": {}')].rpartition(b"\n\n")[0] + b"\n\n")
    assert b"HB-8" in book.out
    assert b"ended before its answer did" in book.out


def test_an_answer_that_is_too_long_passes_as_it_came() -> None:
    long = whole("x" * 1_100_000)
    book = ask(ORDER_BOLTS).answer(long, JSON)
    assert book.out == long
    assert book.record.fault == "over-budget"
