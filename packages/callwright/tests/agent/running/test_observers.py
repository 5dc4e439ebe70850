"""Who is told of a run: sinks, traces, callbacks, and no credential in any of them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from callwright import Orchestrator
from callwright.agent.journal.store import list_journals, read_journal
from callwright.agent.options import Interaction, Persistence
from callwright.nouns.trace import Event, JsonlSink, MemorySink, collect_blobs
from callwright.nouns.types import WRITE
from callwright.testing import FakeTool, FixedPlan, ScriptedModel, fake_source
from callwright.tools.openapi.source import OpenAPISource
from callwright.viewer import page
from tests.agent.running.flow import FIND, LAYERS, airport, call, calls, run, said, weather


@pytest.mark.parametrize("mode", ["text", "schema"])
async def test_what_is_streamed_to_the_caller_is_the_checked_answer_and_nothing_else(
    mode: Any,
) -> None:
    script = {
        "bind": [calls(call("find_airport", city="Oslo")), calls(call("population", iata="OSL"))],
        "answer": [said("8 people live at OSL.", "r2"), said("8 people live at OSL.", "r2")],
    }
    told: list[str] = []
    written: list[str] = []
    tools = [airport(), weather()]
    done = await run(
        tools,
        script,
        *LAYERS,
        interaction=Interaction(mode=mode, on_text=told.append, on_reply=written.append),
    )
    assert "".join(told) == done.answer.text
    assert "7 people" in done.answer.text, "the model said 8"
    assert "find_airport" in "".join(written)


@pytest.mark.parametrize("broken", ["on_text", "on_reply"])
async def test_a_callback_that_raises_loses_no_run(
    broken: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    told: list[str] = []

    def fail(piece: str) -> None:
        told.append(piece)
        raise OSError("the terminal is gone")

    tool = airport(effects=WRITE)
    script = {
        "bind": calls(call("find_airport", city="Oslo")),
        "answer": [said("The airport is OSL.", "r1")],
    }
    done = await run(
        [tool],
        script,
        ["find_airport"],
        interaction=Interaction(**{broken: fail}),
        persistence=Persistence(journal=tmp_path),
    )
    assert (len(tool.calls), len(told)) == (1, 1)
    assert done.status == "answered"
    assert done.events[-1].kind == "run.end"
    assert f"{broken} gets no more text of this run: OSError('the terminal is gone')" in caplog.text


@pytest.mark.parametrize("kind", ["run.start", "intent", "result", "run.end"])
async def test_a_sink_that_fails_costs_no_write_its_record_and_no_other_sink_an_event(
    kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[str] = []

    def fail(event: Event) -> None:
        seen.append(event.kind)
        if event.kind == kind:
            raise OSError("the disk is full")

    held = asyncio.Event()
    book = FakeTool("book", FIND, output="B7", effects=WRITE, hold=held)
    quick = airport(output=lambda city: held.set() or "OSL")
    script = {
        "bind": calls(call("book", city="Oslo"), call("find_airport", city="Oslo")),
        "answer": said("B7 is booked.", "r1"),
    }
    memory = MemorySink()
    done = await Orchestrator(
        [fake_source(book, quick)],
        model=ScriptedModel(script),
        planner=FixedPlan(["book", "find_airport"]),
        persistence=Persistence(tmp_path, sinks=[fail, memory]),
    ).run("Book the airport of Oslo")
    assert done.results[0].content == "B7"
    assert tuple(memory.events) == done.events
    assert seen.count(kind) == 1
    assert seen[-1] == kind
    (journal,) = list_journals(tmp_path)
    assert [e.kind for e in read_journal(journal)[1]] == [e.kind for e in done.events]
    told = "a sink gets no more events of this run: OSError('the disk is full')"
    assert [record.getMessage() for record in caplog.records] == [f"warning: {told}"]
    noted = [e for e in done.events if e.kind == "note" and told in e.data["text"]]
    assert len(noted) == (kind != "run.end")


async def test_a_trace_file_that_cannot_be_written_ends_no_run(tmp_path: Path) -> None:
    script = {"bind": calls(call("find_airport", city="Oslo")), "answer": said("OSL.", "r1")}
    trace = JsonlSink(tmp_path / "run.jsonl")
    trace._file.close()
    trace._file = (tmp_path / "run.jsonl").open("r")  # as good as a full disk
    done = await run([airport()], script, ["find_airport"], persistence=Persistence(sinks=[trace]))
    trace.close()
    assert done.results[0].ok


async def test_the_trace_holds_every_prompt_and_raw_reply_whole() -> None:
    memory = MemorySink()
    script = {"bind": calls(call("find_airport", city="Oslo")), "answer": [said("OSL.", "r1")]}
    model = ScriptedModel(script)
    await run([airport()], model, ["find_airport"], persistence=Persistence(sinks=[memory]))
    texts = collect_blobs(memory.events)
    questions = [e for e in memory.events if e.kind == "model"]
    assert [q.data["purpose"] for q in questions] == ["bind", "answer"]
    for request, event in zip(model.requests, questions, strict=True):
        assert all(m.content in texts[event.data["prompt"]] for m in request.messages)
        assert texts[event.data["reply"]]
    assert memory.events[-1].kind == "run.end"


ECHO: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Echo", "version": "1"},
    "paths": {
        "/echo": {
            "get": {
                "operationId": "echo",
                "parameters": [{"name": "text", "in": "query", "schema": {"type": "string"}}],
                "responses": {},
                "security": [{"token": []}],
            }
        }
    },
    "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
}


class KeyedModel(ScriptedModel):
    """A scripted model with a key, as endpoints have one."""

    secrets = ("sk-canary-of-the-model",)


async def test_no_credential_reaches_a_sink_a_page_or_a_file(tmp_path: Path) -> None:
    """The server echoes the Authorization header, the request names the token, the model says its
    own key.
    """
    token, key = 'canary/"of"&the-api', KeyedModel.secrets[0]
    seen: list[str] = []

    async def echo(request: web.Request) -> web.Response:
        seen.append(request.headers["Authorization"])
        return web.json_response({"echo": seen[-1], "text": request.query["text"]})

    app = web.Application()
    app.router.add_get("/echo", echo)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        source = OpenAPISource(
            ECHO,
            base_url=f"http://127.0.0.1:{runner.addresses[0][1]}",
            environment={"ECHO_TOKEN": token},
        )
        told = f"The key is {key}, the token {token}."
        script = {
            "bind": calls(call("echo", text=token)),
            "answer": said(told, "r1"),
            "answer.restate": told,
        }
        memory = MemorySink()
        with JsonlSink(tmp_path / "run.jsonl") as jsonl:
            orchestrator = Orchestrator(
                [source],
                model=KeyedModel(script),
                planner=FixedPlan(["echo"]),
                persistence=Persistence(sinks=[memory, jsonl]),
            )
            done = await orchestrator.run(f"Echo {token} to me")
    finally:
        await runner.cleanup()
    assert seen == [f"Bearer {token}"], (
        "the token must have been on its way, or nothing is shown here"
    )
    assert done.results[0].ok
    shown = [
        str(memory.events),
        str(done.events),
        page(done.events),
        (tmp_path / "run.jsonl").read_text(),
    ]
    shown += [str(done.results[0].content), done.answer.text]
    for text in shown:
        assert "[secret]" in text
        for part in ("canary/", "canary%2F", key):
            assert part not in text


async def test_secrets_that_are_named_are_in_no_result_trace_or_journal(tmp_path: Path) -> None:
    secret, memory = "correct horse battery", MemorySink()
    tool = airport(output={"iata": "OSL", "note": f"the door code is {secret}"})
    script = {"bind": calls(call("find_airport", city="Oslo")), "answer": said("OSL.", "r1")}
    planner, kept = FixedPlan(["find_airport"]), Persistence(tmp_path, sinks=[memory])
    setup = Orchestrator(
        [fake_source(tool)],
        model=ScriptedModel(script),
        planner=planner,
        persistence=replace(kept, secrets=[secret]),
    )
    done = await setup.run("Which airport has Oslo?")
    (journal,) = list_journals(tmp_path)
    for text in (done.results, memory.events, read_journal(journal)[1]):
        assert secret not in str(text)
        assert "[secret]" in str(text)
    again = await setup.resume(done.id)
    assert again.results == done.results
    assert len(tool.calls) == 1
