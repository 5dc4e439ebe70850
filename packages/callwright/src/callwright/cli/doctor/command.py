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
from dataclasses import asdict
from typing import Final, get_args

from callwright.cli.doctor.endpoint import Endpoint
from callwright.cli.doctor.probes import Finding, Verdict, iter_findings
from callwright.http import Egress, HttpClient, Timeout
from callwright.nouns.errors import ConfigError

CONTEXT = 8_000  # tokens: more than the windows that servers open without being told
_SMALLEST, _WIDTH, _INDENT = 1_000, 110, 36
_LABELS: Final[dict[str, str]] = {"mended": "repaired"}  # programs read the verdict in --json


def run_doctor(
    upstream: str, model: str | None = None, *, as_json: bool = False, context: int = CONTEXT
) -> int:
    """Probe an endpoint and print what was found; the key comes from CALLWRIGHT_API_KEY. 0 unless
    something is bad.

    Raises ConfigError where the endpoint cannot be asked at all.
    """
    if context < _SMALLEST:
        raise ConfigError(
            f"a long prompt has at least {_SMALLEST} tokens", hint=f"--context {CONTEXT}"
        )
    endpoint, found = asyncio.run(
        probe_endpoint(upstream, model, context, _ignore_finding if as_json else _print_finding)
    )
    if as_json:
        document = {
            "upstream": endpoint.upstream.base,
            "model": endpoint.model,
            "findings": [asdict(f) for f in found],
        }
        print(json.dumps(document, ensure_ascii=False, indent=1))
    else:
        print(f"\n{render_summary(found, endpoint.upstream.base)}")
    return 1 if any(f.verdict == "bad" for f in found) else 0


async def probe_endpoint(
    upstream: str,
    model: str | None,
    context: int = CONTEXT,
    say: Callable[[Finding], None] | None = None,
) -> tuple[Endpoint, list[Finding]]:
    """Everything that is tried, in order; ``say`` hears of each as soon as it is known. Raises
    ConfigError.
    """
    found: list[Finding] = []
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
            found.append(finding)
            if say is not None:
                say(finding)
    return endpoint, found


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
