"""The summary of a page, which stays in sight while the rest scrolls, and its filter.

Every entry that the filter can hide carries ``data-kinds``, the kinds that it is of, parted by
spaces. What belongs to another entry, as a bar of a timeline does, carries ``data-of`` with that
entry's id and is hidden with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from callwright.viewer.markup import Html, html, join_html

FILTER = "filter.js"  # the script that the filter needs
LIVE = "live.js"  # the script that keeps a page up to date


@dataclass(frozen=True, slots=True)
class Fact:
    """One figure of a summary. ``state``: its colour; ``note``: its tooltip."""

    name: str
    value: str | Html
    state: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Kind:
    """A choice of the filter: ``id`` as entries carry it, its name, and how many are of it."""

    id: str
    name: str
    count: int


def render_summary(
    outcome: Html, facts: Sequence[Fact], kinds: Sequence[Kind], *, below: Html | None = None
) -> Html:
    """The outcome in one line, the figures, what else there is to say, and the filter."""
    return html(
        '<section class="summary" id="summary" aria-label="Summary"><div class=outcome>{outcome}'
        "<span id=live class=quiet role=status></span></div>"
        "<dl class=facts>{facts}</dl>{below}{filter}</section>",
        outcome=outcome,
        facts=join_html(map(_render_fact, facts)),
        below=below or Html(),
        filter=render_filter(kinds),
    )


def render_filter(kinds: Sequence[Kind]) -> Html:
    """The controls, which the script shows."""
    options = join_html(
        html('<option value="{}">{} ({})</option>', kind.id, kind.name, kind.count)
        for kind in kinds
    )
    return html(
        '<form class=filter id=filter role=search aria-label="Entries" hidden><label>Show <select'
        " name=kind>{}</select></label><label>Containing <input type=search name=text"
        " autocomplete=off></label><output role=status></output></form>",
        options,
    )


def join_kinds(kinds: Iterable[str]) -> str:
    """The value of ``data-kinds``."""
    return " ".join(dict.fromkeys(kinds))


def _render_fact(fact: Fact) -> Html:
    return html(
        '<div{title}><dt>{name}</dt><dd class="{state}">{value}</dd></div>',
        title=html(' title="{}"', fact.note) if fact.note else "",
        name=fact.name,
        state=fact.state,
        value=fact.value,
    )
