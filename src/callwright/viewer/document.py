"""The shell of every page: one self-contained HTML document. Nothing is loaded, and no script runs but ours.

A content security policy names the digests of the one style and the one script (CSP Level 3, 6.7.3), so that text
which got past escaping could still neither run nor send anything.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files


def document(title: str, body: Sequence[str], *, style: str = "", script: str = "") -> str:
    """One HTML document. ``style`` and ``script`` are files of this room, the style beside the one of all pages."""
    css = _file("page.css") + (_file(style) if style else "")
    code = _file(script) if script else ""
    policy = f"default-src 'none'; style-src {_digest(css)}; base-uri 'none'; form-action 'none'"
    policy += f"; script-src {_digest(code)}" if code else ""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{plain(title[:80])} - Callwright</title><style>{css}</style></head>"
        f"<body>{''.join(body)}{f'<script>{code}</script>' if code else ''}</body></html>"
    )


def plain(text: str) -> str:
    """A text as HTML shows it: without markup, and without what steers a terminal or turns the direction of reading.

    Tools and models are strangers: what cannot be printed becomes U+FFFD; line breaks and tabs stay.
    """
    if not text.isprintable():
        text = "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text.replace("\r\n", "\n"))
    return escape(text)


def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
