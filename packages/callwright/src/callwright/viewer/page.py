"""The run page. No outside resource; everything from the run is escaped, and all of it is there
without the script.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from callwright.nouns.plan import Plan
from callwright.nouns.trace import Event
from callwright.nouns.types import CORRECTED, to_canonical_json, to_json
from callwright.viewer.document import render_document
from callwright.viewer.graph import plan_svg
from callwright.viewer.markup import Html, html, join_html
from callwright.viewer.moments import read_date, read_seconds, render_moment, render_offset
from callwright.viewer.story import CallStory, Dated, Stage, Story, read_story
from callwright.viewer.summary import FILTER, LIVE, Fact, Kind, join_kinds, render_summary
from callwright.viewer.timeline import Lane, Row, Span, State, render_timeline
from callwright.viewer.totals import RunTotals

_REPAIRING = ("repair", "reflect", "reflection")  # purposes of questions
_NAMED = 3  # failed calls in the summary
_WROTE = {
    "analogy": "By analogy",
    "retry": "Made again",
    "substitute": "In place of a failed call",
}  # the model as a rule
_LONG = 1_500  # longer values are folded


def page(events: Iterable[Event], *, live: bool = False) -> str:
    """One HTML document for one run. ``live``: it is served, and asks where it came from for what
    is new.
    """
    story = read_story(events)
    began = read_date(story.start.get("began"))
    query = str(story.start.get("query", "(no query recorded)"))
    closing = join_html(_render_question(q, story.texts, began) for q in story.closing)
    sections = [
        _render_answer(story),
        _render_section("Timeline", render_timeline(_build_lanes(story))),
        _render_section("Plan", _render_plan(story)),
        *(
            _render_section(stage.title, _render_stage(stage, story.texts, began), grouped=True)
            for stage in story.stages
        ),
        _render_section("Answer step", closing, grouped=True) if closing else Html(),
        _render_section("Tools in view", _render_tools(story)),
    ]
    head = html("<header><h1>{}</h1>{}</header>", query, _render_origin(story, began))
    body = [head, _render_run_summary(story, live), html("<main>{}</main>", join_html(sections))]
    return render_document(query, body, scripts=(FILTER, *([LIVE] if live else ())), live=live)


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


def _render_origin(story: Story, began: float | None) -> Html:
    """Who ran it, and when."""
    start = story.start
    names = (
        f"{name.replace('_', ' ')}: {start[name]}"
        for name in ("strategy", "model", "model_profile", "planner")
        if start.get(name)
    )
    date = render_moment(began) if began is not None else Html()
    said = join_html([*(html("<span>{}</span>", name) for name in names), date], html(" "))
    return html("<p class=origin>{}</p>", said) if said else said


def _render_run_summary(story: Story, live: bool) -> Html:
    totals = RunTotals.of(story)
    status = "running" if live and totals.status == "unfinished" else totals.status
    said, *_ = str(story.answer.get("text") or "no answer yet").strip().splitlines() or [""]
    outcome = html(
        '<span class="tag {}">{}</span> <span class=said>{}</span>',
        _choose_state(status),
        status,
        said,
    )
    facts = [
        Fact("seconds", f"{totals.seconds:.1f}"),
        Fact("calls", str(totals.calls)),
        Fact("questions", str(totals.questions), note="to the model"),
        Fact("tokens in / out", " / ".join(totals.tokens)),
        *_list_repairs(totals),
        Fact("writes", str(totals.writes), note="calls that left and may have changed something"),
        Fact("held", str(totals.held), "skipped" if totals.held else "", "nobody allowed them"),
        Fact("failed", str(len(totals.failed)), "failed" if totals.failed else ""),
    ]
    if story.end.get("limit"):
        facts.append(Fact("ended by limit", str(story.end["limit"]), "failed"))
    return render_summary(
        outcome, facts, _count_kinds(story), below=_render_failures(totals.failed)
    )


def _list_repairs(totals: RunTotals) -> list[Fact]:
    """A figure for each kind of repair that there was."""
    edits, repairs, repeats, recoveries = totals.repairs
    asked = "questions to the model about a call that was refused or failed"
    facts = [
        Fact("edits", edits, note="changes that rules made to calls"),
        Fact("repairs", repairs, note=asked),
        Fact("repeats", repeats, note="calls that were made again"),
        Fact("recoveries", recoveries, note="other ways that were tried after a failed call"),
    ]
    return [fact for fact in facts if fact.value != "0"]


def _choose_state(status: str) -> State:
    """The colour of a run's status; one that a later version made is no good news."""
    match status:
        case "answered":
            return "ok"
        case "partial":
            return "skipped"
        case "running" | "unfinished":
            return "idle"
    return "failed"


