"""What is on disks and on the wire keeps its meaning: today's code makes what was recorded.

A test that fails here says that a digest, a name, a file or a text is another one than before.
Record it again (``record_values``) only where that is meant, and where old files are still read.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from golden import names
from golden.test_journals import FULL, events_of
from golden.values import FIXTURES, LITERALS, computed, put_back, sha, stored


@pytest.fixture(scope="module", autouse=True)
def trees_are_let_go() -> Iterator[None]:
    """The package's syntax trees are a million objects that no other file needs."""
    yield
    names.trees.cache_clear()


EXACT = sorted(set(FIXTURES) - {"wire", "texts"})
RULES = frozenset(LITERALS["edit rules"])


@pytest.mark.parametrize("name", EXACT)
async def test_fixed_inputs_come_to_what_was_recorded(name: str) -> None:
    found, wanted = await computed(name), stored(name)
    if isinstance(wanted, dict):
        assert found.keys() == wanted.keys()
        for key, said in wanted.items():
            assert found[key] == said, f"{name}: {key}"
    assert found == wanted


def test_every_name_that_was_stored_or_sent_is_still_known() -> None:
    now = names.wire_names()
    lost = {
        what: sorted(set(known) - set(now.get(what, ()))) for what, known in stored("wire").items()
    }
    assert not {what: gone for what, gone in lost.items() if gone}


@pytest.mark.parametrize("what", LITERALS)
def test_every_text_that_was_stored_stands_in_the_code(what: str) -> None:
    known = names.literals() | names.used_rules()
    assert not [text for text in LITERALS[what] if not {*text.split("+")} <= known]


def test_no_edit_is_made_with_a_rule_outside_of_the_table() -> None:
    """mypy refuses such a rule too: :data:`EditRule` is made nowhere but in the table."""
    assert not names.rules_outside_of_the_table()


def test_every_rule_of_the_table_is_used_and_listed() -> None:
    assert names.used_rules() == {part for rule in RULES for part in rule.split("+")}


def test_every_literal_that_has_a_meaning_stands_in_the_table_of_wire_names() -> None:
    """Rules at one place are stored as one, joined by a plus sign."""
    table = names.table_of_wire_names()
    assert {part for rule in RULES for part in rule.split("+")} == {*table.pop("edit rules")}
    assert {*table.pop("event kinds")} == {*names.event_kinds()}
    assert len(table) == 13
    for group, literals in table.items():
        assert {*literals} == {*LITERALS[group]}, group


def test_the_recorded_decisions_show_the_rules() -> None:
    """Each rule is seen at work, but for those that need weights, an overlay or a second reading.

    No schema is known for which the gate takes the rule ``integral``.
    """
    decided = [found for name in ("gate", "refined", "ordered") for found in stored(name).values()]
    shown = {edit["rule"] for found in decided for edit in found["edits"]}
    shown |= {rule for found in stored("proxy")["talks"].values() for rule in found["rules"]}
    shown |= {edit["rule"] for event in _events() for edit in event.data.get("edits") or ()}
    assert shown <= RULES
    elsewhere = {"integral", "model", "overlay", "tool_ranked", "guided_call"}
    answers = {rule for rule in RULES if rule.startswith("answer.")}
    assert shown | answers | elsewhere == RULES


def test_the_recorded_decisions_show_the_kinds_of_violations() -> None:
    found = [said for name in ("gate", "refined") for said in stored(name).values()]
    kinds = {one["kind"] for said in found for one in said["violations"]}
    assert kinds == set(stored("wire")["violation kinds"])


def _events() -> list[Any]:
    return [event for full in FULL.values() for event in events_of(full)]


def _said_in_journals(kind: str, key: str) -> set[str]:
    told = [event.data for event in _events() if event.kind == kind]
    return {str(data[key]) for data in told if data.get(key)}


@pytest.mark.parametrize(
    ("kind", "key", "what"),
    [
        ("call.raw", "by", "who wrote a call"),
        ("approval", "by", "who approved"),
        ("resolution", "by", "who resolved"),
        ("resolution", "outcome", "outcomes of a resolution"),
        ("recovery", "step", "steps of recovery"),
        ("model", "purpose", "purposes of questions"),
        ("model", "mode", "modes of questions"),
        ("model", "finish_reason", "finish reasons"),
        ("limit", "limit", "limits that end a run"),
    ],
)
def test_what_recorded_runs_say_is_listed(kind: str, key: str, what: str) -> None:
    said = _said_in_journals(kind, key)
    assert said
    assert said <= set(LITERALS[what])


def test_recorded_failures_are_of_known_kinds() -> None:
    told = [event.data["failure"] for event in _events() if event.kind == "result"]
    kinds = {failure["kind"] for failure in told if failure}
    assert kinds
    assert kinds <= set(stored("wire")["failure kinds"])


def test_no_prompt_is_another_one() -> None:
    wanted = stored("texts")["prompts"]
    found = {name: sha(text) for name, text in names.prompt_files().items()}
    assert {name: found.get(name) for name in wanted} == wanted


def test_the_rooms_whose_texts_models_read_are_there() -> None:
    """A room that was renamed would leave its texts out of the record without a word."""
    places = set(names.trees())
    for room in names.READ_BY_MODELS:
        assert any(place.startswith(f"callwright/{room}/") for place in places), room
    for module in names.READ_BY_CLIENTS:
        assert f"{module}.py" in places, module
    assert len({*names.read_by_models()}) > 400


def test_every_text_that_models_read_is_still_there() -> None:
    """Skips, refusals, notes and parts of prompts, by digest; they may stand in any module."""
    now = {sha(text.encode("utf-8", "surrogatepass"))[:16] for text in names.all_texts()}
    lost = {key: text for key, text in stored("texts")["spoken"].items() if key not in now}
    assert not lost


def test_files_of_earlier_code_are_read(tmp_path: Path) -> None:
    wanted = stored("files")
    put_back(wanted["written"], tmp_path)
    found = names.read_files(tmp_path)
    assert found == wanted["read"]
    shutil.rmtree(tmp_path / "trust")
