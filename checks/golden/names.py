"""The product under test, by the names that it has today.

Every import from the package stands in this module. After a move or a renaming this file changes.
The fixtures, the scenarios and the tests beside it stay as they are.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, get_args

import callwright
import callwright_lab
from callwright import (
    Interaction,
    Limits,
    Orchestrator,
    Persistence,
    Run,
    Safety,
    ToolSelection,
    call_key,
    open_catalog,
    tool,
)
from callwright import prompts as _prompts
from callwright.agent.catalog_search import TRYING
from callwright.agent.execution import sandbox as _sandbox
from callwright.agent.execution.invoke import idempotency_key as _idempotency_key
from callwright.agent.journal import store as _journal
from callwright.agent.journal.resume import prompts_digest
from callwright.agent.probing.selection import Standing
from callwright.agent.safety.freeze import Level as _Freeze
from callwright.agent.strategies import REFLECT, STRATEGIES, Given
from callwright.agent.strategies.recovery import WAYS
from callwright.cli.runs import list_runs as print_runs
from callwright.cli.runs import resolve_call
from callwright.cli.settings.config import PROXY as _PROXY_KEYS
from callwright.cli.settings.config import SETTINGS as _SETTINGS_KEYS
from callwright.models.encoders.cached import CachedEncoder
from callwright.nouns.errors import (
    CallwrightError,
    FailureKind,
    JournalError,
    ToolError,
    ViolationKind,
)
from callwright.nouns.plan import Plan, Slot
from callwright.nouns.protocols import Capabilities, ChatRequest, ReplyMode
from callwright.nouns.trace import KINDS, JsonlSink, Trace, read_jsonl
from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import (
    DESTRUCTIVE,
    READ,
    READ_LOCAL,
    WRITE,
    Edit,
    Effects,
    Message,
    Reply,
    Role,
    Simulated,
    Support,
    Tool,
    ToolCall,
    ToolResult,
    Usage,
    compute_digest,
    to_canonical_json,
    to_json,
)
from callwright.nouns.wire_names import OLD_SPELLINGS, WIRE_NAMES, EditRule, EditRules
from callwright.parsing import DIALECTS
from callwright.planning import PLANNERS
from callwright.planning.features import DIGEST as _FEATURES
from callwright.planning.meaning import DIGEST as _MEANINGS
from callwright.planning.needed import DIGEST as _NEEDED
from callwright.proxy.apis.adapters import ANSWERS, FRONTS
from callwright.proxy.server.counters import _HELP as _COUNTERS
from callwright.proxy.server.outbound import CHAT
from callwright.proxy.server.training_log import Keeper
from callwright.proxy.session import ids as _ids
from callwright.proxy.session import record as _record
from callwright.proxy.session.context import Toolsets
from callwright.proxy.session.events import (
    Keep,
    Log,
    Request,
    SendBody,
    SendHead,
    UpstreamData,
    UpstreamEnd,
    UpstreamHead,
)
from callwright.proxy.session.session import Session
from callwright.proxy.session.settings import Settings as _ProxySettings
from callwright.repair.draft import LocatedEdit
from callwright.repair.gate import Gate
from callwright.repair.ordering.notations import reference_notations
from callwright.repair.ordering.sequence import order as _order
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.repair.refinement import RULE_GROUPS, refine
from callwright.repair.result import Settings
from callwright.retrieval import MODES
from callwright.retrieval.candidates import DIGEST as _CANDIDATES
from callwright.retrieval.document import document_digest
from callwright.schema.value_edits import ValueEdit
from callwright.testing import FixedPlan, ScriptedModel, offered_tools
from callwright.tools.evidence import EvidenceStore, Observation
from callwright.tools.evidence.observation import Origin, Outcome
from callwright.tools.lists.source import ListSource
from callwright.tools.lists.tools import (
    tool_from_wire,
    tool_to_mcp,
    tool_to_openai,
)
from callwright.tools.mcp.source import MCPSource
from callwright.tools.openapi import names as _openapi_names
from callwright.tools.openapi.source import OpenAPIOptions, OpenAPISource
from callwright.tools.overlay import Change as _OverlayChanges
from callwright.tools.overlay import Overlay, OverlayChange, ToolOverlay, documented
from callwright.tools.python.functions import FunctionSource
from callwright.tools.trust import TrustStore, digest_of, normalize_location
from callwright.tools.trust.shipped import SHIPPED
from callwright.tools.trust.store import Kind as _Trusted
from callwright.viewer import page
from callwright_lab import prompts as _lab_prompts
from callwright_lab.datasets import splits as _splits
from callwright_lab.reflection.row import Kind as _Reflected
from callwright_lab.reflection.row import Reflected, record, serialize_row
from callwright_lab.reflection.selection import assign_part
from callwright_lab.training.toolmvr.data import assign_part as _toolmvr_part
from callwright_lab.transcripts import FORMATS, WRITTEN, Transcript, write
from callwright_lab.verify import sweep as _sweep
from callwright_lab.verify.budget import Cost
from callwright_lab.verify.dataset.account import DefectKind
from callwright_lab.verify.memory import make_question_key
from callwright_lab.verify.reporting.report import render_markdown
from callwright_lab.verify.requests import Asked
from callwright_lab.verify.steps import StepFaultKind
from callwright_lab.verify.trajectories import Checker as _Checker
from callwright_lab.verify.trajectories import Status as _Verified
from trees import parse_modules

Event = Any  # kind, seq, at, data
Json = Any
KEYED = Effects(read_only=False, destructive=False, idempotent=False, keyed=True)
SOURCES = (Path(callwright.__file__).parent, Path(callwright_lab.__file__).parent)

__all__ = [
    "DESTRUCTIVE",
    "KEYED",
    "READ_LOCAL",
    "WRITE",
    "Capabilities",
    "ChatRequest",
    "Effects",
    "FixedPlan",
    "Given",
    "JournalError",
    "Limits",
    "Orchestrator",
    "Plan",
    "Reply",
    "Run",
    "ScriptedModel",
    "Slot",
    "ToolCall",
    "ToolError",
    "Usage",
    "call_key",
    "offered_tools",
    "print_runs",
    "prompts_digest",
    "resolve_call",
    "tool",
]


# Journals


def version() -> str:
    """Return the version of the package."""
    return callwright.__version__


def event_kinds() -> tuple[str, ...]:
    """Return every kind of event that a journal or a trace may hold."""
    return KINDS


def journals(folder: Path) -> list[Path]:
    """Return the journals in a folder."""
    return _journal.list_journals(folder)


def read_journal(path: Path) -> tuple[dict[str, Any], list[Event]]:
    """Return the metadata and the events of all processes of a run."""
    meta, events = _journal.read_journal(path, every=True)
    return meta, list(events)


def own(path: Path, meta: dict[str, Any]) -> str:
    """Return the seal which says that this user made the journal at this place."""
    told = {"where": normalize_location(path), "created": meta["created"], "setup": meta["setup"]}
    return TrustStore().seal(told)


def view(path: Path) -> str:
    """Return the page of a run as HTML."""
    return page(_journal.read_journal(path)[1])


def orchestrator(
    tools: Sequence[Callable[..., Any]], model: ScriptedModel, **options: Any
) -> Orchestrator:
    """Return what runs and resumes queries with these tools and this model."""
    grouped = {
        name: kind(
            **{one.name: options.pop(one.name) for one in fields(kind) if one.name in options}
        )
        for name, kind in _GROUPS.items()
    }
    return Orchestrator(list(tools), model=model, **grouped, **options)


_GROUPS: Mapping[str, type[Any]] = {
    "safety": Safety,
    "selection": ToolSelection,
    "persistence": Persistence,
    "interaction": Interaction,
}


# Identities and digests


def tool_of(told: Mapping[str, Any]) -> Tool:
    """Return a tool from its fields as a trace has them."""
    return Tool(**{**told, "effects": Effects(**told["effects"])})


def call_of(told: Mapping[str, Any]) -> ToolCall:
    """Return a call from its fields as a trace has them."""
    return ToolCall(**told)


def idempotency_key(run: str, id: str, name: str, arguments: dict[str, Any]) -> str:
    """Return the key of a call that may write."""
    open_tool = Tool(name, input_schema={"type": "object", "additionalProperties": True})
    checked: Any = Gate([open_tool]).check(ToolCall(id, name, arguments))
    return _idempotency_key(run, checked)


def digests_of(value: Json) -> dict[str, str]:
    """Return the text that digests of a value are taken of, and the digests of each length."""
    return {
        "canonical": to_canonical_json(value),
        "short": compute_digest(value),
        "long": digest_of(value),
    }


def places() -> Callable[[str], str]:
    """Return the function that gives one name to one place."""
    return normalize_location


def digests_of_tool(one: Tool) -> dict[str, Json]:
    """Return everything by which a tool is known on the disk."""
    return {
        "digest": one.digest,
        "schema_digest": one.schema_digest,
        "documented": documented(one),
        "document": document_digest(one),
    }


def tools_of_functions(functions: Sequence[Callable[..., Any]]) -> Any:
    """Return the source of Python functions."""
    return FunctionSource(list(functions))


def tools_of_document(document: dict[str, Any]) -> Any:
    """Return the source of an OpenAPI document."""
    return OpenAPISource(document, OpenAPIOptions(base_url="https://api.example"))


def tools_of_list(listed: Json) -> Any:
    """Return the source of a list of tools in any style."""
    return ListSource.read(listed, name="list")


def tools_of_server(command: str, *arguments: str) -> Any:
    """Return the source of an MCP server that is started as a process."""
    return MCPSource.stdio(command, *arguments, name="rooms")


async def offered(source: Any) -> tuple[list[Tool], dict[str, Json]]:
    """Return the tools of one source and the definitions that are pinned of them."""
    try:
        tools = list(await source.open())
        pins = {}
        if hasattr(source, "definition"):
            pins = {one.name: source.definition(one) for one in tools}
        return tools, pins
    finally:
        await source.aclose()


async def catalogue_digest(sources: Sequence[Any]) -> tuple[str, dict[str, str]]:
    """Return the digest of a catalogue and those of its tools, under the names they have there."""
    async with open_catalog(list(sources)) as catalogue:
        return catalogue.digest, {one.name: one.digest for one in catalogue}


def styles(one: Tool) -> dict[str, tuple[Json, str]]:
    """Return a tool in every style of the wire, with the digest of what is read from it again."""
    made = {
        "openai": tool_to_openai(one),
        "anthropic": {
            "name": one.name,
            "description": one.description,
            "input_schema": one.input_schema,
        },
        "mcp": tool_to_mcp(one),
    }
    return {style: (said, tool_from_wire(said).digest) for style, said in made.items()}


def openapi_name(method: str, path: str, operation: Json, taken: set[str]) -> str:
    """Return the name of the tool that an operation becomes."""
    return _openapi_names.tool_name(method, path, operation, taken)


def weights_digests() -> dict[str, str]:
    """Return the digests by which shipped weights know the features that they were trained on."""
    return {
        "features": _FEATURES,
        "meanings": _MEANINGS,
        "needed": _NEEDED,
        "candidates": _CANDIDATES,
    }


def row_keys(tools: Sequence[Tool]) -> dict[str, str]:
    """Return the keys under which verification keeps what it found."""
    trajectory = Trajectory("row", "Weather in Zürich?", tuple(tools))
    asked = Asked("row", "Weather in Zürich?", tuple(tools), needed=(tools[0].name,))
    return {
        "trajectory": trajectory.key,
        "request": asked.key,
        "apis": _sweep.make_row_key("apis", tools[0].digest, "place"),
        "several": _sweep.make_row_key("queries", asked.key, ["lost"]),
        "question": make_question_key("call", tools[0].digest, {"city": "Zürich"}),
        "settings": compute_digest({"stage": "apis", "model": "m"}),
    }


def vector_key(name: str, width: int, text: str) -> str:
    """Return the key of a text in a cache of vectors."""

    class Encoder:
        def __init__(self) -> None:
            self.name, self.width = name, width

    encoder: Any = Encoder()
    return CachedEncoder(encoder)._key(text).hex()


def seal(folder: Path, value: dict[str, Any]) -> str:
    """Return the seal of a value under the key in this folder."""
    return TrustStore(folder).seal(value)


def trusted_digests() -> list[str]:
    """Return the digests of what is trusted because it comes with the package."""
    return sorted(SHIPPED)


def splits(texts: Sequence[str]) -> dict[str, Json]:
    """Return the part of each data set that a text belongs to."""
    rows = [Trajectory("row", text, ()) for text in texts]
    reflected = [Reflected(row, Step(), "", (), "calling", "") for row in rows]
    return {
        "fold": [_splits.hash_fold(text) for text in texts],
        "toolmvr": [_toolmvr_part(row) for row in rows],
        "reflected": [assign_part(row) for row in reflected],
    }


# The proxy


def proxy_call_ids(body: bytes, count: int) -> list[str]:
    """Return ids of calls that the proxy wrote; every second one of a call that cost a question."""
    return [_ids.make_call_id(_ids.compute_seed(body), n, asked=bool(n % 2)) for n in range(count)]


def proxy_paths() -> list[str]:
    """Return the paths of the APIs that the proxy speaks."""
    return sorted([CHAT, *FRONTS, *ANSWERS])


def through_proxy(
    path: str, body: bytes, answers: Sequence[tuple[str, bytes]], **settings: Any
) -> dict[str, Any]:
    """Send one request through the proxy; ``answers`` are the upstream's: content type, body."""
    session = Session(
        _ProxySettings(**{"guided": "off", "guard": "on", **settings}), Toolsets(), "t1"
    )
    told: dict[str, Any] = {"body": b"", "head": [], "rules": [], "outcome": ""}

    def tell(event: Any) -> None:
        for command in session.handle(event, 100.0):
            if isinstance(command, SendBody):
                told["body"] += command.data
            elif isinstance(command, SendHead):
                told["head"] = sorted(map(list, command.headers))
            elif isinstance(command, Log):
                told["rules"] = [edit.rule for edit in command.record.edits]
                told["outcome"] = command.record.outcome

    tell(Request("POST", path, "", (), body))
    for kind, answer in answers:
        if told["outcome"]:
            break
        tell(UpstreamHead(200, {"content-type": kind}))
        tell(UpstreamData(answer))
        tell(UpstreamEnd())
    return {**told, "body": told["body"].decode()}


