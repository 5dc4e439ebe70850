"""Notations of tool descriptions that other packages read, registered as entry points.

An entry point in the group ``callwright.tool_documents`` holds a :class:`DocumentFormat`. The core
reads the formats that vendors and protocols define; a format of one data set is registered by the
package that works with that data set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from callwright.nouns.plugins import load_plugins
from callwright.nouns.protocols import ToolSource
from callwright.nouns.types import Tool

GROUP = "callwright.tool_documents"


@dataclass(frozen=True, slots=True)
class DocumentFormat:
    """One notation: how it is recognised and read.

    ``is_tool`` and ``read_tool`` are about the description of one tool; ``is_document``,
    ``read_document`` (a document and the name of its source) and ``read_folder`` are about a file
    that describes several, and a folder of such files. ``read_tool`` raises CatalogError.
    """

    is_tool: Callable[[Mapping[str, Any]], bool]
    read_tool: Callable[[Mapping[str, Any]], Tool]
    is_document: Callable[[Any], bool]
    read_document: Callable[[Mapping[str, Any], str], ToolSource]
    read_folder: Callable[[Path], ToolSource]


def registered_formats() -> tuple[DocumentFormat, ...]:
    """The formats of all installed packages, by the names of their entry points."""
    return load_plugins(GROUP)


def format_of_tool(
    raw: Mapping[str, Any], formats: Iterable[DocumentFormat]
) -> DocumentFormat | None:
    """The first of the formats that describes this tool; None if no format does."""
    return next((form for form in formats if form.is_tool(raw)), None)


def format_of_document(raw: Any, formats: Iterable[DocumentFormat]) -> DocumentFormat | None:
    """The first of the formats that this document is in; None if it is in none."""
    return next((form for form in formats if form.is_document(raw)), None)