def _render_failures(failed: Sequence[CallStory]) -> Html:
    """The calls that failed, each with its reason."""
    if not failed:
        return Html()
    named = join_html(
        (
            html(
                '<a href="#{0}">{0} {1}</a> {2}',
                call.id,
                call.tool,
                _get_failure(call).get("kind", ""),
            )
            for call in failed[:_NAMED]
        ),
        html(", "),
    )
    more = f" and {len(failed) - _NAMED} more" if len(failed) > _NAMED else ""
    return html("<p class=failures>Failed: {}{}</p>", named, more)


def _get_failure(call: CallStory) -> Mapping[str, Any]:
    failure = call.results[-1].data.get("failure") if call.results else None
    return failure if isinstance(failure, Mapping) else {}


def _count_kinds(story: Story) -> list[Kind]:
    skips = sum(len(stage.skips) for stage in story.stages)
    notes = sum(len(stage.notes) for stage in story.stages)
    found = Counter(kind for call in story.calls for kind in _list_kinds(call))
    found.update(kind for q in story.questions for kind in _list_question_kinds(q))
    return [
        Kind("", "everything", len(story.calls) + len(story.questions) + skips + notes),
        Kind("call", "calls", found["call"]),
        Kind("question", "questions", found["question"]),
        Kind("repair", "repairs", found["repair"]),
        Kind("failure", "failures", found["failure"]),
        Kind("held", "held and skipped", found["held"] + skips),
        Kind("note", "notes", notes),
    ]


def _list_question_kinds(question: Dated) -> list[str]:
    return ["question", *(["repair"] if question.data.get("purpose") in _REPAIRING else [])]


def _list_kinds(call: CallStory) -> list[str]:
    repaired = call.edits or call.repairs or call.refused or call.reflections
    failed = call.state == "failed" or any(result.data.get("failure") for result in call.results)
    return [
        "call",
        *(["repair"] if repaired else []),
        *(["failure"] if failed else []),
        *(["held"] if call.state == "skipped" else []),
    ]


def _build_lanes(story: Story) -> list[Lane]:
    stages = [(stage.title, stage.questions, stage.calls) for stage in story.stages] + [
        ("Answer step", story.closing, [])
    ]
    return [
        Lane(
            title,
            sorted(
                [*map(_build_question_row, questions), *(_build_call_row(c, story) for c in calls)],
                key=lambda row: row.start,
            ),
        )
        for title, questions, calls in stages
    ]


def _build_question_row(question: Dated) -> Row:
    return Row(
        question.id,
        f"Question: {question.data.get('purpose')}",
        "question",
        _build_spans([question], "question"),
    )


def _build_call_row(call: CallStory, story: Story) -> Row:
    """A bar for each attempt; a call without one has a mark where it was written, or a bar up to
    now while its result may still come.
    """
    state: State = call.state
    spans = [
        span
        for result in call.results
        for span in _build_spans([result], "failed" if result.data.get("failure") else "ok")
    ]
    if not call.results:
        is_open = not story.end and call.refused is None and not call.is_held
        state = "idle" if is_open else "skipped"
        until = story.seconds if is_open else call.at
        spans = _build_spans([Dated(until, {"seconds": until - call.at})], state)
    return Row(call.id, f"{call.id} {call.tool}", state, spans)


