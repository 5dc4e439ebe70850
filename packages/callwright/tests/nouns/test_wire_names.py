"""One table says what each name of the code is stored as; readers know older spellings."""

from __future__ import annotations

from callwright.nouns.trace import KINDS
from callwright.nouns.wire_names import (
    OLD_SPELLINGS,
    WIRE_NAMES,
    Spellings,
    current_literal,
)


def test_every_group_maps_one_name_to_one_literal() -> None:
    for group, table in WIRE_NAMES.items():
        assert len({*table.values()}) == len(table), group
        assert all(name.isidentifier() for name in table), group


def test_the_kinds_of_events_are_those_of_the_table() -> None:
    assert tuple(WIRE_NAMES["event kinds"].values()) == KINDS


def test_names_that_the_code_has_renamed_keep_what_is_stored() -> None:
    assert WIRE_NAMES["edit rules"]["hallucinated_call"] == "ghost_call"
    assert WIRE_NAMES["edit rules"]["repair_json"] == "mend_json"


def test_an_unknown_literal_is_left_as_it_is() -> None:
    assert current_literal("edit rules", "of_a_later_version") == "of_a_later_version"


def test_old_spellings_lead_to_literals_of_today_and_hide_none() -> None:
    assert OLD_SPELLINGS.keys() == WIRE_NAMES.keys()
    for group, spellings in OLD_SPELLINGS.items():
        assert {*spellings.values()} <= {*WIRE_NAMES[group].values()}
        assert not {*spellings} & {*WIRE_NAMES[group].values()}


def test_an_old_spelling_is_read_as_what_is_stored_today() -> None:
    old: Spellings = {**OLD_SPELLINGS, "edit rules": {"phantom": "ghost_call"}}
    assert current_literal("edit rules", "trim+phantom", old) == "trim+ghost_call"
