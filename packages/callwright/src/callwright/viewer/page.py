"""The run page. No script, no outside resource; everything from the run is escaped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from callwright.nouns.plan import Plan
from callwright.nouns.trace import Event
from callwright.nouns.types import CORRECTED, to_canonical_json, to_json
from callwright.viewer.document import render_document
from callwright.viewer.graph import plan_svg
from callwright.viewer.markup import Html, html, join_html
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
    closing = join_html(_render_question(q, story.texts) for q in story.closing)
    body = [
        html("<header><h1>{}</h1>{}</header>", query, _render_facts(story)),
        _render_answer(story),
        _render_section("Plan", _render_plan(story)),
        *(
            _render_section(stage.title, _render_stage(stage, story.texts))
            for stage in story.stages
        ),
        _render_section("Answer step", closing) if closing else Html(),
        _render_section("Tools in view", _render_tools(story)),
    ]
    return render_document(query, body)


def render_plan_page(query: str, plan: Plan) -> str:
    """One HTML document for a plan that was not carried out yet, its critical path marked (every
    step counts 1).
    """
    layers = [[slot.id for slot in layer] for layer in plan.layers]
    critical = plan.critical_path()
    svg = plan_svg(layers, plan.edges, {s.id: to_json(s) for s in plan.slots}, {}, critical)
    tool = {slot.id: slot.tool for slot in plan.slots}
    chain = " → ".join(tool[id_] for id_ in critical)
    rows = join_html(
        html(
            "<li><b>{}</b> {} <small>{}</small></li>",
            s.tool,
            _shorten_value(s.arguments) if s.arguments is not None else "",
            s.reason,
        )
        for s in plan.slots
    )
    drawn = html("<div class=scroll>{}</div><p>Critical path: {}</p><ol>{}</ol>", svg, chain, rows)
    return render_document(
        query, [html("<header><h1>{}</h1></header>", query), _render_section("Plan", drawn)]
    )


def _render_facts(story: Story) -> Html:
    cost = story.end.get("cost") or {}
    usage = cost.get("usage") or {}
    repairs = cost.get("repairs") or {}
    facts = {
        "status": story.end.get("status", "unfinished"),
        "strategy": story.start.get("strategy", ""),
        "model": story.start.get("model", ""),
        "model calls": cost.get("model_calls", ""),
        "tool calls": cost.get("calls", ""),
        "edits / repairs / repeats / recoveries": " / ".join(
            str(repairs.get(k, 0)) for k in _MENDED
        ),
        "tokens in / out": _format_tokens(usage, " / ", ""),
        "seconds": _format_number(cost.get("seconds", "")),
    }
    if story.end.get("limit"):
        facts["ended by limit"] = story.end["limit"]
    return html(
        "<dl>{}</dl>",
        join_html(html("<div><dt>{}</dt><dd>{}</dd></div>", k, v) for k, v in facts.items()),
    )


def _render_answer(story: Story) -> Html:
    if not story.answer:
        return html("<section class=answer><p>The run ended before an answer.</p></section>")
    rows = join_html(_render_statement(s) for s in story.answer.get("statements") or ())
    missing = join_html(
        html("<li class=missing>{}</li>", m) for m in story.answer.get("missing") or ()
    )
    assumed = join_html(
        html("<li class=missing>{}</li>", m) for m in story.answer.get("assumed") or ()
    )
    about = html(
        "<details><summary>What each statement rests on</summary><ul>{}{}{}</ul></details>",
        rows,
        missing,
        assumed,
    )
    return html(
        "<section class=answer><h2>Answer</h2><p class=text>{}</p>{}{}</section>",
        story.answer.get("text", ""),
        join_html(
            _render_correction(e)
            for e in story.answer.get("edits") or ()
            if e.get("rule") in CORRECTED
        ),
        about if rows or missing or assumed else "",
    )


def _render_correction(edit: Mapping[str, Any]) -> Html:
    """Render a corrected part of an answer: the model's text, and its replacement."""
    return html(
        "<p class=missing>Corrected: {} → {}</p>", edit.get("before", ""), edit.get("after", "")
    )


