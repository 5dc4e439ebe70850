"""Files of records: a JSON list, JSON lines, a map from ids to records, one record, or a folder of
such files.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from callwright.jsontext import JsonError, parse
from callwright.nouns.errors import CallwrightError, ConfigError, build_read_error
from callwright.nouns.types import Json, JsonObject
from callwright_lab.transcripts.gold import API_BANK, NESTOOLS, SealTools
from callwright_lab.transcripts.messages import OPENAI, TRL
from callwright_lab.transcripts.sharegpt import SHAREGPT
from callwright_lab.transcripts.toolbench_vr import VR
from callwright_lab.transcripts.tooleval import TOOLBENCH, TOOLEVAL
from callwright_lab.transcripts.transcript import Format, Transcript, read_transcript

Shape: TypeAlias = Literal["list", "lines", "map", "one"]
FORMATS: Mapping[str, Format] = {
    f.name: f
    for f in (VR, TOOLEVAL, TOOLBENCH, TRL, OPENAI, SHAREGPT, NESTOOLS, SealTools(), API_BANK)
}
"""Every layout of records, by name, in the order in which they are recognised."""
WRITTEN = ("openai", "trl", "sharegpt", "toolbench-vr", "tooleval")
"""Those that trajectories can be written in."""


@dataclass(frozen=True, slots=True)
class Records:
    """The records of one file in their order, each with its key ("" where the file names none), and
    its layout.
    """

    path: Path
    shape: Shape
    rows: tuple[tuple[str, Json], ...]


@dataclass(frozen=True, slots=True)
class Read:
    """Contents of a file or folder: transcripts with their places (file, key), and the reasons for
    skipped records.
    """

    files: tuple[Records, ...]
    transcripts: tuple[tuple[tuple[int, int], Transcript], ...]
    left_out: tuple[str, ...]


def read_files(path: Path, format: str = "") -> Read:
    """Every record of a file, or of the JSON files below a folder. ConfigError where none can be
    read.

    ``format``: its name, else it is recognised record by record. A transcript without an id is
    named after its place.
    """
    files = tuple(map(open_records, _list_record_files(path)))
    found: list[tuple[tuple[int, int], Transcript]] = []
    left_out: list[str] = []
    for at, records in enumerate(files):
        formats = _select_formats(records.path)
        for number, (key, row) in enumerate(records.rows):
            name = (
                f"{records.path.stem}-{key or number + 1}"
                if records.shape != "one"
                else records.path.stem
            )
            try:
                made = read_record(row, formats, format, name)
            except CallwrightError as error:
                left_out.append(f"{records.path.name}, record {key or number + 1}: {error.message}")
            else:
                found.append(((at, number), made))
    if not found:
        why = left_out[0] if left_out else "there is no record in it"
        raise ConfigError(
            f"nothing of {path} can be read: {why}", hint=f"formats: {', '.join(FORMATS)}"
        )
    return Read(files, tuple(found), tuple(left_out))


def read_record(
    row: Json, formats: Mapping[str, Format] = FORMATS, format: str = "", id: str = ""
) -> Transcript:
    """One record, in the format of this name or in the first that recognises it. ConfigError where
    none does.
    """
    if not isinstance(row, dict):
        said = repr(row[:40]) if isinstance(row, str) else type(row).__name__
        raise ConfigError(f"a record is an object, not {said}")
    if format and format not in formats:
        raise ConfigError(f"there is no format {format!r}", hint=f"formats: {', '.join(formats)}")
    chosen = (
        formats[format]
        if format
        else next((f for f in formats.values() if f.recognises(row)), None)
    )
    if chosen is None:
        raise ConfigError(
            f"a record in no known format; its members are {', '.join(row)[:100] or 'none'}"
        )
    return read_transcript(row, chosen, id)


def open_records(path: Path) -> Records:
    """The records of one file, not read any further. ConfigError where it is not there or is no
    JSON.
    """
    text = read_text(path)
    try:
        value = parse(text)
    except JsonError as whole:
        return Records(path, "lines", tuple(_iter_json_lines(path, text, whole)))
    if isinstance(value, list):
        return Records(path, "list", tuple(("", row) for row in value))
    if (
        isinstance(value, dict)
        and not _is_record(value)
        and value
        and all(map(_is_object, value.values()))
    ):
        return Records(path, "map", tuple(value.items()))
    lines = "\n" not in text.strip() and path.suffix == ".jsonl"
    return Records(path, "lines" if lines else "one", (("", value),))


def read_text(path: Path) -> str:
    """The text of a file as it stands, less a byte order mark: no other line ends than its own.
    ConfigError where it is not there or is no UTF-8.
    """
    try:
        return path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise build_read_error(path, error) from None


def write_records(path: Path, shape: Shape, rows: Iterable[tuple[str, Json]]) -> None:
    """The records as a file of this shape; whole or not at all. Its folder is made if need be.

    Half a surrogate pair, which tools may return and no UTF-8 file can hold, is written as "?".
    Raises ConfigError where the file cannot be written.
    """
    beside = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_bytes(_serialize_rows(shape, list(rows)).encode("utf-8", "replace"))
        os.replace(beside, path)
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be written: {error.strerror}", hint="name another file"
        ) from None


def number_names(names: Iterable[str]) -> list[str]:
    """The names in their order, each made one that no other has: a repeated one has a number behind
    it.
    """
    taken: dict[str, None] = {}
    for name in names:
        number, own = 1, name
        while own in taken:
            number += 1
            own = f"{name}-{number}"
        taken[own] = None
    return list(taken)


def _serialize_rows(shape: Shape, rows: Sequence[tuple[str, Json]]) -> str:
    if shape == "lines":
        return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for _, row in rows)
    value: Json = [row for _, row in rows]
    if shape == "map":
        value = dict(rows)
    elif shape == "one" and len(rows) == 1:
        value = rows[0][1]
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def _list_record_files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(
        p for p in path.rglob("*") if p.suffix in (".json", ".jsonl") and p.name != "tool.jsonl"
    )
    if not found:
        raise ConfigError(
            f"there is no .json or .jsonl file below {path}", hint="name the folder that holds them"
        )
    return found


def _iter_json_lines(path: Path, text: str, whole: JsonError) -> Iterator[tuple[str, Json]]:
    lines = text.split("\n")  # as JSON lines end: others may stand in a text
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield "", parse(line)
            except JsonError as error:
                if 1 < number == len(lines):  # of a process that was ended in it: no record
                    yield "", line
                    return
                why = error.reason if number > 1 else whole.reason
                raise ConfigError(f"{path}, line {number} is not JSON: {why}") from None


def _is_object(value: Json) -> bool:
    return isinstance(value, dict)


def _is_record(value: JsonObject) -> bool:
    return any(f.recognises(value) for f in FORMATS.values())


def _select_formats(path: Path) -> Mapping[str, Format]:
    """The formats, Seal-Tools with the catalogue that lies beside its file."""
    beside = path.with_name("tool.jsonl")
    if not beside.is_file():
        return FORMATS
    specs = [row for _, row in open_records(beside).rows if isinstance(row, dict)]
    seal = SealTools({str(spec["api_name"]): spec for spec in specs if spec.get("api_name")})
    return {**FORMATS, seal.name: seal}
