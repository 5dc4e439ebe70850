"""What is on record of a model's writes, in the file that the probes share."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from callwright.models.probe import Memory
from callwright.models.write_record import WriteRecord, WriteRecords
from callwright.nouns.protocols import Capabilities

BASE = "http://h:1/v1"
RIGHT = WriteRecord(28, 29, "2026-11-24T10:00:00+00:00")


@pytest.mark.parametrize(
    ("record", "is_trusted"),
    [
        (WriteRecord(19, 20, ""), True),
        (WriteRecord(18, 20, ""), False),
        (WriteRecord(29, 29, ""), True),
        (WriteRecord(19, 19, ""), False),
        (WriteRecord(29, 29, "", version=99), False),
        (WriteRecord(0, 0, ""), False),
    ],
)
def test_trust_takes_enough_cases_of_this_version_and_95_percent(
    record: WriteRecord, is_trusted: bool
) -> None:
    assert record.is_trusted is is_trusted


def test_a_record_belongs_to_one_model_at_one_endpoint(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "deep" / "m.json")
    records = WriteRecords(BASE, memory)
    assert not records.is_trusted("m")
    assert records.put("m", RIGHT)
    assert records.get("m") == RIGHT
    assert records.is_trusted("m")
    assert not records.is_trusted("other")
    assert not WriteRecords("http://h:2/v1", memory).is_trusted("m")


def test_a_record_of_another_process_counts_at_once(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    proxy, doctor = (WriteRecords(BASE, Memory(path)) for _ in range(2))
    assert not proxy.is_trusted("m")
    doctor.put("m", RIGHT)
    assert proxy.is_trusted("m")
    doctor.put("m", WriteRecord(3, 29, "2026-11-25T10:00:00+00:00"))
    assert not proxy.is_trusted("m")
    doctor.put("m", RIGHT)
    assert proxy.is_trusted("m")
    path.unlink()
    assert not proxy.is_trusted("m")


def test_probes_and_records_leave_each_other_alone_and_what_they_do_not_know(
    tmp_path: Path,
) -> None:
    path = tmp_path / "m.json"
    key = f"{BASE} m"
    path.write_text(json.dumps({"later": 1, key: {"later": [2], "writes": {"later": 3}}}))
    memory = Memory(path)
    records = WriteRecords(BASE, memory)
    assert records.get("m") is None
    records.put("m", RIGHT)
    assert memory.get(key, 1) is None, "nobody has probed it"
    memory.put(key, Capabilities(True, False, 1, "probed"))
    assert records.get("m") == RIGHT
    found = json.loads(path.read_text())
    assert found["later"] == 1
    assert found[key]["later"] == [2]
    assert found[key]["native_tools"] is True
    assert os.listdir(tmp_path) == ["m.json"], "no part of a file is left"


@pytest.mark.parametrize(
    "value",
    [
        None,
        "x",
        [],
        {},
        {"right": "28", "of": 29, "version": 1},
        {"right": True, "of": 29, "version": 1},
        {"right": 99, "of": 29, "version": 1},
        {"right": 28.0, "of": 29.0, "version": 1},
    ],
)
def test_what_is_no_record_is_none(tmp_path: Path, value: Any) -> None:
    path = tmp_path / "m.json"
    path.write_text(json.dumps({f"{BASE} m": {"writes": value}, f"{BASE} n": value}))
    records = WriteRecords(BASE, Memory(path))
    assert records.get("m") is None
    assert not records.is_trusted("m")
    assert not records.is_trusted("n")


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    records = WriteRecords(BASE, Memory(tmp_path / "file" / "m.json"))
    assert not records.put("m", RIGHT)
    assert records.path == tmp_path / "file" / "m.json"
    (tmp_path / "broken.json").write_text("{")
    assert not WriteRecords(BASE, Memory(tmp_path / "broken.json")).is_trusted("m")
