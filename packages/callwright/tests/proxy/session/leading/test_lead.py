"""A client's agent led by the step function: questions out, calls or an answer in the end."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest

from callwright.agent.leading.early_calls import IntendedCall
from callwright.nouns.model_profile import ModelProfile, load_profiles
from callwright.nouns.types import Reply, ToolCall
from callwright.proxy.session.context import Context, DecidedBefore, Toolsets, read_context
from callwright.proxy.session.decision.decision import Decision, Question
from callwright.proxy.session.leading.lead import Lead, lead, recall_decided, remember_decided
from callwright.proxy.session.settings import GuidedPart, Settings

READ, WRITE = {"readOnlyHint": True}, {"readOnlyHint": False, "destructiveHint": False}


def tool(name: str, about: str, annotations: Any, /, **properties: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": [*properties]}
    function = {"name": name, "description": about, "parameters": parameters}
    return {"type": "function", "function": {**function, "annotations": annotations}}


TEXT = {"type": "string"}
FIND = tool("find_part", "Finds the code of a part by its name.", READ, name=TEXT)
ORDER = tool("create_order", "Orders a part.", WRITE, part_code=TEXT, quantity={"type": "integer"})
MAIL = tool("send_mail", "Sends a mail.", WRITE, to={**TEXT, "format": "email"}, body=TEXT)
TOOLS = [FIND, ORDER, MAIL]
SETS = Toolsets()


def context(*messages: Any, without: frozenset[GuidedPart] = frozenset(), **more: Any) -> Context:
    asked = {"model": "m", "messages": [*messages], "tools": TOOLS, **more}
    found = read_context(asked, b"x", SETS, Settings(without=without))
    assert found is not None
    found.native, found.schema = False, True
    return found


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def made(name: str, arguments: Any, returned: str, number: str = "c1") -> list[dict[str, Any]]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": number, "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": number, "content": returned},
    ]


def offered(question: Question) -> set[str]:
    """The tools that a question's schema lets be called."""
    text = json.dumps(question.body["response_format"])
    return {t["function"]["name"] for t in TOOLS if f'["{t["function"]["name"]}"]' in text}


def run(found: Context, *replies: str) -> tuple[Lead, list[Question]]:
    """The lead, and its questions for more than one letter: the upstream states no probabilities."""
    steps, asked, left = lead(found), [], [*replies]
    try:
        question = next(steps)
        while left or "top_logprobs" in question.body:
            if "top_logprobs" in question.body:
                question = steps.send(Reply("A"))
                continue
            asked.append(question)
            question = steps.send(Reply(left.pop(0)))
        raise AssertionError(f"one question too many: {question.body}")
    except StopIteration as end:
        return end.value, asked


def calls(*pairs: tuple[str, Any]) -> str:
    rows = [{"name": name, "arguments": arguments} for name, arguments in pairs]
    return json.dumps({"wishes": ["it"], "calls": rows})


NO_CALL = '{"no_call": "nothing to do"}'


@pytest.mark.parametrize(
    ("request_", "name"),
    [
        ("Order 200 hex bolts", "hex bolts"),
        ("Bestelle 200 Sechskantschrauben", "Sechskantschrauben"),
        ("Pide 200 tornillos hexagonales", "tornillos hexagonales"),
        ("订购200个六角螺栓", "六角螺栓"),
        ("اطلب 200 برغي سداسي", "برغي سداسي"),
    ],
)
def test_what_gives_a_value_is_called_before_what_needs_it(request_: str, name: str) -> None:
    found, asked = run(context(user(request_)), calls(("find_part", {"name": name})))
    assert "find_part" in offered(asked[0])
    assert "create_order" not in offered(asked[0])
    assert found.decision is not None
    assert [sent.call.tool for sent in found.decision.calls] == ["find_part"]


