"""The way of a call, driven without any input or output."""

from __future__ import annotations

from typing import Any

from callwright.agent.safety.consent import Consent
from callwright.gateway.session.call import CallEnd, CallFacts, CallRequest, run_call
from callwright.gateway.session.call_result import META_KEY
from callwright.gateway.session.catalog import GatewayCatalog
from callwright.gateway.session.commands import (
    AskClient,
    AskConsent,
    ClientAnswered,
    Command,
    Consented,
    Consult,
    Consulted,
    Dispatch,
    Event,
    Failed,
    Rejected,
    Returned,
)
from callwright.gateway.session.record import CallRecord
from callwright.nouns.errors import Failure
from tests.gateway.session.offers import catalog, tool

GIVEN: dict[str, Any] = {"city": "Oslo", "days": 3}
RESULT: dict[str, Any] = {"content": [{"type": "text", "text": "sun"}], "other": [1.0]}
READS = {"forecast": "read"}


class Drive:
    """Answers commands, and keeps them."""

    def __init__(self, **answers: Event) -> None:
        self.answers = answers
        self.commands: list[Command] = []

    def answer(self, command: Command) -> Event:
        self.commands.append(command)
        usual: dict[type, Event] = {
            Consult: Consulted(),
            AskConsent: Consented(None),
            Dispatch: Returned(RESULT),
            AskClient: ClientAnswered({}),
        }
        return self.answers.get(type(command).__name__, usual[type(command)])

    def lead(
        self,
        arguments: Any = None,
        *,
        tools: GatewayCatalog | None = None,
        name: str = "weather__forecast",
        consent: Consent | None = None,
        over_budget: str = "",
    ) -> CallEnd:
        made = tools or catalog(effects=READS)
        facts = CallFacts(catalog=made, consent=consent, over_budget=over_budget)
        request = CallRequest(name=name, arguments=arguments)
        steps = run_call(request, facts, CallRecord("call-1", name, arguments))
        try:
            command = next(steps)
            while True:
                command = steps.send(self.answer(command))
        except StopIteration as done:
            end: CallEnd = done.value
            return end

    def get_sent(self) -> Dispatch:
        return next(one for one in self.commands if isinstance(one, Dispatch))

    @property
    def names(self) -> list[str]:
        return [type(one).__name__ for one in self.commands]


def bound(made: GatewayCatalog, allow: list[str] | None = None) -> Consent:
    return Consent(None, allow or []).bound(made.as_offered())


def get_text(end: CallEnd) -> str:
    assert isinstance(end.answer, dict)
    text: str = end.answer["content"][0]["text"]
    return text


def get_meta(end: CallEnd) -> dict[str, Any]:
    assert isinstance(end.answer, dict)
    meta: dict[str, Any] = end.answer.get("_meta", {}).get(META_KEY, {})
    return meta


def test_a_right_call_leaves_as_it_came_and_its_result_comes_back_as_it_is() -> None:
    drive = Drive()
    end = drive.lead(GIVEN)
    assert drive.names == ["Consult", "Dispatch"]
    assert drive.get_sent().params == {"name": "forecast", "arguments": GIVEN}
    assert end.answer == RESULT
    assert (end.record.outcome, end.record.server, end.record.tool) == (
        "passed",
        "weather",
        "forecast",
    )
    assert end.record.sent == GIVEN


def test_a_call_without_arguments_has_none_at_its_server_either() -> None:
    drive = Drive()
    made = catalog(tool("now", {"type": "object"}), effects={"now": "read"})
    drive.lead(None, tools=made, name="weather__now")
    assert drive.get_sent().params == {"name": "now"}


def test_a_wrong_call_is_repaired_and_its_edits_stand_in_the_result() -> None:
    drive = Drive()
    end = drive.lead({"city": "Oslo", "days": "3"})
    assert drive.get_sent().params["arguments"] == GIVEN
    assert [edit["rule"] for edit in get_meta(end)["edits"]] == ["text_to_number"]
    assert end.record.outcome == "edited"


def test_a_call_that_cannot_be_repaired_reaches_no_server() -> None:
    drive = Drive()
    end = drive.lead({"days": 3})
    assert drive.commands == []
    assert "'city'" in get_text(end)
    assert get_meta(end)["refused"] == "arguments"


def test_an_unknown_tool_reaches_no_server() -> None:
    drive = Drive()
    end = drive.lead(GIVEN, name="weather__forcast")
    assert drive.commands == []
    assert "weather__forecast" in get_text(end)
    assert end.record.reason == "unknown_tool"


