from __future__ import annotations

from collections.abc import Callable

import pytest

from callwright.nouns.errors import Failure
from callwright.nouns.limits import Budget, Limits
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import READ, CheckedCall, Json, Reply, Tool, ToolCall, ToolResult
from callwright.repair.by_model.question import (
    PLAIN,
    QUESTION_RULES,
    QuestionContext,
    Repair,
    repair_failure,
    repair_in_ways,
    repair_refusal,
)
from callwright.repair.diagnose import diagnose
from callwright.repair.draft import Drafts
from callwright.repair.gate import Gate, Refusal
from callwright.repair.pipeline import run_rules
from callwright.repair.provenance.sources import ProvenanceIndex

TOOL = Tool(
    "fetch_movies_for_abir82_bollywood_recommendations",
    "Movies by genre and year.",
    {
        "type": "object",
        "properties": {"genre": {"type": "string"}, "year": {"type": "string"}},
        "required": ["genre", "year"],
    },
    effects=READ,
)
GATE = Gate([TOOL])
SOURCES = ProvenanceIndex(
    "Fetch comedy movies from 2000-2019 using the Bollywood Recommendations tool"
)
A7_RESPONSE = {
    "error": "Message error...",
    "response": "{ 'error': 'Invalid year format - year should be 4 digits.' }",
}


def always() -> bool:
    return True


def play(repair: Repair, *replies: str | Reply) -> tuple[CheckedCall | Refusal, list[ChatRequest]]:
    """Drive a repair with scripted replies; returns its value and what it asked."""
    asked: list[ChatRequest] = []
    script = iter(replies)
    try:
        request = next(repair)
        while True:
            asked.append(request)
            answer = next(script)
            request = repair.send(answer if isinstance(answer, Reply) else Reply(answer))
    except StopIteration as done:
        return done.value, asked


def refused(arguments: Json, gate: Gate = GATE, tool: Tool = TOOL) -> Refusal:
    verdict = gate.check(ToolCall("c1", tool.name, arguments, "s1"))
    assert isinstance(verdict, Refusal)
    return verdict


def executed(arguments: Json, tool: Tool = TOOL) -> CheckedCall:
    verdict = Gate([tool]).check(ToolCall("c1", tool.name, arguments, "s1"))
    assert isinstance(verdict, CheckedCall)
    return verdict


def fail(
    call: CheckedCall,
    content: Json = None,
    failure: Failure | None = None,
    grant: Callable[[], bool] = always,
) -> Repair:
    result = ToolResult(call.id, call.tool.name, call.arguments, content, failure)
    return repair_failure(
        call, result, diagnose(result, call.tool), Gate([call.tool]), SOURCES, grant
    )


def test_the_papers_worked_example_a7() -> None:
    call = executed({"genre": "Comedy", "year": "2000-2019"})
    answer = f'{{"tool_calls":[{{"name":"{TOOL.name}","arguments":{{"genre":"Comedy","year":"2000"}}}}]}}'
    verdict, (request,) = play(fail(call, A7_RESPONSE), answer)
    assert isinstance(verdict, CheckedCall)
    assert verdict.arguments == {"genre": "Comedy", "year": "2000"}
    assert [e.rule for e in verdict.edits] == ["overlay", "repair_model"]
    assert (verdict.id, verdict.slot) == ("c1", "s1")
    assert request.purpose == "repair"
    assert request.schema is not None
    text = request.messages[-1].content
    assert "[REPAIR MODE]" in text
    assert f"The tool name MUST be exactly: {TOOL.name}" in text
    assert '{"genre":"Comedy","year":"2000-2019"}' in text
    assert "year should be 4 digits" in text
    assert "2000-2019 using the Bollywood" in text, (
        "a missing value can only be found in what is known"
    )


def test_the_overlay_holds_for_this_run_only() -> None:
    call = executed({"genre": "Comedy", "year": "2000-2019"})
    verdict, _ = play(fail(call, A7_RESPONSE), '{"genre": "Comedy", "year": "2000"}')
    assert isinstance(verdict, CheckedCall)
    assert "pattern" in verdict.tool.properties["year"]
    assert "pattern" not in TOOL.properties["year"]


def test_a_repair_that_makes_the_same_mistake_is_refused() -> None:
    call = executed({"genre": "Comedy", "year": "2000-2019"})
    verdict, asked = play(fail(call, A7_RESPONSE), '{"genre": "Comedy", "year": "2000-2009"}')
    assert isinstance(verdict, Refusal)
    assert len(asked) == 1
    assert verdict.violations[0].keyword == "pattern"


def test_a_repair_that_changes_nothing_lists_no_edit() -> None:
    call = executed({"genre": "Comedy", "year": "2000"})
    repair = fail(call, failure=Failure("tool_error", "missing required parameter 'language'"))
    verdict, _ = play(repair, '{"genre": "Comedy", "year": "2000"}')
    assert isinstance(verdict, Refusal)
    assert [e.rule for e in verdict.edits] == ["overlay"]


