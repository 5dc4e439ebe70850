"""Writes that do not leave in guided mode, up to a real client's loop whose world counts what was
done.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import anthropic
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.agent.safety.clear import ClearedCall, Denied
from callwright.language.spoken import load_phrases
from callwright.nouns.types import Reply as Said
from callwright.nouns.types import ToolCall
from callwright.proxy.session import guard
from callwright.proxy.session.context import Context, Toolsets, read_context
from callwright.proxy.session.decision.decide import decide_calls
from callwright.proxy.session.decision.decision import Decision, Found
from callwright.proxy.session.history import NO_RESULT
from callwright.proxy.session.settings import GuardMode, Settings
from tests.proxy.playbook import JSON, chunk, text_stream, whole
from tests.proxy.upstream import Asked, Reply, proxy, upstream

READ_ONLY = {"readOnlyHint": True}
NO_HARM = {"readOnlyHint": False, "destructiveHint": False}


def offered(
    name: str, properties: dict[str, Any], annotations: Any = None, **schema: Any
) -> dict[str, Any]:
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        **schema,
    }
    function: dict[str, Any] = {"name": name, "description": name, "parameters": parameters}
    return {
        "type": "function",
        "function": function | ({"annotations": annotations} if annotations else {}),
    }


PAY = offered("pay", {"to": {"type": "string"}, "amount": {"type": "number"}}, NO_HARM)
LOOK = offered("balance", {"account": {"type": "integer"}}, READ_ONLY)
PAID = {"to": "Ann", "amount": 50}
ASKED = {"role": "user", "content": "Pay Ann 50 kroner, please."}


def called(name: str, arguments: Any, number: str = "c1", **more: Any) -> dict[str, Any]:
    entry = {
        "id": number,
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }
    return {"role": "assistant", "content": None, "tool_calls": [entry], **more}


def came(text: str, number: str = "c1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": number, "content": text}


def context(*messages: Any, tools: Any = (PAY, LOOK), native: bool = False, **more: Any) -> Context:
    asked = {"model": "m", "messages": [ASKED, *messages], "tools": list(tools), **more}
    found = read_context(asked, b"x", Toolsets(), Settings())
    assert found is not None
    found.native, found.schema = native, not native
    return found


def rules(found: Context, *calls: ToolCall) -> list[str]:
    return [one.rule if isinstance(one, Denied) else "" for one in cleared(found, *calls)]


def cleared(found: Context, *calls: ToolCall) -> list[Any]:
    return [*guard.clear_calls(found, calls, [found.toolset.gate.check(call) for call in calls])]


def pay(**arguments: Any) -> ToolCall:
    return ToolCall("", "pay", {**PAID, **arguments})


DONE = (called("pay", PAID), came('{"paid": true}'))


def test_a_write_that_has_succeeded_is_not_made_again() -> None:
    found = context(*DONE)
    assert rules(found, pay(), pay(to="Bob")) == ["repeated_write", ""]
    assert rules(found, ToolCall("", "pay", {"amount": 50.0, "to": "Ann"})) == ["repeated_write"]


@pytest.mark.parametrize(
    "between",
    [
        [{"role": "user", "content": "Once more, please."}],
        [called("pay", {**PAID, "to": "Bob"}), came("paid")],
    ],
)
def test_what_was_not_made_or_was_asked_for_again_may_be_made(between: list[Any]) -> None:
    before = [*DONE] if between[0]["role"] == "user" else []
    assert rules(context(*before, *between), pay()) == [""]


@pytest.mark.parametrize(
    "unclear",
    [
        [called("pay", PAID), came("Error: the bank is closed")],
        [called("pay", PAID), came('{"error": "timed out"}')],
        [called("pay", PAID), came(NO_RESULT)],
        [called("pay", PAID)],
    ],
)
def test_a_write_without_a_clear_outcome_may_have_happened(unclear: list[Any]) -> None:
    assert rules(context(*unclear), pay(), pay(to="Bob")) == ["repeated_write", ""]
    bare = offered("pay", PAY["function"]["parameters"]["properties"])
    assert rules(context(*unclear, tools=[bare]), pay()) == [""], "nobody said that it writes"


def test_a_reminder_that_recurs_behind_results_opens_no_turn() -> None:
    reminder = {"role": "user", "content": "Denk daran: antworte kurz."}
    again = {"role": "user", "content": ASKED["content"]}
    assert rules(context(reminder, *DONE, reminder), pay()) == ["repeated_write"]
    told = {"role": "assistant", "content": "Paid."}
    assert rules(context(*DONE, told, again), pay()) == [""], "the user asks for it once more"


def test_of_unknown_effects_what_is_pending_may_be_asked_again() -> None:
    bare = offered("pay", PAY["function"]["parameters"]["properties"])
    still = (called("pay", PAID), came('{"status": "in_progress"}'))
    assert rules(context(*still, tools=[bare], native=True), pay()) == [""]
    assert rules(context(*still), pay()) == ["repeated_write"], "a write is on its way"


def test_guarding_is_a_setting() -> None:
    modes: list[tuple[GuardMode, str]] = [("act", "repeated_write"), ("off", "")]
    for mode, expected in modes:
        found = context(*DONE)
        found.guard = mode
        assert rules(found, pay()) == [expected]


@pytest.mark.parametrize(
    "between",
    [
        [called("balance", {"account": 1}, "c2"), came("450", "c2")],
        [{"role": "user", "content": "<system-reminder>\nBe brief.\n</system-reminder>"}],
        [{"role": "user", "content": "Earlier tool result of balance: 450"}],
        [{"role": "user", "content": "<environment_details>12:01</environment_details>"}],
        [{"role": "assistant", "content": "Paid."}],
    ],
)
def test_what_is_said_by_nobody_but_the_user_does_not_open_it_again(between: list[Any]) -> None:
    assert rules(context(*DONE, *between), pay()) == ["repeated_write"]


def test_results_without_ids_belong_to_the_oldest_open_call() -> None:
    history = [called("pay", PAID, ""), {"role": "tool", "content": "paid"}]
    assert rules(context(*history), pay()) == ["repeated_write"]


def test_defaults_that_are_written_out_make_no_other_call() -> None:
    tool = offered(
        "note", {"text": {"type": "string"}, "tag": {"type": "string", "default": "none"}}, NO_HARM
    )
    tool["function"]["parameters"]["required"] = ["text"]
    found = context(called("note", {"text": "Ann"}), came("noted"), tools=[tool])
    assert rules(found, ToolCall("", "note", {"text": "Ann", "tag": "none"})) == ["repeated_write"]
    assert rules(found, ToolCall("", "note", {"text": "Ann", "tag": "debts"})) == [
        "repeated_write"
    ], "an option that nobody said makes no other call"
    assert rules(found, ToolCall("", "note", {"text": "Ann", "tag": "kroner"})) == [""]


def test_a_write_with_a_value_that_nobody_said_is_not_made() -> None:
    (why,) = cleared(context(), pay(amount=75))
    assert isinstance(why, Denied)
    assert why.rule == "unstated_value"
    assert "'pay'" in why.reason
    assert "'amount' = 75" in why.reason
    history = [called("balance", {"account": 1}), came("450")]
    assert rules(context(*history), pay(amount=450)) == [""]


@pytest.mark.parametrize("came_back", ["450", '{"account": 75, "balance": 450}'])
def test_a_value_is_not_known_because_a_read_was_made_with_it(came_back: str) -> None:
    history = [called("balance", {"account": 75}), came(came_back)]
    assert rules(context(*history), pay(amount=75)) == ["unstated_value"]


ORDER = {"order_id": {"type": "integer"}}
GET = offered("get_order", ORDER, READ_ONLY)
UNDECLARED = offered("get_order", ORDER)
CANCEL = offered("cancel_order", ORDER, {"readOnlyHint": False, "destructiveHint": True})
CANCELS = ToolCall("", "cancel_order", {"order_id": 4711})
LOOKED_UP = (called("get_order", {"order_id": 4711}), came('{"status": "open", "item": "chair"}'))


def trimmed(*messages: Any, tools: Any) -> Context:
    asked = {"model": "m", "messages": [*messages], "tools": list(tools)}
    found = read_context(asked, b"x", Toolsets(), Settings())
    assert found is not None
    found.native, found.schema = False, True
    return found


@pytest.mark.parametrize("get", [GET, UNDECLARED])
@pytest.mark.parametrize(
    "said",
    [
        "Please cancel it for me.",
        "Bitte storniere sie für mich.",
        "Por favor, cancela el pedido de la silla para mí.",
        "请取消它。",
        "من فضلك ألغ هذا",
    ],
)
def test_what_a_call_of_an_earlier_turn_was_made_with_is_known(said: str, get: Any) -> None:
    user = {"role": "user", "content": said}
    told = {"role": "assistant", "content": "It is open: a chair."}
    tools = (get, CANCEL)
    assert rules(trimmed(*LOOKED_UP, told, user, tools=tools), CANCELS) == [""]
    cleared_result = (LOOKED_UP[0], came("[Old tool result content cleared]"))
    assert rules(trimmed(*cleared_result, told, user, tools=tools), CANCELS) == [""]
    failed = (LOOKED_UP[0], came('{"error": "no such order"}'))
    assert rules(trimmed(*failed, told, user, tools=tools), CANCELS) == ["unstated_value"]


def test_what_a_read_of_this_turn_was_made_with_is_not_known() -> None:
    user = {"role": "user", "content": "Please cancel my chair order."}
    assert rules(trimmed(user, *LOOKED_UP, tools=(GET, CANCEL)), CANCELS) == ["unstated_value"]


def test_what_a_refusal_suggests_is_known_and_was_not_made() -> None:
    user = {"role": "user", "content": "Please cancel the order of the chair."}
    text = offered(
        "cancel_order", {"order_id": {"type": "string"}}, CANCEL["function"]["annotations"]
    )
    asked = called("cancel_order", {"order_id": "chair"})
    refused = came('{"error": "no order chair; did you mean ORD-4711 (chair)?"}')
    found = trimmed(user, asked, refused, tools=(text,))
    assert rules(found, ToolCall("", "cancel_order", {"order_id": "ORD-4711"})) == [""]
    assert rules(found, ToolCall("", "cancel_order", {"order_id": "ORD-4712"})) == [
        "unstated_value"
    ]


def test_what_a_write_was_made_with_is_known_afterwards() -> None:
    history = [called("pay", {"to": "Bob", "amount": 75}), came("paid")]
    more = {"role": "user", "content": "And the same to Ann, please."}
    assert rules(context(*history, more), pay(amount=75)) == [""]


TRANSFERS = {  # language -> (no amount, 36 in words, 36 in digits)
    "en": ("Pay some of the bill to Ann.", "Pay Ann the thirty-six.", "Pay Ann the 36."),
    "de": (
        "Zahle Ann etwas für uns.",
        "Zahle Ann die sechsunddreißig für uns.",
        "Zahle Ann die 36 für uns.",
    ),
    "es": (
        "Por favor, paga a Ann lo del despacho.",
        "Por favor, paga treinta y seis a Ann por lo del despacho.",
        "Por favor, paga 36 a Ann por lo del despacho.",
    ),
    "zh": ("请付一些钱给Ann。", "请付三十六克朗给Ann。", "请付36克朗给Ann。"),
    "ar": ("ادفع إلى Ann بعض المال", "ادفع إلى Ann ستة وثلاثين كرونة", "ادفع إلى Ann ٣٦ كرونة"),
}


@pytest.mark.parametrize("code", TRANSFERS)
def test_an_amount_counts_as_said_in_five_languages_and_a_made_up_one_is_kept_back(
    code: str,
) -> None:
    some, words, digits = ({"role": "user", "content": text} for text in TRANSFERS[code])
    for asked in (words, digits):
        assert rules(asking(asked), pay(amount=36), pay(amount=7)) == ["", "unstated_value"]
    assert rules(asking(some), pay(amount=36), pay(amount=7)) == ["unstated_value"] * 2


def asking(user: dict[str, Any], *tools: Any, system: str = "") -> Context:
    before = [{"role": "system", "content": system}] if system else []
    asked = {"model": "m", "messages": [*before, user], "tools": list(tools or (PAY, LOOK))}
    found = read_context(asked, b"x", Toolsets(), Settings())
    assert found is not None
    return found


def made_of(found: Context, call: ToolCall) -> Any:
    steps = decide_calls([Found(call, native=0)], "", "tool_calls", found)
    with pytest.raises(StopIteration) as stopped:
        next(steps)
    (sent,) = stopped.value.value.calls
    return json.loads(sent.arguments)


@pytest.mark.parametrize(
    ("said", "amount"),
    [
        ("Zahle Ann bitte 1.250 Kronen für das Auto.", 1250),
        ("Paga a Ann 1.250 coronas por el coche.", 1250),
        ("Pay Ann 1.250 kroner for the car.", 1.25),
    ],
)
def test_an_amount_copied_as_text_is_what_the_user_wrote(said: str, amount: float) -> None:
    found = asking({"role": "user", "content": said})
    assert made_of(found, pay(amount="1.250")) == {"to": "Ann", "amount": amount}


def test_a_place_on_the_map_is_read_as_it_stands() -> None:
    place = {"latitude": {"type": "number"}, "longitude": {"type": "number"}}
    found = asking(
        {"role": "user", "content": "Wie ist das Wetter bei 52.520 und 13.405 in der Nähe?"},
        offered("weather", place, READ_ONLY),
    )
    call = ToolCall("", "weather", {"latitude": "52.520", "longitude": "13.405"})
    assert made_of(found, call) == {"latitude": 52.52, "longitude": 13.405}


def test_the_sum_of_what_a_tool_returned_is_stated() -> None:
    bills = came(json.dumps({"bills": [{"amount": 12.5}, {"amount": 37.0}]}))
    found = context(
        {"role": "user", "content": "Pay Ann the total."}, called("balance", {"account": 1}), bills
    )
    assert rules(found, pay(amount=49.5), pay(amount=61.2)) == ["", "unstated_value"]


@pytest.mark.parametrize("native", [True, False])
def test_tools_that_declare_nothing_are_only_kept_from_being_called_again(native: bool) -> None:
    bare = offered("pay", PAY["function"]["parameters"]["properties"])
    unknown = context(*DONE, tools=[bare], native=native)
    assert rules(unknown, pay(), pay(amount=75)) == ["repeated_write", ""]
    declared = context(*DONE, native=native)
    assert rules(declared, pay(), pay(amount=75)) == ["repeated_write", "unstated_value"]


_AMOUNT = st.integers(0, 10**6) | st.floats(0.01, 1e6).map(lambda f: round(f, 2))
_NAME = st.text(st.characters(categories=["L"]), min_size=1, max_size=12)


@given(_NAME, _AMOUNT, st.sampled_from([NO_HARM, None]), st.booleans())
def test_a_first_write_that_was_stated_whole_always_leaves(
    name: str, amount: float, may: Any, failed: bool
) -> None:
    tool = offered("pay", PAY["function"]["parameters"]["properties"], may)
    asked = {"role": "user", "content": f"Now pay {name} {amount}."}
    before = (
        [called("pay", {"to": name, "amount": amount}), came("Error: closed")]
        if failed and may is None  # else it may have been done
        else []
    )
    assert rules(context(asked, *before, tools=[tool]), pay(to=name, amount=amount)) == [""]


@given(st.integers(), st.integers(0, 4))
def test_reads_are_never_touched(account: int, times: int) -> None:
    history = [
        m
        for n in range(times)
        for m in (called("balance", {"account": account}, f"c{n}"), came("450", f"c{n}"))
    ]
    assert rules(context(*history), ToolCall("", "balance", {"account": account})) == [""]


def test_tests_are_run_again_after_an_edit() -> None:
    """Tools of which nobody says what they do, as most clients offer them."""
    run = offered("run", {"command": {"type": "string"}})
    edit = offered("edit", {"path": {"type": "string"}})
    again = ToolCall("", "run", {"command": "pytest"})
    ran = (called("run", {"command": "pytest"}), came("1 failed"))
    edited = (called("edit", {"path": "a.py"}, "c2"), came("ok", "c2"))
    tools = [run, edit]
    assert rules(context(*ran, tools=tools, native=True), again) == ["repeated_write"]
    found = context(*ran, *edited, tools=tools, native=True)
    assert rules(found, again) == [""]
    led = context(*ran, *edited, tools=tools)
    led.leave_out = True
    assert rules(led, again) == ["repeated_write"], "a model that fills a schema calls too readily"


def test_a_read_with_a_number_from_nowhere_is_kept_back_only_where_the_engine_leads() -> None:
    balance = [ToolCall("", "balance", {"account": number}) for number in (50, 7441)]
    asked = {"role": "user", "content": "And what is the balance of account 50?"}
    led, passed = context(asked), context(asked)
    led.leave_out = True
    assert rules(led, *balance) == ["", "unstated_value"]
    assert rules(passed, *balance) == ["", ""], "what a read is called with does no harm"


def test_what_was_lost_in_an_earlier_turn_may_be_asked_for_again() -> None:
    stopped = {"role": "user", "content": "I stopped that. Pay Ann the 50 kroner now, please."}
    assert rules(context(called("pay", PAID), stopped), pay()) == [""]
    assert rules(context(called("pay", PAID), came(NO_RESULT), stopped), pay()) == [""]


def test_what_was_lost_in_an_earlier_turn_is_not_made_for_a_question_about_something_else() -> None:
    said = {"role": "assistant", "content": "I have paid."}
    asked = {"role": "user", "content": "What is my balance?"}
    looked = (called("balance", {"account": 3}, "c2"), came("7", "c2"))
    for seen in ((), looked):
        found = context(called("pay", PAID), came(NO_RESULT), said, asked, *seen)
        assert rules(found, pay(), pay(to="Bob")) == ["repeated_write", ""]


# What the client gets instead


def settled(
    found: Context, *calls: ToolCall, replies: tuple[Said, ...] = (), text: str = ""
) -> Decision:
    work = decide_calls([Found(c, dialect="guided") for c in calls], text, "stop", found)
    left = list(replies)
    try:
        next(work)
        while True:
            work.send(left.pop(0))
    except StopIteration as end:
        made: Decision = end.value
        return made


def test_words_take_the_place_of_the_call() -> None:
    made = settled(context(*DONE), pay(), replies=(Said("Ann has her 50 kroner."),))
    assert (made.calls, made.text) == ([], ["Ann has her 50 kroner."])
    assert [e.rule for e in made.edits] == ["repeated_write"]
    assert made.finish_reason("tool_calls") == "stop"


@pytest.mark.parametrize(
    "said", ["", "   ", '{"name": "pay", "arguments": {"to": "Ann", "amount": 50}}']
)
def test_where_no_words_come_the_reason_is_told(said: str) -> None:
    made = settled(context(*DONE), pay(), replies=(Said(said),))
    assert made.calls == []
    assert "already succeeded" in made.text[0]
    spent = context(*DONE)
    spent.questions = 0
    assert "already succeeded" in settled(spent, pay()).text[0]


def test_the_rest_of_an_answer_leaves_as_it_is() -> None:
    made = settled(context(*DONE), pay(), ToolCall("", "balance", {"account": 50}))
    assert [c.call.tool for c in made.calls] == ["balance"]
    assert made.text == []


def test_a_client_that_insists_gets_another_call_or_the_reason() -> None:
    finish = offered("finish", {"said": {"type": "string"}})
    found = context(*DONE, tools=[PAY, finish], tool_choice="required")
    ending = {"name": "finish", "arguments": {"said": "Pay Ann 50 kroner"}}
    made = settled(
        found, pay(), replies=(Said(json.dumps({"wishes": ["end"], "calls": [ending]})),)
    )
    assert [c.call.tool for c in made.calls] == ["finish"]
    again = {"name": "pay", "arguments": PAID}
    found = context(*DONE, tools=[PAY, finish], tool_choice="required")
    made = settled(found, pay(), replies=(Said(json.dumps({"wishes": ["pay"], "calls": [again]})),))
    assert made.calls == []
    assert "already succeeded" in made.text[0]


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("Pay Ann some money, please.", "en"),
        ("Bitte zahle Ann etwas Geld.", "de"),
        ("Por favor, paga algo de dinero a Ann.", "es"),
        ("请付给Ann一些钱。", "zh"),
        ("ادفع بعض المال إلى Ann من فضلك", "ar"),
    ],
)
def test_a_client_that_insists_has_the_user_asked_for_what_is_missing(said: str, code: str) -> None:
    asked = {"model": "m", "messages": [{"role": "user", "content": said}], "tools": [PAY]}
    found = read_context({**asked, "tool_choice": "required"}, b"x", Toolsets(), Settings())
    assert found is not None
    found.native, found.schema = False, True
    again = {"name": "pay", "arguments": {"to": "Ann", "amount": 4711}}
    reply = Said(json.dumps({"wishes": ["pay"], "calls": [again]}))
    made = settled(found, pay(amount=4711), replies=(reply,))
    told = load_phrases(code)["needed"].partition("{")[0]
    assert made.calls == []
    assert made.text[0].startswith(told)
    assert "amount" in made.text[0]


def test_where_one_call_is_allowed_it_is_the_first_that_may_be_made() -> None:
    found = context(*DONE, parallel_tool_calls=False)
    made = settled(found, pay(), ToolCall("", "balance", {"account": 50}), pay(to="Bob"))
    assert [c.call.tool for c in made.calls] == ["balance"]
    assert [e.rule for e in made.edits] == ["repeated_write", "no_parallel_calls"]


# A client's loop


class World:
    """What the client's tools did."""

    def __init__(self) -> None:
        self.paid: list[Any] = []

    def pay(self, arguments: Any) -> str:
        self.paid.append(arguments)
        return json.dumps({"receipt": f"R{len(self.paid)}"})