def test_a_changed_definition_or_a_dead_server_ends_it_before_it_is_sent() -> None:
    for told, outcome, said in (
        (Consulted(refused="it has changed"), "refused", "it has changed"),
        (Consulted(failure=Failure("unavailable", "it is down")), "failed", "it is down"),
    ):
        drive = Drive(Consult=told)
        end = drive.lead(GIVEN)
        assert drive.names == ["Consult"]
        assert said in get_text(end)
        assert end.record.outcome == outcome


def test_a_client_whose_budget_is_spent_is_told_so() -> None:
    drive = Drive()
    end = drive.lead(GIVEN, over_budget="no more calls this hour")
    assert drive.names == ["Consult"]
    assert get_text(end) == "no more calls this hour"


def test_a_write_of_an_untrusted_server_asks_and_leaves_with_a_yes_only() -> None:
    made = catalog()
    for answer, names, outcome in (
        (Consented(True), ["Consult", "AskConsent", "Dispatch"], "passed"),
        (Consented(False), ["Consult", "AskConsent"], "refused"),
        (Consented(None), ["Consult", "AskConsent"], "refused"),
    ):
        drive = Drive(AskConsent=answer)
        end = drive.lead(GIVEN, tools=made, consent=bound(made))
        assert drive.names == names
        assert end.record.outcome == outcome
    assert "--allow weather:forecast" in get_text(end)


def test_what_the_configuration_allows_is_not_asked_for() -> None:
    made = catalog()
    for consent in (bound(made, ["weather:fore*"]), None):
        drive = Drive()
        drive.lead(GIVEN, tools=made, consent=consent)
        assert drive.names == ["Consult", "Dispatch"]


def test_annotations_of_an_untrusted_server_spare_no_question() -> None:
    raw = tool("forecast", annotations={"readOnlyHint": True})
    untrusted, trusted = catalog(raw), catalog(raw, trusted=True)
    asked, spared = Drive(), Drive()
    asked.lead(GIVEN, tools=untrusted, consent=bound(untrusted))
    spared.lead(GIVEN, tools=trusted, consent=bound(trusted))
    assert "AskConsent" in asked.names
    assert "AskConsent" not in spared.names
    assert not Drive.get_sent(_led(untrusted)).may_repeat
    assert Drive.get_sent(_led(trusted)).may_repeat


def _led(made: GatewayCatalog) -> Drive:
    drive = Drive()
    drive.lead(GIVEN, tools=made)
    return drive


def test_a_lost_answer_of_a_write_is_of_unknown_outcome_and_of_a_read_is_not() -> None:
    lost = Failed(Failure("timeout", "late", retryable=True, outcome_unknown=True))
    unsent = Failed(Failure("unavailable", "closed", retryable=True, not_done=True))
    expected: list[tuple[Event, GatewayCatalog, str]] = [
        (lost, catalog(), "unknown"),
        (lost, catalog(effects=READS), "failed"),
        (unsent, catalog(), "failed"),
    ]
    for told, made, outcome in expected:
        end = Drive(Dispatch=told).lead(GIVEN, tools=made)
        assert end.record.outcome == outcome
        assert (get_meta(end).get("outcome") == "unknown") == (outcome == "unknown")


def test_a_server_s_own_error_goes_back_as_it_is() -> None:
    end = Drive(Dispatch=Rejected(-32602, "no such city", {"a": 1})).lead(GIVEN)
    assert end.answer == Rejected(-32602, "no such city", {"a": 1})
    assert end.record.outcome == "failed"


def test_a_tool_that_says_that_it_failed_has_answered() -> None:
    said = {"content": [{"type": "text", "text": "no such city"}], "isError": True}
    end = Drive(Dispatch=Returned(said)).lead(GIVEN)
    assert end.answer == said
    assert (end.record.outcome, end.record.is_error) == ("passed", True)


def test_a_server_that_needs_what_the_client_cannot_give_is_a_refusal() -> None:
    asking = Returned({"resultType": "input_required", "inputRequests": {"k": {}}})
    end = Drive(Dispatch=asking, AskClient=ClientAnswered(refused="the client cannot")).lead(GIVEN)
    assert "the client cannot" in get_text(end)
    assert end.record.reason == "input"


def test_the_steps_end_where_nobody_waits_any_more() -> None:
    made = catalog()
    facts = CallFacts(catalog=made, consent=None)
    request = CallRequest(name="weather__forecast", arguments=GIVEN)
    record = CallRecord("1", "weather__forecast", GIVEN)
    steps = run_call(request, facts, record)
    next(steps)
    steps.close()
    assert record.outcome == "gone"
