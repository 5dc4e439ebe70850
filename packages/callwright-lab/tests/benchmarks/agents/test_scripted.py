"""The scripted models, asked as loops and proxies ask."""

from __future__ import annotations

import json
from typing import Any

import pytest

from callwright_lab.benchmarks.agents.judge import judge_job
from callwright_lab.benchmarks.agents.scripted import (
    GHOST,
    ScriptedReply,
    Style,
    pick_fault,
    reply_to,
    script_steps,
)
from callwright_lab.benchmarks.agents.task_set import HOME, SETS, TaskSet
from callwright_lab.benchmarks.agents.tasks import Task, load_tasks

TASKS = {task.id: task for task_set in SETS.values() for task in load_tasks(task_set)}


def offer(*names: str) -> list[dict[str, Any]]:
    return [{"type": "function", "function": {"name": name, "parameters": {}}} for name in names]


def ask(task: str, *said: dict[str, Any], style: Style = "right", **more: Any) -> ScriptedReply:
    found = TASKS[task]
    messages = [{"role": "user", "content": found.request}, *said]
    return reply_to(found, style, {"messages": messages, "tools": offer(*found.tools), **more})


def called(reply: ScriptedReply) -> dict[str, Any]:
    calls = [
        {"id": f"c{n}", "function": {"name": c.tool, "arguments": json.dumps(c.arguments)}}
        for n, c in enumerate(reply.calls)
    ]
    return {"role": "assistant", "tool_calls": calls}


def play(task: Task, style: Style) -> tuple[int, int, int, bool]:
    """The harm of a script, played straight on the world."""
    world, _ = task.open_world()
    for step in script_steps(task, style):
        for call in step:
            world.call(call.tool, call.arguments)
    score = judge_job(task, world.log, task.answer)
    return score.unasked, score.repeated, score.invented, score.is_success


def test_gold_comes_step_by_step_and_ends_in_words() -> None:
    first = ask("en-chain-1")
    assert [call.tool for call in first.calls] == ["find_part"]
    second = ask("en-chain-1", called(first), {"role": "tool", "content": "[]"})
    assert [call.tool for call in second.calls] == ["create_order"]
    last = ask("en-chain-1", called(first), called(second))
    assert last == ScriptedReply(TASKS["en-chain-1"].answer)


def test_polling_counts_each_equal_call_once() -> None:
    said: list[dict[str, Any]] = []
    tools = []
    while (reply := ask("en-pending-1", *said)).calls:
        said.append(called(reply))
        tools.append(reply.calls[0].tool)
    assert tools == ["start_report", "get_report", "get_report"]


def test_only_what_is_offered_is_called() -> None:
    assert ask("en-chain-1", tools=offer("create_order")).calls == ()
    assert ask("en-two-2", tools=offer("get_weather")).calls[0].tool == "get_weather"
    half = ask("en-two-2", tools=offer("get_weather"))
    rest = ask("en-two-2", called(half), tools=offer("create_event"))
    assert [call.tool for call in rest.calls] == ["create_event"]


def test_one_call_where_several_are_forbidden() -> None:
    assert len(ask("en-two-1").calls) == 2
    assert len(ask("en-two-1", parallel_tool_calls=False).calls) == 1


@pytest.mark.parametrize("more", [{"tools": []}, {"tool_choice": "none"}])
@pytest.mark.parametrize("style", ["right", "careless"])
def test_without_tools_the_answer_comes_in_words(more: dict[str, Any], style: Style) -> None:
    asked = {"role": "user", "content": "Nothing more is called now. Answer in words."}
    assert ask("en-talk-1", asked, style=style, **more).text == TASKS["en-talk-1"].answer


def test_who_has_to_speak_before_the_work_is_done_claims_nothing() -> None:
    task = TASKS["en-write-1"]
    held = ask("en-write-1", tools=[]).text
    score = judge_job(task, [], held)
    assert score.is_false_refusal
    made = called(ask("en-write-1"))
    assert ask("en-write-1", made, tools=[]).text == task.answer
    invented = ask("en-missing-1", tools=[], style="careless")
    assert invented.text == TASKS["en-missing-1"].answer


def test_calls_of_an_earlier_turn_do_not_count() -> None:
    task = TASKS["en-history-2"]
    made = {"name": "create_order", "arguments": '{"part_code":"A-100","quantity":3}'}
    earlier = {"role": "assistant", "tool_calls": [{"id": "x", "function": made}]}
    messages = [{"role": "user", "content": "Order 3."}, earlier]
    messages.append({"role": "user", "content": f"{task.request}\n\nreminder"})
    body = {"messages": messages, "tools": offer(*task.tools)}
    assert [call.tool for call in reply_to(task, "right", body).calls] == ["create_order"]


