from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from callwright.gateway.session.names import MOST, assign_names, build_name


def test_a_name_begins_with_the_server_that_the_configuration_names() -> None:
    assert build_name("time", "get_current_time") == "time__get_current_time"
    assert build_name("", "get_current_time") == "get_current_time", (
        "without a prefix it is as it is"
    )
    assert build_name("my files", "read.text/utf-8") == "my_files__read_text_utf-8"


def test_the_first_of_a_name_keeps_it_and_the_other_depends_on_nothing_else() -> None:
    alone = assign_names([("a", "b.c"), ("a", "b/c")])
    among = assign_names([("x", "y"), ("a", "b.c"), ("z", "w"), ("a", "b/c")])
    assert alone[0] == "a__b_c"
    assert alone[1] != alone[0]
    assert among[1::2] == alone
    assert len(set(assign_names([("a", "b")] * 5))) == 5


@given(st.lists(st.tuples(st.text(max_size=90), st.text(max_size=90)), max_size=20))
def test_names_are_unique_and_such_as_every_model_s_api_takes(
    offered: list[tuple[str, str]],
) -> None:
    names = assign_names(offered)
    assert len(set(names)) == len(offered)
    assert assign_names(offered) == names
    for name, (prefix, own) in zip(names, offered, strict=True):
        assert re.fullmatch(r"[A-Za-z0-9_-]*", name)
        assert len(name) <= MOST
        assert name or not (prefix or own)
