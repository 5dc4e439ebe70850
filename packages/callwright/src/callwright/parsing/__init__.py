"""Text formats of tool calls: read into ToolCalls, written, and cut where a reply ends and
inventing begins.
"""

from callwright.parsing.cut import Cut, Cutter, cut
from callwright.parsing.formats.families import DIALECTS, write_calls
from callwright.parsing.parsed import Finish, Parsed
from callwright.parsing.parser import Parser
from callwright.parsing.pieces import CallPiece, Dialect, Piece, TextPiece
from callwright.parsing.read import parse_calls

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