def stubborn(asked: Asked) -> Reply:
    """A model that pays whenever it is asked for calls, and says so in words only where it is asked
    for words.
    """
    body = asked.json
    if "final_answer" in json.dumps(body.get("response_format")):
        said = {"final_answer": "Ann was paid 50.", "missing": []}
        return Reply([whole(json.dumps(said))], headers=JSON)
    if "response_format" in body:
        made = json.dumps({"wishes": ["pay Ann"], "calls": [{"name": "pay", "arguments": PAID}]})
        return Reply([whole(made)], headers=JSON)
    assert "tools" not in body, "asked for words, no tools are offered"
    if body.get("stream"):
        return Reply(
            [
                text_stream("Ann has ", "her money.", done=False),
                chunk({}, None),
                b"data: [DONE]\n\n",
            ]
        )
    return Reply([whole("Ann has her money.")], headers=JSON)


Loop = Callable[[str, World, bool], Any]


async def by_chat(address: str, world: World, stream: bool) -> str:
    messages: list[Any] = [ASKED]
    async with openai.AsyncOpenAI(base_url=f"{address}/v1", api_key="k", max_retries=0) as client:
        for _ in range(5):
            asked: Any = {"model": "m", "messages": messages, "tools": [PAY]}
            if stream:
                async with client.chat.completions.stream(**asked) as events:
                    message: Any = (await events.get_final_completion()).choices[0].message
            else:
                message = (await client.chat.completions.create(**asked)).choices[0].message
            if not message.tool_calls:
                return str(message.content)
            messages.append(message.model_dump(include={"role", "content", "tool_calls"}))
            for call in message.tool_calls:
                messages.append(came(world.pay(json.loads(call.function.arguments)), call.id))
    return "no end"