def test_the_next_request_orders_with_what_was_found_and_then_says_so() -> None:
    begun = [user("Order 200 hex bolts"), *made("find_part", {"name": "hex"}, '{"code": "HB-8"}')]
    order = {"part_code": "HB-8", "quantity": 200}
    found, asked = run(context(*begun), calls(("create_order", order)))
    assert "create_order" in offered(asked[0])
    assert "find_part" not in offered(asked[0])
    assert found.decision is not None
    assert found.decision.calls[0].call.arguments == order
    done = [*begun, *made("create_order", order, '{"order": "O-1"}', "c2")]
    said = '{"statements": [{"text": "The order is O-1.", "results": []}], "missing": []}'
    found, asked = run(context(*done), said)
    assert found.decision is not None
    assert (found.decision.calls, found.decision.text) == ([], ["The order is O-1."])
    assert asked[0].kind == "words"


def test_every_round_of_a_turn_begins_with_the_same_words() -> None:
    """So the upstream's prompt cache holds from one round to the next."""
    first = context(user("Order 200 hex bolts"))
    _, asked = run(first, calls(("find_part", {"name": "hex bolt"})))
    begun = [user("Order 200 hex bolts"), *made("find_part", {"name": "hex"}, '{"code": "HB-8"}')]
    _, then = run(context(*begun), calls(("create_order", {"part_code": "HB-8", "quantity": 200})))
    assert then[0].body["messages"][:2] == asked[0].body["messages"][:2]


def test_a_request_that_needs_no_tool_leaves_the_answer_to_the_model() -> None:
    found, _ = run(context(user("这里的天气真好！")), NO_CALL, NO_CALL)
    assert (found.decision, found.problems) == (None, [])


def test_a_write_with_a_value_from_nowhere_becomes_a_question() -> None:
    invented = calls(("send_mail", {"to": "friend@example.com", "body": "Good morning!"}))
    asked = '{"question": "To whom shall I send it?"}'
    found, questions = run(context(user("Mail my friend good morning!")), invented, NO_CALL, asked)
    assert found.decision is not None
    assert (found.decision.calls, found.decision.text) == ([], ["To whom shall I send it?"])
    assert "friend@example.com" in found.problems[0]
    assert "The user has not said: to" in questions[-1].body["messages"][-1]["content"]
    small = '{"reply": "Good morning! I am fine."}'
    talk, _ = run(context(user("A good morning to my friend!")), invented, NO_CALL, small)
    assert talk.decision is not None
    assert talk.decision.text == ["Good morning! I am fine."]
    off = context(user("Mail my friend!"), without=frozenset({"question"}))
    assert run(off, invented, NO_CALL)[0].decision is None, "the model says it in its own words"


def test_a_part_of_the_request_that_was_held_is_asked_for_once_the_other_is_done() -> None:
    text = "Order 5 pieces of A-100 and some of C-330."
    both = calls(
        ("create_order", {"part_code": "A-100", "quantity": 5}),
        ("create_order", {"part_code": "C-330", "quantity": 90}),
    )
    found, _ = run(context(user(text)), both)
    assert found.decision is not None
    assert [sent.call.arguments for sent in found.decision.calls] == [
        {"part_code": "A-100", "quantity": 5}
    ]
    order = {"part_code": "A-100", "quantity": 5}
    came = context(user(text), *made("create_order", order, '{"order": "O-1"}'))
    said, question = '{"final_answer": "O-1 is ordered."}', '{"question": "Which quantity?"}'
    ended, _ = run(came, NO_CALL, said, question)
    assert ended.decision is not None
    assert ended.decision.text == ["O-1 is ordered.\n\nWhich quantity?"]


def test_a_question_that_names_nothing_is_followed_by_what_is_missing() -> None:
    invented = calls(("create_order", {"part_code": "B-777", "quantity": 12}))
    vague = '{"question": "Could you tell me more?"}'
    text = "Please order some pieces of B-777 for us."
    found, asked = run(context(user(text)), invented, NO_CALL, vague)
    assert '"reply"' not in json.dumps(asked[-1].body["response_format"]), "it is a request"
    assert found.decision is not None
    assert found.decision.text == ["Could you tell me more?\n- quantity"]
    named = '{"question": "Which quantity do you need?"}'
    found, _ = run(context(user(text)), invented, NO_CALL, named)
    assert found.decision is not None
    assert found.decision.text == ["Which quantity do you need?"]


