"""``callwright bench options``: does the conversation make an optional value likelier?

Of ACEBench's normal rows (dev half) each optional parameter of gold's tools that lists its values is
one case. *Said*: gold gives it, and no plain no. *Unsaid*: gold leaves it out; its value is the one that
the model holds likeliest without the conversation, as it would fill a form. The gain of a value by the
conversation is what :mod:`callwright.agent.leading.option_support` keeps it by; its threshold is read
off here.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from callwright.agent.leading.option_support import (
    Option,
    compute_gain,
    list_values,
    read_value_shares,
)
from callwright.http import Egress, HttpClient, HttpResponse, Timeout
from callwright.jsontext import parse
from callwright.models.chat import Gathered
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import JsonObject, Reply
from callwright.proxy.session.answers.sse import json_bytes
from callwright.proxy.session.context import Context, Toolsets, read_context
from callwright.proxy.session.leading import guided
from callwright.proxy.session.leading.option_support import build_body
from callwright.proxy.session.settings import Settings
from callwright_lab.benchmarks.acebench.asking import PROXY, map_tools
from callwright_lab.benchmarks.acebench.asking import build_body as build_request
from callwright_lab.benchmarks.comparison.rows import append_row, read_rows
from callwright_lab.datasets.acebench import LANGUAGES, NORMAL, AceRow, iter_rows
from callwright_lab.datasets.sources import data_root

_NUMBERED = re.compile(r"_\d+$")  # gold numbers the calls of one tool
_CUTS = (-0.5, -0.25, -0.1, 0.0, 0.1, 0.25, 0.5)


@dataclass(frozen=True, slots=True)
class Case:
    """One optional parameter of a row. ``is_said``: gold gives the option's value."""

    id: str
    language: str
    option: Option
    is_said: bool
    context: Context


def iter_cases(root: Path) -> Iterator[Case]:
    """The cases of the dev half. Raises ConfigError without the data."""
    toolsets = Toolsets()
    for language in LANGUAGES:
        for category in NORMAL:
            for row in iter_rows(root, language, category):
                if row.half == "dev":
                    yield from _list_cases(row, toolsets)


def _list_cases(row: AceRow, toolsets: Toolsets) -> Iterator[Case]:
    body = build_request(row, PROXY)
    context = read_context(body, json_bytes(body), toolsets, Settings())
    if context is None or len(row.gold_calls) != 1:
        return
    context.schema = True
    guided.begin_messages(context, context.toolset.tools)  # questions begin with its instructions
    written = {tool["name"]: name for name, tool in map_tools(row).items()}
    tools = {tool.name: tool for tool in context.toolset.tools}
    for numbered, given in row.gold_calls[0].items():
        name = numbered if numbered in written else _NUMBERED.sub("", numbered)
        tool = tools.get(written.get(name, ""))
        if tool is None or not isinstance(given, dict) or "required" not in tool.input_schema:
            continue
        for key in tool.properties.keys() - tool.required:
            values = list_values(tool, key)
            value = given.get(key)
            if len(values) > 1 and (key not in given or (value in values and value is not False)):
                option = Option(tool, key, value if key in given else values[0], values)
                yield Case(
                    f"{row.id}:{numbered}.{key}", row.language, option, key in given, context
                )


class _Upstream:
    """A chat endpoint that states probabilities."""

    def __init__(self, url: str, model: str) -> None:
        self._url, self._model = f"{url.rstrip('/')}/chat/completions", model
        key = os.environ.get("CALLWRIGHT_API_KEY", "")
        self._headers = {"authorization": f"Bearer {key}"} if key else {}

    async def ask(self, http: HttpClient, body: JsonObject) -> Reply:
        """One reply. Raises ConfigError where there is none."""
        told = {**body, "model": self._model}
        answer = await http.request("POST", self._url, json=told, headers=self._headers)
        if not isinstance(answer, HttpResponse):
            raise ConfigError(f"{self._url} does not answer: {answer.message}")
        if not answer.ok:
            raise ConfigError(f"{self._url} answers {answer.status}: {answer.text[:200]}")
        document = parse(answer.text)
        gathered = Gathered()
        if isinstance(document, dict):
            gathered.feed(document)
        return gathered.reply(prompt="")


async def measure(cases: Sequence[Case], upstream: _Upstream, results: Path) -> None:
    """Measure the cases that the file of rows lacks, one after the other."""
    known = {row["case"] for row in read_rows(results)}
    async with HttpClient(Egress.any(), timeout=Timeout(10.0, 900.0, 900.0)) as http:
        for case in cases:
            if case.id + case.language in known:
                continue
            told, untold = [
                read_value_shares(
                    await upstream.ask(
                        http, build_body(case.option, case.context, is_told=is_told)
                    ),
                    case.option,
                )
                for is_told in (True, False)
            ]
            if not told or not untold:
                raise ConfigError("the upstream states no probabilities (top_logprobs)")
            append_row(results, _build_row(case, told, untold))


def _build_row(case: Case, told: Sequence[float], untold: Sequence[float]) -> JsonObject:
    values = case.option.values
    may_be = [n for n, value in enumerate(values) if value is not False]
    likeliest = max(may_be, key=lambda n: untold[n])
    place = values.index(case.option.value) if case.is_said else likeliest
    return {
        "case": case.id + case.language,
        "language": case.language,
        "said": case.is_said,
        "value": values[place],
        "gain": compute_gain(told[place], untold[place]),
        "told": told[place],
    }


def render_report(rows: Sequence[JsonObject]) -> str:
    """The share of said and unsaid values that stay at each cut, and how well the gain tells them
    apart (area under the ROC curve).
    """
    said = [float(row["gain"]) for row in rows if row["said"]]
    unsaid = [float(row["gain"]) for row in rows if not row["said"]]
    if not said or not unsaid:
        return "too few rows"
    above = sum((a > b) + (a == b) / 2 for a in said for b in unsaid)
    lines = [f"{len(said)} said, {len(unsaid)} unsaid; AUC {above / len(said) / len(unsaid):.3f}"]
    lines += ["| least gain | said kept | unsaid kept |", "| --: | --: | --: |"]
    for cut in _CUTS:
        kept = [sum(gain >= cut for gain in gains) for gains in (said, unsaid)]
        lines.append(
            f"| {cut} | {kept[0]} ({kept[0] / len(said):.0%}) | {kept[1]} ({kept[1] / len(unsaid):.0%}) |"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser("callwright bench options", description=__doc__)
    parser.add_argument("--upstream", help="a chat endpoint that states probabilities")
    parser.add_argument("--model", default="")
    parser.add_argument("--out", type=Path, default=Path("runs/options.jsonl"))
    parser.add_argument("--report", action="store_true", help="print the table of that file alone")
    options = parser.parse_args(arguments)
    if not options.report:
        if not options.upstream:
            parser.error("--upstream URL, or --report")
        cases = sorted(iter_cases(data_root()), key=lambda case: case.id + case.language)
        asyncio.run(measure(cases, _Upstream(options.upstream, options.model), options.out))
    sys.stdout.write(render_report(read_rows(options.out)) + "\n")
    return 0