# What the gate and the rules decide


def gate(case: Mapping[str, Any]) -> dict[str, Json]:
    """Check one call. ``sources`` are where its values may come from, or None."""
    known, sources = case["sources"], None
    if known is not None:
        results = [ToolResult(**told) for told in known["results"]]
        sources = ProvenanceIndex(known["query"], known["said"], results, days=_days(known["days"]))
    found = Gate(map(tool_of, case["tools"])).check(call_of(case["call"]), sources)
    accepted = isinstance(found, callwright.CheckedCall)
    notes = found.warnings if accepted else found.violations  # type: ignore[union-attr]
    return {
        "accepted": accepted,
        "arguments": found.arguments,
        "edits": [to_json(edit) for edit in found.edits],
        "violations": [note.to_dict() for note in notes],
    }


def _days(said: Sequence[str]) -> list[Any]:
    from datetime import date

    return [date.fromisoformat(text) for text in said]


def refined(case: Mapping[str, Any]) -> dict[str, Json]:
    """Make the calls of a reply right."""
    source = case["source"]
    ours = isinstance(source, list) and all("slot" in one for one in source)
    given = [call_of(one) for one in source] if ours else source
    found = refine(
        given,
        [tool_of(one) for one in case["tools"]],
        query=case["query"],
        messages=[_message(one) for one in case["messages"]],
        rule_groups=case["rule_groups"],
        settings=Settings(**case["settings"]) if case["settings"] else None,
    )
    made: dict[str, Json] = to_json(found)
    return made