@pytest.mark.parametrize(
    ("error", "after"),
    [
        ("f() got an unexpected keyword argument 'year'", {"genre": "Comedy"}),
        ("genre must be one of comedy, drama", {"genre": "comedy", "year": "2000"}),
        ("year must be an integer", {"genre": "Comedy", "year": 2000}),
    ],
)
def test_tier_1_follows_the_error_without_a_question(error: str, after: Json) -> None:
    call = executed({"genre": "Comedy", "year": "2000"})
    verdict, asked = play(fail(call, failure=Failure("tool_error", error)))
    assert asked == []
    assert isinstance(verdict, CheckedCall)
    assert verdict.arguments == after
    assert verdict.edits[0].rule == "overlay"


def test_a_new_required_key_is_asked_for() -> None:
    call = executed({"genre": "Comedy", "year": "2000"})
    repair = fail(call, failure=Failure("tool_error", "missing required parameter 'language'"))
    verdict, (request,) = play(repair, '{"genre": "Comedy", "year": "2000", "language": "hi"}')
    assert isinstance(verdict, CheckedCall)
    assert verdict.arguments["language"] == "hi"
    assert "- language (any, required)" in request.messages[-1].content


@pytest.mark.parametrize(
    "failure",
    [
        Failure("auth", "no", status=401),
        Failure("rate_limit", "slow", status=429),
        Failure("unavailable", "down", status=503),
        Failure("timeout", "late"),
    ],
)
def test_the_model_is_not_asked_for_what_is_not_the_arguments_fault(failure: Failure) -> None:
    verdict, asked = play(fail(executed({"genre": "Comedy", "year": "2000"}), failure=failure))
    assert asked == []
    assert isinstance(verdict, Refusal)


@pytest.mark.parametrize(
    "reply",
    [
        '{"tool_calls":[{"name":"%(name)s","arguments":{"genre":"Drama","year":"1999"}}]}',
        '```json\n{"tool_calls":[{"name":"%(name)s","arguments":{"genre":"Drama","year":"1999"}}]}\n```',
        '{"genre": "Drama", "year": "1999"}',
        '{"arguments": {"genre": "Drama", "year": "1999"}}',
        'Action: %(name)s\nAction Input: {"genre": "Drama", "year": "1999"}',
        (
            '<tool_call>{"name": "%(name)s", "arguments": {"genre": "Drama", "year":'
            ' "1999"}}</tool_call>'
        ),
        "{'genre': 'Drama', 'year': 1999}",
        '{"calls": [{"tool": "%(name)s", "args": {"Genre": "Drama", "year": "1999"}}]}',
    ],
)
def test_a_repair_is_understood_however_it_is_written(reply: str) -> None:
    verdict, asked = play(
        repair_refusal(refused({}), GATE, None, always), reply % {"name": TOOL.name}
    )
    assert len(asked) == 1
    assert isinstance(verdict, CheckedCall)
    assert verdict.arguments == {"genre": "Drama", "year": "1999"}
    assert verdict.edits[0].rule == "repair_model"


def test_a_native_tool_call_is_taken_as_it_is() -> None:
    native = Reply("", (ToolCall("x", TOOL.name, '{"genre": "Drama", "year": "1999"}'),))
    verdict, _ = play(repair_refusal(refused({}), GATE, None, always), native)
    assert isinstance(verdict, CheckedCall)
    assert verdict.id == "c1"


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ("I cannot do that.", "not_json"),
        ('{"tool_calls": []}', "not_json"),
        ('{"tool_calls":[{"name":"delete_all","arguments":{}}]}', "unknown_tool"),
        ('{"genre": "Drama", "year": "19', "truncated"),
        ("", "not_json"),
    ],
)
def test_a_reply_that_is_no_repair_leaves_the_refusal_with_its_reason(
    reply: str, kind: str
) -> None:
    verdict, _ = play(repair_refusal(refused({}), GATE, None, always), reply)
    assert isinstance(verdict, Refusal)
    assert verdict.violations[-1].kind == kind
    assert verdict.violations[0].keyword == "required"


def test_a_spent_budget_asks_nothing_and_returns_the_refusal_itself() -> None:
    budget = Budget(Limits(repairs=1))
    _, asked = play(repair_refusal(refused({}), GATE, None, budget.spend_repair), "no")
    assert len(asked) == 1
    refusal = refused({})
    second, asked = play(repair_refusal(refusal, GATE, None, budget.spend_repair))
    assert asked == []
    assert second is refusal
    assert budget.repairs == 1


def test_more_questions_are_asked_only_if_wanted_and_granted() -> None:
    repair = repair_refusal(refused({}), GATE, None, always, questions=2)
    verdict, asked = play(repair, '{"genre": "Drama"}', '{"genre": "Drama", "year": "1999"}')
    assert isinstance(verdict, CheckedCall)
    assert "Missing required key 'year'" in asked[1].messages[-1].content
    assert "Missing required key 'genre'" not in asked[1].messages[-1].content