def _render_statement(statement: Mapping[str, Any]) -> Html:
    links = join_html(
        html(
            ' <a href="#{id}" title="{quote}">{id}</a>', id=c["result"], quote=c.get("quote") or ""
        )
        for c in statement.get("citations") or ()
    )
    return html(
        '<li><span class="tag {support}">{support}</span> {text}{links}{problems}</li>',
        support=statement.get("support", ""),
        text=statement["text"],
        links=links,
        problems=join_html(
            html("<br><small>{}</small>", p) for p in statement.get("problems") or ()
        ),
    )


def _render_plan(story: Story) -> Html:
    slots = {slot["id"]: slot for slot in story.plan.get("slots") or ()}
    path = _find_critical_path(story)
    svg = plan_svg(
        story.plan.get("layers") or (), story.plan.get("edges") or (), slots, story.states, path
    )
    reasons = join_html(
        html("<li><b>{}</b>: {}</li>", s["tool"], s["reason"])
        for s in slots.values()
        if s.get("reason")
    )
    legend = join_html(
        html('<span class="tag {s}">{s}</span> ', s=s) for s in ("ok", "failed", "skipped", "idle")
    )
    why = (
        html("<details><summary>Why tools wait</summary><ul>{}</ul></details>", reasons)
        if reasons
        else ""
    )
    thick = html(
        "<p>Thick: the critical path, the steps that the run could not be faster than.</p>"
    )
    return html("<div class=scroll>{}</div><p>{}</p>{}{}", svg, legend, thick if path else "", why)


def _find_critical_path(story: Story) -> tuple[str, ...]:
    """The chain of steps that took longest, where steps did not wait for layers."""
    if not story.streamed or not story.plan:
        return ()
    took: dict[str, float] = {}
    for call in (call for stage in story.stages for call in stage.calls):
        took[call.slot] = took.get(call.slot, 0.0) + sum(
            r.get("seconds") or 0.0 for r in call.results
        )
    plan = Plan.from_slots(story.plan["slots"])
    return (
        ()
        if plan.problems()
        else plan.critical_path({s.id: took.get(s.id, 0.0) for s in plan.slots})
    )


def _render_stage(stage: Stage, texts: Mapping[str, str]) -> Html:
    skipped = '<p class="skip"><span class="tag skipped">skipped</span> <b>{}</b> {}</p>'
    parts = [_render_call(call) for call in stage.calls]
    parts += [html(skipped, s["tool"], s["reason"]) for s in stage.skips]
    parts += [html("<p class=quiet>{}</p>", note) for note in stage.notes]
    parts += [_render_question(q, texts) for q in stage.questions]
    return join_html(parts)


def _render_call(call: CallStory) -> Html:
    columns = [_render_column(_WROTE.get(call.by, "The model wrote"), _render_value(call.raw))]
    edits = call.edits
    if edits or call.refused or call.reflections:
        columns.append(
            _render_column("What was wrong, what was changed", _render_repairs(call, edits))
        )
    ran = call.results[-1] if call.results else None
    columns.append(
        _render_column(
            "Executed",
            _render_value(ran["arguments"]) if ran else html("<p class=quiet>not executed</p>"),
        )
    )
    if ran:
        columns.append(_render_column("Came back", _render_outcome(ran)))
    took = "<small>{} ms, attempt {}</small>"
    return html(
        '<article id="{id}"><h3><span class="tag {state}">{state}</span> {stale}<code>{id}</code>'
        " {tool} {times}</h3><div class=columns>{columns}</div>{asked}</article>",
        id=call.id,
        state=call.state,
        stale=(
            html('<span class="tag idle" title="{}">stale</span> ', call.stale)
            if call.stale
            else ""
        ),
        tool=call.tool,
        times=html(took, _format_number(ran.get("seconds"), 0, 1000), ran.get("attempt"))
        if ran
        else "",
        columns=join_html(columns),
        asked=_render_approval(call),
    )


