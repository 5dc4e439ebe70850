"""Two versions of a text, what only one of them has marked in it, word by word."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Literal

from callwright.viewer.markup import Html, escape_text, html, join_html

_WORD = re.compile(r"\s+|\w+|[^\w\s]")
# characters: longer texts are not compared, which takes the square of their length
_LONGEST = 4_000
_ALIKE = 0.3  # share of words below which two texts have nothing to do with each other


def mark_changes(before: str | None, after: str) -> tuple[Html, Html]:
    """Both as HTML, with ``del`` and ``ins`` around what differs; all of it where little is
    alike.
    """
    if before is None:
        return Html(), _wrap_in_tag("ins", after)
    if len(before) > _LONGEST or len(after) > _LONGEST:
        return _wrap_in_tag("del", before[:_LONGEST]), _wrap_in_tag("ins", after[:_LONGEST])
    old, new = _WORD.findall(before), _WORD.findall(after)
    compared = SequenceMatcher(None, old, new, autojunk=False)
    if compared.ratio() < _ALIKE:
        return _wrap_in_tag("del", before), _wrap_in_tag("ins", after)
    was, now = [], []
    for kind, i, j, k, m in compared.get_opcodes():
        one, other = "".join(old[i:j]), "".join(new[k:m])
        was.append(escape_text(one) if kind == "equal" else _wrap_in_tag("del", one))
        now.append(escape_text(other) if kind == "equal" else _wrap_in_tag("ins", other))
    return join_html(was), join_html(now)


def _wrap_in_tag(tag: Literal["del", "ins"], text: str) -> Html:
    return html("<{tag}>{text}</{tag}>", tag=tag, text=text) if text else Html()
