"""Parses the docstring of a function: Google, NumPy and reST style, or plain prose."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from inspect import cleandoc

_PARAMETERS = frozenset(
    {"args", "arguments", "parameters", "params", "keyword args", "keyword arguments", "attributes"}
)
_RETURNS = frozenset({"returns", "return", "yields"})
_OTHERS = frozenset(
    {
        "raises",
        "except",
        "exceptions",
        "example",
        "examples",
        "note",
        "notes",
        "warning",
        "warnings",
        "warns",
    }
    | {"see also", "references", "todo", "other parameters", "usage"}
)
_HEADERS = _PARAMETERS | _RETURNS | _OTHERS
_GOOGLE_HEADER = re.compile(r"^([A-Z][A-Za-z ]+):\s*$")
_UNDERLINE = re.compile(r"^\s*-{3,}\s*$")
_GOOGLE_ITEM = re.compile(r"^\*{0,2}([A-Za-z_]\w*)\s*(?:\(([^)]*)\))?\s*:\s*(.*)$")
_NUMPY_ITEM = re.compile(r"^\*{0,2}([A-Za-z_]\w*(?:\s*,\s*\*{0,2}[A-Za-z_]\w*)*)\s*(?::\s*(.*))?$")
_REST_FIELD = re.compile(r"^:(\w+)(?:\s+([^:]*?))?:\s*(.*)$")


@dataclass(slots=True)
class Docstring:
    """``summary`` is all prose before the first section; ``parameters`` maps names to
    descriptions.
    """

    summary: str = ""
    parameters: dict[str, str] = field(default_factory=dict)
    returns: str = ""


def parse_docstring(text: str | None) -> Docstring:
    """Never fails: what no style explains is prose."""
    lines = cleandoc(text or "").splitlines()
    found = Docstring()
    prose, sections = _split_sections(lines)
    found.summary = _unwrap_prose(_extract_rest_fields(prose, found))
    for title, underlined, body in sections:
        if title in _PARAMETERS:
            found.parameters |= _read_items(body, underlined)
        elif title in _RETURNS and not found.returns:
            found.returns = _read_returns(body, underlined)
    return found


def _split_sections(lines: list[str]) -> tuple[list[str], list[tuple[str, bool, list[str]]]]:
    """The lines before the first header, and (title, underlined as in NumPy, lines) of every
    section.
    """
    prose: list[str] = []
    sections: list[tuple[str, bool, list[str]]] = []
    place = 0
    while place < len(lines):
        title, underlined = _read_header(lines, place)
        if title:
            sections.append((title, underlined, []))
            place += 1 + underlined
            continue
        (sections[-1][2] if sections else prose).append(lines[place])
        place += 1
    return prose, sections


def _read_header(lines: list[str], place: int) -> tuple[str, bool]:
    line = lines[place]
    name = line.strip().lower()
    if name in _HEADERS and place + 1 < len(lines) and _UNDERLINE.match(lines[place + 1]):
        return name, True
    match = _GOOGLE_HEADER.match(line)
    return (match[1].lower(), False) if match and match[1].lower() in _HEADERS else ("", False)


def _read_items(body: list[str], underlined: bool) -> dict[str, str]:
    """Items stand at the smallest indentation; deeper lines continue the item above."""
    pattern = _NUMPY_ITEM if underlined else _GOOGLE_ITEM
    margin = min((len(line) - len(line.lstrip()) for line in body if line.strip()), default=0)
    items: dict[str, list[str]] = {}
    names: list[str] = []
    for line in body:
        match = (
            pattern.match(line.strip())
            if line.strip() and len(line) - len(line.lstrip()) == margin
            else None
        )
        if match:
            names = [name.strip().lstrip("*") for name in match[1].split(",")]
            text = "" if underlined else match[3]
            items.update({name: [text] for name in names})
        else:
            for name in names:
                items[name].append(line.strip())
    return {name: _join_lines(parts) for name, parts in items.items()}


def _read_returns(body: list[str], underlined: bool) -> str:
    lines = [line.strip() for line in body if line.strip()]
    if underlined:
        return _join_lines(lines[1:] or lines)
    text = _join_lines(lines)
    head, colon, tail = text.partition(": ")
    return (
        tail
        if colon and re.fullmatch(r"[\w\[\], |.]+", head) and " " not in head.replace(", ", "")
        else text
    )


def _extract_rest_fields(lines: list[str], found: Docstring) -> list[str]:
    """Take ``:param x:`` fields out of the prose."""
    prose: list[str] = []
    taken: list[str] | None = None
    fields: list[tuple[str, str, list[str]]] = []
    for line in lines:
        match = _REST_FIELD.match(line.strip())
        if match:
            taken = [match[3]]
            fields.append((match[1], match[2] or "", taken))
        elif taken is not None and (line[:1].isspace() or not line):
            taken.append(line.strip())
        else:
            taken = None
            prose.append(line)
    for kind, name, parts in fields:
        if kind in ("param", "parameter", "arg", "argument", "key", "keyword") and name:
            found.parameters[name.split()[-1].lstrip("*")] = _join_lines(parts)
        elif kind in ("return", "returns"):
            found.returns = _join_lines(parts)
    return prose


def _join_lines(parts: list[str]) -> str:
    return " ".join(part for part in parts if part).strip()


def _unwrap_prose(lines: list[str]) -> str:
    """Paragraphs unwrapped, one blank line between them."""
    text = "\n".join(line.rstrip() for line in lines).strip()
    return "\n\n".join(
        " ".join(part.split()) for part in re.split(r"\n\s*\n", text) if part.strip()
    )
