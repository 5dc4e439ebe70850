"""A reply that is nothing but a call of a tool nobody offered is seen; JSON that was asked for is
left alone.
"""

from __future__ import annotations

import json

import pytest

from callwright.proxy.session.context import Context, Toolsets, read_context
from callwright.proxy.session.events import Probed
from callwright.proxy.session.hallucinated_calls import find_hallucinated_call, may_begin_call
from callwright.proxy.session.settings import Settings
from tests.proxy.playbook import JSON, Playbook, body, text_stream, whole

ADD = '```json\n{\n  "name": "add",\n  "arguments": {"a": 17, "b": 25}\n}\n```'
SUM = "What is 17 plus 25?"


def weak(query: str) -> Context:
    found = read_context(
        body(messages=[{"role": "user", "content": query}]), b"x", Toolsets(), Settings()
    )
    assert found is not None
    found.native, found.schema = False, True
    return found


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        (ADD, True),
        ('{"name": "add", "parameters": {}}', True),
        ("Sure. " + ADD, False),
        (ADD + " Is that it?", False),
        ('{"name": "Ann", "age": 3}', False),
        ('{"name": "add", "arguments": {}, "more": 1}', False),
        ('{"name": "get_weather", "arguments": {"city": "Oslo"}}', False),
        ('{"name": "add", "arguments": {"a": 1', False),
        ("42", False),
    ],
)
def test_a_whole_reply_that_is_a_call_of_a_stranger(text: str, seen: bool) -> None:
    assert (find_hallucinated_call(text, weak(SUM)) is not None) is seen
    assert may_begin_call(text, weak(SUM)) or not seen


@pytest.mark.parametrize(
    "query", ["Write add(17, 25) as JSON.", "How would one call an adder?", "What is add?"]
)
def test_what_the_user_speaks_of_is_left_alone(query: str) -> None:
    assert find_hallucinated_call(ADD, weak(query)) is None


@pytest.mark.parametrize(
    ("query", "seen"),
    [
        ("Was ist die Summe von 17 und 25?", True),
        ("Schreibe den Aufruf von add für 17 und 25.", False),
        ("Gib mir ein Beispiel für die Addition.", False),
        ("17加25等于多少？", True),
        ("请写出调用add的JSON。", False),
        ("¿Cuánto es la suma de 17 y 25, por favor?", True),
        ("Por favor, escribe un ejemplo para mañana con la suma.", False),
        ("كم مجموع 17 و25؟", True),
        ("أعطني مثالا على الجمع", False),
        ("Combien font 17 plus 25, s'il vous plaît ?", False),
        ("17+25?", True),
    ],
)
def test_the_request_is_read_in_its_language_and_left_alone_where_it_cannot_be(
    query: str, seen: bool
) -> None:
    assert (find_hallucinated_call(ADD, weak(query)) is not None) is seen


def test_an_upstream_whose_own_calls_work_is_left_alone() -> None:
    strong = weak(SUM)
    strong.native = True
    assert find_hallucinated_call(ADD, strong) is None


@pytest.mark.parametrize("stream", [True, False])
def test_the_client_gets_an_answer_in_words_instead(stream: bool) -> None:
    book = Playbook(Settings(guided="text")).ask(
        body(stream, messages=[{"role": "user", "content": SUM}])
    )
    book.tell(Probed(native=False, schema=True))
    if stream:
        book.answer(text_stream(*(ADD[i : i + 5] for i in range(0, len(ADD), 5))))
    else:
        book.answer(whole(ADD), JSON)
    book.answer(whole("42"), JSON)
    said = (
        book.message["text"] if stream else json.loads(book.out)["choices"][0]["message"]["content"]
    )
    assert said == "42"
    assert [e.rule for e in book.record.edits] == ["unasked_call"]


def test_without_budget_the_refusal_is_said() -> None:
    book = Playbook(Settings(reasks=0, guided="text")).ask(
        body(messages=[{"role": "user", "content": SUM}])
    )
    book.tell(Probed(native=False, schema=True))
    book.answer(text_stream(ADD))
    book.answer(
        whole('{"no_call": "arithmetic"}'), JSON
    )  # the second reading, which is not counted
    assert "'add'" in book.message["text"]


def test_data_that_only_begins_so_flows_when_it_turns_out_to_be_none() -> None:
    book = Playbook(Settings(guided="text")).ask(body(messages=[{"role": "user", "content": SUM}]))
    book.tell(Probed(native=False, schema=True))
    stream = text_stream('{"name": "add",', ' "sum": 42}')
    assert book.answer(stream).out == stream


def test_who_asks_for_json_may_be_given_such_an_object() -> None:
    found = weak(SUM)
    found.body["response_format"] = {"type": "json_object"}
    assert find_hallucinated_call(ADD, found) is None
    assert not may_begin_call(ADD, found)
