"""Text formats of tool calls: read into ToolCalls, and cut where a reply ends and inventing begins."""

from callwright.dialects.cut import Cut, Cutter, cut
from callwright.dialects.parsed import Finish, Parsed
from callwright.dialects.read import parse_calls

__all__ = ["Cut", "Cutter", "Finish", "Parsed", "cut", "parse_calls"]