def _message(told: Mapping[str, Any]) -> Message:
    return Message(**{**told, "tool_calls": tuple(map(call_of, told["tool_calls"]))})


def ordered(case: Mapping[str, Any]) -> dict[str, Json]:
    """Put calls into an order in which each comes after those it takes something from."""
    calls, tools = map(call_of, case["calls"]), map(tool_of, case["tools"])
    labels = [tuple(one) for one in case["labels"]]
    more: dict[str, Any] = {
        k: [tuple(v) for v in said] if k == "unknown" else said for k, said in case["more"].items()
    }
    found = _order([*calls], [*tools], query=case["query"], labels=labels, **more)
    shown = ("calls", "edits", "problems", "layers")
    made = {name: to_json(getattr(found, name)) for name in shown}
    return {**made, "abstained": to_json(found.suggestions)}


# Names on the wire


def wire_names() -> dict[str, list[str]]:
    """Return the names that are stored or sent, as registries and types list them."""
    listed = {**_of_runs(), **_of_tools(), **_of_data_sets(), **_of_proxies(), **_fields()}
    return {what: sorted(map(str, found)) for what, found in listed.items()}


def _of_runs() -> dict[str, Iterable[Any]]:
    return {
        "event kinds": KINDS,
        "errors": [cls.__name__ for cls in CallwrightError.__subclasses__()],
        "limits": Limits.__dataclass_fields__,
        "run statuses": get_args(_status()),
        "supports": get_args(Support),
        "roles": get_args(Role),
        "reply modes": get_args(ReplyMode),
        "freeze levels": get_args(_Freeze),
        "program stops": get_args(_sandbox.Stop),
        "strategies": [*STRATEGIES, *OLD_SPELLINGS["strategies"]],
        "repairs of strategies": REFLECT,
        "ways of recovery": WAYS,
        "planners": PLANNERS,
        "prompts": [*_prompts.names(), *_lab_prompts.names()],
        "settings keys": _SETTINGS_KEYS,
        "public names": callwright.__all__,
    }


