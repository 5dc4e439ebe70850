"""Records -> one HTML page: raw, parsed, edits, sent, per request. Pure; every text escaped. The
script filters and asks for what is new; all else is there without it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from callwright.nouns.types import Json, JsonObject, ToolCall, to_json
from callwright.proxy.server.counters import Counters
from callwright.proxy.session.guarding import Guarding
from callwright.proxy.session.record import Led, Record
from callwright.viewer.document import render_document
from callwright.viewer.markup import Html, html, join_html
from callwright.viewer.moments import format_seconds, render_moment
from callwright.viewer.summary import FILTER, LIVE, Fact, Kind, join_kinds, render_summary


def render_front(host: str, upstream: str) -> str:
    """Return the page that a browser gets at the root; ``host`` is the browser's name for the
    proxy.
    """
    body = html(
        "<h1>Callwright proxy</h1><p>This is no chat page. It is a proxy that repairs the tool"
        " calls of the models at <code>{upstream}</code>. Enter one of these addresses in your"
        " client as its base URL:</p><p>OpenAI: <code>http://{host}/v1</code></p><p>Anthropic and"
        ' Ollama: <code>http://{host}</code></p><p><a href="/callwright">The last requests, and'
        " what was repaired in them</a></p>",
        upstream=upstream,
        host=host,
    )
    return render_document("Proxy", [body])


@dataclass(frozen=True, slots=True)
class Shown:
    """The surroundings of the requests on a page. ``now``: seconds since 1970; ``more``: the
    address of older requests, if there are any; ``live``: it holds the newest, and asks for those
    to come; ``health``: that of each upstream, where there are several.
    """

    counters: Counters
    upstream: str
    now: float
    more: str = ""
    live: bool = True
    health: Sequence[JsonObject] = ()

    @property
    def scripts(self) -> tuple[str, ...]:
        return (FILTER, LIVE) if self.live else (FILTER,)


def render_page(rows: Sequence[Html], shown: Shown) -> str:
    """The last requests, each as :func:`render_row` renders it."""
    older = html('<p><a href="{}">Older requests</a></p>', shown.more) if shown.more else Html()
    body = [
        html(
            "<header><h1>Callwright proxy</h1><p class=origin><span>Upstream: {}</span><span>Requests"
            " that offered tools, newest first</span><noscript>Reload for"
            " more.</noscript></p></header>",
            shown.upstream,
        ),
        render_summary(_render_outcome(shown), _list_facts(shown.counters), _count_kinds(shown)),
        html(
            '<main>{}<section id="requests"><h2>Requests</h2>{}{}</section></main>',
            _render_upstreams(shown.health),
            join_html(rows) or html("<p>No request with tools yet.</p>"),
            older,
        ),
    ]
    return render_document("Proxy", body, scripts=shown.scripts, live=shown.live)


def _render_upstreams(health: Sequence[JsonObject]) -> Html:
    if not health:
        return Html()
    lines = "\n".join(_format_health(one) for one in health)
    return html('<section id="upstreams">{}</section>', _render_column("Upstreams", lines))


def _render_outcome(shown: Shown) -> Html:
    """The newest request in one line."""
    if not shown.counters.records:
        return html('<span class="tag idle">idle</span> <span class=said>no request yet</span>')
    last = shown.counters.records[0]
    rules = ", ".join(dict.fromkeys(edit.rule for edit in last.edits))
    said = " · ".join(filter(None, (last.path, last.model, rules)))
    return html('<span class="tag {0}">{0}</span> <span class=said>{1}</span>', last.outcome, said)


def _list_facts(counters: Counters) -> list[Fact]:
    counted = counters.requests
    finished = sum(counted.values())
    failed = counted["failed"] + counted["gone"]
    held, faults = sum(counters.held.values()), sum(counters.faults.values())
    tools = html('<a href="/callwright/tools.json">{}</a>', len(counters.undeclared))
    return [
        Fact("requests", str(finished)),
        Fact("under way", str(counters.active)),
        Fact("edited", str(counted["edited"]), "edited" if counted["edited"] else ""),
        Fact("edits", str(sum(counters.edits.values()))),
        Fact(
            "questions", str(counters.questions), note="upstream requests beyond the client's own"
        ),
        Fact("calls", str(sum(counters.calls.values())), note="sent to clients"),
        Fact("kept back", str(held), "skipped" if held else "", "by the guard"),
        Fact("undeclared tools", tools, note="offered without effects: see docs/proxy.md"),
        Fact("failed", str(failed), "failed" if failed else "", "or left by the client"),
        Fact("faults", str(faults), "failed" if faults else "", "of the proxy itself"),
        Fact("seconds", f"{counters.seconds:.1f}", note="spent on requests that offered tools"),
    ]


def _count_kinds(shown: Shown) -> list[Kind]:
    """The choices of the filter, counted over all requests that are kept."""
    found = [_list_kinds(record) for record in shown.counters.records]
    names = {
        "": "everything",
        "edited": "edited",
        "untouched": "untouched",
        "question": "with questions",
        "held": "held by the guard",
        "failure": "failures",
    }
    return [
        Kind(kind, name, sum(kind in one for one in found) if kind else len(found))
        for kind, name in names.items()
    ]


def _list_kinds(record: Record) -> list[str]:
    failed = record.outcome in ("failed", "gone") or record.fault
    return [
        record.outcome,
        *(["question"] if record.questions else []),
        *(["held"] if record.guarding.held else []),
        *(["failure"] if failed else []),
    ]


def render_row(record: Record, now: float) -> Html:
    """One request: a line, and behind it raw, parsed, edits and sent. ``now``: seconds since
    1970."""
    facts = (
        record.id,
        record.path,
        record.model,
        record.dialect,
        _format_count(len(record.edits), "edit"),
        _format_count(record.questions, "question"),
        _render_guided(record),
        f"guard: {record.guarding.mode}" if record.guarding.mode else "",
        f"{len(kept_back)} kept back" if (kept_back := record.guarding.kept_back) else "",
        f"{len(reported)} reported" if (reported := record.guarding.reported) else "",
        f"fault: {record.fault}" if record.fault else "",
        f"upstream: {record.upstream}" if record.upstream else "",
        format_seconds(record.seconds),
    )
    edits = [
        f"{e.rule} {e.path}\n{_format_value(e.before)}\n→ {_format_value(e.after)}"
        for e in record.edits
    ]
    notes = [*record.notes, *(v.message for v in record.violations)]
    columns = (
        _render_column("Raw", record.raw),
        _render_column("Parsed", _format_calls(record.parsed)),
        _render_column("Edits", "\n\n".join(edits) or "none"),
        _render_column(
            "Sent", _format_calls(record.sent) if record.outcome == "edited" else "as it came"
        ),
    )
    return html(
        '<details class=request id="{id}" data-kinds="{kinds}"><summary><span class="tag'
        ' {outcome}">{outcome}</span>{facts}{at}</summary>'
        "<div class=columns>{columns}</div>{led}{held}{notes}</details>",
        id=record.id,
        kinds=join_kinds(_list_kinds(record)),
        outcome=record.outcome,
        at=render_moment(record.created, now),
        facts=join_html(html("<span>{}</span>", fact) for fact in facts if fact),
        columns=join_html(columns),
        led=_render_column("Led", _format_led(record.led)) if record.led else "",
        held=_render_column("Guard", _format_held(record.guarding)) if record.guarding.held else "",
        notes=_render_column("Notes", "\n".join(notes)) if notes else "",
    )


def _format_health(health: JsonObject) -> str:
    """``host:port: limited (HTTP 429), rests 12 s; 5 asked, 0 failed, 1 limited``."""
    rest = f", rests {health['rests_seconds']:.0f} s" if health["rests_seconds"] else ""
    last = f" ({health['last_failure']})" if health["state"] in ("fails", "limited") else ""
    counted = ", ".join(f"{health[name]} {name}" for name in ("asked", "failed", "limited"))
    return f"{health['name']}: {health['state']}{last}{rest}; {counted}"


def _render_guided(record: Record) -> str:
    if record.led is None:
        return "guided" if record.guided else ""
    return f"guided: {', '.join(record.led.parts) or 'no part'}"


def _format_led(led: Led) -> str:
    return "\n".join([f"parts: {', '.join(led.parts) or 'none'}", *led.steps])


def _format_held(guarding: Guarding) -> str:
    """Every call that the guard speaks against, what became of it, and why."""
    return "\n\n".join(
        f"{'sent, only reported' if one.is_sent else 'kept back'} ({one.rule}): {one.call.tool}"
        f" {_format_json(one.call.arguments)}\n{one.reason}"
        for one in guarding.held
    )


def _render_column(title: str, text: str) -> Html:
    return html("<div class=column><h3>{}</h3><pre>{}</pre></div>", title, text)


def _format_count(number: int, what: str) -> str:
    plural = "" if number == 1 else "s"
    return f"{number} {what}{plural}" if number else ""


def _format_value(value: Json) -> str:
    return (
        "nothing" if value is None else json.dumps(to_json(value), ensure_ascii=False, default=str)
    )


def _format_calls(calls: Sequence[ToolCall]) -> str:
    return "\n".join(f"{c.tool} {_format_json(c.arguments)}" for c in calls) or "no call"


def _format_json(value: Json) -> str:
    return json.dumps(to_json(value), ensure_ascii=False, indent=1, default=str)