async def by_responses(address: str, world: World, stream: bool) -> str:
    items: list[Any] = [ASKED]
    tools: Any = [{"type": "function", **PAY["function"]}]
    async with openai.AsyncOpenAI(base_url=f"{address}/v1", api_key="k", max_retries=0) as client:
        for _ in range(5):
            if stream:
                async with client.responses.stream(model="m", input=items, tools=tools) as events:
                    answer: Any = await events.get_final_response()
            else:
                answer = await client.responses.create(model="m", input=items, tools=tools)
            made = [item for item in answer.output if item.type == "function_call"]
            if not made:
                return str(answer.output_text)
            for call in made:
                fields = {"call_id": call.call_id, "name": call.name, "arguments": call.arguments}
                items.append({"type": "function_call", **fields})
                output = world.pay(json.loads(call.arguments))
                items.append(
                    {"type": "function_call_output", "call_id": call.call_id, "output": output}
                )
    return "no end"


async def by_messages(address: str, world: World, stream: bool) -> str:
    messages: list[Any] = [ASKED]
    tool: Any = {"name": "pay", "description": "pay", "input_schema": PAY["function"]["parameters"]}
    async with anthropic.AsyncAnthropic(base_url=address, api_key="k", max_retries=0) as client:
        for _ in range(5):
            asked: Any = {"model": "m", "max_tokens": 100, "messages": messages, "tools": [tool]}
            if stream:
                async with client.messages.stream(**asked) as events:
                    answer: Any = await events.get_final_message()
            else:
                answer = await client.messages.create(**asked)
            made = [block for block in answer.content if block.type == "tool_use"]
            if not made:
                return "".join(block.text for block in answer.content)
            used = [
                {"type": "tool_use", "id": c.id, "name": c.name, "input": c.input} for c in made
            ]
            messages.append({"role": "assistant", "content": used})
            back = [
                {"type": "tool_result", "tool_use_id": c.id, "content": world.pay(c.input)}
                for c in made
            ]
            messages.append({"role": "user", "content": back})
    return "no end"


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("loop", [by_chat, by_responses, by_messages])
async def test_a_clients_loop_makes_a_write_once_and_ends_in_words(
    loop: Loop, stream: bool
) -> None:
    world = World()
    async with upstream(stubborn) as up, proxy(up.url, Settings(guided="on")) as (address, _):
        said = await loop(address, world, stream)
    assert world.paid == [PAID]
    assert said == "Ann was paid 50."
    assert sum("wishes" in json.dumps(a.json.get("response_format")) for a in up.asked) == 1