def _of_tools() -> dict[str, Iterable[Any]]:
    return {
        "failure kinds": get_args(FailureKind),
        "violation kinds": get_args(ViolationKind),
        "simulated": get_args(Simulated),
        "trials": TRYING,
        "trial standings": get_args(Standing),
        "evidence outcomes": get_args(Outcome),
        "evidence origins": get_args(Origin),
        "trust kinds": get_args(_Trusted),
        "overlay changes": _flat(_OverlayChanges),
        "retrieval modes": MODES,
        "dialects": DIALECTS,
        "reference notations": [row.name for row in reference_notations()],
        "rule groups": RULE_GROUPS,
    }


def _of_data_sets() -> dict[str, Iterable[Any]]:
    return {
        "reflection kinds": get_args(_Reflected),
        "row defects": get_args(DefectKind),
        "step faults": get_args(StepFaultKind),
        "trajectory statuses": get_args(_Verified),
        "trajectory checkers": get_args(_Checker),
        "transcript layouts": FORMATS,
        "written layouts": WRITTEN,
    }


def _of_proxies() -> dict[str, Iterable[Any]]:
    return {
        "proxy settings keys": _PROXY_KEYS,
        "proxy counters": _COUNTERS,
        "proxy records": [one.name for one in fields(_record.Record)],
        "proxy paths": proxy_paths(),
    }


