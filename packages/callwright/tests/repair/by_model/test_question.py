from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from callwright.nouns.errors import Failure
from callwright.nouns.limits import Budget, Limits
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import (
    READ,
    CheckedCall,
    Edit,
    Json,
    Reply,
    Tool,
    ToolCall,
    ToolResult,
)
from callwright.prompts.run_prompt import RunPrompt
from callwright.repair.by_model.question import (
    PLAIN,
    QUESTION_RULES,
    RUN_RULES,
    Asks,
    FailedCall,
    QuestionContext,
    Repair,
    Watcher,
    check_call,
)
from callwright.repair.diagnose import diagnose
from callwright.repair.draft import Draft, Drafts
from callwright.repair.gate import Gate, Refusal
from callwright.repair.pipeline import run_rules, run_without_questions
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.repair.rule import UNANSWERED

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
    failed = FailedCall(call, result, diagnose(result, call.tool))
    raw = ToolCall(call.id, call.tool.name, call.arguments, call.slot)
    gate = Gate([call.tool])
    return check_call(raw, QuestionContext(gate, SOURCES, grant, is_grounding=True, failed=failed))


def ask_about(
    arguments: Json,
    gate: Gate = GATE,
    sources: ProvenanceIndex | None = None,
    grant: Callable[[], bool] = always,
    questions: int = 1,
) -> Repair:
    """The configuration of a run over a call of the gate's only tool."""
    context = QuestionContext(gate, sources, grant, is_grounding=True, questions=questions)
    return check_call(ToolCall("c1", gate.tools[0].name, arguments, "s1"), context)


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
    verdict, asked = play(ask_about({}), reply % {"name": TOOL.name})
    assert len(asked) == 1
    assert isinstance(verdict, CheckedCall)
    assert verdict.arguments == {"genre": "Drama", "year": "1999"}
    assert verdict.edits[0].rule == "repair_model"


def test_a_native_tool_call_is_taken_as_it_is() -> None:
    native = Reply("", (ToolCall("x", TOOL.name, '{"genre": "Drama", "year": "1999"}'),))
    verdict, _ = play(ask_about({}), native)
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
    verdict, _ = play(ask_about({}), reply)
    assert isinstance(verdict, Refusal)
    assert verdict.violations[-1].kind == kind
    assert verdict.violations[0].keyword == "required"


def test_a_spent_budget_asks_nothing_and_returns_the_refusal_itself() -> None:
    budget = Budget(Limits(repairs=1))
    _, asked = play(ask_about({}, grant=budget.spend_repair), "no")
    assert len(asked) == 1
    second, asked = play(ask_about({}, grant=budget.spend_repair))
    assert asked == []
    assert second == refused({})
    assert budget.repairs == 1


def test_more_questions_are_asked_only_if_wanted_and_granted() -> None:
    repair = ask_about({}, questions=2)
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
    context = QuestionContext(gate, sources, always, is_grounding=True)
    verdict, asked = play(check_call(refusal.call, context))
    assert asked == []
    assert verdict == refusal


def test_unknown_tools_are_not_asked_about() -> None:
    refusal = GATE.check(ToolCall("c", "nothing", {}))
    assert isinstance(refusal, Refusal)
    context = QuestionContext(GATE, None, always)
    assert play(check_call(refusal.call, context)) == (refusal, [])


def test_a_repair_cannot_smuggle_in_an_invented_identifier() -> None:
    tool = Tool(
        "orders",
        input_schema={"properties": {"user_id": {"type": "string"}}, "required": ["user_id"]},
    )
    gate, sources = Gate([tool]), ProvenanceIndex("my orders")
    assert isinstance(gate.check(ToolCall("c", "orders", {}), sources), Refusal)
    verdict, _ = play(ask_about({}, gate, sources), '{"user_id": "u-555"}')
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
    repaired, asked = play(fail(call, failure=failure), answer.format("NO"), answer.format("PT"))
    assert isinstance(repaired, CheckedCall)
    assert repaired.arguments == {"country": "PT"}
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


class Listening(Watcher):
    """Has a model asked in the given ways, and keeps what it is told."""

    def __init__(self, ways: int) -> None:
        self.left = iter([PLAIN] * ways)
        self.about: list[Refusal] = []
        self.told: list[tuple[CheckedCall | Refusal, Asks | None]] = []

    def begin(self, refusal: Refusal) -> Iterator[Asks]:
        self.about.append(refusal)
        return self.left

    def end(self, verdict: CheckedCall | Refusal, asks: Asks | None) -> None:
        self.told.append((verdict, asks))


