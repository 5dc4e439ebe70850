"""Guided mode as a whole, as the session's client sees it."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from typing import Any

import pytest

from callwright.nouns.errors import Failure
from callwright.proxy.session.events import UpstreamData, UpstreamEnd, UpstreamFailed, UpstreamHead
from callwright.proxy.session.settings import Settings
from tests.proxy.playbook import JSON, SSE, Playbook, assembled, call, chunk, text_stream, whole
from tests.proxy.session.test_guard import LOOK, PAY

TOOL = {
    "type": "function",
    "function": {
        "name": "deposit",
        "description": "Deposits money.",
        "parameters": {
            "type": "object",
            "properties": {"amount": {"type": "number"}},
            "required": ["amount"],
        },
        "annotations": {"readOnlyHint": False, "destructiveHint": False},
    },
}


def body(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [*messages], "tools": [TOOL], **more}


ASKED = {"role": "user", "content": "Deposit 75."}
CALL = '{"wishes": ["deposit"], "calls": [{"name": "deposit", "arguments": {"amount": 75}}]}'


def test_the_calls_that_the_engine_decides_on_go_to_the_client() -> None:
    book = Playbook(Settings(guided="on")).ask(body(ASKED)).answer(whole(CALL), JSON)
    message = json.loads(book.out)["choices"][0]["message"]
    assert [c["function"]["name"] for c in message["tool_calls"]] == ["deposit"]


ENTRY = {
    "id": "c1",
    "type": "function",
    "function": {"name": "deposit", "arguments": '{"amount": 75}'},
}
DONE = [
    ASKED,
    {"role": "assistant", "content": None, "tool_calls": [ENTRY]},
    {"role": "tool", "tool_call_id": "c1", "content": '{"balance": 175, "fee": 2}'},
]


def test_with_the_result_the_client_gets_a_sentence() -> None:
    said = {"statements": [{"text": "The balance is 175.", "results": ["r1"]}], "missing": []}
    book = Playbook(Settings(guided="on")).ask(body(*DONE)).answer(whole(json.dumps(said)), JSON)
    choice = json.loads(book.out)["choices"][0]
    assert (choice["message"]["content"], choice["finish_reason"]) == (
        "The balance is 175.",
        "stop",
    )


def test_words_that_need_no_tool_flow_as_they_come() -> None:
    greeting = {"role": "user", "content": "Wie heißt du?"}
    book = Playbook(Settings(guided="on")).ask(body(greeting, stream=True))
    book.answer(whole('{"no_call": "a greeting"}'), JSON)
    stream = text_stream("Guten ", "Morgen!")
    assert book.answer(stream).out == stream


PSEUDO = '{"name": "bank_deposit", "arguments": {"sum": 75}}'
DECLINED = '{"no_call": "why"}'


def answer_freely(book: Playbook, text: str, stream: bool) -> Playbook:
    return book.answer(text_stream(text)) if stream else book.answer(whole(text), JSON)


def read_answer(out: bytes, stream: bool) -> tuple[str, list[str]]:
    """The text of an answer, and the tools that it calls."""
    if stream:
        made = assembled(out)
        return made["text"], [call["name"] for call in made["calls"]]
    message = json.loads(out)["choices"][0]["message"]
    called = [call["function"]["name"] for call in message.get("tool_calls") or ()]
    return message["content"] or "", called


def write_letter(letter: str, share: float) -> bytes:
    """A reply of one letter, with how likely it was."""
    made = json.loads(whole(letter))
    likely = [
        {"token": letter, "logprob": math.log(share)},
        {"token": "B", "logprob": math.log(1 - share)},
    ]
    made["choices"][0]["logprobs"] = {"content": [{**likely[0], "top_logprobs": likely}]}
    return json.dumps(made).encode()


@pytest.mark.parametrize("stream", [False, True])
def test_words_that_are_a_call_of_no_offered_tool_lead_to_the_call_that_was_meant(
    stream: bool,
) -> None:
    # letters are remembered by model
    reading = {**TOOL["function"], "annotations": {"readOnlyHint": True}}
    offered = [{"type": "function", "function": reading}]
    begun = {**body(ASKED, stream=stream), "model": f"sure {stream}", "tools": offered}
    book = Playbook(Settings(guided="on")).ask(begun)
    book.answer(whole(DECLINED), JSON)
    answer_freely(book, PSEUDO, stream)
    book.answer(write_letter("A", 0.6), JSON)
    assert b"bank_deposit" in book.asked[-1].body
    assert b"no_call" not in book.asked[-1].body.split(b"response_format")[-1]
    out = book.answer(whole(CALL), JSON).out
    assert read_answer(out, stream) == ("", ["deposit"])


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("said", "expected"), [("It is 42.", "It is 42."), (PSEUDO, "the model gave no answer")]
)
def test_where_no_tool_is_meant_there_are_words_in_the_end(
    stream: bool, said: str, expected: str
) -> None:
    asked = {"role": "user", "content": "What is 17 plus 25?"}
    begun = {**body(asked, stream=stream), "model": f"unsure {stream} {said}"}
    book = Playbook(Settings(guided="on")).ask(begun)
    book.answer(whole(DECLINED), JSON)
    answer_freely(book, PSEUDO, stream)
    book.answer(write_letter("A", 0.4), JSON)
    out = answer_freely(book, said, stream).out
    assert read_answer(out, stream) == (expected, [])


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("pseudo", [PSEUDO, '{"name": "deposit", "arguments": {"amount": 75}}'])
def test_words_that_are_a_call_reach_no_client_though_nothing_may_be_asked(
    stream: bool, pseudo: str
) -> None:
    begun = {**body(ASKED, stream=stream), "model": f"poor {stream}"}
    book = Playbook(Settings(guided="on", reasks=0)).ask(begun)
    book.answer(whole(DECLINED), JSON)
    answer_freely(book, pseudo, stream)
    if book.finished is None:
        book.answer(write_letter("A", 0.4), JSON)
    assert read_answer(book.out, stream) == ("the model gave no answer", [])


def test_a_greeting_is_answered_by_no_call() -> None:
    begun = body({"role": "user", "content": "Good morning!"})
    book = Playbook(Settings(guided="on")).ask(begun).answer(whole(PSEUDO), JSON)
    out = book.answer(whole("Good morning!"), JSON).out
    assert read_answer(out, stream=False) == ("Good morning!", [])


@pytest.mark.parametrize("number", [1, 2])
def test_a_client_with_functions_gets_one_call_a_turn_and_each_in_its_turn(number: int) -> None:
    given = [{"to": "Ann", "amount": 50}, {"to": "Bob", "amount": 20}]
    paid = [
        {"role": role, "content": None, **more}
        for role, more in (
            ("assistant", {"function_call": {"name": "pay", "arguments": json.dumps(given[0])}}),
            ("function", {"name": "pay", "content": '{"paid": true}'}),
        )
    ]
    asked = {"role": "user", "content": "Pay Ann 50 and Bob 20."}
    functions = [tool["function"] for tool in (PAY, LOOK)]
    begun = {"model": "m", "messages": [asked, *paid[: 2 * number - 2]], "functions": functions}
    rows = [{"name": "pay", "arguments": one} for one in given[number - 1 :]]
    reply = json.dumps({"wishes": ["pay Ann", "pay Bob"], "calls": rows})
    book = Playbook(Settings(guided="on")).ask(begun)
    while b"top_logprobs" in book.asked[-1].body:
        book.answer(whole("A"), JSON)
    out = book.answer(whole(reply), JSON).out
    called = json.loads(out)["choices"][0]["message"]["function_call"]
    assert json.loads(called["arguments"]) == given[number - 1]


def test_the_question_for_words_says_that_there_were_none() -> None:
    book = Playbook(Settings(guided="on")).ask({**body(ASKED), "model": "says no more"})
    book.answer(whole(DECLINED), JSON).answer(whole(PSEUDO), JSON)
    book.answer(write_letter("A", 0.4), JSON)
    assert book.asked[-1].body != book.asked[1].body, "to the same question it says the same"
    assert b"held no words" in book.asked[-1].body


@pytest.mark.parametrize("stream", [False, True])
def test_no_write_is_asked_for_that_the_model_declined(stream: bool) -> None:
    begun = {**body(ASKED, stream=stream), "model": f"write {stream}"}
    book = Playbook(Settings(guided="on")).ask(begun)
    book.answer(whole(DECLINED), JSON)
    answer_freely(book, PSEUDO, stream)
    book.answer(write_letter("A", 0.9), JSON)
    out = answer_freely(book, "Shall I?", stream).out
    assert read_answer(out, stream) == ("Shall I?", [])


def test_a_read_of_an_upstream_that_could_not_be_led_is_never_kept_back() -> None:
    asked = {"role": "user", "content": "Show me the balance."}
    begun = {"model": "m", "messages": [asked], "tools": [PAY, LOOK]}
    book = Playbook(Settings(guided="on")).ask(begun).answer(whole("What do you mean?"), JSON)
    look = call("balance", {"account": 4711})
    out = book.answer(whole(None, [look], finish="tool_calls"), JSON).out
    assert read_answer(out, stream=False) == ("", ["balance"])


def test_an_upstream_that_cannot_be_led_is_asked_as_the_client_did() -> None:
    raw = json.dumps(body(ASKED)).encode()
    book = Playbook(Settings(guided="on")).ask(raw).answer(whole("What do you mean?"), JSON)
    assert book.asked[1].body == raw


def test_the_engine_is_loaded_where_somebody_is_led_and_nowhere_else() -> None:
    code = (
        "import sys, callwright.cli.proxy\n"
        "print('callwright.dataflow.flow' in sys.modules, 'callwright.grounding' in sys.modules)\n"
        "from callwright.proxy.session.phases.leading import load_engine\n"
        "load_engine()\n"
        "print('callwright.grounding' in sys.modules, 'numpy' in sys.modules)"
    )
    said = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert said.stdout.split() == ["False", "False", "True", "False"]


def test_the_record_and_the_headers_say_which_parts_led_and_how_far() -> None:
    book = Playbook(Settings(guided="on", without=frozenset({"wishes"})))
    book.ask(body(ASKED)).answer(whole(CALL), JSON)
    led = book.record.led
    assert led.parts == (
        "select",
        "layers",
        "prerequisites",
        "unasked",
        "options",
        "polling",
        "question",
        "answer",
    )
    assert led.steps == ("offered: deposit",)
    assert book.record.notes == []
    assert book.head is not None
    told = dict(book.head.headers)
    assert (
        told["x-callwright-guided"]
        == "select, layers, prerequisites, unasked, options, polling, question, answer"
    )
    assert (told["x-callwright-guard"], told["x-callwright-held"]) == ("act", "0")


def test_a_call_that_is_kept_back_on_the_way_is_told_with_the_words_that_follow() -> None:
    wrong = CALL.replace("75", "7777")
    book = Playbook(Settings(guided="on")).ask(body(ASKED)).answer(whole(wrong), JSON)
    while book.finished is None:
        book.answer(whole("Which amount?"), JSON)
    held = book.record.guarding.held
    assert {one.rule for one in held} == {"unstated_value"}
    assert not any(one.is_sent for one in held)
    assert {edit.rule for edit in book.record.edits} == {"unstated_value"}, "each change is listed"
    assert book.head is not None
    assert int(dict(book.head.headers)["x-callwright-held"]) == len(held)


def test_what_cannot_be_led_is_not_said_to_be() -> None:
    book = Playbook(Settings(guided="on")).ask(body(ASKED)).answer(whole("What?"), JSON)
    book.answer(whole("What do you mean?"), JSON)
    assert book.record.led is None
    assert book.head is not None
    assert "x-callwright-guided" not in dict(book.head.headers)


def written(*texts: str, missing: tuple[str, ...] = ()) -> str:
    return json.dumps({"final_answer": " ".join(texts), "missing": [*missing]})


TWO = written("The balance is 175.", "The fee is 2.")


def begin(reply: str, until: str, **more: Any) -> Playbook:
    """A led turn with its result, whose answer is written up to a place."""
    book = Playbook(Settings(guided="on")).ask(body(*DONE, stream=True, **more))
    assert json.loads(book.asked[-1].body)["stream"] is True
    book.tell(UpstreamHead(200, SSE))
    for sign in reply[: reply.index(until)]:
        book.tell(UpstreamData(chunk({"content": sign})))
    return book


def test_a_grounded_answer_flows_sentence_by_sentence() -> None:
    book = begin(TWO, "fee is 2")
    assert assembled(book.out)["text"] == "The balance is 175."
    assert book.head is not None
    assert dict(book.head.headers)["x-callwright-guided"].endswith("answer")
    for sign in TWO[TWO.index("fee is 2") :]:
        book.tell(UpstreamData(chunk({"content": sign})))
    assert assembled(book.out)["text"] == "The balance is 175. The fee is 2."
    assert book.finished is None
    book.tell(UpstreamEnd())
    message = assembled(book.out)
    assert (message["text"], message["finish"]) == ("The balance is 175. The fee is 2.", "stop")
    assert book.out.endswith(b"data: [DONE]\n\n")
    assert book.record.led.steps[-1] == "answer: checked against the results"


def test_streamed_or_whole_the_answer_is_the_same() -> None:
    doubtful = written("The balance is 175.", "The balance is 9.", "The mayor is Anne.")
    for reply in (TWO, doubtful, "no answer", written("The balance is 175.", missing=("a date",))):
        told = []
        for stream in (True, False):
            book = Playbook(Settings(guided="on")).ask(body(*DONE, stream=stream))
            while book.finished is None:
                asked = json.loads(book.asked[-1].body)
                said = reply if len(book.asked) == 1 else "NOT KNOWN"
                streamed = asked.get("stream")
                book.answer(
                    text_stream(*said) if streamed else whole(said), SSE if streamed else JSON
                )
            if stream:
                told.append(assembled(book.out)["text"])
            else:
                told.append(json.loads(book.out)["choices"][0]["message"]["content"])
        assert told[0] == told[1]


def test_an_answer_that_breaks_off_ends_with_what_was_said_and_says_so() -> None:
    book = begin(TWO, "fee is 2")
    book.tell(UpstreamFailed(Failure("unavailable", "gone")))
    book.answer(whole('{"no_call": "nothing is left"}'), JSON)
    message = assembled(book.out)
    assert message["text"].startswith("The balance is 175.")
    assert "cut off" in message["text"]
    assert message["finish"] == "stop"


def test_an_answer_that_breaks_off_before_a_word_is_asked_for_as_before() -> None:
    book = Playbook(Settings(guided="on")).ask(body(*DONE, stream=True))
    book.tell(UpstreamHead(200, SSE))
    book.tell(UpstreamFailed(Failure("unavailable", "gone")))
    stream = text_stream("It is 175.")
    assert book.answer(stream).out == stream


def test_what_the_answer_misses_is_fetched_behind_what_was_said() -> None:
    reply = written("The balance is 175.", missing=("the second deposit of 20",))
    for found in ("I do not know.", CALL.replace("75", "20")):
        again = [{**ASKED, "content": "Deposit 75. Then deposit 20."}, *DONE[1:]]
        book = Playbook(Settings(guided="on")).ask(body(*again, stream=True))
        book.answer(text_stream(reply)).answer(whole(found), JSON)
        message = assembled(book.out)
        assert message["text"].startswith("The balance is 175.")
        assert [json.loads(c["arguments"]) for c in message["calls"]] == (
            [{"amount": 20}] if found != "I do not know." else []
        )


def test_token_counts_follow_where_the_client_wants_them() -> None:
    book = begin(TWO, "The fee", stream_options={"include_usage": True})
    book.tell(UpstreamData(chunk({"content": TWO[TWO.index("The fee") :]})))
    book.tell(UpstreamEnd())
    assert b'"usage":{"prompt_tokens":' in book.out


LEFTOVER = json.dumps({"final_answer": "The balance is 175.<|im_end|>\n<|im_start|>user\nThanks!"})


@pytest.mark.parametrize("stream", [True, False])
def test_leftovers_of_a_led_answer_are_removed_and_listed(*, stream: bool) -> None:
    book = Playbook(Settings(guided="on")).ask(body(*DONE, stream=stream))
    if stream:
        book.answer(text_stream(LEFTOVER))
        said = assembled(book.out)["text"]
    else:
        book.answer(whole(LEFTOVER), JSON)
        said = json.loads(book.out)["choices"][0]["message"]["content"]
    assert said == "The balance is 175."
    assert "template_token" in {edit.rule for edit in book.record.edits}


def test_equal_calls_that_are_made_once_are_listed() -> None:
    call = {"name": "deposit", "arguments": {"amount": 75}}
    twice = json.dumps({"wishes": ["deposit"], "calls": [call, call]})
    once = {"role": "user", "content": "Please deposit 75 on the account of my sister."}
    book = Playbook(Settings(guided="on")).ask(body(once)).answer(whole(twice), JSON)
    assert len(json.loads(book.out)["choices"][0]["message"]["tool_calls"]) == 1
    assert [edit.rule for edit in book.record.edits] == ["duplicate_call"]
    both = {"role": "user", "content": "Deposit 75 for me and deposit 75 for Ann."}
    book = Playbook(Settings(guided="on")).ask(body(both)).answer(whole(twice), JSON)
    assert len(json.loads(book.out)["choices"][0]["message"]["tool_calls"]) == 2
