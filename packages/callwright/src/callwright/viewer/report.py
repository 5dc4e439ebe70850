"""The page of a report: what many rows came to as tables with bars, then every row with its reason
and evidence.

All is in the HTML: where scripts do not run every row stands there. The script filters and shows a
hundred at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from callwright.viewer.document import render_document
from callwright.viewer.markup import Html, html, join_html
from callwright.viewer.words import mark_changes

ROWS = 10_000  # on one page
SHOWN = 100  # at first: laying out all of them takes a browser seconds
EVIDENCE = 16_000_000  # characters of HTML in all rows together
_REASON = 4_000  # characters of a reason
_LINES = 30_000  # of a text that is evidence


@dataclass(frozen=True, slots=True)
class Bar:
    """One line of :class:`Bars`. ``state``: ok | failed | skipped | idle, its colour; ``item`` is the place of an
    item that is an example of it, -1 for none."""

    name: str
    count: int
    state: str = "idle"
    note: str = ""
    item: int = -1


@dataclass(frozen=True, slots=True)
class Bars:
    """Table of counts with a bar in every line. Shares are of ``total``; lines may overlap.
    ``noted`` heads the notes.
    """

    title: str
    named: str
    bars: Sequence[Bar]
    total: int
    note: str = ""
    noted: str = "for example"


@dataclass(frozen=True, slots=True)
class Table:
    """Any other table; the first cell of a row is its head."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Lines:
    """A text whose lines stand as they are."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """A text before and after, and what the change rests on. ``before`` is None where there was
    none.
    """

    where: str
    before: str | None
    after: str
    because: str = ""


@dataclass(frozen=True, slots=True)
class Changes:
    """Texts before and after, side by side, what differs marked in both (Tool-MVR, Table 15)."""

    title: str
    changes: Sequence[Change]
    note: str = ""


Part: TypeAlias = Bars | Table | Lines | Changes


@dataclass(frozen=True, slots=True)
class Item:
    """One row that was judged. ``evidence`` is folded, ``shown`` stands open before it."""

    name: str
    kept: bool
    category: str
    why: str
    evidence: Sequence[Part] = ()
    shown: Sequence[Part] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """Content of a report page: ``facts`` in its head, ``parts`` above the items."""

    title: str
    facts: Mapping[str, str]
    parts: Sequence[Part]
    items: Sequence[Item]
    note: str = ""


def render_report_page(report: Report) -> str:
    """One HTML document. Of more than ``ROWS`` items the first are listed, of more evidence the
    first, and so it says.
    """
    facts = join_html(
        html("<div><dt>{}</dt><dd>{}</dd></div>", k, v) for k, v in report.facts.items()
    )
    said = html("<p class=missing>{}</p>", report.note) if report.note else ""
    body = [html("<header><h1>{}</h1><dl>{}</dl>{}</header><main>", report.title, facts, said)]
    body += [html("<section>{}</section>", _render_part(part, 2)) for part in report.parts]
    body += [_render_items(report.items), html("</main>")]
    return render_document(report.title, body, style="report.css", scripts=("report.js",))


def _render_part(part: Part, level: int) -> Html:
    if isinstance(part, Bars):
        inner = _render_table(
            [part.named, "", "rows", "share", part.noted], _iter_bar_rows(part), "bars"
        )
    elif isinstance(part, Table):
        inner = _render_table(part.heads, (_render_cells(row) for row in part.rows))
    elif isinstance(part, Changes):
        heads = ("what", "documented", "refined", "what was observed")
        inner = _render_table(heads, (_render_change(change) for change in part.changes), "changes")
    else:
        inner = html("<pre>{}</pre>", _shorten_text(part.text, _LINES))
    note = getattr(part, "note", "")
    return html(
        "<h{level}>{title}</h{level}>{inner}{note}",
        level=level,
        title=part.title,
        inner=inner,
        note=html("<p class=quiet>{}</p>", note) if note else "",
    )


def _render_table(heads: Sequence[str], rows: Iterator[Html], kind: str = "") -> Html:
    named = join_html(
        html("<th scope=col>{}</th>", head) if head else html("<td></td>") for head in heads
    )
    marked = html(' class="{}"', kind) if kind else ""
    body = join_html(html("<tr>{}</tr>", row) for row in rows)
    whole = "<div class=scroll><table{}><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>"
    return html(whole, marked, named, body)


def _render_cells(row: Sequence[str]) -> Html:
    head, *rest = row
    return html(
        "<th scope=row>{}</th>{}", head, join_html(html("<td>{}</td>", cell) for cell in rest)
    )


def _iter_bar_rows(part: Bars) -> Iterator[Html]:
    longest = max((bar.count for bar in part.bars), default=0) or 1
    for bar in part.bars:
        linked = 0 <= bar.item < ROWS
        yield html(
            '<th scope=row>{name}</th><td class="bar {state}">'
            '<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
            '<rect width="{width}" height="10"/></svg></td>'
            "<td class=number>{count}</td><td class=number>{share}</td><td>{note}</td>",
            name=bar.name,
            state=bar.state,
            width=f"{100 * bar.count / longest:.1f}",
            count=f"{bar.count:,}",
            share=f"{bar.count / part.total:.1%}" if part.total else "",
            note=(
                html('<a href="#row-{}">{}</a>', bar.item, bar.note or "row")
                if linked
                else bar.note
            ),
        )


def _render_change(change: Change) -> Html:
    before, after = mark_changes(change.before, change.after)
    cells = "<th scope=row>{}</th><td>{}</td><td>{}</td><td>{}</td>"
    return html(cells, change.where, before, after, change.because)


def _render_items(items: Sequence[Item]) -> Html:
    categories = list(dict.fromkeys(item.category for item in items))
    places = {name: at for at, name in enumerate(categories)}
    rows, left, without = [], EVIDENCE, 0
    for at, item in enumerate(items[:ROWS]):
        evidence = _render_evidence(item)
        if len(evidence) > left:
            evidence, without = Html(), without + 1
        left -= len(evidence)
        rows.append(_render_item(at, item, evidence, places[item.category]))
    notes = []
    if len(items) > ROWS:
        notes.append(
            f"The first {ROWS:,} of {len(items):,} rows are listed; --json prints all of them."
        )
    if without:
        notes.append(
            f"The evidence of {without:,} rows would make the page too large; it stands in the"
            " journal."
        )
    return html(
        "<section><h2>Every row</h2>{notes}{filter}<table"
        " id=findings><thead><tr>{heads}</tr></thead>{rows}</table></section>",
        notes=join_html(html("<p class=missing>{}</p>", note) for note in notes),
        filter=_render_filter(categories),
        heads=join_html(
            html("<th scope=col>{}</th>", h)
            for h in ("verdict", "category", "row", "reason and evidence")
        ),
        rows=join_html(rows),
    )


def _render_evidence(item: Item) -> Html:
    shown, folded = (
        join_html(_render_part(part, 4) for part in parts) for parts in (item.shown, item.evidence)
    )
    below = html("<details><summary>evidence</summary>{}</details>", folded) if folded else ""
    return html("{}{}", shown, below)


def _render_item(at: int, item: Item, evidence: Html, category: int) -> Html:
    """A body of the table: a row for the verdict, and below it one for the evidence."""
    verdict, state = ("kept", "ok") if item.kept else ("dropped", "failed")
    return html(
        '<tbody id="row-{at}" data-verdict="{verdict}" data-category="{category}"{unseen}>'
        '<tr><td><span class="tag {state}">{verdict}</span></td><td>{named}</td>'
        "<th scope=rowgroup>{name}</th><td>{why}</td></tr>{below}</tbody>",
        at=at,
        verdict=verdict,
        category=category,
        unseen=" hidden" if at >= SHOWN else "",
        state=state,
        named=item.category or "—",
        name=item.name,
        why=_shorten_text(item.why, _REASON),
        below=html("<tr><td colspan=4>{}</td></tr>", evidence) if evidence else "",
    )


def _render_filter(categories: Sequence[str]) -> Html:
    """The controls, which the script shows."""
    options = join_html(
        html('<option value="{}">{}</option>', at, name or "—")
        for at, name in enumerate(categories)
    )
    return html(
        "<form class=filter id=filter hidden><label>Verdict <select name=verdict><option"
        " value=''>all</option><option>kept</option><option>dropped</option></select></label><label>Category"
        " <select name=category><option value=''>all</option>{}</select></label><label>Containing"
        " <input type=search name=text autocomplete=off></label><button type=button"
        " name=back>previous rows</button><button type=button name=on>next rows</button><output"
        " role=status></output></form>",
        options,
    )


def _shorten_text(text: str, most: int) -> str:
    left = len(text) - most
    return text if left <= 0 else f"{text[:most]}… ({left:,} characters more)"
