"""``callwright runs``, ``resume`` and ``resolve``: what became of the runs, and how they go on."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from callwright.agent.journal.ledger import Ledger
from callwright.agent.journal.resume import find_journal
from callwright.agent.journal.store import (
    Journal,
    describe_origin,
    is_own,
    is_owned,
    list_journals,
    read_journal,
    runs_dir,
)
from callwright.agent.options import Interaction, Persistence, Safety, ToolSelection
from callwright.agent.orchestrator import Orchestrator
from callwright.cli.evidence import open_evidence
from callwright.cli.run import (
    describe_doubts,
    fetch_model,
    make_simulator,
    print_run,
    render_place,
    report_resume_hint,
)
from callwright.cli.settings.options import EVERY_SOURCE, PageOptions
from callwright.cli.terminal.consent import make_terminal_approval
from callwright.cli.terminal.console import shorten_text
from callwright.cli.terminal.live import Live
from callwright.cli.view import write_html
from callwright.jsontext import JsonError, parse
from callwright.models import ModelSpec
from callwright.nouns.control_characters import one_line
from callwright.nouns.errors import ConfigError, JournalError, TrustError
from callwright.nouns.trace import Event, Trace
from callwright.nouns.types import Json, JsonObject, to_json
from callwright.planning import PLANNERS, open_planner
from callwright.tools.trust import TrustStore, escape_terminal_text
from callwright.viewer import page

_UNSAID: Mapping[str, Json] = dict.fromkeys(("tools", "model", "planner", "only", "cwd"))


@dataclass(frozen=True, slots=True)
class Listed:
    """A run in the list. ``status``: running, interrupted, in doubt, damaged, or how it ended.
    ``in_doubt``: the writes of which nobody knows whether they happened: a resume waits for word of
    them, or the run has ended so.
    """

    id: str
    started: float
    status: str
    query: str = ""
    in_doubt: tuple[str, ...] = ()
    damage: str = ""  # what is wrong with the journal, and what to do

    def to_dict(self) -> JsonObject:
        """With the name that ``id`` had before, ``run``, for one version more."""
        return {**to_json(self), "run": self.id}


def list_runs(folder: Path | None, as_json: bool) -> int:
    """Print every run of a folder, oldest first."""
    found = [_list_journal(path) for path in list_journals(folder)]
    if as_json:
        import orjson

        for one in found:
            print(orjson.dumps(one.to_dict()).decode())
        return 0
    for one in found:
        when = (
            time.strftime("%Y-%m-%d %H:%M", time.localtime(one.started))
            if one.started
            else " " * 16
        )
        print(f"{one.id}  {when}  {one.status:<12}  {shorten_text(one.query)}")
        for doubt in one.in_doubt:
            print(f"    in doubt: {one_line(doubt)}")
        if one.damage:
            print(f"    {one_line(one.damage)}")
    if not found:
        print("there is no run yet", file=sys.stderr)
    return 0


def get_start_model(
    run: str, folder: Path | None = None, tools: Sequence[str] | None = None
) -> str | None:
    """The model that a run was started with, if it can be written down. Raises TrustError as
    :func:`require_own`.
    """
    path = find_journal(run, folder or True)
    meta, _ = read_journal(path, texts=False)
    require_own(path, meta, folder, tools=tools)
    said = meta["setup"].get("model")
    return said if isinstance(said, str) else None


def require_own(
    path: Path,
    meta: Mapping[str, Json],
    folder: Path | None = None,
    *,
    tools: Sequence[str] | None = None,
    model: str | None = None,
    sandbox: bool = False,
) -> None:
    """Raise TrustError where a journal would choose what code runs or what is sent where, though
    nobody confirmed it: one that somebody else made, or that lies outside the folder of the runs.
    What is named here is not taken from it; ``sandbox``: it says that what tools change is thrown
    away.
    """
    here = path.absolute().parent.resolve() == (folder or runs_dir()).expanduser().resolve()
    if (here and is_own(path, meta)) or TrustStore().is_trusted(
        "journal", *describe_origin(path, meta)
    ):
        return
    setup = {**_UNSAID, **meta["setup"]}
    chosen = {
        "--tools": setup["tools"] if not tools else None,
        "--model": setup["model"] if not model and setup["model"] != "local" else None,
        "--planner": setup["planner"] if setup["planner"] not in PLANNERS else None,
        "--sandbox": "yes" if sandbox else None,
    }
    named = [
        f"{option} {_render_value(value)}" for option, value in chosen.items() if value is not None
    ]
    if named:
        known = escape_terminal_text(str(path))
        raise TrustError(
            "\n  ".join(
                [
                    (
                        f"{known} is no run of this user's folder, and nobody has confirmed it; it"
                        " names"
                    ),
                    *named,
                ]
            ),
            hint=(
                "give --tools and --model yourself; or --journal FOLDER, if you made it there; or"
                f" confirm it:\n  callwright trust {shlex.quote(known)}"
            ),
        )


def _render_value(value: Json) -> str:
    texts = [str(v) for v in value] if isinstance(value, list) else [str(value)]
    return escape_terminal_text(" ".join(texts))[:200]


@dataclass(frozen=True, slots=True)
class Resumption:
    """The way in which a run goes on. Tools and model are those it was started with unless others
    are named; ``key_variable`` holds the model's key. ``changed``: although something has changed
    since.
    """

    folder: Path | None = None
    tools: Sequence[str] | None = None
    model: str | None = None
    key_variable: str = ""
    changed: bool = False
    allow: Sequence[str] = ()
    evidence: bool | Path = True


def resume_run(run: str, how: Resumption, shown: PageOptions) -> int:
    """Go on with a run. Returns the exit code."""
    folder, tools, model = how.folder, how.tools, how.model
    path = find_journal(run, folder or True).absolute()
    meta, events = read_journal(path, every=True, texts=False)
    start = next((e.data for e in events if e.kind == "run.start"), {})
    require_own(path, meta, folder, tools=tools, model=model, sandbox=start.get("sandbox", False))
    setup = {**_UNSAID, **meta["setup"]}
    if not (tools or setup["tools"]):
        raise ConfigError(
            f"the run {path.stem} did not come from the command line", hint="name its --tools"
        )
    asked = model or setup["model"]
    fetch_model(asked)
    is_usual = path.parent == runs_dir().absolute()
    with ExitStack() as stack:
        live = Live()
        stack.enter_context(report_resume_hint(live, is_usual or path.parent))
        stack.enter_context(live)
        evidence = stack.enter_context(open_evidence(how.evidence))
        if setup["cwd"] and not tools:  # sources are named as they were, seen from there
            try:
                stack.enter_context(chdir(setup["cwd"]))
            except OSError as error:
                raise ConfigError(
                    f"the folder {setup['cwd']}, where the run was started, cannot be entered:"
                    f" {error.strerror}",
                    hint="make it again, or name the tools: --tools SOURCE",
                ) from None
        orchestrator = Orchestrator(
            tools or setup["tools"],
            model=None if asked is None else ModelSpec(asked, how.key_variable),
            strategy=start.get("strategy", "layered"),
            planner=open_planner(setup["planner"]) if setup["planner"] else None,
            safety=Safety(make_terminal_approval(live), how.allow),
            selection=ToolSelection(
                setup["only"],
                strict=EVERY_SOURCE.get(),
                trust=TrustStore(),
                simulator=make_simulator,
            ),
            persistence=Persistence(evidence=evidence, sinks=[live]),
            interaction=Interaction(on_reply=live.on_text),
        )
        done = orchestrator.resume_sync(path, changed=how.changed)
    print_run(done, shown.as_json)
    if shown.html is not None:
        write_html(page(done.events), shown.html)
        print(f"run page: {shown.html}", file=sys.stderr)
    return 0 if done.status != "abstained" else 3


def resolve_call(
    run: str,
    call: str,
    *,
    folder: Path | None = None,
    result: str | None = None,
    not_done: bool = False,
    failed: str | None = None,
) -> int:
    """Say what became of a call in doubt, for the next resume."""
    said = _build_outcome(result, not_done, failed)
    path = find_journal(run, folder or True)
    with Journal.reopen(path) as journal:
        doubts = {d["id"]: d for d in Ledger(journal.events()).unanswered}
        if call not in doubts:
            known = ", ".join(doubts) or "none; what a run ended with stays as its answer tells it"
            raise JournalError(
                f"the call {call!r} of {journal.run} is not in doubt", hint=f"in doubt: {known}"
            )
        trace = Trace((journal,))
        trace.add("resolution", id=call, attempt=doubts[call]["attempt"], by="user", **said)
    goes_on = f"callwright resume {path.stem}{render_place(folder or True)} goes on"
    print(f"noted; {goes_on}", file=sys.stderr)
    return 0


def _build_outcome(result: str | None, not_done: bool, failed: str | None) -> dict[str, Json]:
    if (result is not None) + not_done + (failed is not None) != 1:
        raise ConfigError(
            "say one thing of the call", hint="--result JSON, --not-done or --failed WHY"
        )
    if not_done:
        return {"outcome": "not_done"}
    if failed is not None:
        return {"outcome": "failed", "message": failed}
    try:
        return {"outcome": "done", "content": parse(result or "")}
    except JsonError as error:
        raise ConfigError(
            f"--result is not JSON: {error}", hint="""a text needs quotes: --result '"done"'"""
        ) from None


def _list_journal(path: Path) -> Listed:
    try:
        meta, events = read_journal(path, every=True, texts=False)
        return _compute_status(path, meta, events)
    except JournalError as error:
        return Listed(path.stem, 0.0, "damaged", damage=f"{error.message}; {error.hint}")
    except (
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
    ) as error:  # of an older version, whose events differ
        return Listed(
            path.stem,
            0.0,
            "damaged",
            damage=f"the journal {path} cannot be read: {error!r}; move it away",
        )


def _compute_status(path: Path, meta: Mapping[str, Any], events: Sequence[Event]) -> Listed:
    start: Any = next((e.data for e in events if e.kind == "run.start"), {"query": ""})
    ended = [e.data["status"] for e in events if e.kind == "run.end"]
    left = [e.data for e in events if e.kind == "run.end"][-1:]
    failed = {one for data in left for one in data.get("in_doubt", ())}
    open_ = (
        [e.data for e in events if e.kind == "result" and e.data["id"] in failed]
        if left
        else Ledger(events).doubts
    )
    doubts = tuple(dict.fromkeys(describe_doubts(open_)))
    if ended:
        status = ended[-1]
    elif is_owned(path):
        status = "running"
    elif doubts:
        status = "in doubt"
    else:
        status = "interrupted"
    return Listed(
        path.stem, meta["created"], status, start["query"], () if status == "running" else doubts
    )
