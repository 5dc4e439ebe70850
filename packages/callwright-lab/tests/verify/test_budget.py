"""What is spent is counted before it is spent, and never more than was allowed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.errors import ConfigError, Failure
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import (
    READ,
    WRITE,
    Effects,
    JsonObject,
    Message,
    Tool,
    ToolOutput,
    Usage,
)
from callwright.testing import ScriptedModel
from callwright_lab.verify.budget import Account, Budget, BudgetSpent, Cost, Meter
from callwright_lab.verify.memory import InDoubt, Memory


@given(limit=st.integers(0, 5), wanted=st.integers(0, 10), rows=st.integers(1, 3))
def test_no_more_calls_are_made_than_the_budget_has_and_all_are_on_some_rows_meter(
    limit: int, wanted: int, rows: int
) -> None:
    account = Account(Budget(calls=limit))
    meters = [Meter(account) for _ in range(rows)]
    made = 0
    for at in range(wanted):
        try:
            meters[at % rows].call()
        except BudgetSpent:
            continue
        made += 1
    assert made == min(limit, wanted) == sum(meter.cost.calls for meter in meters)


async def test_each_question_is_counted_with_its_tokens_and_refused_when_none_is_left() -> None:
    model = ScriptedModel(["one", "two"])
    meter = Meter(Account(Budget(model_calls=1)))
    asked = meter.metered(model)
    assert (asked.name, (await asked.capabilities()).json_schema) == ("scripted", True)
    reply = await asked.complete(ChatRequest(()))
    assert (meter.cost.model_calls, meter.cost.usage) == (1, reply.usage)
    with pytest.raises(BudgetSpent, match="1 model calls is spent"):
        await asked.complete(ChatRequest(()))
    assert len(model.requests) == 1, "what is refused is not asked"
    with pytest.raises(BudgetSpent):  # finding out what an endpoint can do may be a question to it
        await asked.capabilities()
    await asked.aclose()
    assert not model.closed, "the model belongs to somebody else"


def test_when_the_minutes_are_over_nothing_more_is_spent() -> None:
    now = 0.0
    account = Account(Budget(minutes=1.0), clock=lambda: now)
    account.take_call()
    now = 60.0
    for spend in (account.take_call, account.take_model_call, account.require_time):
        with pytest.raises(BudgetSpent, match="1 minutes"):
            spend()


def test_costs_add_up() -> None:
    one, other = Cost(1, 2, Usage(3, 4), 0.5), Cost(1, 0, Usage(1, 1), 0.25)
    assert one + other == Cost(2, 2, Usage(4, 5), 0.75)
    assert str(one + other) == "2 calls, 2 model calls, 9 tokens"


@pytest.mark.parametrize("wrong", [{"calls": -1}, {"model_calls": -2}, {"minutes": float("nan")}])
def test_a_budget_below_nothing_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="must be 0 or more"):
        Budget(**wrong)  # type: ignore[arg-type]


async def test_what_is_on_record_is_counted_and_neither_asked_nor_charged_again() -> None:
    notes: list[JsonObject] = []
    model, made = ScriptedModel(["one"]), []

    async def caller(tool: str, arguments: JsonObject) -> ToolOutput:
        made.append((tool, arguments))
        return ToolOutput({"key": "s3cret-value"}, Failure("tool_error", "no"))

    for account in (
        Account(Budget(calls=1, model_calls=1)),
        Account(Budget(calls=0, model_calls=0)),
    ):
        meter = Meter(account, Memory(notes, notes.append))
        reply = await meter.metered(model).complete(ChatRequest((Message("user", "hello"),)))
        assert reply.text == "one"
        meter.call(known=meter.knows_call("t", {"a": 1}))
        output = await meter.called(Tool("t"), {"a": 1}, caller, secrets=("s3cret-value",))
        assert output.failure == Failure("tool_error", "no")
        assert (meter.cost.calls, meter.cost.model_calls, meter.cost.usage) == (1, 1, reply.usage)
    assert meter.spent == Cost()
    assert (len(model.requests), len(made)) == (1, 1)
    assert "s3cret" not in str(notes)


@pytest.mark.parametrize(
    ("effects", "doubted"),
    [
        (READ, False),
        (WRITE, True),
        (Effects(idempotent=True), False),
        (Effects(keyed=True), True),
        (Effects(), True),
    ],
)
async def test_only_what_may_not_be_made_twice_is_in_doubt_when_it_was_under_way(
    effects: Effects, doubted: bool
) -> None:
    notes: list[JsonObject] = []
    tool = Tool("t", effects=effects)

    async def dies(name: str, arguments: JsonObject) -> ToolOutput:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await Meter(memory=Memory((), notes.append)).called(tool, {"a": 1}, dies)
    again = Meter(memory=Memory(notes))
    if doubted:
        with pytest.raises(InDoubt, match=r'in doubt: t\(\{"a":1\}\) was under way'):
            again.knows_call("t", {"a": 1})
    else:
        assert not again.knows_call("t", {"a": 1})
    assert not again.knows_call("t", {"a": 2})
