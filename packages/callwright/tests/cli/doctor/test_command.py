"""The command: what it prints, its JSON, its exit codes."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from callwright.cli.doctor.command import (
    Writes,
    render_profile,
    render_summary,
    render_untried,
    run_doctor,
)
from callwright.cli.doctor.probes import Finding
from callwright.models.probe import Memory
from callwright.models.write_record import WriteRecord, WriteRecords
from callwright.nouns.errors import ConfigError
from callwright.nouns.model_profile import ModelSize
from tests.cli.patient import Patient
from tests.cli.scripted_writes import Worker
from tests.proxy.playbook import JSON, call, whole
from tests.proxy.upstream import Asked, Reply, upstream
from tests.served_models import LLAMA


@contextmanager
def serving(patient: Patient) -> Iterator[str]:
    """The endpoint in a loop of its own: the command runs one itself."""
    ready, done, url = threading.Event(), threading.Event(), []

    async def serve() -> None:
        async with upstream(patient) as up:
            url.append(up.url)
            ready.set()
            await asyncio.to_thread(done.wait)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    ready.wait()
    try:
        yield url[0]
    finally:
        done.set()
        thread.join()


def test_findings_are_printed_in_columns_with_the_next_step(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with serving(Patient("text", "think in text")) as url:
        assert run_doctor(url) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert (
        lines[0]
        == "repaired tool calls                 the call is left in the text, in the format hermes"
    )
    assert max(map(len, lines)) <= 110
    assert any(
        line.startswith(" " * 33 + "-> start the server with its reasoning parser")
        for line in lines
    )
    assert lines[-1].strip() == f"callwright proxy --upstream {url}"
    assert f"asking {url}, model big" in err


def test_what_nothing_helps_against_is_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    with serving(Patient("stream cut")) as url:
        assert run_doctor(url, as_json=True) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["upstream"], document["model"]) == (url, "big")
    bad = [f for f in document["findings"] if f["verdict"] == "bad"]
    assert [f["about"] for f in bad] == ["streamed calls"]


def test_the_summary_says_what_to_do() -> None:
    good, bad = Finding("a", "good", "x"), Finding("b", "bad", "x")
    assert render_summary([good], "http://h/v1") == "1 good. Nothing here needs the proxy."
    assert "cannot help" in render_summary([good, bad], "http://h/v1")
    assert "callwright proxy --upstream http://h/v1" in render_summary(
        [Finding("c", "mended", "x"), bad], "http://h/v1"
    )


def test_a_context_too_short_to_tell_anything_is_refused() -> None:
    with pytest.raises(ConfigError, match="at least 1000"):
        run_doctor("http://h/v1", context=10)


class Stating(Patient):
    """An endpoint that also states its model's size, as llama.cpp does."""

    def __call__(self, asked: Asked) -> Reply:
        if asked.method == "GET":
            found = LLAMA.get(asked.path, {})
            return Reply([json.dumps(found).encode()], headers=JSON)
        return super().__call__(asked)


def test_the_model_profile_of_the_endpoint_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with serving(Stating()) as url:
        run_doctor(url)
        out = capsys.readouterr().out
        said = "Model profile: medium (context 16,384 tokens, parameters 7.62 billion)."
        assert said in " ".join(out.split())
        run_doctor(url, as_json=True)
    document = json.loads(capsys.readouterr().out)
    assert document["model_profile"] == "medium"
    assert document["size"] == {"context": 16_384, "parameters": 7.615616512}
    assert render_profile(ModelSize()) == (
        "Model profile: small (context unknown, parameters unknown). run and proxy take"
        " another one with --model-profile."
    )


class Employed(Patient):
    """An endpoint that also does the write cases, as a worker does them."""

    def __init__(self, worker: Worker, *faults: str) -> None:
        super().__init__(*faults)
        self.worker = worker

    def __call__(self, asked: Asked) -> Reply:
        if asked.method == "GET" or "place_order" not in json.dumps(asked.json.get("tools")):
            return super().__call__(asked)
        text, calls = self.worker.answer(asked.json["messages"])
        entries = [call(one.tool, one.arguments, one.id) for one in calls]
        return Reply([whole(text or None, entries)], headers=JSON)


def test_the_write_cases_are_run_on_request_and_recorded_for_the_proxy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memory = tmp_path / "m.json"
    with serving(Employed(Worker())) as url:
        assert run_doctor(url, writes=Writes(True, memory)) == 0
        out, err = capsys.readouterr()
        assert "running 29 small jobs with writes, about 58 requests" in err
        assert f"good     {'writes':27}29 of 29 small jobs done right" in out
        assert "-> --guard auto only reports" in out
        assert WriteRecords(url, Memory(memory)).is_trusted("big")
        assert run_doctor(url, writes=Writes(False, memory)) == 0
        assert "Writes: 29 of 29 small jobs right on 2" in capsys.readouterr().out
    entry = json.loads(memory.read_text())[f"{url} big"]["writes"]
    assert entry.keys() == {"right", "of", "at", "version"}


def test_a_careless_model_loses_its_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memory = tmp_path / "m.json"
    with serving(Employed(Worker("repeats"))) as url:
        records = WriteRecords(url, Memory(memory))
        records.put("big", WriteRecord(29, 29, "2026-11-24"))
        assert run_doctor(url, writes=Writes(True, memory)) == 0
        out = capsys.readouterr().out
        assert "repaired writes" in out
        assert "repeated writes (once-english" in out
        assert "-> --guard auto acts: fewer than 95 %" in out
        assert not records.is_trusted("big")


def test_a_record_holds_on_where_the_cases_get_no_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memory = tmp_path / "m.json"
    with serving(Patient("no tools")) as url:
        records = WriteRecords(url, Memory(memory))
        records.put("big", WriteRecord(29, 29, "2026-11-24"))
        run_doctor(url, as_json=True, writes=Writes(True, memory))
        document = json.loads(capsys.readouterr().out)
    assert "not recorded" in document["findings"][-1]["said"]
    assert document["writes"] == {
        "right": 29,
        "of": 29,
        "at": "2026-11-24",
        "version": 1,
        "guard": "report",
    }


def test_a_record_that_cannot_be_written_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    with serving(Employed(Worker())) as url:
        run_doctor(url, as_json=True, writes=Writes(True, tmp_path / "file" / "m.json"))
    document = json.loads(capsys.readouterr().out)
    assert "cannot be written" in document["findings"][-1]["said"]
    assert document["writes"] == {"guard": "act"}


def test_what_is_not_tried_is_said_with_its_price() -> None:
    said = render_untried(None)
    assert said.startswith("Writes: not tested, so the proxy's guard acts")
    assert "--writes runs 29 small jobs (about 58 requests)" in said