def _status() -> Any:
    from callwright.agent.orchestrator import Status

    return Status


def _flat(alias: Any) -> list[str]:
    """Return the texts of a type that is a literal or a union of literals."""
    inner = get_args(alias)
    return [text for one in inner for text in ([one] if isinstance(one, str) else _flat(one))]


def _fields() -> dict[str, Iterable[Any]]:
    """Return the fields of the values that are written as JSON."""
    written: dict[str, Any] = {
        "tool": Tool,
        "effects": Effects,
        "tool call": ToolCall,
        "tool result": ToolResult,
        "edit": Edit,
        "usage": Usage,
        "message": Message,
        "slot": Slot,
        "answer": callwright.Answer,
        "statement": callwright.Statement,
        "citation": callwright.Citation,
        "skip": callwright.Skip,
        "violation": callwright.Violation,
        "failure": callwright.Failure,
        "observation": Observation,
        "finding": _sweep.Finding,
        "cost of a finding": Cost,
        "step": Step,
        "trajectory": Trajectory,
        "overlay of a tool": ToolOverlay,
        "overlay change": OverlayChange,
    }
    fields: dict[str, Iterable[Any]] = {
        f"fields of {what}": list(one.__dataclass_fields__) for what, one in written.items()
    }
    return {**fields, "fields of run": list(_run_to_dict())}