@pytest.mark.parametrize(("replies", "ways", "asked"), [(1, 2, 1), (2, 2, 2), (1, 1, 1)])
def test_ways_of_asking_follow_each_other_until_one_gives_another_call(
    replies: int, ways: int, asked: int
) -> None:
    script = ["{}"] * (replies - 1) + ['{"genre": "comedy", "year": "2000-2019"}']
    listening = Listening(ways)
    context = QuestionContext(GATE, SOURCES, always, listening)
    outcome, requests = play(check_call(wrong({"genre": "comedy"}), context), *script)
    assert isinstance(outcome, CheckedCall)
    assert listening.about == [refused({"genre": "comedy"})]
    assert len(requests) == len(listening.told) == asked
    assert len(list(listening.left)) == ways - asked


def wrong(arguments: Json) -> ToolCall:
    return ToolCall("c1", TOOL.name, arguments, "s1")


def test_where_a_question_may_not_be_asked_the_next_way_is_tried() -> None:
    listening = Listening(2)
    steps = check_call(wrong({}), QuestionContext(GATE, SOURCES, always, listening))
    next(steps)
    steps.send(UNANSWERED)
    with pytest.raises(StopIteration) as ended:
        steps.send(Reply(f'{{"name": "{TOOL.name}", "arguments": {{"genre": "a", "year": "b"}}}}'))
    assert isinstance(ended.value.value, CheckedCall)
    assert listening.told[0] == (refused({}), PLAIN)


def test_what_an_error_taught_is_told_and_nobody_is_asked() -> None:
    listening = Listening(1)
    call = executed({"genre": "Comedy", "year": "2000"})
    failure = Failure("tool_error", "genre must be one of comedy, drama")
    result = ToolResult("c1", TOOL.name, call.arguments, None, failure)
    failed = FailedCall(call, result, diagnose(result, TOOL))
    context = QuestionContext(GATE, SOURCES, always, listening, is_grounding=True, failed=failed)
    drafts = Drafts([wrong(call.arguments)])
    run_without_questions(run_rules(RUN_RULES, drafts, context))
    verdict = context.judged[0].verdict
    assert listening.told == [(verdict, None)]
    assert listening.about == []
    assert drafts.calls[0].arguments == {"genre": "comedy", "year": "2000"}
    assert [(edit.path, edit.rule) for edit in drafts.render_edits()] == [
        ("/0/arguments/genre", "overlay"),
        ("/0/arguments/genre", "option_spelling"),
    ]


class CountingGate(Gate):
    """Counts what it is asked about."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        super().__init__(tools)
        self.asked: list[Json] = []

    def judge(
        self, draft: Draft, sources: ProvenanceIndex | None = None, edits: tuple[Edit, ...] = ()
    ) -> CheckedCall | Refusal:
        self.asked.append(draft.call.arguments)
        return super().judge(draft, sources, edits)

    def check(self, call: ToolCall, sources: ProvenanceIndex | None = None) -> Any:
        raise AssertionError("the pipeline's check is judge()")


def test_every_call_is_judged_once() -> None:
    gate = CountingGate([TOOL])
    context = QuestionContext(gate, SOURCES, always, is_grounding=True)
    outcome, _ = play(check_call(wrong({"genre": "a"}), context), '{"genre": "a", "year": 2000}')
    assert isinstance(outcome, CheckedCall)
    assert gate.asked == [{"genre": "a"}, {"genre": "a", "year": 2000}]
    assert [edit.rule for edit in outcome.edits] == ["repair_model", "number_to_text"]
    right = CountingGate([TOOL])
    context = QuestionContext(right, SOURCES, always, is_grounding=True)
    assert isinstance(play(check_call(wrong(RIGHT), context))[0], CheckedCall)
    assert right.asked == [RIGHT]


def test_the_proxys_question_judges_every_call_once() -> None:
    gate = CountingGate([TOOL])
    drafts = Drafts([wrong(RIGHT), wrong({"Genre": "comedy"})])
    steps = run_rules(QUESTION_RULES, drafts, QuestionContext(gate, SOURCES, always))
    next(steps)
    with pytest.raises(StopIteration):
        steps.send(Reply('{"genre": "comedy", "Year": "2000-2019"}'))
    assert gate.asked == [RIGHT, {"Genre": "comedy"}, {"genre": "comedy", "Year": "2000-2019"}]


def test_of_a_run_the_question_stands_behind_what_all_questions_share() -> None:
    """What is known is told once, at the beginning; without a run the question tells it itself."""
    prompt = RunPrompt("Fetch comedy movies", ("- fetch(genre: string)",), ("r1: find() -> 7",))
    call = ToolCall("c1", TOOL.name, {"genre": "Comedy"}, "s1")
    context = QuestionContext(GATE, SOURCES, always, is_grounding=True, prompt=prompt)
    _, (request,) = play(check_call(call, context), "no")
    text = request.messages[-1].content
    assert request.messages[0] == prompt.ask("ask_plain", skipped="", query="q")[0]
    assert text.index("r1: find() -> 7") < text.index("[REPAIR MODE]")
    assert "=== KNOWN ===" not in text
    _, (alone,) = play(ask_about({"genre": "Comedy"}, sources=SOURCES), "no")
    assert "=== KNOWN ===" in alone.messages[-1].content
