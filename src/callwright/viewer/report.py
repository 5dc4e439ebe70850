"""The page of a report: what many rows came to as tables with bars, then every row with its reason and evidence.

All is in the HTML: where scripts do not run every row stands there. The script filters and shows a hundred at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from callwright.viewer.document import document, plain
from callwright.viewer.words import changed

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
    """How often what was counted: a table with a bar in every line. Shares are of ``total``, which lines may overlap
    in; ``noted`` heads the notes."""

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
    """A text before and after, and what the change rests on. ``before`` is None where there was none."""

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
    """What a page tells: ``facts`` in its head, ``parts`` above the items."""

    title: str
    facts: Mapping[str, str]
    parts: Sequence[Part]
    items: Sequence[Item]
    note: str = ""


def report_page(report: Report) -> str:
    """One HTML document. Of more than ``ROWS`` items the first are listed, of more evidence the first, and so it
    says."""
    facts = "".join(f"<div><dt>{plain(k)}</dt><dd>{plain(v)}</dd></div>" for k, v in report.facts.items())
    said = f"<p class=missing>{plain(report.note)}</p>" if report.note else ""
    body = [f"<header><h1>{plain(report.title)}</h1><dl>{facts}</dl>{said}</header><main>"]
    body += [f"<section>{_part(part, 2)}</section>" for part in report.parts]
    body += [_items(report.items), "</main>"]
    return document(report.title, body, style="report.css", script="report.js")


def _part(part: Part, level: int) -> str:
    if isinstance(part, Bars):
        inner = _table([part.named, "", "rows", "share", part.noted], _bars(part), "bars")
    elif isinstance(part, Table):
        inner = _table(part.heads, (_cells(row) for row in part.rows))
    elif isinstance(part, Changes):
        heads = ("what", "documented", "refined", "what was observed")
        inner = _table(heads, (_change(change) for change in part.changes), "changes")
    else:
        inner = f"<pre>{_cut(part.text, _LINES)}</pre>"
    note = getattr(part, "note", "")
    return f"<h{level}>{plain(part.title)}</h{level}>{inner}" + (f"<p class=quiet>{plain(note)}</p>" if note else "")


def _table(heads: Sequence[str], rows: Iterator[str], kind: str = "") -> str:
    named = "".join(f"<th scope=col>{plain(head)}</th>" if head else "<td></td>" for head in heads)
    marked = f' class="{kind}"' if kind else ""
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f"<div class=scroll><table{marked}><thead><tr>{named}</tr></thead><tbody>{body}</tbody></table></div>"


def _cells(row: Sequence[str]) -> str:
    head, *rest = row
    return f"<th scope=row>{plain(head)}</th>" + "".join(f"<td>{plain(cell)}</td>" for cell in rest)


def _bars(part: Bars) -> Iterator[str]:
    longest = max((bar.count for bar in part.bars), default=0) or 1
    for bar in part.bars:
        width = f"{100 * bar.count / longest:.1f}"
        drawn = (
            '<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
            f'<rect width="{width}" height="10"/></svg>'
        )
        share = f"{bar.count / part.total:.1%}" if part.total else ""
        note = plain(bar.note)
        shown = f'<a href="#row-{bar.item}">{note or "row"}</a>' if 0 <= bar.item < ROWS else note
        yield (
            f'<th scope=row>{plain(bar.name)}</th><td class="bar {plain(bar.state)}">{drawn}</td>'
            f"<td class=number>{bar.count:,}</td><td class=number>{share}</td><td>{shown}</td>"
        )


def _change(change: Change) -> str:
    before, after = changed(change.before, change.after)
    return (
        f"<th scope=row>{plain(change.where)}</th><td>{before}</td><td>{after}</td><td>{plain(change.because)}</td>"
    )


def _items(items: Sequence[Item]) -> str:
    categories = list(dict.fromkeys(item.category for item in items))
    places = {name: at for at, name in enumerate(categories)}
    rows, left, without = [], EVIDENCE, 0
    for at, item in enumerate(items[:ROWS]):
        evidence = _evidence(item)
        if len(evidence) > left:
            evidence, without = "", without + 1
        left -= len(evidence)
        rows.append(_item(at, item, evidence, places[item.category]))
    notes = []
    if len(items) > ROWS:
        notes.append(f"The first {ROWS:,} of {len(items):,} rows are listed; --json prints all of them.")
    if without:
        notes.append(f"The evidence of {without:,} rows would make the page too large; it stands in the journal.")
    told = "".join(f"<p class=missing>{plain(note)}</p>" for note in notes)
    heads = "".join(f"<th scope=col>{head}</th>" for head in ("verdict", "category", "row", "reason and evidence"))
    return (
        f"<section><h2>Every row</h2>{told}{_filter(categories)}<table id=findings><thead><tr>{heads}</tr></thead>"
        f"{''.join(rows)}</table></section>"
    )


def _evidence(item: Item) -> str:
    shown, folded = ("".join(_part(part, 4) for part in parts) for parts in (item.shown, item.evidence))
    return shown + (f"<details><summary>evidence</summary>{folded}</details>" if folded else "")


def _item(at: int, item: Item, evidence: str, category: int) -> str:
    """A body of the table: a row for the verdict, and below it one for the evidence."""
    verdict, state = ("kept", "ok") if item.kept else ("dropped", "failed")
    unseen = " hidden" if at >= SHOWN else ""
    below = f"<tr><td colspan=4>{evidence}</td></tr>" if evidence else ""
    return (
        f'<tbody id="row-{at}" data-verdict="{verdict}" data-category="{category}"{unseen}>'
        f'<tr><td><span class="tag {state}">{verdict}</span></td><td>{plain(item.category) or "—"}</td>'
        f"<th scope=rowgroup>{plain(item.name)}</th><td>{_cut(item.why, _REASON)}</td></tr>{below}</tbody>"
    )


def _filter(categories: Sequence[str]) -> str:
    """The controls, which the script shows."""
    options = "".join(f'<option value="{at}">{plain(name) or "—"}</option>' for at, name in enumerate(categories))
    return (
        "<form id=filter hidden><label>Verdict <select name=verdict><option value=''>all</option>"
        "<option>kept</option><option>dropped</option></select></label>"
        f"<label>Category <select name=category><option value=''>all</option>{options}</select></label>"
        "<label>Containing <input type=search name=text autocomplete=off></label>"
        "<button type=button name=back>previous rows</button><button type=button name=on>next rows</button>"
        "<output role=status></output></form>"
    )


def _cut(text: str, most: int) -> str:
    left = len(text) - most
    return plain(text) if left <= 0 else f"{plain(text[:most])}… ({left:,} characters more)"
