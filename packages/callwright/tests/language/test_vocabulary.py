"""Entries are read as they stand; what moved into files is what stood in the code before."""

from __future__ import annotations

import hashlib
import importlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from callwright.language import ENGLISH, FEATURES_V1, Vocabulary
from callwright.nouns.errors import ConfigError

RECORDED: dict[str, str] = json.loads(
    Path(__file__).with_name("recorded.json").read_text(encoding="utf-8")
)


def _canonical(value: Any) -> Any:
    """The value as JSON in one order, whatever kind of collection holds it."""
    if isinstance(value, re.Pattern):
        return ["re", value.flags, value.pattern]
    if isinstance(value, set | frozenset):
        return sorted((_canonical(v) for v in value), key=str)
    if isinstance(value, list | tuple):
        return [_canonical(v) for v in value]
    if hasattr(value, "items"):
        rows = sorted(([_canonical(k), _canonical(v)] for k, v in value.items()), key=str)
        return ["dict", *rows]
    return value if isinstance(value, str | int | float) else repr(value)


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_what_moved_into_files_is_what_stood_in_the_code(name: str) -> None:
    """The digests were taken from the constants as the code had them before they became data."""
    module, _, constant = name.partition(":")
    value = getattr(importlib.import_module(f"callwright.{module}"), constant)
    text = json.dumps(_canonical(value), ensure_ascii=False)
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == RECORDED[name]


@pytest.mark.parametrize("vocabulary", [ENGLISH, FEATURES_V1, Vocabulary("de")])
def test_every_entry_has_a_source_and_can_be_read(vocabulary: Vocabulary) -> None:
    for file in vocabulary.names():
        if file == "units":
            continue  # one comment at its head says where all of them come from
        for key, entry in vocabulary.file(file).items():
            name = f"{file}.{key}"
            assert entry["source"], name
            if "expression" in entry:
                assert vocabulary.pattern(name).pattern == vocabulary.expression(name)
            elif "table" in entry:
                assert vocabulary.table(name), name
            else:
                listed = vocabulary.listed(name)
                assert listed, name
                assert len(set(listed)) == len(listed), name


def test_flags_are_those_of_the_file() -> None:
    assert ENGLISH.pattern("statements.negated").flags & re.IGNORECASE
    assert not ENGLISH.pattern("statements.name").flags & re.IGNORECASE


def test_an_unknown_entry_or_file_is_an_error_that_names_it() -> None:
    for name in ("statements.nowhere", "nowhere.judgement"):
        assert not ENGLISH.has(name)
        with pytest.raises(ConfigError, match=name):
            ENGLISH.entry(name)
    assert ENGLISH.has("statements.judgement")


def test_the_digest_changes_with_the_content(tmp_path: Path) -> None:
    assert ENGLISH.digest == Vocabulary("en").digest
    assert len({ENGLISH.digest, FEATURES_V1.digest, Vocabulary("de").digest}) == 3
