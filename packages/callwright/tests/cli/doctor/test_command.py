"""The command: what it prints, its JSON, its exit codes."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from callwright.cli.doctor.command import render_summary, run_doctor
from callwright.cli.doctor.probes import Finding
from callwright.nouns.errors import ConfigError
from tests.cli.patient import Patient
from tests.proxy.upstream import upstream


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
    yield url[0]
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
