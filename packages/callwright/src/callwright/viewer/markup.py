"""HTML in which every text is escaped, because nothing but :func:`html` makes it."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any


class Html(str):
    """Text that is markup already. Write it with :func:`html`; adding texts to it gives an ordinary
    text again.
    """

    __slots__ = ()


def html(template: str, *values: Any, **named: Any) -> Html:
    """The template with its ``{}`` filled in: every value is escaped unless it is :class:`Html`
    itself.

    The template is a literal of ours, never put together
    (``packages/callwright/tests/viewer/test_markup.py`` holds that).
    """
    return Html(
        template.format(
            *map(_to_html, values), **{name: _to_html(value) for name, value in named.items()}
        )
    )


def join_html(parts: Iterable[Html], between: Html | None = None) -> Html:
    """Several pieces of HTML, one after the other."""
    return Html((between or "").join(parts))


def escape_text(text: str) -> Html:
    """A text as HTML shows it: without markup, and without what steers a terminal or turns the
    direction of reading.

    Tools and models are strangers: what cannot be printed becomes U+FFFD; line breaks and tabs
    stay.
    """
    if not text.isprintable():
        text = "".join(
            c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text.replace("\r\n", "\n")
        )
    return Html(escape(text))


def _to_html(value: Any) -> Html:
    return value if isinstance(value, Html) else escape_text(str(value))
