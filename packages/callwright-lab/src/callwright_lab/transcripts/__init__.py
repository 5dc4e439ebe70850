"""Files of trajectories in the formats of others, read and written without loss."""

from callwright_lab.transcripts.files import (
    FORMATS,
    WRITTEN,
    Read,
    Records,
    number_names,
    open_records,
    read_files,
    read_record,
    read_text,
    write_records,
)
from callwright_lab.transcripts.transcript import Format, Transcript, normalize_trajectory, write

__all__ = [
    "FORMATS",
    "WRITTEN",
    "Format",
    "Read",
    "Records",
    "Transcript",
    "normalize_trajectory",
    "number_names",
    "open_records",
    "read_files",
    "read_record",
    "read_text",
    "write",
    "write_records",
]