DOZENS = [
    "Pide cuatro docenas de D-415.",
    "Bestelle uns bitte noch vier Dutzend D-415.",
    "订四打D-415。",
]


@pytest.mark.parametrize("request_", DOZENS)
def test_a_wrong_number_is_asked_about_once_with_the_number_that_was_said(request_: str) -> None:
    wrong = calls(("create_order", {"part_code": "D-415", "quantity": 16}))
    right = calls(("create_order", {"part_code": "D-415", "quantity": 48}))
    found, asked = run(context(user(request_)), wrong, right)
    assert found.decision is not None
    assert [sent.call.arguments for sent in found.decision.calls] == [
        {"part_code": "D-415", "quantity": 48}
    ]
    assert "lead to 48" in asked[-1].body["messages"][-1]["content"]
    form = json.dumps(asked[-1].body["response_format"])
    assert '"enum": [48]' in form
    assert "no_call" not in form


def test_where_all_came_back_empty_the_request_itself_is_asked_about_again() -> None:
    """A lookup that found nothing is no answer to a request that something be done."""
    text = "Order 48 pieces of D-415"
    begun = [user(text), *made("find_part", {"name": "D-415"}, "[]")]
    order = calls(("create_order", {"part_code": "D-415", "quantity": 48}))
    none = '{"final_answer": "No part D-415 was found."}'
    found, asked = run(context(*begun), NO_CALL, NO_CALL, none, order)
    assert found.decision is not None
    assert [sent.call.tool for sent in found.decision.calls] == ["create_order"]
    assert f"Nothing serves this part yet: {text}" in asked[-1].body["messages"][-1]["content"]


def test_what_the_answer_says_is_missing_is_fetched() -> None:
    begun = [
        user("Look up hex bolts and nuts"),
        *made("find_part", {"name": "hex"}, '{"code": "H"}'),
    ]
    missing = '{"statements": [{"text": "Hex bolts are H.", "results": []}], "missing": ["nuts"]}'
    fetch = calls(("find_part", {"name": "nuts"}))
    found, asked = run(context(*begun), NO_CALL, missing, fetch)
    assert "nuts" in asked[-1].body["messages"][-1]["content"]
    assert found.decision is not None
    assert [sent.call.arguments for sent in found.decision.calls] == [{"name": "nuts"}]


def test_parts_can_be_left_out() -> None:
    flat, asked = run(
        context(user("Order 200 hex bolts"), without=frozenset({"layers", "wishes"})),
        '{"calls": [{"name": "find_part", "arguments": {"name": "hex bolt"}}]}',
    )
    assert offered(asked[0]) == {"find_part", "create_order", "send_mail"}
    assert "wishes" not in json.dumps(asked[0].body)
    assert flat.decision is not None
    begun = [user("Find hex"), *made("find_part", {"name": "hex"}, '{"code": "H"}')]
    free, _ = run(context(*begun, without=frozenset({"answer"})), NO_CALL)
    assert free.decision is None, "the model answers in its own words"


def test_a_reply_that_cannot_be_read_ends_the_lead() -> None:
    found, _ = run(context(user("Order 200 hex bolts")), "I do not know")
    assert (found.is_readable, found.decision) == (False, None)


def test_a_call_that_came_too_early_is_asked_for_when_its_value_is_there() -> None:
    asked = user("Order 200 hex bolts")
    both = calls(
        ("find_part", {"name": "hex bolts"}),
        ("create_order", {"part_code": "HB-999", "quantity": 200}),
    )
    first = context(asked, without=frozenset({"layers"}))
    found, _ = run(first, both)
    assert found.decision is not None
    assert [sent.call.tool for sent in found.decision.calls] == ["find_part"]
    there = [asked, *made("find_part", {"name": "hex bolts"}, '{"part_code": "HB-8"}')]
    then = context(*there, without=frozenset({"layers"}))
    then.toolset = first.toolset
    order = calls(("create_order", {"part_code": "HB-8", "quantity": 200}))
    led, questions = run(then, order)
    assert "create_order" in questions[0].body["messages"][-1]["content"]
    asked_for = questions[0].body["messages"][-1]["content"]
    assert '"quantity":200' in asked_for
    assert "HB-999" not in asked_for, "what was made up is not shown again"
    assert '"part_code":"HB-8"' in asked_for
    assert led.decision is not None
    assert [sent.call.arguments["part_code"] for sent in led.decision.calls] == ["HB-8"]


