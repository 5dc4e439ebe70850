"""The shell of every page: one self-contained HTML document. Nothing is loaded, and no script runs
but ours.

A content security policy names the digests of the one style and the one script (CSP Level 3,
6.7.3), so that text which got past escaping could still neither run nor send anything.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files

from callwright.viewer.markup import Html, html, join_html


def render_document(
    title: str, body: Sequence[Html], *, style: str = "", script: str = "", form: bool = False
) -> str:
    """One HTML document. ``style`` and ``script`` are files of this room, the style beside the one
    of all pages. ``form``: it holds one, which may be sent to where the page came from.
    """
    css = _read_file("page.css") + (_read_file(style) if style else "")
    code = _read_file(script) if script else ""
    return html(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta'
        ' http-equiv="Content-Security-Policy" content="{policy}"><meta name="referrer"'
        ' content="no-referrer"><meta name="viewport" content="width=device-width,'
        ' initial-scale=1"><title>{title} -'
        " Callwright</title><style>{css}</style></head><body>{body}{script}</body></html>",
        policy=Html(build_policy(css, code, form=form)),
        title=title[:80],
        css=Html(css),
        body=join_html(body),
        script=html("<script>{}</script>", Html(code)) if code else "",
    )


def build_policy(css: str, code: str = "", *, form: bool = False) -> str:
    """The content security policy of a page with this style and this script: neither others nor
    anything loaded.
    """
    sent_to = "'self'" if form else "'none'"
    allowed = (
        f"default-src 'none'; style-src {_digest_text(css)}; base-uri 'none'; form-action {sent_to}"
    )
    return allowed + (f"; script-src {_digest_text(code)}" if code else "")


def _read_file(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _digest_text(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
