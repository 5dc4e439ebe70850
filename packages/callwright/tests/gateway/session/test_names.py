from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from callwright.gateway.session.names import (
    CALL_TOOL,
    MOST,
    SEARCH_TOOLS,
    Claim,
    assign_names,
    build_name,
)


def test_a_name_begins_with_the_server_that_the_configuration_names() -> None:
    assert build_name("time", "get_current_time") == "time__get_current_time"
    assert build_name("", "get_current_time") == "get_current_time", (
        "without a prefix it is as it is"
    )
    assert build_name("my files", "read.text/utf-8") == "my_files__read_text_utf-8"

    for prefix in ("git_", "git__", "git-"):
        assert build_name(prefix, "status") == f"{prefix}status", "it has its own separator"


def test_of_several_that_would_have_one_name_none_has_it_in_whatever_order_they_come() -> None:
    rivals: list[Claim] = [("mail", "", "search"), ("wiki", "", "search"), ("wiki", "", "read")]
    assert assign_names(rivals) == ["mail__search", "wiki__search", "read"]
    assert assign_names(rivals[::-1]) == ["read", "wiki__search", "mail__search"]
    twins: list[Claim] = [("a", "a", "чтение"), ("a", "a", "запись")]
    both = assign_names(twins)
    assert "a________" not in both
    assert assign_names([*twins[::-1], ("z", "z", "w")])[:2] == both[::-1]
    split: list[Claim] = [("a", "a", "b__c"), ("a__b", "a__b", "c")]
    assert "a__b__c" not in assign_names(split)
    assert len(set(assign_names([("a", "a", "b")] * 5))) == 5


def test_a_name_that_was_given_stays_its_own_and_passes_to_nobody() -> None:
    late, early = ("mail", "", "search"), ("wiki", "", "search")
    given = dict(zip([early], assign_names([early]), strict=True))
    assert given == {early: "search"}
    assert assign_names([late, early], kept=given) == ["mail__search", "search"]
    assert assign_names([late], kept=given) == ["mail__search"], "the other has gone"


def test_no_tool_of_a_server_has_the_name_of_one_of_the_gateway() -> None:
    own: list[Claim] = [("own", "", SEARCH_TOOLS), ("own", "", CALL_TOOL)]
    assert assign_names(own) == ["own__search_tools", "own__call_tool"]


TEXT = st.text(max_size=90)


@given(st.lists(st.tuples(TEXT, TEXT, TEXT), max_size=20))
def test_names_are_unique_and_such_as_every_model_s_api_takes(offered: list[Claim]) -> None:
    names = assign_names(offered)
    assert len(set(names)) == len(offered)
    assert assign_names(offered) == names
    given = dict(zip(offered, names, strict=True))
    assert {*assign_names([*given], kept=given)} == {*given.values()}
    for name in names:
        assert re.fullmatch(r"[A-Za-z0-9_-]+", name)
        assert len(name) <= MOST
