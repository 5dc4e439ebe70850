"""The run page. No script, no outside resource; everything from the run is escaped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from callwright.nouns.plan import Plan
from callwright.nouns.trace import Event
from callwright.nouns.types import CORRECTED, canonical, to_json
from callwright.viewer.document import document
from callwright.viewer.graph import plan_svg
from callwright.viewer.markup import Html, html, join
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
    closing = join(_question(q, story.texts) for q in story.closing)
    body = [
        html("<header><h1>{}</h1>{}</header>", query, _facts(story)),
        _answer(story),
        _section("Plan", _plan(story)),
        *(_section(stage.title, _stage(stage, story.texts)) for stage in story.stages),
        _section("Answer step", closing) if closing else Html(),
        _section("Tools in view", _tools(story)),
    ]
    return document(query, body)


def plan_page(query: str, plan: Plan) -> str:
    """One HTML document for a plan that was not carried out yet, its critical path marked (every
    step counts 1).
    """
    layers = [[slot.id for slot in layer] for layer in plan.layers]
    critical = plan.critical_path()
    svg = plan_svg(layers, plan.edges, {s.id: to_json(s) for s in plan.slots}, {}, critical)
    tool = {slot.id: slot.tool for slot in plan.slots}
    chain = " → ".join(tool[id_] for id_ in critical)
    rows = join(
        html(
            "<li><b>{}</b> {} <small>{}</small></li>",
            s.tool,
            _short(s.arguments) if s.arguments is not None else "",
            s.reason,
        )
        for s in plan.slots
    )
    drawn = html("<div class=scroll>{}</div><p>Critical path: {}</p><ol>{}</ol>", svg, chain, rows)
    return document(query, [html("<header><h1>{}</h1></header>", query), _section("Plan", drawn)])


def _facts(story: Story) -> Html:
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
        "tokens in / out": _tokens(usage, " / ", ""),
        "seconds": _number(cost.get("seconds", "")),
    }
    if story.end.get("limit"):
        facts["ended by limit"] = story.end["limit"]
    return html(
        "<dl>{}</dl>",
        join(html("<div><dt>{}</dt><dd>{}</dd></div>", k, v) for k, v in facts.items()),
    )


def _answer(story: Story) -> Html:
    if not story.answer:
        return html("<section class=answer><p>The run ended before an answer.</p></section>")
    rows = join(_statement(s) for s in story.answer.get("statements") or ())
    missing = join(html("<li class=missing>{}</li>", m) for m in story.answer.get("missing") or ())
    assumed = join(html("<li class=missing>{}</li>", m) for m in story.answer.get("assumed") or ())
    about = html(
        "<details><summary>What each statement rests on</summary><ul>{}{}{}</ul></details>",
        rows,
        missing,
        assumed,
    )
    return html(
        "<section class=answer><h2>Answer</h2><p class=text>{}</p>{}{}</section>",
        story.answer.get("text", ""),
        join(_corrected(e) for e in story.answer.get("edits") or () if e.get("rule") in CORRECTED),
        about if rows or missing or assumed else "",
    )


def _corrected(edit: Mapping[str, Any]) -> Html:
    """What the model wrote, and what stands in its place."""
    return html(
        "<p class=missing>Corrected: {} → {}</p>", edit.get("before", ""), edit.get("after", "")
    )


def _statement(statement: Mapping[str, Any]) -> Html:
    links = join(
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
        problems=join(html("<br><small>{}</small>", p) for p in statement.get("problems") or ()),
    )


def _plan(story: Story) -> Html:
    slots = {slot["id"]: slot for slot in story.plan.get("slots") or ()}
    path = _critical(story)
    svg = plan_svg(
        story.plan.get("layers") or (), story.plan.get("edges") or (), slots, story.states, path
    )
    reasons = join(
        html("<li><b>{}</b>: {}</li>", s["tool"], s["reason"])
        for s in slots.values()
        if s.get("reason")
    )
    legend = join(
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


def _critical(story: Story) -> tuple[str, ...]:
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


def _stage(stage: Stage, texts: Mapping[str, str]) -> Html:
    skipped = '<p class="skip"><span class="tag skipped">skipped</span> <b>{}</b> {}</p>'
    parts = [_call(call) for call in stage.calls]
    parts += [html(skipped, s["tool"], s["reason"]) for s in stage.skips]
    parts += [html("<p class=quiet>{}</p>", note) for note in stage.notes]
    parts += [_question(q, texts) for q in stage.questions]
    return join(parts)


def _call(call: CallStory) -> Html:
    columns = [_column(_WROTE.get(call.by, "The model wrote"), _value(call.raw))]
    edits = call.edits
    if edits or call.refused or call.reflections:
        columns.append(_column("What was wrong, what was changed", _mending(call, edits)))
    ran = call.results[-1] if call.results else None
    columns.append(
        _column(
            "Executed", _value(ran["arguments"]) if ran else html("<p class=quiet>not executed</p>")
        )
    )
    if ran:
        columns.append(_column("Came back", _outcome(ran)))
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
        times=html(took, _number(ran.get("seconds"), 0, 1000), ran.get("attempt")) if ran else "",
        columns=join(columns),
        asked=_asked(call),
    )


def _asked(call: CallStory) -> Html:
    """Who was asked whether the call may leave, why, and which of its arguments came from
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
    lines = join((html("{}", line) for line in (said, *marks)), html("<br>"))
    return html("<p class=missing>{}</p>", lines)