def test_the_only_identifier_of_the_results_takes_the_place_of_a_made_up_one() -> None:
    there = [
        user("Order 200 hex bolts"),
        *made("find_part", {"name": "hex bolts"}, '{"part_code": "HB-8"}'),
    ]
    order = calls(("create_order", {"part_code": "HB-999", "quantity": 200}))
    found, _ = run(context(*there), order)
    assert found.decision is not None
    assert [sent.call.arguments["part_code"] for sent in found.decision.calls] == ["HB-8"]
    assert [edit.rule for edit in found.decision.edits] == ["fill_from_result"]


@pytest.mark.parametrize(
    ("request_", "is_sent"),
    [("Please cancel my order for the lamp.", False), ("Please cancel the chair.", True)],
)
def test_nothing_is_destroyed_in_the_place_of_a_record_that_there_is_not(
    request_: str, is_sent: bool
) -> None:
    tools = [
        tool("list_orders", "Lists the orders.", READ),
        tool("cancel_order", "Cancels an order.", {"destructiveHint": True}, order_id=TEXT),
    ]
    there = [user(request_), *made("list_orders", {}, '[{"order_id": "O-5", "item": "chair"}]')]
    cancel = calls(("cancel_order", {"order_id": "O-9"}))
    steps = lead(context(*there, tools=tools))
    next(steps)
    sent: list[Any] = []
    try:
        for reply in (cancel, cancel, NO_CALL, '{"question": "Which one?"}', ""):
            steps.send(Reply(reply))
    except StopIteration as end:
        sent = [one.call.arguments for one in end.value.decision.calls]
    assert sent == ([{"order_id": "O-5"}] if is_sent else [])


def test_a_reply_that_only_lists_what_was_done_calls_nothing() -> None:
    there = [
        user("What is the code of hex bolts?"),
        *made("find_part", {"name": "hex bolts"}, '{"part_code": "HB-8"}'),
    ]
    junk = (
        '{"wishes": ["find_part"], "calls": [{"name": "send_mail",'
        ' "arguments": {"to": "a@b.example", "body": "HB-8"}}]}'
    )
    answer = '{"statements": [{"text": "The code is HB-8.", "results": ["r1"]}], "missing": []}'
    found, _ = run(context(*there), junk, answer)
    assert found.decision is not None
    assert (found.decision.calls, found.decision.text) == ([], ["The code is HB-8."])
    assert not found.held


@pytest.mark.parametrize(
    ("request_", "times"),
    [
        ("Bestelle zwei Stück der Schrauben HB-8 für die Werkstatt.", 1),
        ("Please order two pieces of HB-8 for us.", 1),
        ("Pide dos piezas de la HB-8 para el taller.", 1),
        ("Pide dos HB-8.", 2),  # too few words to tell the language
        ("请订购两个 HB-8 零件。", 1),
        ("Please order two pieces of HB-8 for us, and do it twice.", 2),
        ("Bestelle zweimal zwei Stück der Schrauben HB-8 für die Werkstatt.", 2),
        ("Please place 3 orders of two HB-8 for us.", 2),
    ],
)
def test_a_write_stands_in_a_led_reply_as_often_as_it_may_be_meant(
    request_: str, times: int
) -> None:
    order = ("create_order", {"part_code": "HB-8", "quantity": 2})
    found, _ = run(context(user(request_)), calls(order, order))
    assert found.decision is not None
    assert len(found.decision.calls) == times


