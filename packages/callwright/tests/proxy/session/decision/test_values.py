"""Values of an answer's calls that are put right or left out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from callwright.nouns.types import Reply as Said
from callwright.nouns.types import ToolCall
from callwright.proxy.session import guard
from callwright.proxy.session.context import Toolsets, read_context
from callwright.proxy.session.decision.decide import decide_calls
from callwright.proxy.session.decision.decision import Found
from callwright.proxy.session.settings import Settings
from tests.proxy.session.test_guard import (
    NO_HARM,
    READ_ONLY,
    asking,
    called,
    came,
    made_of,
    offered,
    settled,
)

SEARCH = offered(
    "search",
    {"what": {"type": "string"}, "page": {"type": "integer"}, "near": {"type": "boolean"}},
    required=["what"],
)


@pytest.mark.parametrize("annotations", [READ_ONLY, NO_HARM, None])
@pytest.mark.parametrize(
    "said",
    [
        "Search the lamps for us.",
        "Suche bitte die Lampen für uns.",
        "Busca por favor las lámparas para nosotros.",
        "请搜索台灯",
        "ابحث عن المصابيح إلى المكتب",
    ],
)
def test_an_optional_number_that_nobody_said_is_left_out_where_effects_are_declared(
    annotations: Any, said: str
) -> None:
    tool = json.loads(json.dumps(SEARCH))
    tool["function"] |= {"annotations": annotations} if annotations else {}
    found = asking({"role": "user", "content": said}, tool)
    call = ToolCall("", "search", {"what": "lamp", "page": 7})
    assert guard.find_unstated_options(found, [call]) == [(("page",),)]
    assert made_of(found, call) == ({"what": "lamp"} if annotations else call.arguments)
    found.guard = "report"
    assert made_of(found, call) == {"what": "lamp", "page": 7}
    found.guard = "off"
    assert made_of(found, call) == {"what": "lamp", "page": 7}
    found.guard, found.leave_out = "act", True  # it was made to fill a schema
    assert made_of(found, call) == {"what": "lamp"}


def test_a_call_gets_the_day_that_the_user_names() -> None:
    day = {"what": {"type": "string"}, "day": {"type": "string", "format": "date"}}
    said = {"role": "user", "content": "Enter the visit to the warehouse for tomorrow."}
    for effects in (READ_ONLY, NO_HARM, None):
        found = asking(said, offered("enter", day, effects), system="Today is 2026-03-12.")
        call = ToolCall("", "enter", {"what": "visit", "day": "2026-03-14"})
        assert made_of(found, call) == {"what": "visit", "day": "2026-03-13"}
        found.guard = "off"
        assert made_of(found, call) == call.arguments
    found = asking(said, offered("enter", day, READ_ONLY), system="Today is 2026-03-12.")
    found.guard = "report"
    assert made_of(found, call) == call.arguments


def test_a_yes_that_nobody_said_is_left_out_where_effects_are_declared() -> None:
    declared = json.loads(json.dumps(SEARCH))
    declared["function"]["annotations"] = READ_ONLY
    call = ToolCall("", "search", {"what": "lamps", "near": True})
    said = {"role": "user", "content": "Search the lamps for us."}
    assert guard.find_unstated_options(asking(said, declared), [call]) == [(("near",),)]
    assert guard.find_unstated_options(asking(said, SEARCH), [call]) == [()]
    near = {"role": "user", "content": "Search the lamps that are near to us."}
    assert guard.find_unstated_options(asking(near, declared), [call]) == [()]


@pytest.mark.parametrize(
    ("said", "given"),
    [
        ("Book a table on 2026-12-03 at 8.", {"day": "2026-12-03"}),
        ("Reserviere einen Tisch am 2026-12-03 um 8.", {"day": "2026-12-03"}),
        ("Book a table for 2, my birthday is 1990-05-04.", {"people": 2}),
    ],
)
def test_a_write_is_not_given_the_only_value_that_is_left(said: str, given: dict[str, Any]) -> None:
    """It is asked for instead: the hour is no number of people, and a birthday no evening."""
    parts = {"day": {"type": "string", "format": "date"}, "people": {"type": "integer"}}
    call = ToolCall("", "book", given)
    for effects, is_filled in ((NO_HARM, False), (READ_ONLY, True)):
        found = asking({"role": "user", "content": said}, offered("book", parts, effects))
        made = settled(found, call, replies=(Said("{}"),))
        (sent,) = made.calls
        assert (json.loads(sent.arguments).keys() == parts.keys()) is is_filled
        assert made.asked == (0 if is_filled else 1)


READ_FILE = offered(
    "read_file",
    {
        "path": {"type": "string"},
        "offset": {"type": "integer"},
        "limit": {"type": "integer"},
    },
    required=["path"],
)


@pytest.mark.parametrize(
    "said", ["Summarise the notes in big.txt for us.", "Fasse bitte big.txt für uns zusammen."]
)
def test_what_tells_a_call_from_an_earlier_one_is_not_left_out(said: str) -> None:
    """The next part of a file: without its place it would be the first part once more."""
    user = {"role": "user", "content": said}
    call = ToolCall("", "read_file", {"path": "big.txt", "offset": 2001, "limit": 200})
    declared = {**READ_FILE, "function": {**READ_FILE["function"], "annotations": READ_ONLY}}
    assert made_of(asking(user, declared), call) == {"path": "big.txt"}
    assert made_of(asking(user, READ_FILE), call) == call.arguments
    before = [called("read_file", {"path": "big.txt"}), came("so it begins")]
    asked = {"model": "m", "messages": [user, *before], "tools": [declared]}
    found = read_context(asked, b"x", Toolsets(), Settings())
    assert found is not None
    assert made_of(found, call) == call.arguments


def test_what_tells_the_calls_of_one_reply_apart_is_not_left_out() -> None:
    user = {"role": "user", "content": "Summarise the notes in big.txt for us."}
    parts = [
        ToolCall(f"n{n}", "read_file", {"path": "big.txt", "offset": at})
        for n, at in enumerate((2001, 4001))
    ]
    steps = decide_calls(
        [Found(call, native=n) for n, call in enumerate(parts)],
        "",
        "tool_calls",
        asking(user, READ_FILE),
    )
    with pytest.raises(StopIteration) as stopped:
        next(steps)
    assert [json.loads(s.arguments)["offset"] for s in stopped.value.value.calls] == [2001, 4001]


SPEEDY = offered(
    "order",
    {"item": {"type": "string"}, "speed": {"enum": ["slow", "express"]}},
    NO_HARM,
    required=["item"],
)
EXPRESS = ToolCall("", "order", {"item": "A-100", "speed": "express"})


def likely(express: float) -> Said:
    """A reply of one letter: B is the value that was given."""
    return Said("B", first_token={"A": 0.9 - express, "B": express, "C": 0.1})


@pytest.mark.parametrize(
    "said", ["Bestelle A-100, bitte.", "Pide A-100, por favor.", "请订购 A-100", "اطلب A-100"]
)
def test_an_option_that_no_word_states_is_left_out_where_the_conversation_makes_it_less_likely(
    said: str,
) -> None:
    def make(*replies: Said, annotations: Any = NO_HARM) -> Any:
        properties = SPEEDY["function"]["parameters"]["properties"]
        tool = offered("order", properties, annotations, required=["item"])
        found = asking({"role": "user", "content": said}, tool)
        (sent,) = settled(found, EXPRESS, replies=replies).calls
        return json.loads(sent.arguments)

    assert make(likely(0.2), likely(0.6)) == {"item": "A-100"}
    assert make(likely(0.6), likely(0.5)) == EXPRESS.arguments
    assert make(likely(0.5), likely(0.6)) == EXPRESS.arguments, "hardly less likely"
    thinking = Said("<think>", first_token={"<think>": 0.98, "B": 0.01})
    assert make(thinking) == EXPRESS.arguments
    for letter in ("A", "B", "Express"):
        assert make(Said(letter)) == EXPRESS.arguments, "no probabilities: not judged by"
    for letter in ("C", "C)", " C\n"):
        assert make(Said(letter)) == {"item": "A-100"}, "it says that the user does not say it"
    assert make(annotations=None) == EXPRESS.arguments, "of undeclared tools nothing is asked"


@pytest.mark.parametrize("declared", [NO_HARM, READ_ONLY, None])
def test_an_option_that_other_words_may_mean_stays_in_a_call_that_the_upstream_wrote(
    declared: Any,
) -> None:
    text = "Show me what a cleanup of /var/log would remove, but change nothing yet."
    parts = {"path": {"type": "string"}, "dry_run": {"type": "boolean", "default": False}}
    tool = offered("clean_logs", parts, declared, required=["path"])
    call = ToolCall("", "clean_logs", {"path": "/var/log", "dry_run": True})
    found = asking({"role": "user", "content": text}, tool)
    (sent,) = settled(found, call, replies=(Said(""),)).calls
    assert json.loads(sent.arguments) == call.arguments


def test_where_words_can_be_read_the_upstream_is_asked_only_for_what_none_of_them_says() -> None:
    spoken = {"role": "user", "content": "Please order the lamp A-100 by express for me."}
    assert made_of(asking(spoken, SPEEDY), EXPRESS) == EXPRESS.arguments
    said = {"role": "user", "content": "Please order the lamp A-100 for me."}
    found = asking(said, SPEEDY)
    (sent,) = settled(found, EXPRESS, replies=(likely(0.2), likely(0.6))).calls
    assert json.loads(sent.arguments) == {"item": "A-100"}
    spoken = {"role": "user", "content": "Bestelle A-100, express bitte."}
    assert made_of(asking(spoken, SPEEDY), EXPRESS) == EXPRESS.arguments
    reporting = asking({"role": "user", "content": "Bestelle A-100, bitte."}, SPEEDY)
    reporting.guard = "report"
    assert made_of(reporting, EXPRESS) == EXPRESS.arguments


@pytest.mark.parametrize(
    "said", ["Welche Rechnungen muss ich zahlen?", "¿Qué facturas debo?", "我要付哪些账单？"]
)
def test_where_words_cannot_be_read_an_option_of_a_reply_that_fills_a_schema_must_be_implied(
    said: str,
) -> None:
    """A filter that nobody named: without it a lookup finds more, with a wrong one nothing."""
    parts = {"status": {"enum": ["open", "paid"]}}
    call = ToolCall("", "list_bills", {"status": "paid"})

    def make(*replies: Said, annotations: Any = READ_ONLY) -> Any:
        found = asking(
            {"role": "user", "content": said},
            offered("list_bills", parts, annotations, required=[]),
        )
        found.leave_out = True
        (sent,) = settled(found, call, replies=replies).calls
        return json.loads(sent.arguments)

    assert make(likely(0.6), likely(0.5)) == {}, "hardly likelier"
    assert make(likely(0.8), likely(0.3)) == call.arguments
    assert make(Said("B")) == call.arguments, "an upstream without probabilities"
    assert make(annotations=None) == call.arguments, "of undeclared tools nothing is asked"


def test_an_upstream_without_probabilities_is_asked_about_an_option_all_the_same() -> None:
    said = asking({"role": "user", "content": "Bestelle A-100, bitte."}, SPEEDY)
    said.toolset.silent.add("m")
    (sent,) = settled(said, EXPRESS, replies=(Said("C"),)).calls
    assert json.loads(sent.arguments) == {"item": "A-100"}
