"""The evidence file of a command: named, default or none."""

from __future__ import annotations

from pathlib import Path

import pytest

from callwright.cli.evidence import open_evidence
from callwright.nouns.errors import EvidenceError


def test_a_file_that_was_named_is_opened_and_closed(tmp_path: Path) -> None:
    with open_evidence(tmp_path / "e.db") as store:
        assert store is not None
        store.rates()
    with pytest.raises(EvidenceError):
        store.rates()


def test_nothing_is_opened_where_none_is_wanted() -> None:
    with open_evidence(False) as store:
        assert store is None


def test_a_named_file_that_cannot_be_had_is_an_error_and_the_default_one_a_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(EvidenceError), open_evidence(tmp_path / "file" / "e.db"):
        pass
    monkeypatch.setenv("CALLWRIGHT_EVIDENCE", str(tmp_path / "file" / "e.db"))
    with open_evidence(True) as store:
        assert store is None
    assert "nothing is learned of tools: cannot open" in capsys.readouterr().err
