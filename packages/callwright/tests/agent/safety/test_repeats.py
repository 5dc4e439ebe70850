"""What is not made again: by keys, effects and outcomes, and by words of thanks alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from callwright.agent.fold import Called, Entry, Returned, Said, Spoke, fold_entries
from callwright.agent.safety.repeats import find_made, find_resent_writes
from callwright.jsontext import parse
from callwright.nouns.types import (
    READ,
    UNKNOWN,
    WRITE,
    Effects,
    JsonObject,
    Tool,
    ToolCall,
    to_canonical_json,
)

SETTING = Effects(destructive=False, idempotent=True)
TOOLS = (
    Tool("pay", effects=WRITE),
    Tool("look", effects=READ),
    Tool("bare"),
    Tool("edit"),
    Tool("set", effects=SETTING),
)
REQUESTS = ("Pay Ann.", "Bezahle Ann.", "Paga a Ana.", "付钱给安", "ادفع لآن")


def made(*entries: Entry) -> dict[str, str]:
    state = fold_entries(entries, TOOLS)
    return dict(find_made(state, lambda call: to_canonical_json([call.tool, call.arguments])))


def call(tool: str, returned: str, number: str = "c1") -> tuple[Entry, ...]:
    return Called((ToolCall(number, tool, {"to": "Ann"}),)), Returned(number, returned)


@pytest.mark.parametrize("request_", REQUESTS)
def test_a_write_is_made_once_a_turn_in_every_language(request_: str) -> None:
    done = made(Spoke(request_), *call("pay", "{}"))
    assert [*done.values()] == ["done"]
    assert not made(Spoke(request_), *call("pay", "{}"), Said("ok"), Spoke(request_))


@pytest.mark.parametrize(
    ("tool", "returned", "expected"),
    [
        ("look", '{"a": 1}', []),
        ("look", "Error: no", []),
        ("pay", "Error: no answer", ["unknown"]),
        ("pay", '{"status": "pending"}', ["done"]),
        ("bare", "done", ["done"]),
        ("bare", "Error: no answer", []),
        ("bare", '{"status": "in_progress"}', []),
        ("bare", '{"done": false}', []),
        ("bare", "it is still pending", ["done"]),
    ],
)
def test_effects_and_outcomes_decide(tool: str, returned: str, expected: list[str]) -> None:
    assert [*made(Spoke("go"), *call(tool, returned)).values()] == expected


THANKS = ("Thank you!", "Vielen Dank!", "Perfecto, muchas gracias.", "谢谢!", "شكرا جزيلا")


@pytest.mark.parametrize("thanks", THANKS)
def test_a_message_that_only_thanks_asks_for_no_write_again(thanks: str) -> None:
    done = made(Spoke("Pay Ann."), *call("pay", "{}"), Said("Done."), Spoke(thanks))
    assert [*done.values()] == ["thanked"]
    assert not made(Spoke("Look."), *call("look", "{}"), Said("Here."), Spoke(thanks))
    assert not made(Spoke("Pay Ann."), *call("pay", "Error: no"), Said("No."), Spoke(thanks))


def test_what_asks_for_more_opens_the_write_again() -> None:
    for text in ("Thanks, pay her again.", "Gracias, otra vez.", "Again!", "Tack!"):
        assert not made(Spoke("Pay Ann."), *call("pay", "{}"), Said("Done."), Spoke(text))


PASSED, EDITED = call("bare", "1 failed"), call("edit", "ok", "c2")


@pytest.mark.parametrize(
    ("between", "expected"),
    [
        ((), ["bare"]),
        (EDITED, ["edit"]),  # tests are run again after an edit
        (call("pay", "{}", "c2"), ["pay"]),
        (call("look", "{}", "c2"), ["bare"]),  # a read changes nothing
        ((*EDITED, *call("bare", "1 failed", "c3"), *call("edit", "ok", "c4")), ["bare", "edit"]),
        ((*EDITED, *call("bare", "passed", "c3")), ["bare"]),
    ],
    ids=["nothing", "another", "write", "read", "in circles", "news"],
)
def test_of_unknown_effects_another_call_opens_it_again(
    between: tuple[Entry, ...], expected: list[str]
) -> None:
    kept = made(Spoke("Fix it."), *PASSED, *between)
    assert sorted(parse(key)[0] for key in kept) == expected


def test_a_write_stays_done_whatever_was_called_since() -> None:
    kept = made(Spoke("Pay Ann."), *call("pay", "{}"), *EDITED, *call("set", "ok", "c3"))
    assert to_canonical_json(["pay", {"to": "Ann"}]) in kept


def test_what_may_be_repeated_without_harm_is_open_again_after_another_call() -> None:
    def switch(on: bool, number: str) -> tuple[Entry, ...]:
        return Called((ToolCall(number, "set", {"on": on}),)), Returned(number, "ok")

    on, off = (to_canonical_json(["set", {"on": value}]) for value in (True, False))
    assert [*made(Spoke("Blink."), *switch(True, "c1"))] == [on]
    assert [*made(Spoke("Blink."), *switch(True, "c1"), *switch(False, "c2"))] == [off]
    back = (*switch(True, "c1"), *switch(False, "c2"), *switch(True, "c3"))
    assert [*made(Spoke("Blink."), *back)] == [on]


@pytest.mark.parametrize("request_", REQUESTS)
def test_a_call_whose_result_was_lost_is_open_again_once_the_user_speaks(request_: str) -> None:
    lost = Called((ToolCall("c1", "pay", {"to": "Ann"}),))
    assert [*made(Spoke(request_), lost).values()] == ["unknown"]
    assert not made(Spoke(request_), lost, Spoke(f"{request_} {request_}"))
    assert [*made(Spoke(request_), lost, Spoke("Thank you!")).values()] == ["unknown"]


@pytest.mark.parametrize(
    ("then", "is_open"),
    [
        ("What is my balance?", False),
        ("Wie hoch ist mein Guthaben?", False),
        ("¿Cuál es mi saldo?", False),
        ("我的余额是多少？", False),
        ("كم رصيدي؟", False),
        ("What is it? Pay her again.", True),
        ("Could you pay her now?", True),
        ("Quel est mon solde ?", True),  # it cannot be read
    ],
)
def test_a_call_whose_result_was_lost_is_made_again_only_where_that_may_be_asked(
    then: str, is_open: bool
) -> None:
    lost = Called((ToolCall("c1", "pay", {"to": "Ann"}),))
    kept = made(Spoke("Pay Ann."), lost, Said("I have paid."), Spoke(then))
    assert [*kept.values()] == [] if is_open else ["unknown"]
    look = call("look", '{"balance": 7}', "c2")
    assert made(Spoke("Pay Ann."), lost, Said("I have paid."), Spoke(then), *look) == kept


@pytest.mark.parametrize("thanks", ["Ok thanks", "Vielen Dank!", "Muchas gracias", "好的，谢谢"])
def test_thanks_for_an_offer_ask_for_what_was_offered(thanks: str) -> None:
    paid = (Spoke("Pay Ann."), *call("pay", "{}"))
    offered = made(*paid, Said("Done. Shall I pay her once more?"), Spoke(thanks))
    told = made(*paid, Said("Done."), Spoke(thanks))
    assert ([*offered.values()], [*told.values()]) == ([], ["thanked"])


@pytest.mark.parametrize(
    ("request_", "times"),
    [
        ("Pay Ann twice.", 2),
        ("Zahle Ann zweimal.", 2),
        ("Pay Ann.", 1),
        ("Pay Ann and 7 others.", 1),
    ],
)
def test_a_write_that_is_surely_asked_for_more_often_is_open_as_often(
    request_: str, times: int
) -> None:
    for number in range(1, 4):
        paid = [entry for n in range(number) for entry in call("pay", "{}", f"c{n}")]
        assert bool(made(Spoke(request_), *paid)) is (number >= times)


TRANSFER = Tool("transfer", input_schema={"required": ["to", "amount"]}, effects=WRITE)
GIVEN = {"to": "Ann", "amount": 5}


@pytest.mark.parametrize(
    ("first", "then", "is_open"),
    [
        ("Transfer 5 to Ann.", "What was the id of the transfer to Ann?", False),
        ("Transfer 5 to Ann.", "When will Ann have it?", False),
        ("Transfer 5 to Ann.", "Bob needs the very same thing. Please place it.", True),
        ("Transfer 5 to Ann.", "Could you do that for Ann?", True),
        ("Überweise Ann bitte 5 Euro.", "Wie lautet die Nummer der Überweisung?", False),
        ("Transfiere 5 a Ann, por favor.", "¿Cuál es el saldo de Ann ahora?", False),
        ("给Ann转账5元。", "现在Ann的余额是多少？", False),
        ("حوّل 5 إلى Ann من فضلك", "ما هو رصيد Ann الآن؟", False),
        ("Transfer 5 to Ann.", "Transfer 5 to Ann.", True),
        ("Transfer 5 to Ann.", "And 5 more, please.", True),
        ("Transfer 5 to Ann.", "Do it again.", True),
        ("Überweise Ann bitte 5 Euro.", "Noch einmal, bitte.", True),
        ("给Ann转账5元。", "再来一次。", True),
    ],
)
def test_a_write_of_an_earlier_turn_is_open_where_it_is_asked_for_anew(
    first: str, then: str, is_open: bool
) -> None:
    call = ToolCall("c1", "transfer", GIVEN)
    entries = [Spoke(first), Called((call,)), Returned("c1", '{"id": "T-1"}', "transfer")]
    for said, expected in (("It is done.", is_open), ("Shall I make it once more?", True)):
        state = fold_entries([*entries, Said(said), Spoke(then)], (TRANSFER,))
        made = find_made(state, lambda call: to_canonical_json([call.tool, call.arguments]))
        assert (not made) is expected


def test_another_write_of_this_turn_opens_those_of_earlier_ones() -> None:
    call, undo = ToolCall("c1", "transfer", GIVEN), Tool("cancel", effects=WRITE)
    entries = [
        Spoke("Transfer 5 to Ann."),
        Called((call,)),
        Returned("c1", '{"id": "T-1"}', "transfer"),
        Spoke("Cancel it and make it anew."),
        Called((ToolCall("c2", "cancel", {"id": "T-1"}),)),
        Returned("c2", '{"ok": true}', "cancel"),
    ]
    state = fold_entries(entries, (TRANSFER, undo))
    made = find_made(state, lambda call: to_canonical_json([call.tool, call.arguments]))
    assert to_canonical_json(["transfer", GIVEN]) not in made


PAID: tuple[Entry, ...] = (
    Spoke("Transfer 5 to Bob."),
    Called((ToolCall("c1", "transfer", {"to": "Bob", "amount": 5}),)),
    Returned("c1", '{"id": "T-1"}', "transfer"),
)
BOB, ANN = {"to": "Bob", "amount": 5}, {"to": "Ann", "amount": 5}
SEVENTY = {"to": "Ann", "amount": 70}


def resent(then: str, *given: JsonObject, said: str = "Done.", effects: Effects = WRITE) -> bool:
    """True if the first call only repeats what was done, in a reply with these calls."""
    tool = replace(TRANSFER, effects=effects)
    state = fold_entries([*PAID, Said(said), Spoke(then)], (tool,))
    calls = [ToolCall("", "transfer", arguments) for arguments in given]
    made = find_resent_writes(
        calls, state, lambda call: to_canonical_json([call.tool, call.arguments])
    )
    key = to_canonical_json(["transfer", given[0]])
    assert made in ({}, {key: "earlier"})
    return bool(made)


@pytest.mark.parametrize(
    "then",
    ["Also 5 to Ann.", "Auch 5 an Ann.", "También 5 a Ann.", "也转5元给 Ann。", "وأيضا 5 إلى Ann"],
)
def test_a_write_of_an_earlier_turn_is_not_repeated_beside_a_new_one(then: str) -> None:
    assert resent(then, BOB, ANN)
    assert resent(then, BOB, ANN, said="I have sent 5 to Bob. Anything else?")
    assert not resent(then, BOB)
    assert not resent(then, ANN, BOB | {"to": "Carl"})


@pytest.mark.parametrize(
    ("then", "given"),
    [
        ("The same again.", [BOB]),
        ("The same again.", [BOB, BOB]),
        ("5 to Ann and to Bob once more.", [BOB, ANN]),
        ("再给Bob转5元，也转5元给Ann。", [BOB, ANN]),
        ("Bobs Anteil noch einmal, und 5 an Ann.", [BOB, ANN]),
        ("The same again, and 70 to Ann.", [BOB, SEVENTY]),
        ("Das Gleiche noch einmal, und 70 an Ann.", [BOB, SEVENTY]),
        ("Lo mismo otra vez, y 70 a Ann.", [BOB, SEVENTY]),
        ("再来一次，另外给 Ann 转 70。", [BOB, SEVENTY]),
        ("نفس الشيء مرة أخرى، و 70 إلى Ann", [BOB, SEVENTY]),
        ("La même chose encore une fois, et 70 à Ann.", [BOB, SEVENTY]),
        ("The same for everybody, please.", [BOB, ANN]),
        ("Ann gets what he got.", [BOB, {"to": "Ann", "amount": 7}]),
        ("Also for Ann.", [BOB, {**BOB, "note": "Ann"}]),
    ],
    ids=[
        "alone",
        "twice",
        "said again",
        "no spaces",
        "in a word",
        "the same again",
        "the same again, de",
        "the same again, es",
        "the same again, zh",
        "the same again, ar",
        "cannot be read",
        "new one unsaid",
        "value unsaid",
        "only more",
    ],
)
def test_a_write_that_may_be_meant_again_is_open(then: str, given: list[JsonObject]) -> None:
    assert not resent(then, *given)


def test_a_question_about_the_write_opens_it_again() -> None:
    assert not resent("Yes, and 5 to Ann.", BOB, ANN, said="It is done. Shall I pay Bob again?")
    assert not resent("Yes, and 70 to Ann.", BOB, SEVENTY, said="Done. Shall I do it again?")
    assert resent("Yes, and 5 to Ann.", BOB, ANN, said="Bob is paid. Shall I go on?")


def test_what_declares_no_write_is_repeated_beside_others() -> None:
    for effects in (READ, UNKNOWN):
        assert not resent("Also 5 to Ann.", BOB, ANN, effects=effects)