def test_a_reply_that_states_a_served_wish_once_more_calls_nothing() -> None:
    asked = user("What is the code of the hex bolts?")
    found, _ = run(context(asked), calls(("find_part", {"name": "hex bolts"})))
    assert found.decision is not None
    there = [asked, *made("find_part", {"name": "hex bolts"}, '{"part_code": "HB-8"}')]
    junk = calls(("create_order", {"part_code": "hex bolts", "quantity": "some"}))
    answer = '{"statements": [{"text": "The code is HB-8.", "results": ["r1"]}], "missing": []}'
    found, _ = run(context(*there), junk, answer)
    assert found.decision is not None
    assert (found.decision.calls, found.decision.text) == ([], ["The code is HB-8."])
    assert "a reply asked for what was done already" in found.notes
    more = calls(("create_order", {"part_code": "HB-8", "quantity": 200}))
    found, _ = run(context(user("Order 200 hex bolts."), *there[1:]), more)
    assert found.decision is not None
    assert [sent.call.tool for sent in found.decision.calls] == ["create_order"]


RATE = tool("convert", "Converts an amount.", READ, amount={"type": "number"}, to=TEXT)


def test_a_lookup_with_a_number_from_nowhere_becomes_a_question() -> None:
    """A small model fills the form: what it then finds answers a question that nobody asked."""
    invented = calls(("convert", {"amount": 100, "to": "USD"}))
    asked = '{"question": "Which amount shall I convert?"}'
    wanted = user("Convert my savings to USD.")
    found, questions = run(context(wanted, tools=[RATE]), invented, asked)
    assert found.decision is not None
    assert (found.decision.calls, found.decision.text) == ([], ["Which amount shall I convert?"])
    assert "The user has not said: amount" in questions[-1].body["messages"][-1]["content"]
    stated = calls(("convert", {"amount": 250, "to": "USD"}))
    found, _ = run(context(user("Convert 250 euros to USD."), tools=[RATE]), stated)
    assert found.decision is not None
    assert [sent.call.tool for sent in found.decision.calls] == ["convert"]


def test_after_another_result_nobody_is_asked_for_the_value_of_a_lookup() -> None:
    begun = [
        user("What is the code of the hex bolts?"),
        *made("find_part", {"name": "hex bolts"}, '{"code": "HB-8"}'),
    ]
    invented = calls(("convert", {"amount": 100, "to": "USD"}))
    said = '{"final_answer": "The code is HB-8."}'
    found, questions = run(context(*begun, tools=[FIND, RATE]), invented, said)
    assert found.decision is not None
    assert found.decision.calls == []
    assert "The code is HB-8." in found.decision.text[0]
    assert len(questions) == 2


def test_a_write_held_for_want_of_a_value_is_asked_for_again_once_something_was_looked_up() -> None:
    """A lookup without a declared result may give the value: its result tells."""
    found_customer = tool("find_customer", "Finds a customer.", None, name=TEXT)
    mail = tool("send_mail", "Sends a mail.", None, to=TEXT, body=TEXT)
    more = {"tools": [found_customer, mail]}
    asked_for = user("Mail Lena Hoff that I-9007 is due.")
    made_up = {"to": "lena@mail.example", "body": "I-9007 is due."}
    found, _ = run(
        context(asked_for, **more),
        calls(("find_customer", {"name": "Lena Hoff"}), ("send_mail", made_up)),
    )
    assert found.decision is not None
    assert [sent.call.tool for sent in found.decision.calls] == ["find_customer"]
    result = '{"email": "lena@hoff.example"}'
    begun = [asked_for, *made("find_customer", {"name": "Lena Hoff"}, result)]
    known = {"to": "lena@hoff.example", "body": "I-9007 is due."}
    found, questions = run(context(*begun, **more), calls(("send_mail", known)))
    assert found.decision is not None
    assert [sent.call.arguments for sent in found.decision.calls] == [known]
    assert "lena@mail.example" not in json.dumps(questions[0].body["messages"]), "not shown again"


THANKS = ("Thank you!", "Danke!", "Gracias", "谢谢", "شكرا")