def _run_to_dict() -> dict[str, Any]:
    empty = Run("", "", "answered", callwright.Answer(""), Plan(), (), (), _cost())
    return empty.to_dict()


def _cost() -> Any:
    from callwright.agent.orchestrator import Cost as RunCost

    return RunCost()


# Files on the disk


def written_files(folder: Path) -> None:
    """Write one file of every kind that is kept between processes, with fixed content."""
    _write_trust(folder / "trust")
    _write_evidence(folder / "evidence.db")
    _write_overlay(folder / "overlay.json")
    _write_trace(folder / "trace.jsonl")
    _write_sweep(folder / "sweep.jsonl")
    _write_conversations(folder / "kept.jsonl")


def _example() -> Tool:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    return Tool("weather", "Weather in a city: Zürich, 東京.", schema, effects=READ, source="list")


def _write_trust(folder: Path) -> None:
    store = TrustStore(folder)
    store.trust("document", "/srv/api.json", digest_of("{}"))
    store.trust("tools", "https://mcp.example/mcp", digest_of({"weather": {}}))
    store.require_unchanged("mcp rooms", {"weather": to_json(_example())})


def _write_evidence(path: Path) -> None:
    with EvidenceStore(path, clock=lambda: 1_000_000.0) as store:
        one = _example()
        seen = [
            Observation(one.name, one.digest, "functional_success", {"city": "Zürich"}, "rain"),
            Observation(one.name, one.digest, "execution_failure", {"city": "Rome"}, kind="auth"),
            Observation(
                one.name, one.digest, "parameter_mismatch", {}, kind="missing", ref="r/1/1"
            ),
        ]
        store.record(seen)


def _write_overlay(path: Path) -> None:
    change = OverlayChange("city", "enum", ["Zürich", "Rome"], "seen in an error")
    whole = OverlayChange("", "description", "The weather of today.")
    entry = ToolOverlay(documented(_example()), (change, whole), "works", ("other units",))
    Overlay({"weather": entry}, {"by": "a test"}).write(path)


def _write_trace(path: Path) -> None:
    with JsonlSink(path) as sink:
        trace = Trace((sink,), secrets=("s3cret-value",), clock=lambda: 5.0)
        trace.add("run.start", query="Zürich?", tools=[_example()])
        trace.add("note", text="the key is s3cret-value")
        trace.blob("a prompt")


def _write_sweep(path: Path) -> None:
    with _sweep.open_journal(path, {"stage": "apis", "model": "m"}) as journal:
        journal.keep(_sweep.Finding(True, "works", "it answered", {"n": 1}, "weather", "k1"))
        journal.memory("k2").begin("asked")
        journal.memory("k2").tell("asked", {"told": True})
        journal.keep(_sweep.Finding(False, "", "later", id="x", key="k3", lasting=False))


