"""Pages load nothing, and what strangers wrote stays text."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import unescape

from hypothesis import given
from hypothesis import strategies as st

from callwright.viewer.document import document, plain


def digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def test_the_policy_lets_our_own_style_and_script_run_and_nothing_else() -> None:
    page = document("Title", ["<p>body</p>"], style="report.css", script="report.js")
    style, script = (
        page[page.index(f"<{tag}>") + len(tag) + 2 : page.index(f"</{tag}>")] for tag in ("style", "script")
    )
    assert f"default-src 'none'; style-src {digest(style)}; base-uri 'none'; form-action 'none'" in page
    assert f"; script-src {digest(script)}" in page
    assert "script" not in document("Title", ["<p>body</p>"]), "a page without one allows none"
    assert not any(word in style + script for word in ("http:", "https:", "url(", "@import", "fetch("))


@given(st.text())
def test_no_text_holds_markup_or_steers_anything(text: str) -> None:
    shown = plain(text)
    assert not set(shown) & set("<>\"'")
    assert all(c.isprintable() or c in "\n\t" for c in shown)
    assert len(unescape(shown)) == len(text.replace("\r\n", "\n") if not text.isprintable() else text)


def test_escapes_and_turned_directions_are_shown_as_what_cannot_be_printed() -> None:
    assert plain("\x1b[2J a\u202eb\nc") == "\ufffd[2J a\ufffdb\nc"
