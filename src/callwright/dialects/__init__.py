"""Text formats of tool calls: read into ToolCalls, written, and cut where a reply ends and inventing begins."""

from callwright.dialects.cut import Cut, Cutter, cut
from callwright.dialects.families import DIALECTS, write_calls
from callwright.dialects.parsed import Finish, Parsed
from callwright.dialects.parser import Parser
from callwright.dialects.pieces import CallPiece, Dialect, Piece, TextPiece
from callwright.dialects.read import parse_calls

__all__ = [
    "DIALECTS",
    "CallPiece",
    "Cut",
    "Cutter",
    "Dialect",
    "Finish",
    "Parsed",
    "Parser",
    "Piece",
    "TextPiece",
    "cut",
    "parse_calls",
    "write_calls",
]