def _write_conversations(path: Path) -> None:
    from callwright.proxy.session.decision.decision import Repaired

    wrong = ToolCall("c1", "weather", {"town": "Zürich"})
    Answered: Any = {"role": "assistant", "content": "It rains."}
    keeper = Keeper(path)
    first: Any = {"model": "m", "messages": [{"role": "user", "content": "Weather?"}], "tools": []}
    keeper.take(Keep(first, Answered, (Repaired("cwp000001", wrong, "Missing 'city'."),)))
    entry = {"id": "cwp000001", "type": "function"}
    called = {"role": "assistant", "tool_calls": [{**entry, "function": {"name": "weather"}}]}
    keeper.take(Keep({**first, "messages": [*first["messages"], called]}, Answered))


def read_files(folder: Path) -> dict[str, Json]:
    """Return what the package makes of the files that :func:`written_files` wrote at some time."""
    store = TrustStore(folder / "trust")
    with EvidenceStore(folder / "evidence.db", clock=lambda: 1_000_000.0) as evidence:
        one = _example()
        remembered = evidence.remembered(one.digest, {"city": "Zürich"}, 0.0)
        rates = evidence.rates(1_000_000.0)
    overlay = Overlay.read(folder / "overlay.json")
    with _sweep.open_journal(folder / "sweep.jsonl", {"stage": "apis", "model": "m"}) as journal:
        findings = {key: to_json(found) for key, found in journal.findings.items()}
        knows = journal.memory("k2").knows("asked")
    return {
        "confirmed": [[c.kind, c.where, c.digest] for c in store.confirmed()],
        "pinned": store.pinned("mcp rooms"),
        "sources": store.sources(),
        "remembered": to_json(remembered),
        "rates": {
            key: list(rate) if isinstance(rate, tuple) else to_json(rate)
            for key, rate in rates.items()
        },
        "overlay": overlay.to_json(),
        "overlaid": overlay.tools["weather"].apply(_example()).digest,
        "trace": [[e.kind, e.seq, e.data] for e in read_jsonl(folder / "trace.jsonl")],
        "findings": findings,
        "knows": knows,
    }


def training_records() -> dict[str, Json]:
    """Return one trajectory in every layout that is written, and one reflected row."""
    one = _example()
    call = ToolCall("c1", "weather", {"city": "Zürich"})
    came = ToolResult("c1", "weather", {"city": "Zürich"}, {"sky": "rain"})
    good = Step("I look.", (call,), (came,))
    refused = callwright.Failure("tool_error", "unknown city")
    wrong_call = ToolCall("c0", "weather", {"city": "Zurch"})
    failed = ToolResult("c0", "weather", {"city": "Zurch"}, None, refused)
    wrong = Step("I look.", (wrong_call,), (failed,))
    whole = Trajectory("t1", "Weather in Zürich?", (one,), (wrong, good), "It rains.")
    row = Reflected(whole.before(0), wrong, "The city is misspelt.", (call,), "calling", "value")
    made: dict[str, Json] = {name: write(Transcript(whole), FORMATS[name]) for name in WRITTEN}
    return {**made, "reflected": record(row), "kept": serialize_row(row)}


def report() -> str:
    """Return the report of a sweep as Markdown."""
    kept_one = _sweep.Finding(True, "works", "it answered", id="weather", key="k1")
    dropped = _sweep.Finding(False, "dead", "401 | no key", id="news", key="k2")
    return render_markdown(_sweep.Sweep((kept_one, dropped), ("left",), "the budget is spent", 1))


# Texts


def prompt_files() -> dict[str, bytes]:
    """Return every prompt file."""
    return {
        name: files(package).joinpath(f"{name}.md").read_bytes()
        for package in (_prompts, _lab_prompts)
        for name in package.names()
    }


# Rooms whose texts models read: in skips, refusals, tool messages and the parts of prompts.
READ_BY_MODELS = ("agent", "grounding", "parsing", "planning", "repair", "schema", "simulation")
READ_BY_CLIENTS = (
    *(
        f"callwright/proxy/session/{name}"
        for name in (
            "decision/decide",
            "decision/dropped",
            "decision/questions",
            "decision/readings",
            "decision/values",
            "guard",
            "hallucinated_calls",
            "history",
            "leading/guided",
            "leading/lead",
        )
    ),
    "callwright/gateway/exposure/exposure",
    "callwright/gateway/exposure/meta_tools",
    "callwright/gateway/pins/admission",
)


