"""Changes of a value know their place by its keys, and show it as RFC 6901 writes it."""

from __future__ import annotations

from callwright.nouns.types import Edit
from callwright.schema.coerce import pointer_join
from callwright.schema.value_edits import ValueEdit, render_pointer


def test_a_pointer_is_rendered_as_the_rfc_writes_it() -> None:
    assert render_pointer(()) == ""
    assert render_pointer(("a/b", 0, "m~n")) == "/a~1b/0/m~0n"
    assert render_pointer(("a/b", 0)) == pointer_join(pointer_join("", "a/b"), 0)


def test_an_edit_of_a_value_is_shown_as_results_show_it() -> None:
    made = ValueEdit(("rows", 0, "n"), "1", 1, "text_to_number")
    assert made.path == "/rows/0/n"
    assert made.to_edit() == Edit("/rows/0/n", "1", 1, "text_to_number")
