"""The model rule in the proxy: what a refiner is asked, and what becomes of its answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Reply
from callwright.proxy.session.events import (
    AskRefiner,
    CloseUpstream,
    Refined,
    UpstreamData,
    UpstreamEnd,
    UpstreamHead,
)
from callwright.proxy.session.settings import Settings
from callwright.repair.by_model.harm_bound import Cut, HarmBound, Measured
from callwright.repair.by_model.harm_score import HarmScore
from callwright.repair.by_model.refiner_settings import RefinerSettings
from tests.proxy.playbook import (
    JSON,
    SSE,
    Playbook,
    body,
    call,
    native_stream,
    whole,
)

PLAIN = RefinerSettings("short")
QUERY = "Paris or Oslo: how is the weather in the former?"
USER = {"role": "user", "content": QUERY}
ANSWER = '<func_call>[{"name": "get_weather", "arguments": {"city": "Paris"}}]</func_call>'
WRONG = '{"town": 5, "place": 7}'  # the rules cannot tell which of the two cities is meant


def begin(refiner: RefinerSettings = PLAIN, **more: Any) -> Playbook:
    settings = Settings(guided="off", guard="off", reasks=0, refiner=refiner)
    return Playbook(settings).ask(body(False, **{"messages": [USER], **more}))


def come(play: Playbook, arguments: str, name: str = "get_weather") -> ChatRequest:
    """The upstream's answer comes, and the refiner is asked."""
    play.tell(UpstreamHead(200, JSON))
    play.tell(UpstreamData(whole(None, [call(name, arguments)], "tool_calls")))
    (asked,) = (c for c in play.tell(UpstreamEnd()) if isinstance(c, AskRefiner))
    assert not play.out
    return asked.request


def made_calls(play: Playbook) -> list[tuple[str, Any]]:
    message = json.loads(play.out)["choices"][0]["message"]
    calls = [one["function"] for one in message.get("tool_calls") or ()]
    return [(one["name"], json.loads(one["arguments"])) for one in calls]


def test_the_refiner_repairs_what_the_rules_leave() -> None:
    play = begin()
    request = come(play, WRONG)
    assert (request.purpose, request.max_tokens) == ("refine", 768)
    assert f"Request: {QUERY}" in request.messages[-1].content
    play.tell(Refined(Reply(ANSWER)))
    assert made_calls(play) == [("get_weather", {"city": "Paris"})]
    assert "model" in {edit.rule for edit in play.record.edits}
    assert (play.record.questions, play.record.outcome) == (1, "edited")


@pytest.mark.parametrize(
    "said", [None, Reply("I cannot."), Reply(ANSWER.replace("Paris", "Rome")), Reply(ANSWER[:-40])]
)
def test_a_right_answer_passes_with_its_bytes_where_the_refiner_has_nothing_to_say(
    said: Reply | None,
) -> None:
    play = begin()
    come(play, '{"city":  "Paris"}')
    play.tell(Refined(said))
    assert play.out == whole(None, [call("get_weather", '{"city":  "Paris"}')], "tool_calls")
    notes = [note for note in play.record.notes if "model:" in note]
    assert bool(notes) is (said is not None)


def test_a_stream_is_closed_while_the_refiner_is_asked_and_ends_as_it_would_have() -> None:
    play = Playbook(Settings(guided="off", guard="off", reasks=0, refiner=PLAIN)).ask(
        body(messages=[USER])
    )
    stream = native_stream(("c1", "get_weather", WRONG))
    play.tell(UpstreamHead(200, SSE))
    commands = play.tell(UpstreamData(stream))
    assert [type(c) for c in commands if not isinstance(c, UpstreamEnd)][-2:] == [
        CloseUpstream,
        AskRefiner,
    ]
    play.tell(Refined(Reply(ANSWER)))
    assert play.finished is not None
    assert play.out.endswith(b"data: [DONE]\n\n")
    (made,) = play.message["calls"]
    assert json.loads(made["arguments"]) == {"city": "Paris"}
    assert play.message["finish"] == "tool_calls"


def test_an_unrequested_write_is_refused_and_without_a_guard_is_taken() -> None:
    mail = '{"name": "send_mail", "arguments": {"to": "Paris", "text": "Paris"}}'
    both = f'<func_call>[{{"name": "get_weather", "arguments": {{"city": "Paris"}}}}, {mail}]</func_call>'
    for settings, names in (
        (PLAIN, ["get_weather"]),
        (RefinerSettings("short", is_guarded=False), ["get_weather", "send_mail"]),
    ):
        play = begin(settings)
        come(play, '{"city": "Paris"}')
        play.tell(Refined(Reply(both)))
        assert [name for name, _ in made_calls(play)] == names


def test_the_whole_conversation_is_asked_about_and_grounds_values() -> None:
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Where do I live?"},
        {"role": "assistant", "content": "In Bergen."},
        {"role": "user", "content": "And the weather there?"},
    ]
    play = begin(RefinerSettings(), messages=messages)
    request = come(play, WRONG)
    said = request.messages[-1].content
    assert "USER: Where do I live?\nASSISTANT: In Bergen.\nUSER: And the weather" in said
    assert "Be brief." in said
    play.tell(Refined(Reply(ANSWER.replace("Paris", "Bergen"))))
    assert made_calls(play) == [("get_weather", {"city": "Bergen"})]


SCORE = HarmScore(-3.0, {"lost": 9.0})
BOUND = HarmBound(
    Measured("mine", "m", "paper", 768), 0.002, 0.95, "sha256:0",
    {"plain": Cut(SCORE, 0.5, 1600, 0, 0.0019, 5, 9, "rows")},
)  # fmt: skip


@pytest.mark.parametrize(("model", "city", "note"), [("m", "Rome", False), ("another", None, True)])
def test_a_bound_counts_for_the_model_that_the_client_asks_for(
    model: str, city: str | None, note: bool
) -> None:
    play = begin(RefinerSettings(refiner="mine", bound=BOUND), model=model)
    come(play, WRONG)
    play.tell(Refined(Reply(ANSWER.replace("Paris", "Rome"))))  # which nobody has said
    assert (made_calls(play) == [("get_weather", {"city": city})]) is (city is not None)
    assert any("The harm bound is not used" in one for one in play.record.notes) is note


def test_nobody_is_asked_about_an_answer_in_words() -> None:
    play = begin().answer(whole("It rains."), JSON)
    assert play.out == whole("It rains.")
    assert play.record.questions == 0
