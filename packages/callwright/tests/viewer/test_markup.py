"""A text becomes markup nowhere: what puts HTML together escapes all that is not HTML already."""

from __future__ import annotations

import ast
from html import unescape
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import callwright
from callwright.viewer.markup import Html, escape_text, html, join_html

SOURCE = Path(callwright.__file__).parent
MAKES_HTML = [*sorted((SOURCE / "viewer").glob("*.py")), SOURCE / "proxy" / "server" / "page.py"]


@given(st.text())
def test_no_text_holds_markup_or_steers_anything(text: str) -> None:
    shown = escape_text(text)
    assert not set(shown) & set("<>\"'")
    assert all(c.isprintable() or c in "\n\t" for c in shown)
    assert len(unescape(shown)) == len(
        text.replace("\r\n", "\n") if not text.isprintable() else text
    )


def test_escapes_and_turned_directions_are_shown_as_what_cannot_be_printed() -> None:
    assert escape_text("\x1b[2J a\u202eb\nc") == "\ufffd[2J a\ufffdb\nc"


@given(st.text() | st.integers() | st.none() | st.lists(st.text()))
def test_whatever_fills_a_template_is_escaped_and_only_html_is_not(value: object) -> None:
    made = html("<b title='{}'>{x}</b>", value, x=value)
    assert isinstance(made, Html)
    assert set(
        made.removeprefix("<b title='").removesuffix("</b>").replace("'>", "", 1)
    ).isdisjoint("<>'\"")
    assert html("{}", made) == made
    assert html("{}", made + "<i>") != made + "<i>", "with a text added it is a text"
    assert join_html([made, made], html("<br>")) == f"{made}<br>{made}"


def test_every_template_is_a_literal_and_html_is_declared_only_of_what_comes_from_no_stranger() -> (
    None
):
    declared = []
    for path in MAKES_HTML:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        literals = {  # names that hold one constant text
            target.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for call in (
            n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
        ):
            assert isinstance(call.func, ast.Name)
            if call.func.id == "html":
                template = call.args[0]
                fixed = isinstance(template, ast.Name) and template.id in literals
                assert isinstance(template, ast.Constant) or fixed, f"{path.name}:{call.lineno}"
            elif call.func.id == "Html" and call.args:
                declared.append(f"{path.name}: {ast.unparse(call)}")
    ours = [
        "Html(_read_style(style))",
        "Html(build_policy(style, scripts, form=form, live=live))",
        "Html(code)",
    ]
    assert sorted(d for d in declared if not d.startswith("markup.py")) == [
        f"document.py: {one}" for one in ours
    ]