def test_calls_that_smolagents_writes_as_text_are_read_and_its_own_tool_ends() -> None:
    first = ask("en-write-1", tools=offer("create_order", "final_answer"))
    row = {"id": "1", "function": {"name": "create_order", "arguments": first.calls[0].arguments}}
    text = {"role": "assistant", "content": [{"type": "text", "text": f"Calling tools:\n{[row]}"}]}
    last = ask("en-write-1", text, tools=offer("create_order", "final_answer"))
    assert last.calls[0].tool == "final_answer"
    assert last.calls[0].arguments == {"answer": TASKS["en-write-1"].answer}
    broken = {"role": "assistant", "content": "Calling tools:\n[not python"}
    assert ask("en-write-1", broken).calls == first.calls


def test_a_schema_of_calls_is_filled() -> None:
    one = {"properties": {"name": {"const": "create_order"}, "arguments": {}}}
    some = {
        "type": "object",
        "properties": {"wishes": {"type": "array"}, "calls": {"type": "array", "items": one}},
        "required": ["wishes", "calls"],
    }
    none = {"type": "object", "properties": {"no_call": {"type": "string"}}}
    form = {"type": "json_schema", "json_schema": {"schema": {"anyOf": [some, none]}}}
    reply = ask("en-write-1", tools=[], response_format=form)
    assert json.loads(reply.text)["calls"][0]["name"] == "create_order"
    assert "no_call" in json.loads(ask("en-talk-1", tools=[], response_format=form).text)
    probe = {"type": "object", "properties": {"zq": {"enum": ["k7"]}}, "required": ["zq"]}
    stranger = {
        "messages": [{"role": "user", "content": "Reply: hello"}],
        "response_format": {"type": "json_schema", "json_schema": {"schema": probe}},
    }
    assert json.loads(reply_to(TASKS["en-talk-1"], "right", stranger).text) == {"zq": "k7"}


def test_an_answer_in_one_field_is_filled_once_the_work_is_done() -> None:
    words = {"type": "object", "properties": {"final_answer": {"type": "string"}}}
    form = {"type": "json_schema", "json_schema": {"schema": words}}
    begun = ask("home-en-read-1", tools=[], response_format=form)
    assert json.loads(begun.text) == {"final_answer": ""}
    made = called(ask("home-en-read-1"))
    done = ask("home-en-read-1", made, tools=[], response_format=form)
    assert json.loads(done.text) == {"final_answer": TASKS["home-en-read-1"].answer}


def test_a_probe_with_a_tool_is_answered_by_a_call() -> None:
    lamp = offer("switch_lamp")
    schema = {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"]}
    lamp[0]["function"]["parameters"] = schema
    body = {"messages": [{"role": "user", "content": "Switch the lamp on."}], "tools": lamp}
    assert reply_to(TASKS["en-talk-1"], "right", body).calls[0].arguments == {"on": True}
    assert reply_to(TASKS["en-talk-1"], "right", {"messages": "none"}).text == "Hello."


@pytest.mark.parametrize("task_set", SETS.values(), ids=SETS)
def test_every_task_has_its_known_fault_and_the_right_script_has_none(task_set: TaskSet) -> None:
    tasks = load_tasks(task_set)
    calling = {"invent", "option", "repeat"}
    speaking = set() if task_set == HOME else {"empty", "ghost"}
    assert {pick_fault(task) for task in tasks} == calling | speaking
    for task in tasks:
        assert play(task, "right") == (0, 0, 0, True), task.id
        unasked, repeated, invented, _ = play(task, "careless")
        match pick_fault(task):
            case "invent":
                assert (unasked, repeated) == (1, 0), task.id
            case "option":
                assert unasked, task.id
                assert invented, task.id
            case "repeat":
                assert not unasked, task.id
            case _:
                assert (unasked, repeated, invented) == (0, 0, 0), task.id


def test_a_careless_model_repeats_ends_in_braces_and_makes_tools_up() -> None:
    by_fault = {pick_fault(task): task.id for task in TASKS.values()}
    first = ask(by_fault["ghost"], style="careless")
    assert first.calls[0].tool == GHOST
    assert ask(by_fault["ghost"], called(first), style="careless").calls == ()
    first = ask(by_fault["empty"], style="careless")
    assert ask(by_fault["empty"], called(first), style="careless").text == "{}"
    invented = ask("en-talk-1", style="careless")
    assert invented.calls == TASKS["en-talk-1"].careless
    assert ask("en-talk-1", called(invented), style="careless").text == "Done."
