"""The run page. No script, no outside resource; everything from the run is escaped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from callwright.plan import Plan
from callwright.trace import Event
from callwright.types import to_json
from callwright.viewer.document import document
from callwright.viewer.graph import plan_svg
from callwright.viewer.story import CallStory, Stage, Story, read_story

_MENDED = ("tier1", "tier2", "repeat", "recovery")
_WROTE = {
    "analogy": "By analogy",
    "retry": "Made again",
    "substitute": "In place of a failed call",
}  # the model as a rule
_LONG = 1_500  # longer values are folded


def page(events: Iterable[Event]) -> str:
    """One HTML document for one run."""
    story = read_story(events)
    query = str(story.start.get("query", "(no query recorded)"))
    body = [
        f"<header><h1>{escape(query)}</h1>{_facts(story)}</header>",
        _answer(story),
        _section("Plan", _plan(story)),
        *(_section(stage.title, _stage(stage, story.texts)) for stage in story.stages),
        _section("Answer step", "".join(_question(q, story.texts) for q in story.closing)) if story.closing else "",
        _section("Tools in view", _tools(story)),
    ]
    return document(query, body)


def plan_page(query: str, plan: Plan) -> str:
    """One HTML document for a plan that was not carried out yet, its critical path marked (every step counts 1)."""
    layers = [[slot.id for slot in layer] for layer in plan.layers]
    critical = plan.critical_path()
    svg = plan_svg(layers, plan.edges, {s.id: to_json(s) for s in plan.slots}, {}, critical)
    tool = {slot.id: slot.tool for slot in plan.slots}
    chain = " → ".join(tool[id_] for id_ in critical)
    rows = "".join(
        f"<li><b>{escape(s.tool)}</b> {escape(_short(s.arguments)) if s.arguments is not None else ''} "
        f"<small>{escape(s.reason)}</small></li>"
        for s in plan.slots
    )
    parts = [
        f"<header><h1>{escape(query)}</h1></header>",
        _section("Plan", f"<div class=scroll>{svg}</div><p>Critical path: {escape(chain)}</p><ol>{rows}</ol>"),
    ]
    return document(query, parts)


def _facts(story: Story) -> str:
    cost = story.end.get("cost") or {}
    usage = cost.get("usage") or {}
    repairs = cost.get("repairs") or {}
    facts = {
        "status": story.end.get("status", "unfinished"),
        "strategy": story.start.get("strategy", ""),
        "model": story.start.get("model", ""),
        "model calls": cost.get("model_calls", ""),
        "tool calls": cost.get("calls", ""),
        "edits / repairs / repeats / recoveries": " / ".join(str(repairs.get(k, 0)) for k in _MENDED),
        "tokens in / out": f"{usage.get('prompt_tokens', '?')} / {usage.get('completion_tokens', '?')}",
        "seconds": f"{cost['seconds']:.1f}" if "seconds" in cost else "",
    }
    if story.end.get("limit"):
        facts["ended by limit"] = story.end["limit"]
    return "<dl>" + "".join(f"<div><dt>{k}</dt><dd>{escape(str(v))}</dd></div>" for k, v in facts.items()) + "</dl>"


def _answer(story: Story) -> str:
    if not story.answer:
        return "<section class=answer><p>The run ended before an answer.</p></section>"
    rows = "".join(_statement(s) for s in story.answer.get("statements") or ())
    missing = "".join(f"<li class=missing>{escape(str(m))}</li>" for m in story.answer.get("missing") or ())
    text = f"<p class=text>{escape(str(story.answer.get('text', '')))}</p>"
    checked = f"<details><summary>What each statement rests on</summary><ul>{rows}{missing}</ul></details>"
    return f"<section class=answer><h2>Answer</h2>{text}{checked if rows or missing else ''}</section>"


def _statement(statement: Mapping[str, Any]) -> str:
    links = "".join(
        f' <a href="#{escape(c["result"])}" title="{escape(c.get("quote") or "")}">{escape(c["result"])}</a>'
        for c in statement.get("citations") or ()
    )
    problems = "".join(f"<br><small>{escape(str(p))}</small>" for p in statement.get("problems") or ())
    support = escape(str(statement.get("support", "")))
    return f'<li><span class="tag {support}">{support}</span> {escape(statement["text"])}{links}{problems}</li>'


def _plan(story: Story) -> str:
    slots = {slot["id"]: slot for slot in story.plan.get("slots") or ()}
    path = _critical(story)
    svg = plan_svg(story.plan.get("layers") or (), story.plan.get("edges") or (), slots, story.states, path)
    reasons = "".join(
        f"<li><b>{escape(s['tool'])}</b>: {escape(s['reason'])}</li>" for s in slots.values() if s.get("reason")
    )
    legend = "".join(f'<span class="tag {s}">{s}</span> ' for s in ("ok", "failed", "skipped", "idle"))
    why = f"<details><summary>Why tools wait</summary><ul>{reasons}</ul></details>" if reasons else ""
    longest = "<p>Thick: the critical path, the steps that the run could not be faster than.</p>" if path else ""
    return f"<div class=scroll>{svg}</div><p>{legend}</p>{longest}{why}"


def _critical(story: Story) -> tuple[str, ...]:
    """The chain of steps that took longest, where steps did not wait for layers."""
    if not story.streamed or not story.plan:
        return ()
    took: dict[str, float] = {}
    for call in (call for stage in story.stages for call in stage.calls):
        took[call.slot] = took.get(call.slot, 0.0) + sum(r.get("seconds") or 0.0 for r in call.results)
    plan = Plan.from_slots(story.plan["slots"])
    return () if plan.problems() else plan.critical_path({s.id: took.get(s.id, 0.0) for s in plan.slots})


def _stage(stage: Stage, texts: Mapping[str, str]) -> str:
    parts = [_call(call) for call in stage.calls]
    parts += [
        f'<p class="skip"><span class="tag skipped">skipped</span> <b>{escape(str(s["tool"]))}</b> '
        f"{escape(str(s['reason']))}</p>"
        for s in stage.skips
    ]
    parts += [f"<p class=quiet>{escape(note)}</p>" for note in stage.notes]
    parts += [_question(q, texts) for q in stage.questions]
    return "".join(parts)


def _call(call: CallStory) -> str:
    columns = [_column(_WROTE.get(call.by, "The model wrote"), _value(call.raw))]
    edits = call.edits
    if edits or call.refused or call.reflections:
        columns.append(_column("What was wrong, what was changed", _mending(call, edits)))
    ran = call.results[-1] if call.results else None
    columns.append(_column("Executed", _value(ran["arguments"]) if ran else "<p class=quiet>not executed</p>"))
    if ran:
        columns.append(_column("Came back", _outcome(ran)))
    times = f"<small>{ran['seconds'] * 1000:.0f} ms, attempt {ran['attempt']}</small>" if ran else ""
    return (
        f'<article id="{escape(call.id)}"><h3><span class="tag {call.state}">{call.state}</span> {_stale(call)}'
        f"<code>{escape(call.id)}</code> {escape(call.tool)} {times}</h3><div class=columns>{''.join(columns)}</div>"
        f"{_asked(call)}</article>"
    )


def _stale(call: CallStory) -> str:
    return f'<span class="tag idle" title="{escape(call.stale)}">stale</span> ' if call.stale else ""


def _asked(call: CallStory) -> str:
    """Who was asked whether the call may leave, why, and which of its arguments came from results."""
    if call.asked is None:
        return ""
    said = f"{call.asked['why']}; {call.asked['by']}: {'allowed' if call.asked['granted'] else 'not allowed'}"
    marks = (f"{path} is not in the request: from {of}" for path, of in call.asked["origins"].items())
    return f"<p class=missing>{'<br>'.join(escape(line) for line in (said, *marks))}</p>"


def _mending(call: CallStory, edits: list[Mapping[str, Any]]) -> str:
    wrong = "".join(
        f"<li class=violation><code>{escape(str(v.get('path') or '/'))}</code> {escape(str(v.get('message')))}</li>"
        for v in (call.refused or {}).get("violations") or ()
    )
    changed = "".join(
        f"<li><code>{escape(str(e['path'] or '/'))}</code> <del>{escape(_short(e['before']))}</del> "
        f"<ins>{escape(_short(e['after']))}</ins> <small>{escape(str(e['rule']))}</small></li>"
        for e in edits
    )
    thought = "".join(
        f"<li class=quiet>{escape(str(part))}</li>"
        for said in call.reflections
        for part in (said["analysis"], said["strategy"])
        if part
    )
    return f"<ul>{wrong}{thought}{changed}</ul>"


def _outcome(result: Mapping[str, Any]) -> str:
    failure = result.get("failure")
    if failure:
        return f"<p class=violation>{escape(str(failure['kind']))}: {escape(str(failure['message']))}</p>"
    return _value(result.get("content"))


def _question(data: Mapping[str, Any], texts: Mapping[str, str]) -> str:
    usage = data.get("usage") or {}
    prompt, reply = (texts.get(str(data.get(k)), "") for k in ("prompt", "reply"))
    head = (
        f"Question to the model ({escape(str(data.get('purpose')))}, {escape(str(data.get('mode')))}): "
        f"{usage.get('prompt_tokens', '?')} tokens in, {usage.get('completion_tokens', '?')} out, "
        f"{data.get('seconds', 0):.1f} s"
    )
    cut = data.get("discarded")
    dropped = f"<h4>Cut off and discarded</h4><pre>{escape(str(cut))}</pre>" if cut else ""
    return (
        f"<details class=question><summary>{head}</summary><h4>Prompt</h4><pre>{escape(prompt)}</pre>"
        f"<h4>Raw reply</h4><pre>{escape(reply)}</pre>{dropped}</details>"
    )


def _tools(story: Story) -> str:
    rows = "".join(
        f"<details><summary><b>{escape(str(t.get('name')))}</b> {escape(_short(t.get('description'), 120))}</summary>"
        f"{_value(t.get('input_schema'))}</details>"
        for t in story.start.get("tools") or ()
    )
    return rows or "<p class=quiet>none</p>"


def _section(title: str, content: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{content}</section>"


def _column(title: str, content: str) -> str:
    return f"<div class=column><h4>{title}</h4>{content}</div>"


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1, default=str)
    block = f"<pre>{escape(text)}</pre>"
    return f"<details><summary>{len(text)} characters</summary>{block}</details>" if len(text) > _LONG else block


def _short(value: Any, length: int = 160) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= length else text[: length - 1] + "…"
