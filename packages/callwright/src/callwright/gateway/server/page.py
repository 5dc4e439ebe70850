"""The page of a gateway: its servers, and its last calls with what was done to them. Pure; every
text escaped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from callwright.gateway.server.counters import GatewayCounters
from callwright.gateway.session.record import OUTCOMES, CallOutcome
from callwright.language.credentials import mask_secrets
from callwright.nouns.types import Json, JsonObject
from callwright.viewer.document import render_document
from callwright.viewer.markup import Html, html, join_html
from callwright.viewer.moments import format_seconds, render_moment
from callwright.viewer.summary import FILTER, LIVE, Fact, Kind, join_kinds, render_summary

SCRIPTS = (FILTER, LIVE)
_COLOURS: Mapping[CallOutcome, str] = {
    "passed": "untouched",
    "refused": "skipped",
    "gone": "failed",
    "unknown": "failed",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """The surroundings of the calls on a page. ``servers``: their states; ``now``: seconds since
    1970; ``secrets`` are taken out of what is shown.
    """

    counters: GatewayCounters
    servers: Sequence[JsonObject]
    active: int
    now: float
    problems: Sequence[str] = ()
    secrets: Sequence[str] = ()


def render_page(shown: Shown) -> str:
    """The page."""
    records = [mask_secrets(one, shown.secrets) for one in shown.counters.records]
    rows = [_render_row(record, shown.now) for record in records]
    body = [
        html(
            "<header><h1>Callwright gateway</h1><p class=origin><span>{} servers, {} tools</span>"
            "<span>Calls, newest first</span><noscript>Reload for more.</noscript></p></header>",
            str(len(shown.servers)),
            str(sum(one["tools"] for one in shown.servers)),
        ),
        render_summary(_render_outcome(records), _list_facts(shown), _count_kinds(records)),
        html(
            '<main>{}<section id="requests"><h2>Calls</h2>{}</section></main>',
            _render_servers(shown),
            join_html(rows) or html("<p>No call yet.</p>"),
        ),
    ]
    return render_document("Gateway", body, scripts=SCRIPTS, live=True)


def render_front(host: str) -> str:
    """Return what a browser gets at the root; ``host`` is its name for the gateway."""
    body = html(
        "<h1>Callwright gateway</h1><p>This is no web site. It is an MCP server in front of others."
        " Enter this address in your MCP client:</p><p><code>http://{host}/mcp</code></p>"
        '<p><a href="/callwright">Its servers, and the last calls</a></p>',
        host=host,
    )
    return render_document("Gateway", [body])


def _render_outcome(records: Sequence[JsonObject]) -> Html:
    """The newest call in one line."""
    if not records:
        return html('<span class="tag idle">idle</span> <span class=said>no call yet</span>')
    last = records[0]
    rules = ", ".join(dict.fromkeys(edit["rule"] for edit in last["edits"]))
    said = " · ".join(filter(None, (last["name"], last["reason"], rules)))
    return html(
        '<span class="tag {}">{}</span> <span class=said>{}</span>',
        _get_colour(last["outcome"]),
        last["outcome"],
        said,
    )


def _list_facts(shown: Shown) -> list[Fact]:
    counters = shown.counters
    ended = {outcome: counters.count_outcome(outcome) for outcome in OUTCOMES}
    return [
        Fact("calls", str(counters.total)),
        Fact("under way", str(shown.active)),
        Fact("edited", str(ended["edited"]), "edited" if ended["edited"] else ""),
        Fact("edits", str(sum(counters.edits.values()))),
        Fact("refused", str(ended["refused"]), "skipped" if ended["refused"] else "", "not sent"),
        Fact(
            "failed", str(ended["failed"]), "failed" if ended["failed"] else "", "without an answer"
        ),
        Fact(
            "unknown",
            str(ended["unknown"]),
            "failed" if ended["unknown"] else "",
            "may have taken effect",
        ),
        Fact("gone", str(ended["gone"]), note="left by the client"),
        Fact("seconds", f"{counters.seconds:.1f}", note="spent on calls"),
    ]


def _count_kinds(records: Sequence[JsonObject]) -> list[Kind]:
    found = [_list_kinds(record) for record in records]
    names = {
        "": "everything",
        "edited": "edited",
        "passed": "passed as they came",
        "refused": "refused",
        "failure": "failures",
    }
    return [
        Kind(kind, name, sum(kind in one for one in found) if kind else len(found))
        for kind, name in names.items()
    ]


def _list_kinds(record: JsonObject) -> list[str]:
    is_failure = record["outcome"] in ("failed", "unknown", "gone") or record["is_error"]
    return [record["outcome"], *(["failure"] if is_failure else [])]


def _get_colour(outcome: CallOutcome) -> str:
    return _COLOURS.get(outcome, outcome)


def _render_servers(shown: Shown) -> Html:
    lines = [_format_server(one) for one in shown.servers]
    problems = [*shown.problems, *(said for one in shown.servers for said in one["problems"])]
    return html(
        '<section id="upstreams">{}{}</section>',
        _render_column("Servers", "\n".join(lines)),
        _render_column("Problems", "\n".join(problems)) if problems else "",
    )


def _format_server(one: JsonObject) -> str:
    """``time: connected, 2 tools; 5 calls``."""
    parts = [f"{one['tools']} tools"]
    if one["blocked"]:
        parts.append(f"{one['blocked']} blocked")
    if one["rests_seconds"]:
        parts.append(f"tried again in {one['rests_seconds']:.0f} s")
    last = f" ({one['last_failure']})" if one["state"] == "fails" and one["last_failure"] else ""
    return f"{one['name']}: {one['state']}{last}, {', '.join(parts)}"


def _render_row(record: JsonObject, now: float) -> Html:
    """One call: a line, and behind it what was given, changed, sent and returned."""
    facts = (
        record["id"],
        record["name"],
        record["server"],
        record["reason"],
        f"{len(record['edits'])} edits" if record["edits"] else "",
        f"asked: {record['asked']}" if record["asked"] else "",
        "the tool says that it failed" if record["is_error"] else "",
        format_seconds(record["seconds"]),
    )
    edits = [
        f"{e['rule']} {e['path']}\n{_format_json(e['before'])}\n→ {_format_json(e['after'])}"
        for e in record["edits"]
    ]
    columns = (
        _render_column("Given", _format_json(record["given"])),
        _render_column("Edits", "\n\n".join(edits) or "none"),
        _render_column("Sent", _format_sent(record)),
        _render_column("Reply", record["reply"]),
    )
    return html(
        '<details class=request id="{id}" data-kinds="{kinds}"><summary><span class="tag'
        ' {colour}">{outcome}</span>{facts}{at}</summary><div class=columns>{columns}</div></details>',
        id=record["id"],
        kinds=join_kinds(_list_kinds(record)),
        colour=_get_colour(record["outcome"]),
        outcome=record["outcome"],
        at=render_moment(record["created"], now),
        facts=join_html(html("<span>{}</span>", fact) for fact in facts if fact),
        columns=join_html(columns),
    )


def _format_sent(record: JsonObject) -> str:
    if record["sent"] is None:
        return "nothing"
    return _format_json(record["sent"]) if record["edits"] else "as it came"


def _render_column(title: str, text: str) -> Html:
    return html("<div class=column><h3>{}</h3><pre>{}</pre></div>", title, text)


def _format_json(value: Json) -> str:
    if value is None:
        return "nothing"
    return json.dumps(value, ensure_ascii=False, indent=1, default=str)