def _render_approval(call: CallStory) -> Html:
    """Render the approval of a call: who was asked, why, and which of its arguments came from
    results.
    """
    if call.asked is None:
        return Html()
    said = (
        f"{call.asked['why']}; {call.asked['by']}:"
        f" {'allowed' if call.asked['granted'] else 'not allowed'}"
    )
    marks = (
        f"{path} is not in the request: from {of}" for path, of in call.asked["origins"].items()
    )
    lines = join_html((html("{}", line) for line in (said, *marks)), html("<br>"))
    return html("<p class=missing>{}</p>", lines)


def _render_repairs(call: CallStory, edits: list[Mapping[str, Any]]) -> Html:
    wrong = join_html(
        html("<li class=violation><code>{}</code> {}</li>", v.get("path") or "/", v.get("message"))
        for v in (call.refused or {}).get("violations") or ()
    )
    changed = join_html(
        html(
            "<li><code>{}</code> <del>{}</del> <ins>{}</ins> <small>{}</small></li>",
            e["path"] or "/",
            _shorten_value(to_canonical_json(e["before"])),
            _shorten_value(to_canonical_json(e["after"])),
            e["rule"],
        )
        for e in edits
    )
    thought = join_html(
        html("<li class=quiet>{}</li>", part)
        for said in call.reflections
        for part in (said["analysis"], said["strategy"])
        if part
    )
    return html("<ul>{}{}{}</ul>", wrong, thought, changed)


def _render_outcome(result: Mapping[str, Any]) -> Html:
    failure = result.get("failure")
    if failure:
        return html("<p class=violation>{}: {}</p>", failure["kind"], failure["message"])
    return _render_value(result.get("content"))


def _render_question(data: Mapping[str, Any], texts: Mapping[str, str]) -> Html:
    prompt, reply = (texts.get(str(data.get(k)), "") for k in ("prompt", "reply"))
    cut = data.get("discarded")
    return html(
        "<details class=question><summary>Question to the model ({purpose}, {mode}): {tokens},"
        " {seconds} s</summary><h4>Prompt</h4><pre>{prompt}</pre><h4>Raw"
        " reply</h4><pre>{reply}</pre>{cut}</details>",
        purpose=data.get("purpose"),
        mode=data.get("mode"),
        tokens=_format_tokens(data.get("usage") or {}, " tokens in, ", " out"),
        seconds=_format_number(data.get("seconds", 0)),
        prompt=prompt,
        reply=reply,
        cut=html("<h4>Cut off and discarded</h4><pre>{}</pre>", cut) if cut else "",
    )


def _render_tools(story: Story) -> Html:
    rows = join_html(
        html(
            "<details><summary><b>{}</b> {}</summary>{}</details>",
            t.get("name"),
            _shorten_value(t.get("description"), 120),
            _render_value(t.get("input_schema")),
        )
        for t in story.start.get("tools") or ()
    )
    return rows or html("<p class=quiet>none</p>")


def _render_section(title: str, content: Html) -> Html:
    return html("<section><h2>{}</h2>{}</section>", title, content)


def _render_column(title: str, content: Html) -> Html:
    return html("<div class=column><h4>{}</h4>{}</div>", title, content)


def _render_value(value: Any) -> Html:
    text = (
        value
        if isinstance(value, str)
        else json.dumps(value, ensure_ascii=False, indent=1, default=str)
    )
    block = html("<pre>{}</pre>", text)
    folded = "<details><summary>{} characters</summary>{}</details>"
    return html(folded, len(text), block) if len(text) > _LONG else block


def _shorten_value(value: Any, length: int = 160) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= length else text[: length - 1] + "…"


def _format_number(value: Any, digits: int = 1, times: int = 1) -> str:
    """A number rounded; anything else, which a foreign trace may hold there, as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value * times:.{digits}f}"


def _format_tokens(usage: Mapping[str, Any], between: str, end: str) -> str:
    return f"{usage.get('prompt_tokens', '?')}{between}{usage.get('completion_tokens', '?')}{end}"