def _mending(call: CallStory, edits: list[Mapping[str, Any]]) -> Html:
    wrong = join(
        html("<li class=violation><code>{}</code> {}</li>", v.get("path") or "/", v.get("message"))
        for v in (call.refused or {}).get("violations") or ()
    )
    changed = join(
        html(
            "<li><code>{}</code> <del>{}</del> <ins>{}</ins> <small>{}</small></li>",
            e["path"] or "/",
            _short(canonical(e["before"])),
            _short(canonical(e["after"])),
            e["rule"],
        )
        for e in edits
    )
    thought = join(
        html("<li class=quiet>{}</li>", part)
        for said in call.reflections
        for part in (said["analysis"], said["strategy"])
        if part
    )
    return html("<ul>{}{}{}</ul>", wrong, thought, changed)


def _outcome(result: Mapping[str, Any]) -> Html:
    failure = result.get("failure")
    if failure:
        return html("<p class=violation>{}: {}</p>", failure["kind"], failure["message"])
    return _value(result.get("content"))


def _question(data: Mapping[str, Any], texts: Mapping[str, str]) -> Html:
    prompt, reply = (texts.get(str(data.get(k)), "") for k in ("prompt", "reply"))
    cut = data.get("discarded")
    return html(
        "<details class=question><summary>Question to the model ({purpose}, {mode}): {tokens},"
        " {seconds} s</summary><h4>Prompt</h4><pre>{prompt}</pre><h4>Raw"
        " reply</h4><pre>{reply}</pre>{cut}</details>",
        purpose=data.get("purpose"),
        mode=data.get("mode"),
        tokens=_tokens(data.get("usage") or {}, " tokens in, ", " out"),
        seconds=_number(data.get("seconds", 0)),
        prompt=prompt,
        reply=reply,
        cut=html("<h4>Cut off and discarded</h4><pre>{}</pre>", cut) if cut else "",
    )


def _tools(story: Story) -> Html:
    rows = join(
        html(
            "<details><summary><b>{}</b> {}</summary>{}</details>",
            t.get("name"),
            _short(t.get("description"), 120),
            _value(t.get("input_schema")),
        )
        for t in story.start.get("tools") or ()
    )
    return rows or html("<p class=quiet>none</p>")


def _section(title: str, content: Html) -> Html:
    return html("<section><h2>{}</h2>{}</section>", title, content)


def _column(title: str, content: Html) -> Html:
    return html("<div class=column><h4>{}</h4>{}</div>", title, content)


def _value(value: Any) -> Html:
    text = (
        value
        if isinstance(value, str)
        else json.dumps(value, ensure_ascii=False, indent=1, default=str)
    )
    block = html("<pre>{}</pre>", text)
    folded = "<details><summary>{} characters</summary>{}</details>"
    return html(folded, len(text), block) if len(text) > _LONG else block


def _short(value: Any, length: int = 160) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= length else text[: length - 1] + "…"


def _number(value: Any, digits: int = 1, times: int = 1) -> str:
    """A number rounded; anything else, which a foreign trace may hold there, as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value * times:.{digits}f}"


def _tokens(usage: Mapping[str, Any], between: str, end: str) -> str:
    return f"{usage.get('prompt_tokens', '?')}{between}{usage.get('completion_tokens', '?')}{end}"