def test_an_invented_identifier_is_not_asked_about_again() -> None:
    tool = Tool(
        "orders",
        input_schema={"properties": {"user_id": {"type": "string"}}, "required": ["user_id"]},
    )
    gate, sources = Gate([tool]), ProvenanceIndex("my orders")
    refusal = gate.check(ToolCall("c", "orders", {"user_id": "u-123"}), sources)
    assert isinstance(refusal, Refusal)
    verdict, asked = play(repair_refusal(refusal, gate, sources, always))
    assert asked == []
    assert verdict is refusal


def test_unknown_tools_are_not_asked_about() -> None:
    refusal = GATE.check(ToolCall("c", "nothing", {}))
    assert isinstance(refusal, Refusal)
    assert play(repair_refusal(refusal, GATE, None, always)) == (refusal, [])


def test_a_repair_cannot_smuggle_in_an_invented_identifier() -> None:
    tool = Tool(
        "orders",
        input_schema={"properties": {"user_id": {"type": "string"}}, "required": ["user_id"]},
    )
    gate, sources = Gate([tool]), ProvenanceIndex("my orders")
    refusal = gate.check(ToolCall("c", "orders", {}), sources)
    assert isinstance(refusal, Refusal)
    verdict, _ = play(repair_refusal(refusal, gate, sources, always), '{"user_id": "u-555"}')
    assert isinstance(verdict, Refusal)
    assert verdict.violations[0].kind == "ungrounded"


def test_a_value_that_only_the_errors_example_says_is_put_back_once() -> None:
    """ "use a code such as NO" does not mean NO."""
    schema = {
        "type": "object",
        "properties": {"country": {"type": "string"}},
        "required": ["country"],
    }
    tool = Tool("holidays", "", schema, effects=READ)
    failure = Failure(
        "tool_error", "no holidays known for 'Portugal': use a two-letter code such as NO"
    )
    call = executed({"country": "Portugal"}, tool)
    answer = '{{"tool_calls":[{{"name":"holidays","arguments":{{"country":"{}"}}}}]}}'
    mended, asked = play(fail(call, failure=failure), answer.format("NO"), answer.format("PT"))
    assert isinstance(mended, CheckedCall)
    assert mended.arguments == {"country": "PT"}
    assert "only the error's example" in asked[1].messages[-1].content
    stubborn, asked = play(fail(call, failure=failure), answer.format("NO"), answer.format("NO"))
    assert isinstance(stubborn, Refusal)
    assert len(asked) == 2
    assert stubborn.violations[-1].keyword == "example"


RIGHT = {"genre": "comedy", "year": "2000-2019"}


def test_the_rule_asks_about_refused_calls_only_and_lists_what_was_changed() -> None:
    right = ToolCall("c1", TOOL.name, RIGHT)
    drafts = Drafts([right, ToolCall("c2", TOOL.name, {"Genre": "comedy"})])
    context = QuestionContext(GATE, SOURCES, always)
    steps = run_rules(QUESTION_RULES, drafts, context)
    request = next(steps)
    assert request.purpose == "repair"
    with pytest.raises(StopIteration):
        steps.send(Reply('{"genre": "comedy", "Year": "2000-2019"}'))
    assert drafts.calls[0] is right
    assert drafts.calls[1].arguments == RIGHT
    found = [(edit.path, edit.rule) for edit in drafts.render_edits()]
    assert found == [
        ("/1/arguments/Genre", "rename_key"),
        ("/1/arguments", "repair_model"),
        ("/1/arguments/Year", "rename_key"),
    ]


def test_without_a_budget_the_rule_changes_nothing() -> None:
    drafts = Drafts([ToolCall("c2", TOOL.name, {"genre": "comedy"})])
    context = QuestionContext(GATE, SOURCES, lambda: False)
    with pytest.raises(StopIteration):
        next(run_rules(QUESTION_RULES, drafts, context))
    assert drafts.render_edits() == ()


@pytest.mark.parametrize(("replies", "ways", "asked"), [(1, 2, 1), (2, 2, 2), (1, 1, 1)])
def test_ways_of_asking_follow_each_other_until_one_gives_another_call(
    replies: int, ways: int, asked: int
) -> None:
    script = ["{}"] * (replies - 1) + ['{"genre": "comedy", "year": "2000-2019"}']
    last, told = refused({"genre": "comedy"}), list[CheckedCall | Refusal]()
    left = iter([PLAIN] * ways)
    steps = repair_in_ways(
        last,
        lambda asks: repair_refusal(last, GATE, SOURCES, always, asks=asks),
        left,
        told.append,
    )
    outcome, requests = play(steps, *script)
    assert isinstance(outcome, CheckedCall)
    assert len(requests) == len(told) == asked
    assert len(list(left)) == ways - asked
