"""Every probe against an endpoint that is well and against one with the fault it looks for."""

from __future__ import annotations

from typing import Any

import pytest

from callwright.cli.doctor.command import probe_endpoint
from callwright.cli.doctor.probes import Finding
from tests.cli.patient import Patient
from tests.proxy.upstream import proxy, upstream


async def found(*faults: str) -> dict[str, Finding]:
    async with upstream(Patient(*faults)) as up:
        return {f.about: f for f in (await probe_endpoint(up.url, None))[1]}


async def test_an_endpoint_that_does_everything_right_gets_no_advice() -> None:
    seen = await found()
    # Formats that its model writes into the text are left there by every server that does not know
    # them.
    assert {about: f.verdict for about, f in seen.items() if f.verdict != "good"} == {
        "formats of calls": "mended"
    }
    assert not [f for f in seen.values() if f.advice]
    assert seen["long context"].said == "8,112 tokens were read whole"


FAULTS: list[tuple[str, str, str, str]] = [
    ("text", "tool calls", "mended", "left in the text, in the format hermes"),
    ("text", "two calls at once", "mended", "0 arrive as calls, 2 are left in the text"),
    ("text when streamed", "streamed calls", "mended", "left in the text"),
    ("text when streamed", "tool calls", "good", "arrive as calls"),
    ("no call", "tool calls", "bad", "no call came back: 'I would switch it on.'"),
    ("no call", "two calls at once", "unclear", "one call, or none"),
    ("no tools", "tool calls", "mended", "refused (status 400: no tools here)"),
    ("no ids", "tool calls", "mended", "without an id"),
    ("wrong finish", "tool calls", "mended", "finish_reason stop"),
    ("wrong types", "tool calls", "mended", "wrong in themselves (text_to_boolean)"),
    ("no stream", "streamed calls", "bad", "does not stream"),
    ("stream cut", "streamed calls", "bad", "without a finish_reason"),
    ("choice ignored", "tool_choice required", "mended", "ignored"),
    ("choice ignored", "tool_choice by name", "mended", "ignored"),
    ("choice ignored", "tool_choice none", "mended", "ignored"),
    ("choice ignored", "parallel_tool_calls false", "mended", "ignored"),
    ("no tool role", "results of tools", "setting", "roles must alternate"),
    ("schema ignored", "schema modes", "setting", "json_schema ignored, json_object ignored"),
    ("schema refused", "schema modes", "setting", "unknown field"),
    ("marks eaten", "formats of calls", "setting", "garbled: hermes"),
    ("stubborn", "formats of calls", "unclear", "not repeated by the model: hermes"),
    ("think in text", "thinking", "setting", "<think> is left in the text"),
    ("thought only", "thinking", "setting", "stays in reasoning_content"),
    ("endless thought", "thinking", "setting", "used up all"),
    ("cut", "long context", "setting", "about 8,940 tokens was cut to 4,096 without a word"),
    ("beginning lost", "long context", "setting", "the beginning"),
    ("middle lost", "long context", "setting", "the middle"),
    ("long refused", "long context", "good", "refused clearly"),
    ("forgetful", "long context", "unclear", "in a short prompt either"),
    ("uncounted", "long context", "good", "8,000 tokens were read whole"),
]


@pytest.mark.parametrize(("fault", "about", "verdict", "said"), FAULTS)
async def test_a_fault_is_named_with_its_verdict(
    fault: str, about: str, verdict: str, said: str
) -> None:
    finding = (await found(fault))[about]
    assert finding.verdict == verdict, finding
    assert said in finding.said
    if verdict in ("setting", "bad"):
        assert finding.advice, "what the user can do about it"


@pytest.mark.parametrize(
    ("fault", "about", "setting"),
    [
        ("cut", "long context", "OLLAMA_CONTEXT_LENGTH"),
        ("think in text", "thinking", "--reasoning-parser"),
        ("endless thought", "thinking", "enable_thinking: false"),
        ("thought only", "thinking", "--reasoning-format none"),
        ("no tool role", "results of tools", "--jinja"),
        ("marks eaten", "formats of calls", "skip_special_tokens"),
    ],
)
async def test_the_setting_to_change_is_printed(fault: str, about: str, setting: str) -> None:
    assert setting in (await found(fault))[about].advice


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        ([], "not needed"),
        (["text", "schema ignored"], "not possible"),
        (["text"], "leads by schema"),
        (["no call"], "leads by schema"),
        (["no tools"], "leads by schema"),
    ],
)
async def test_it_says_how_calls_will_be_asked(faults: list[str], said: str) -> None:
    assert said in (await found(*faults))["guided mode"].said


PROMISED = ["text", "text when streamed", "wrong types", "no ids", "wrong finish", "choice ignored"]


@pytest.mark.parametrize("fault", PROMISED)
async def test_what_is_marked_repaired_is_right_behind_the_proxy(fault: str, tmp_path: Any) -> None:
    # A tool that must be called is asked for once more, which only helps with a model that then
    # calls it.
    asked_again = (
        {"tool_choice required", "tool_choice by name"} if fault == "choice ignored" else set()
    )
    async with upstream(Patient(fault)) as up, proxy(up.url) as (address, _):
        before = {f.about for f in (await probe_endpoint(up.url, None))[1] if f.verdict == "mended"}
        after = {f.about for f in (await probe_endpoint(address, None))[1] if f.verdict == "good"}
    assert len(before) > 1, "the fault shows, beside the formats that are left in the text"
    assert before - asked_again <= after
