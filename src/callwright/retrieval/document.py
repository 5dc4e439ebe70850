"""What an index holds of one tool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from callwright.retrieval.terms import spoken, terms
from callwright.types import Tool, digest

FORM = 1  # goes up whenever a tool's document would come out otherwise: old indexes are then made anew

_MOST_DESCRIPTION = 2_000  # characters: some descriptions are whole manuals


@dataclass(frozen=True, slots=True)
class Document:
    """One tool as retrieval sees it. ``terms`` are stems parted by spaces, ``text`` is what an encoder reads.

    ``parent`` is the tool's source (the API, the server): tools of one parent speak for each other.
    """

    name: str
    digest: str
    parent: str
    terms: str
    text: str


def document_digest(tool: Tool) -> str:
    """Changes whenever a tool's document might."""
    return digest([FORM, tool.digest, tool.source])


def document(tool: Tool) -> Document:
    """A tool's document: its name counts twice, its description and its parameters' names once."""
    description = " ".join(tool.description.split())[:_MOST_DESCRIPTION]
    name = terms(tool.name)
    named = [w for key in tool.properties for w in terms(key)]
    return Document(
        name=tool.name,
        digest=document_digest(tool),
        parent=tool.source,
        terms=" ".join([*name, *name, *terms(description), *named]),
        text=_text(tool.name, description, tool.properties),
    )


def _text(name: str, description: str, properties: dict[str, Any]) -> str:
    takes = f" Takes {', '.join(properties)}." if properties else ""
    return f"{spoken(name)}: {description}{takes}" if description else f"{spoken(name)}.{takes}"