@pytest.mark.parametrize("thanks", THANKS)
def test_where_the_user_only_thanks_the_model_is_asked_for_no_call(thanks: str) -> None:
    mailed = made("send_mail", {"to": "a@b.example", "body": "Hi"}, '{"mail_id": "M-1"}')
    before = [user("Mail Hi to a@b.example."), *mailed]
    said = {"role": "assistant", "content": "It is sent."}
    found, questions = run(context(*before, said, user(thanks)))
    assert (found.decision, questions) == (None, [])
    offer = {"role": "assistant", "content": "Shall I send it once more?"}
    _, questions = run(context(*before, offer, user(thanks)), NO_CALL, NO_CALL)
    assert questions, "thanks may accept an offer"


SHIP = tool("ship", "Ships a parcel.", None, parcel=TEXT, express={"type": "boolean"})
SHIP["function"]["parameters"]["required"] = ["parcel"]
EXPRESS = calls(("ship", {"parcel": "P-1", "express": True}))


def odds(yes: float) -> Reply:
    return Reply("A", first_token={"A": yes, "B": 0.9 - yes, "C": 0.1})


@pytest.mark.parametrize(
    ("told", "untold", "kept"), [(0.3, 0.6, False), (0.8, 0.3, True), (0.3, None, False)]
)
@pytest.mark.parametrize(
    "text", ["Ship P-1.", "Verschicke P-1.", "Envía P-1.", "寄出P-1。", "أرسل P-1."]
)
def test_an_optional_yes_that_no_word_states_stays_where_the_conversation_makes_it_likelier(
    text: str, told: float, untold: float | None, kept: bool
) -> None:
    found = context(user(text), tools=[SHIP])
    found.toolset.shares.clear()
    found.toolset.silent.clear()
    steps = lead(found)
    assert next(steps).kind == "guided"
    assert steps.send(Reply(EXPRESS)).kind == "option"
    silent = untold is None  # without probabilities it is not judged, and not asked for again
    replies = [Reply("A")] if silent else [odds(told), odds(untold or 0.0)]
    for reply in replies[:-1]:
        steps.send(reply)
    with pytest.raises(StopIteration) as end:
        steps.send(replies[-1])
    (sent,) = end.value.value.decision.calls
    assert sent.call.arguments == {"parcel": "P-1"} | ({"express": True} if kept else {})
    assert ("m" in found.toolset.silent) == silent


def test_without_its_part_no_option_is_asked_about() -> None:
    found, asked = run(
        context(user("Ship P-1."), tools=[SHIP], without=frozenset({"options"})), EXPRESS
    )
    assert found.decision is not None
    assert found.decision.calls[0].call.arguments == {"parcel": "P-1"}
    assert [question.kind for question in asked] == ["guided"]


def test_of_two_users_with_the_same_words_each_has_calls_of_his_own() -> None:
    asked = user("Order what I always order.")

    def seen(code: str) -> Context:
        return context(
            asked, *made("find_part", {"name": "usual"}, json.dumps({"part_code": code}))
        )

    early = IntendedCall(ToolCall("", "create_order", {"part_code": "A-1"}), (), ("find_part",))
    ann = seen("A-1")
    remember_decided(ann, DecidedBefore(("create_order",), (early,)))
    assert recall_decided(ann).intended == (early,)
    bob = recall_decided(seen("B-2"))
    assert (bob.chosen, bob.intended) == (("create_order",), ())
    assert recall_decided(context(asked)).intended == ()


@pytest.mark.parametrize("profile", load_profiles().values(), ids=lambda p: p.name)
def test_an_upstream_is_shown_as_much_and_may_make_as_many_calls_as_its_profile_says(
    profile: ModelProfile,
) -> None:
    find = tool("find_part", "lorem " * 1_000, READ, name=TEXT)
    asked = {"model": "m", "messages": [user("Find hex bolts")], "tools": [find]}
    found = read_context(asked, b"x", Toolsets(), Settings(profile=profile))
    assert found is not None
    found.native, found.schema = False, True
    called = calls(("find_part", {"name": "hex bolts"}))
    _, (question,) = run(found, called)
    told = json.dumps(question.body["messages"])
    words = profile.description_chars // len("lorem ") - 1  # and an ellipsis
    assert told.count("lorem") == words
    assert f'"maxItems": {profile.layer_calls}' in json.dumps(question.body["response_format"])