def read_by_models() -> Iterator[str]:
    """Yield the texts that models may read, with ``{}`` for what is filled in."""
    for place, tree in trees().items():
        package, room, *_ = (*place.split("/"), "")
        is_read = package == "callwright" and room in READ_BY_MODELS
        if is_read or place.startswith(READ_BY_CLIENTS):
            yield from _texts(tree)


def all_texts() -> Iterator[str]:
    """Yield every text of the package, its vocabulary's too, with ``{}`` for what is filled in."""
    for tree in trees().values():
        yield from _texts(tree)
    for path in (path for source in SOURCES for path in source.rglob("language/*/*.toml")):
        for entry in tomllib.loads(path.read_text(encoding="utf-8")).values():
            yield from entry.get("phrases", ())


@cache
def trees() -> dict[str, ast.Module]:
    """Return every module of the package, by its place in it."""
    return {
        path.relative_to(source.parent).as_posix(): tree
        for source in SOURCES
        for path, tree in parse_modules(source).items()
    }


def table_of_wire_names() -> dict[str, list[str]]:
    """Return what the table of wire names holds: the stored literals, by group."""
    return {str(group): [*table.values()] for group, table in WIRE_NAMES.items()}


def literals() -> frozenset[str]:
    """Return every text constant of the package, but for the table that lists them."""
    return _read_constants()[0]


@cache
def _read_constants() -> tuple[frozenset[str], frozenset[str]]:
    """Return the text constants of the package, and the names that it takes from the table."""
    texts, named, table = set(), set(), EditRules.__name__
    for path, tree in trees().items():
        is_table = Path(path).name == "wire_names.py"
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant):
                if isinstance(node.value, str) and not is_table:
                    texts.add(node.value)
            elif isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == table:
                named.add(node.attr)
    return frozenset(texts), frozenset(named)


def rules_outside_of_the_table() -> list[str]:
    """Return where an edit is made with a rule that is no constant of the table's."""
    found = []
    for path, tree in trees().items():
        if Path(path).name == "wire_names.py":
            continue
        for node in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            rule = _rule_of(node)
            is_text = isinstance(rule, ast.Constant | ast.JoinedStr | ast.BinOp)
            if is_text or ast.unparse(node.func) == EditRule.__name__:
                found.append(f"{path}:{node.lineno} {ast.unparse(node)}")
    return found


def _rule_of(call: ast.Call) -> ast.expr | None:
    """Return what stands for the rule where a call makes or lists an edit."""
    name = ast.unparse(call.func).rpartition(".")[2]
    if name not in {Edit.__name__, ValueEdit.__name__, LocatedEdit.__name__, "list_edit"}:
        return None
    return next(iter([*call.args[3:4], *(k.value for k in call.keywords if k.arg == "rule")]), None)


def used_rules() -> frozenset[str]:
    """Return the rules of the table that a module names, as they are stored."""
    return frozenset(getattr(EditRules, name) for name in _read_constants()[1])


def _texts(tree: ast.Module) -> Iterator[str]:
    unread = {id(inner) for node in ast.walk(tree) for inner in _unread(node)}
    for node in ast.walk(tree):
        if id(node) in unread:
            continue
        if isinstance(node, ast.JoinedStr):
            constants = (p.value if isinstance(p, ast.Constant) else "{}" for p in node.values)
            yield "".join(map(str, constants))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _unread(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what no model reads (docstrings, errors, lists of words), and the parts of texts."""
    if isinstance(node, ast.JoinedStr):
        yield from node.values
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        yield node.value
    elif isinstance(node, ast.Raise):
        yield from ast.walk(node)
    elif isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr == "split":
            yield node.func.value
        elif ast.unparse(node.func).endswith("Error"):
            yield from ast.walk(node)


def is_former_strategy(name: str) -> bool:
    """Whether a strategy that a journal names is no more, and another took its place."""
    return name in OLD_SPELLINGS["strategies"]
