"""The shell of every page: one self-contained HTML document. Nothing is loaded, and no script runs
but ours.

A content security policy names the digests of the one style and the one script, each put together
from files of this room (CSP Level 3, 6.7.3), so that text which got past escaping could still
neither run nor send anything.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files

from callwright.viewer.markup import Html, html, join_html


def render_document(
    title: str,
    body: Sequence[Html],
    *,
    style: str = "",
    scripts: Sequence[str] = (),
    form: bool = False,
    live: bool = False,
) -> str:
    """One HTML document. ``style`` and ``scripts`` are files of this room, the style beside the one
    of all pages. ``form``: it holds one, which may be sent to where the page came from; ``live``:
    its script may ask there for what is new.
    """
    code = _read_scripts(tuple(scripts))
    return html(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta'
        ' http-equiv="Content-Security-Policy" content="{policy}"><meta name="referrer"'
        ' content="no-referrer"><meta name="viewport" content="width=device-width,'
        ' initial-scale=1"><title>{title} -'
        " Callwright</title><style>{css}</style></head><body>{body}{script}</body></html>",
        policy=Html(build_policy(style, scripts, form=form, live=live)),
        title=title[:80],
        css=Html(_read_style(style)),
        body=join_html(body),
        script=html("<script>{}</script>", Html(code)) if code else "",
    )


def build_policy(
    style: str = "", scripts: Sequence[str] = (), *, form: bool = False, live: bool = False
) -> str:
    """The content security policy of a page with this style and these scripts: neither others nor
    anything loaded.
    """
    code = _read_scripts(tuple(scripts))
    sent_to = "'self'" if form else "'none'"
    allowed = (
        f"default-src 'none'; style-src {_digest_text(_read_style(style))}; base-uri 'none';"
        f" form-action {sent_to}"
    )
    allowed += f"; script-src {_digest_text(code)}" if code else ""
    return allowed + ("; connect-src 'self'" if live else "")


@cache
def _read_style(style: str) -> str:
    return _read_file("page.css") + (_read_file(style) if style else "")


@cache
def _read_scripts(scripts: tuple[str, ...]) -> str:
    return "".join(map(_read_file, scripts))


def _read_file(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


@cache
def _digest_text(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
