"""Characters that steer whoever shows a text instead of being shown: which they are, and how they
are made visible.

Tools, servers, models and files are strangers. What they say may move a terminal's cursor, set its
colours, title and clipboard (ECMA-48: C0, C1, ESC), turn the order of the letters (Unicode's
bidirectional controls) or hide in a name (zero-width and tag characters).
"""

from __future__ import annotations

import re

# C0 without tab and line feed, DEL and C1; soft hyphen; marks, embeddings, overrides and isolates
# of direction; what has no width, except the joiners that scripts and emoji need; line and
# paragraph separators; tags; lone surrogates.
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)


def escape_controls(text: str) -> str:
    """The text with every such character written as JSON writes it (``\\u001b``); line breaks and
    tabs stay.

    Inside JSON text these characters stand in strings only, so that JSON keeps its meaning.
    """
    return (
        _CONTROLS.sub(_escape_match, text.replace("\r\n", "\n")) if _CONTROLS.search(text) else text
    )


def one_line(text: str) -> str:
    """The text as it stands in one line, for names and whatever else must not forge a line of its
    own: white space of any kind is one blank.
    """
    return escape_controls(" ".join(text.split()))


def _escape_match(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    return f"\\u{0xD7C0 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