async def test_without_the_engine_a_repeated_write_is_kept_back_and_words_take_its_place() -> None:
    """An upstream of which nothing but native calls is known, and a model that calls for ever."""
    world = World()

    def calling(asked: Asked) -> Reply:
        if "tools" not in asked.json:
            return stubborn(asked)
        made = called("pay", PAID)["tool_calls"]
        return Reply([whole(None, made, "tool_calls")], headers=JSON)

    settings = Settings(guided="off")
    async with upstream(calling) as up, proxy(up.url, settings) as (address, made):
        said = await by_chat(address, world, stream=False)
    assert world.paid == [PAID]
    assert said == "Ann has her money."
    assert made.counters.edits["repeated_write"] == 1
    assert "was not called again" in up.asked[-1].json["messages"][-1]["content"]


@pytest.mark.parametrize("native", [True, False])
def test_every_call_for_the_client_is_cleared_or_was_refused_by_the_gate(native: bool) -> None:
    right, wrong = pay(), ToolCall("", "pay", {"to": "Ann", "amount": "plenty"})
    found = [Found(right, 0), Found(wrong, 1)]
    asking = decide_calls(found, "", "tool_calls", context(native=native))
    try:
        next(asking)
        while True:
            asking.send(Said("no"))
    except StopIteration as end:
        made: Decision = end.value
    first, second = made.calls
    assert isinstance(first.cleared, ClearedCall)
    assert first.cleared.arguments == first.call.arguments == PAID
    assert second.cleared is None, "it is passed through"
    assert made.violations, "and marked"


