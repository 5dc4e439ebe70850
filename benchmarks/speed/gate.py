"""The gate beside the validator it stands on: a right call checked, a wrong one repaired or refused
with all reasons.

``is_valid`` and ``iter_errors`` are of jsonschema-rs, formats asserted. A check hands back a sealed
call, a repaired call comes with every edit, a refusal with violations worded for a model.
"""

from __future__ import annotations

import subprocess
from functools import partial
from typing import Any

import jsonschema_rs
from gate_cases import LACKING, REQUIRED_ELSEWHERE, SCHEMAS, right, wrong
from timing import HERE, Prepare, Row, Times, measure, median_us, ratio, repeated

from callwright.jsontext import parse
from callwright.nouns.types import CheckedCall, JsonObject, Tool, ToolCall
from callwright.repair.gate import Gate, Refusal

RUNS = {"small": 2_000, "middle": 400, "large": 40}


def _validator(size: str) -> Any:
    return jsonschema_rs.validator_for(SCHEMAS[size], validate_formats=True)


def _gate() -> Gate:
    return Gate([Tool(name, "A tool.", schema) for name, schema in SCHEMAS.items()])


def _check(case: str, arguments: JsonObject) -> Prepare:
    gate, call = _gate(), ToolCall("", case.split(",")[0], arguments)
    refused = isinstance(gate.check(call), Refusal)
    assert refused == case.endswith("refused"), case
    return repeated(lambda: gate.check(call))


def _valid(size: str) -> Prepare:
    validator, arguments = _validator(size), right()[size]
    assert validator.is_valid(arguments)
    return repeated(lambda: validator.is_valid(arguments))


def _errors(case: str) -> Prepare:
    validator, arguments = _validator(case.split(",")[0]), wrong()[case]
    assert not validator.is_valid(arguments)
    return repeated(lambda: list(validator.iter_errors(arguments)))


PEERS = ("jsonschema", "fastjsonschema", "pydantic", "msgspec")  # in gate_peers
ROWS = {
    **{f"check {size}": partial(_check, size, call) for size, call in right().items()},
    **{f"valid {size}": partial(_valid, size) for size in SCHEMAS},
    **{f"check {case}": partial(_check, case, call) for case, call in wrong().items()},
    **{f"errors {case}": partial(_errors, case) for case in wrong()},
}


def table(rounds: int, peers: str | None) -> list[str]:
    """Both tables of the gate, in Markdown."""
    rows = [Row(name, "gate", runs=_runs(name)) for name in ROWS]
    if peers:
        rows += [Row(name, "gate_peers", peers, runs=RUNS["middle"]) for name in PEERS]
    times = measure(rows, rounds)
    lines = ["| a right call | Callwright µs | `is_valid` µs | ratio |", "|---|---:|---:|---:|"]
    lines += [_line(size, times, f"check {size}", f"valid {size}") for size in SCHEMAS]
    lines += [
        "",
        "| a wrong call | Callwright µs | `iter_errors` µs | ratio |",
        "|---|---:|---:|---:|",
    ]
    lines += [_line(case, times, f"check {case}", f"errors {case}") for case in wrong()]
    if peers:
        lines += ["", "| the middle call by others | µs | to `is_valid` |", "|---|---:|---:|"]
        lines += [
            f"| {n} | {median_us(times, n):.1f} | {ratio(times, n, 'valid middle'):.1f} |"
            for n in PEERS
        ]
    return [*lines, "", *_traps(peers)]


def _runs(name: str) -> int:
    size = name.partition(" ")[2].split(",")[0]
    return RUNS[size] if name.endswith(size) else max(5, RUNS[size] // 10)


def _line(case: str, times: Times, ours: str, theirs: str) -> str:
    made = f"| {case} | {median_us(times, ours):.2f} | {median_us(times, theirs):.2f} "
    return made + f"| {ratio(times, ours, theirs):.2f} |"


def _traps(peers: str | None) -> list[str]:
    """Who notices that a key is missing which is required, but not among the properties."""
    gate = Gate([Tool("search", "Searches.", REQUIRED_ELSEWHERE)])
    passed = isinstance(gate.check(ToolCall("", "search", LACKING)), CheckedCall)
    said = {"Callwright": passed, **(_accepted(peers) if peers else {})}
    shown = ", ".join(
        f"{name} {'accepts' if accepts else 'refuses'}" for name, accepts in said.items()
    )
    return [f"A call that lacks a key which is `required` and not in `properties`: {shown}.", ""]


def _accepted(peers: str) -> dict[str, bool]:
    """What the peers say of that call, asked in their environment."""
    said = subprocess.run([peers, str(HERE / "gate_peers.py")], check=True, capture_output=True)
    return dict(parse(said.stdout))
