"""The request of a run, and the days that may be taken for known in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from itertools import chain
from typing import Any

from callwright.agent.probing.days import find_relative_days
from callwright.agent.running.setup import Setup
from callwright.agent.state import Asked
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Message
from callwright.repair.provenance.value_judge import days_in


def get_run_date(setup: Setup, start: Mapping[str, Any] | None) -> date | None:
    """The day of a run: that of its start, where it goes on. Journals of earlier versions do not
    say.
    """
    if start is not None:
        return date.fromisoformat(start["today"]) if start.get("today") else None
    today = setup.options.interaction.today
    if today is None:
        return None
    found: Any = today()
    if not isinstance(found, date):
        raise ConfigError(f"today returned {found!r}, and must return a date", hint="date.today")
    return found.date() if isinstance(found, datetime) else found


def build_asked(
    query: str, conversation: Sequence[Message], instructions: str, today: date | None
) -> Asked:
    """The request, with all texts in which values of calls may stand."""
    said = (Message("system", instructions),) if instructions else ()
    whole = (*said, *conversation)
    return Asked(query, whole, _list_known_dates(today, query, whole))


def _list_known_dates(
    today: date | None, query: str, conversation: Sequence[Message]
) -> tuple[date, ...]:
    """The days that may be taken for known: today, and those that the user names relative to it, or
    to a day that the instructions say.
    """
    if today is None:
        return ()
    said = (query, *(m.content for m in conversation if m.role == "user"))
    told = days_in(m.content for m in conversation if m.role == "system")
    bases = (today, *sorted(told))
    named = (find_relative_days(text, base) for base in bases for text in said)
    return (today, *chain.from_iterable(named))