def test_the_conversation_is_read_once_for_all_answers_to_a_request() -> None:
    found = context(called("pay", PAID), came('{"paid": true}'))
    for leave_out in (False, True, False):
        found.leave_out = leave_out
        guard.clear_calls(
            found,
            [ToolCall("", "pay", PAID)],
            [found.toolset.gate.check(ToolCall("", "pay", PAID))],
        )
    facts = dict(found.known)
    assert [one.judges_reads for one in facts.values()] == [False, True]
    assert guard.Guard(found)._state() is facts[False]


def test_a_finished_write_does_not_go_out_again_beside_a_new_one() -> None:
    paid = {"role": "assistant", "content": "Ann has 50 kroner."}
    more = {"role": "user", "content": "Also 50 to Bob."}
    found = context(*DONE, paid, more)
    assert rules(found, pay(), pay(to="Bob")) == ["repeated_write", ""]
    assert rules(found, pay(to="Bob"), pay(amount=50.0)) == ["", "repeated_write"]
    assert rules(found, pay()) == [""], "no other call tells what is meant"
    (why, _) = cleared(found, pay(), pay(to="Bob"))
    assert "done with the same arguments for an earlier message" in why.reason
    for said in ("Also 50 to Bob, and Ann once more.", "The same again, and 50 to Bob."):
        again = {"role": "user", "content": said}
        assert rules(context(*DONE, paid, again), pay(), pay(to="Bob")) == ["", ""]
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,QQ=="}}
    shown = {"role": "user", "content": [{"type": "text", "text": more["content"]}, image]}
    assert rules(context(*DONE, paid, shown), pay(), pay(to="Bob")) == ["", ""]
    found.guard = "off"
    assert rules(found, pay(), pay(to="Bob")) == ["", ""]
