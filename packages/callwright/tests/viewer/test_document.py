"""Pages load nothing, and what strangers wrote stays text."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256

from callwright.viewer.document import render_document
from callwright.viewer.markup import html


def digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def test_the_policy_lets_our_own_style_and_script_run_and_nothing_else() -> None:
    page = render_document(
        "Title", [html("<p>body</p>")], style="report.css", scripts=["report.js"]
    )
    style, script = (
        page[page.index(f"<{tag}>") + len(tag) + 2 : page.index(f"</{tag}>")]
        for tag in ("style", "script")
    )
    assert (
        f"default-src 'none'; style-src {digest(style)}; base-uri 'none'; form-action 'none'"
        in page
    )
    assert f"; script-src {digest(script)}" in page
    assert "script" not in render_document("Title", [html("<p>body</p>")]), (
        "a page without one allows none"
    )
    assert not any(
        word in style + script for word in ("http:", "https:", "url(", "@import", "fetch(")
    )
