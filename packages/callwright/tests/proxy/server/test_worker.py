"""Sessions behind frames: in this process, and in the real one."""

from __future__ import annotations

import io
import json
import subprocess
import sys

from callwright.proxy.server.meter import Unmetered
from callwright.proxy.server.outbound import CHAT
from callwright.proxy.server.worker import (
    READY,
    Sessions,
    Setup,
    Step,
    Stepped,
    read_frame,
    serve_frames,
    write_frame,
)
from callwright.proxy.session.events import (
    ClientGone,
    Event,
    Finish,
    Request,
    SendBody,
    UpstreamData,
    UpstreamEnd,
    UpstreamHead,
)
from callwright.proxy.session.settings import Settings
from tests.proxy.playbook import JSON, body, whole

SETUP = Setup(Settings(guided="off", guard="on"))
CALL = (
    '<tool_call>\n{"name": "getWeather", "arguments": {"city": "Paris", "days": "2"}}\n</tool_call>'
)
ASKED = {"role": "user", "content": "What's the weather in Paris for the next 2 days?"}
EVENTS: list[Event] = [
    Request("POST", CHAT, body=json.dumps(body(False, messages=[ASKED])).encode()),
    UpstreamHead(200, JSON),
    UpstreamData(whole(CALL)),
    UpstreamEnd(),
]


def steps(key: str) -> list[Step]:
    return [Step(key, event, float(n), created=7) for n, event in enumerate(EVENTS)]


def sent(made: list[Stepped]) -> bytes:
    return b"".join(c.data for one in made for c in one.commands if isinstance(c, SendBody))


def test_sessions_are_kept_apart_and_forgotten_when_they_are_over() -> None:
    sessions = Sessions(SETUP, Unmetered())
    made = {key: [sessions.step(step) for step in steps(key)] for key in ("a", "b")}
    for one in made.values():
        message = json.loads(sent(one))["choices"][0]["message"]
        assert message["tool_calls"][0]["function"]["arguments"] == '{"city":"Paris","days":2}'
        assert one[0].own
        assert any(isinstance(c, Finish) for c in one[-1].commands)
    sessions.step(steps("c")[0])
    sessions.step(Step("c", ClientGone(), 9.0))
    assert not sessions._open


def test_frames_are_answered_one_by_one_until_there_are_no_more() -> None:
    taking = io.BytesIO(write_frame(SETUP) + b"".join(map(write_frame, steps("a"))))
    giving = io.BytesIO()
    serve_frames(taking, giving, Unmetered())
    giving.seek(0)
    ready, *made = iter(lambda: read_frame(giving), None)
    assert ready == READY
    assert len(made) == len(EVENTS)
    assert b"tool_calls" in sent(made)
    serve_frames(io.BytesIO(), giving, Unmetered())


def test_the_process_answers_and_ends_with_its_input() -> None:
    code = "from callwright.proxy.server.worker import main; main()"
    given = write_frame(SETUP) + b"".join(map(write_frame, steps("a")))
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], input=given, capture_output=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, b"")
    answers = io.BytesIO(done.stdout)
    made = list(iter(lambda: read_frame(answers), None))
    assert b"tool_calls" in sent(made)
    assert made[-1].unsent_size == 0