def _build_spans(ends: Iterable[Dated], state: State) -> list[Span]:
    """A span for each that ended at a time; a trace may hold anything there."""
    return [
        Span(max(0.0, one.at - (read_seconds(one.data.get("seconds")) or 0.0)), one.at, state)
        for one in ends
        if read_seconds(one.at) is not None
    ]


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
    for call in story.calls:
        took[call.slot] = took.get(call.slot, 0.0) + sum(
            r.data.get("seconds") or 0.0 for r in call.results
        )
    plan = Plan.from_slots(story.plan["slots"])
    return (
        ()
        if plan.problems()
        else plan.critical_path({s.id: took.get(s.id, 0.0) for s in plan.slots})
    )


def _render_stage(stage: Stage, texts: Mapping[str, str], began: float | None) -> Html:
    """Every entry of a stage in the order in which they came."""
    parts = [(call.at, _render_call(call, began)) for call in stage.calls]
    parts += [(skip.at, _render_skip(skip, began)) for skip in stage.skips]
    parts += [
        (
            note.at,
            html(
                "<p class=quiet data-kinds=note><span>{}</span> {}</p>",
                note.text,
                render_offset(note.at, began),
            ),
        )
        for note in stage.notes
    ]
    parts += [(q.at, _render_question(q, texts, began)) for q in stage.questions]
    return join_html(part for _, part in sorted(parts, key=lambda pair: pair[0]))


def _render_skip(skip: Dated, began: float | None) -> Html:
    return html(
        '<p class="skip" data-kinds=held><span class="tag skipped">skipped</span> <b>{}</b>'
        " <span>{}</span> {}</p>",
        skip.data["tool"],
        skip.data["reason"],
        render_offset(skip.at, began),
    )


def _render_call(call: CallStory, began: float | None) -> Html:
    columns = [_render_column(_WROTE.get(call.by, "The model wrote"), _render_value(call.raw))]
    edits = call.edits
    if edits or call.refused or call.reflections:
        columns.append(
            _render_column("What was wrong, what was changed", _render_repairs(call, edits))
        )
    ran = call.results[-1].data if call.results else None
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
        '<article id="{id}" data-kinds="{kinds}"><h3><span class="tag {state}">{state}</span>'
        " {stale}<code>{id}</code> <span>{tool}</span> {times} {at}</h3><div"
        " class=columns>{columns}</div>{asked}</article>",
        id=call.id,
        kinds=join_kinds(_list_kinds(call)),
        at=render_offset(call.at, began),
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


def _render_question(question: Dated, texts: Mapping[str, str], began: float | None) -> Html:
    data = question.data
    prompt, reply = (texts.get(str(data.get(k)), "") for k in ("prompt", "reply"))
    cut = data.get("discarded")
    return html(
        '<details class=question id="{id}" data-kinds="{kinds}"><summary><h3>Question to the model'
        " ({purpose}, {mode})</h3> <span>{tokens}, {seconds} s</span> {at}</summary>"
        "<h4>Prompt</h4><pre>{prompt}</pre><h4>Raw reply</h4><pre>{reply}</pre>{cut}</details>",
        id=question.id,
        kinds=join_kinds(_list_question_kinds(question)),
        purpose=data.get("purpose"),
        mode=data.get("mode"),
        tokens=_format_tokens(data.get("usage") or {}, " tokens in, ", " out"),
        seconds=_format_number(data.get("seconds", 0)),
        at=render_offset(question.at - (read_seconds(data.get("seconds")) or 0.0), began),
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


def _render_section(title: str, content: Html, *, grouped: bool = False) -> Html:
    """``grouped``: it goes where the filter hides all that it holds."""
    marked = html(" data-group") if grouped else ""
    return html("<section{}><h2>{}</h2>{}</section>", marked, title, content)


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
