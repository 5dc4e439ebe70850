"""Files of trajectories in the formats of others, read and written without loss."""

from callwright_lab.transcripts.files import (
    FORMATS,
    WRITTEN,
    Read,
    Records,
    open_records,
    read_files,
    read_record,
    read_text,
    write_records,
)
from callwright_lab.transcripts.transcript import Format, Transcript, spoken, write

__all__ = [
    "FORMATS",
    "WRITTEN",
    "Format",
    "Read",
    "Records",
    "Transcript",
    "open_records",
    "read_files",
    "read_record",
    "read_text",
    "spoken",
    "write",
    "write_records",
]
