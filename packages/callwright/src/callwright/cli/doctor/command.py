"""``callwright doctor``: what an endpoint does with tool calls, and what the proxy will repair
there.
"""

from __future__ import annotations

import asyncio
import json
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final, get_args

from callwright.cli.doctor.endpoint import Endpoint
from callwright.cli.doctor.probes import Finding, Verdict, iter_findings
from callwright.cli.doctor.write_runs import (
    build_record,
    count_requests,
    judge_writes,
    run_cases,
    tell_guard,
)
from callwright.http import Egress, HttpClient, Timeout
from callwright.models.probe import open_memory
from callwright.models.write_record import WriteRecord, WriteRecords
from callwright.nouns.errors import ConfigError
from callwright.nouns.model_profile import ModelSize, choose_profile
from callwright.nouns.types import JsonObject
from callwright.proxy.session.guarding import choose_mode

CONTEXT = 8_000  # tokens: more than the windows that servers open without being told
_SMALLEST, _WIDTH, _INDENT = 1_000, 110, 36
_LABELS: Final[dict[str, str]] = {"mended": "repaired"}  # programs read the verdict in --json


@dataclass(frozen=True, slots=True)
class Writes:
    """Settings of the write cases: ``are_tried`` runs them, ``memory`` is the file that remembers
    what came of them; None: in the cache directory.
    """

    are_tried: bool = False
    memory: Path | None = None


def run_doctor(
    upstream: str,
    model: str | None = None,
    *,
    as_json: bool = False,
    context: int = CONTEXT,
    writes: Writes | None = None,
) -> int:
    """Probe an endpoint and print what was found; the key comes from CALLWRIGHT_API_KEY. 0 unless
    something is bad.

    Raises ConfigError where the endpoint cannot be asked at all.
    """
    writes = writes or Writes()
    if context < _SMALLEST:
        raise ConfigError(
            f"a long prompt has at least {_SMALLEST} tokens", hint=f"--context {CONTEXT}"
        )
    say = _ignore_finding if as_json else _print_finding
    endpoint, found = asyncio.run(probe_endpoint(upstream, model, context, say, writes))
    record = _open_records(endpoint, writes).get(endpoint.model)
    if as_json:
        document = {
            "upstream": endpoint.upstream.base,
            "model": endpoint.model,
            "size": endpoint.size._asdict(),
            "model_profile": choose_profile(endpoint.size).name,
            "findings": [asdict(f) for f in found],
            "writes": _render_record(record),
        }
        print(json.dumps(document, ensure_ascii=False, indent=1))
    else:
        print(f"\n{textwrap.fill(render_profile(endpoint.size), _WIDTH)}")
        if not writes.are_tried:
            print(f"\n{textwrap.fill(render_untried(record), _WIDTH)}")
        print(f"\n{render_summary(found, endpoint.upstream.base)}")
    return 1 if any(f.verdict == "bad" for f in found) else 0


async def probe_endpoint(
    upstream: str,
    model: str | None,
    context: int = CONTEXT,
    say: Callable[[Finding], None] | None = None,
    writes: Writes | None = None,
) -> tuple[Endpoint, list[Finding]]:
    """Everything that is tried, in order; ``say`` hears of each as soon as it is known. Raises
    ConfigError.
    """
    writes = writes or Writes()
    found: list[Finding] = []

    def tell(finding: Finding) -> None:
        found.append(finding)
        if say is not None:
            say(finding)

    async with HttpClient(Egress.any(), timeout=Timeout(idle=600, total=1200)) as client:
        endpoint = Endpoint(client, upstream, model)
        await endpoint.choose()
        print(
            f"asking {endpoint.upstream.base}, model {endpoint.model}, about 30 questions\n",
            file=sys.stderr,
        )
        plain = await endpoint.ask("Say hello.")
        if plain.problem:
            raise endpoint.unanswered(plain)
        async for finding in iter_findings(endpoint.ask, plain, context=context):
            tell(finding)
        await endpoint.learn_size()
        if writes.are_tried:
            tell(await _try_writes(endpoint, writes))
    return endpoint, found


async def _try_writes(endpoint: Endpoint, writes: Writes) -> Finding:
    """Run the write cases, and record what came of them for the proxy."""
    cases, requests = count_requests()
    print(f"\nrunning {cases} small jobs with writes, about {requests} requests", file=sys.stderr)
    records = _open_records(endpoint, writes)
    outcomes = await run_cases(endpoint.ask)
    record = build_record(outcomes)
    finding = judge_writes(outcomes, records.get(endpoint.model))
    if record is not None and not records.put(endpoint.model, record):
        said = f"{finding.said}; not recorded: {records.path} cannot be written"
        return replace(finding, said=said, advice=tell_guard(records.get(endpoint.model)))
    return finding


def _open_records(endpoint: Endpoint, writes: Writes) -> WriteRecords:
    return WriteRecords(endpoint.upstream.base, open_memory(writes.memory))


def _render_record(record: WriteRecord | None) -> JsonObject:
    told = asdict(record) if record is not None else {}
    is_trusted = record is not None and record.is_trusted
    return {**told, "guard": choose_mode("auto", is_trusted=is_trusted)}


def render_untried(record: WriteRecord | None) -> str:
    """Return what is on record of the writes, and how to record it."""
    cases, requests = count_requests()
    how = f"--writes runs {cases} small jobs (about {requests} requests) and records the result."
    if record is None:
        return f"Writes: not tested, so the proxy's guard acts (--guard auto). {how}"
    known = f"Writes: {record.right} of {record.of} small jobs right on {record.at[:10]}."
    return f"{known} {tell_guard(record)}. {how}"


def render_profile(size: ModelSize) -> str:
    """Return the profile of runs with a model of this size, and why they have it."""
    said = f"Model profile: {choose_profile(size).name} ({size})."
    return f"{said} run and proxy take another one with --model-profile."


def render_summary(found: Sequence[Finding], upstream: str) -> str:
    """The counts and the next step."""
    counted = Counter(f.verdict for f in found)
    told = ", ".join(f"{counted[v]} {_LABELS.get(v, v)}" for v in get_args(Verdict) if counted[v])
    if counted["mended"]:
        return (
            f"{told}. The proxy repairs what is marked repaired:\n    callwright proxy --upstream"
            f" {upstream}"
        )
    return (
        f"{told}."
        f" {'Nothing here needs the proxy.' if not counted['bad'] else 'The proxy cannot help with that.'}"
    )


def _print_finding(found: Finding) -> None:
    print(
        _wrap_text(f"{_LABELS.get(found.verdict, found.verdict):8} {found.about:27}", found.said),
        flush=True,
    )
    if found.advice:
        print(_wrap_text(f"{'->':>{_INDENT - 1}} ", found.advice), flush=True)


def _wrap_text(head: str, text: str) -> str:
    return textwrap.fill(text, _WIDTH, initial_indent=head, subsequent_indent=" " * _INDENT)


def _ignore_finding(found: Finding) -> None:
    """Findings are printed together at the end."""