def test_the_answer_is_asked_for_behind_what_the_upstream_has_read_in_the_users_language() -> None:
    done = made("create_order", {"part_code": "A-100", "quantity": 9}, '{"order_id": "O-1"}')
    asked_for = user("اطلب 9 قطع من A-100.")
    found = context(asked_for, *done)
    answer = json.dumps({"final_answer": "تم طلب 9 قطع من A-100.", "missing": []})
    led, asked = run(found, answer)
    assert led.decision is not None
    assert led.decision.text == ["تم طلب 9 قطع من A-100."]
    begun = next(lead(context(asked_for))).body["messages"]
    telling = asked[-1].body["messages"]
    assert telling[: len(begun)] == begun, "the prompt's prefix is reused"
    assert "tell the user in Arabic" in telling[-1]["content"]


def test_a_write_that_failed_is_told_without_the_model() -> None:
    failed = made("create_order", {"part_code": "C-330", "quantity": 50}, '{"error": "7 in stock"}')
    looked = made("find_part", {"name": "C-330"}, '{"code": "C-330"}', "c2")
    found = context(user("请订购 50 件 C-330。"), *failed, *looked)
    led, _ = run(found, NO_CALL)
    assert led.decision is not None
    assert led.decision.text == [
        "以下操作无法完成:\n"
        "- create_order(part_code: C-330, quantity: 50) 失败: 7 in stock\n"
        "工具返回:\n"
        "- find_part(name: C-330): code: C-330"
    ]


EVENTS = [
    tool("list_events", "Lists the events of a day.", READ, date={**TEXT, "format": "date"}),
    tool("delete_event", "Deletes an event.", {"destructiveHint": True}, event_id=TEXT),
]
LISTED = json.dumps(
    [
        {"event_id": "V-2", "title": "Call with Lindqvist"},
        {"event_id": "V-3", "title": "Fire drill"},
    ]
)


def lead_to_deletion(*replies: str) -> Decision | None:
    """The decision where the model deletes the event that was not named, and then replies so."""
    listed = made("list_events", {"date": "2026-03-13"}, LISTED)
    asked_for = user("Borra el simulacro (Fire drill) del 2026-03-13.")
    steps = lead(context(asked_for, *listed, tools=EVENTS))
    question = next(steps)
    while '"delete_event"' not in json.dumps(question.body["response_format"]):
        question = steps.send(Reply(NO_CALL))
    question = steps.send(Reply(delete("V-2")))
    assert "The request names" in question.body["messages"][-1]["content"]
    try:
        for reply in replies:
            question = steps.send(Reply(reply))
    except StopIteration as end:
        decision: Decision | None = end.value.decision
        return decision
    raise AssertionError(question)


def delete(event: str) -> str:
    return calls(("delete_event", {"event_id": event}))


def test_a_write_to_another_record_than_the_named_one_is_asked_for_once_more() -> None:
    decision = lead_to_deletion(delete("V-3"))
    assert decision is not None
    assert [sent.call.arguments for sent in decision.calls] == [{"event_id": "V-3"}]


@pytest.mark.parametrize("insisting", [delete("V-2"), NO_CALL])
def test_where_the_model_insists_on_another_record_the_user_is_asked(insisting: str) -> None:
    decision = lead_to_deletion(insisting)
    assert decision is not None
    assert decision.calls == []
    (asked,) = decision.text
    assert asked.startswith("¿A cuál se refiere para delete_event: ")
    assert "Call with Lindqvist" in asked
    assert "Fire drill" in asked


def test_the_wishes_of_the_first_reply_are_remembered_between_requests() -> None:
    asked_for = user("Delete V-2, then list the events of 2026-03-13.")
    stated = json.dumps(
        {
            "wishes": ["delete_event(V-2)", "list_events(2026-03-13)"],
            "calls": [{"name": "delete_event", "arguments": {"event_id": "V-2"}}],
        }
    )
    first = context(asked_for, tools=EVENTS)
    steps = lead(first)
    next(steps)
    with suppress(StopIteration):
        for _ in range(3):
            steps.send(Reply(stated))
    assert recall_decided(first).stated == ("delete_event(V-2)", "list_events(2026-03-13)")


ONE = {"parallel_tool_calls": False}
ANSWER = '{"statements": [{"text": "The order is 1.", "results": ["r1"]}], "missing": []}'


@pytest.mark.parametrize("allowed", [{}, ONE])
def test_the_other_part_is_asked_for_where_a_reply_has_one_call(allowed: Any) -> None:
    two = user("Order 5 pieces of A-100 and 7 pieces of C-330.")
    first = {"part_code": "A-100", "quantity": 5}
    begun = [two, *made("create_order", first, '{"order_id": 1}')]
    second = {"part_code": "C-330", "quantity": 7}
    led, asked = run(context(*begun, **allowed), calls(("create_order", second)))
    assert led.decision is not None
    assert [sent.call.arguments for sent in led.decision.calls] == [second]
    assert "C-330; 7" in asked[0].body["messages"][-1]["content"]


def test_where_one_call_is_allowed_its_wishes_tell_what_is_left() -> None:
    two = user("Order 5 pieces of A-100 and mail it to a@example.org.")
    _, asked = run(context(two, **ONE), NO_CALL, NO_CALL)
    (some, _) = asked[0].body["response_format"]["json_schema"]["schema"]["anyOf"]
    assert [*some["properties"]] == ["wishes", "calls"]
    assert some["properties"]["calls"]["maxItems"] == 1
    assert '"wishes"' in asked[0].body["messages"][0]["content"]


@pytest.mark.parametrize("allowed", [{}, ONE])
@pytest.mark.parametrize(
    ("request_", "times"),
    [
        ("Order 5 pieces of A-100 twice.", 2),
        ("Bestelle zweimal 5 Stück von A-100.", 2),
        ("Pide dos veces 5 piezas de A-100.", 2),
        ("把A-100订购5件，订两次。", 2),
        ("اطلب 5 قطع من A-100 مرتين.", 2),
        ("Order 5 pieces of A-100.", 1),
    ],
)
def test_a_call_is_asked_for_as_often_as_the_request_says(
    request_: str, times: int, allowed: Any
) -> None:
    given = {"part_code": "A-100", "quantity": 5}
    done = made("create_order", given, '{"order_id": 1}')
    again = calls(("create_order", given), ("create_order", given))
    for number in (1, 2):
        begun = [user(request_), *done * number]
        led, _ = run(context(*begun, **allowed), again if number < times else ANSWER)
        sent = [one.call.arguments for one in led.decision.calls] if led.decision else []
        assert sent == ([given] if number < times else [])


def count_letters(asked: Context, *replies: str) -> int:
    """The questions for one letter on the way to the end."""
    steps, left, letters = lead(asked), [*replies], 0
    with suppress(StopIteration):
        question = next(steps)
        while True:
            is_letter = question.kind == "option"
            letters += is_letter
            said = Reply("B", first_token={"A": 0.1, "B": 0.8}) if is_letter else None
            question = steps.send(said or Reply(left.pop(0)))
    return letters


def test_a_letter_of_an_earlier_request_is_not_asked_for_again() -> None:
    begun = user("Which meetings are there on 2026-03-13?")
    given = {"date": "2026-03-13"}
    assert count_letters(context(begun, tools=EVENTS), calls(("list_events", given))) == 0
    listed = [begun, *made("list_events", given, '[{"event_id": "V-7", "title": "Fire drill"}]')]
    replies = delete("V-7"), NO_CALL, NO_CALL, "It is the fire drill."
    counts = [count_letters(context(*listed, tools=EVENTS), *replies) for _ in range(2)]
    assert counts[0] > counts[1] == 0
