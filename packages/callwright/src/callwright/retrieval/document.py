"""Defines the document that an index holds of one tool."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from callwright.jsontext import parse
from callwright.jsontext.surrogates import join_surrogates
from callwright.nouns.types import (
    DESTRUCTIVE,
    READ,
    UNKNOWN,
    Json,
    JsonObject,
    Tool,
    compute_digest,
    to_canonical_json,
)
from callwright.retrieval.terms import extract_terms, humanize_name

# goes up whenever a tool's document would come out otherwise: old indexes are then made again
FORM = 3

_MOST_DESCRIPTION = 2_000  # characters: some descriptions are whole manuals
_MOST_ABOUT = 160  # characters of one field's description
_MOST_DEPTH = 6  # of a schema
_MOST_FIELDS = 40  # of one object
_MOST_VALUES = 12  # of one field: options and examples
_MOST_VALUE = 60  # characters of one of them
_MOST_TERMS = 200  # of all that is said of a tool's inputs


@dataclass(frozen=True, slots=True)
class Document:
    """One tool as retrieval sees it. ``terms`` are stems parted by spaces, ``text`` is what an
    encoder reads.

    ``parent`` is the tool's source (the API, the server): tools of one parent speak for each other.
    ``shape`` is the JSON of [input schema, output schema, whether it only reads (null: nobody
    said)], the schemas in outline: what it takes to see whose output feeds whose input.
    """

    name: str
    digest: str
    parent: str
    terms: str
    text: str
    shape: str = "[{},null,null]"

    def tool(self) -> Tool:
        """The tool with its schemas in outline and without its description."""
        taken, given, reads = parse(self.shape)
        if reads is None:
            effects = UNKNOWN
        elif reads:
            effects = READ
        else:
            effects = DESTRUCTIVE
        return Tool(self.name, "", taken or {}, given, effects, self.parent)


def document_digest(tool: Tool) -> str:
    """Changes whenever a tool's document might."""
    return compute_digest([FORM, tool.digest, tool.source])


def build_document(tool: Tool) -> Document:
    """A tool's document: its name counts twice, its description and its parameters' names once, and
    once each term of what is said of its inputs: descriptions, options, examples and defaults.
    """
    description = " ".join(tool.description.split())[:_MOST_DESCRIPTION]
    name = extract_terms(tool.name)
    named = [w for key in tool.properties for w in extract_terms(key)]
    said = [w for text in _iter_input_texts(tool.input_schema) for w in extract_terms(text)]
    return Document(
        name=tool.name,
        digest=document_digest(tool),
        parent=tool.source,
        terms=" ".join(
            [
                *name,
                *name,
                *extract_terms(description),
                *named,
                *list(dict.fromkeys(said))[:_MOST_TERMS],
            ]
        ),
        text=_render_text(tool.name, description, tool.properties),
        shape=to_canonical_json(
            join_surrogates(
                [
                    outline_schema(tool.input_schema),
                    outline_schema(tool.output_schema),
                    _is_read_only(tool),
                ]
            )[0]
        ),
    )


def _iter_input_texts(schema: Json, depth: int = 0) -> Iterator[str]:
    """The texts that a schema holds about its fields: their descriptions and the values that it lists, and the names
    of nested ones. A request that holds a listed value ("the genre horror") is likely about it.
    """
    if not isinstance(schema, dict) or depth >= _MOST_DEPTH:
        return
    inner = schema.get("properties")
    for key, field in list(inner.items())[:_MOST_FIELDS] if isinstance(inner, dict) else ():
        if not isinstance(field, dict):
            continue
        if depth:
            yield key
        if isinstance(about := field.get("description"), str):
            yield about[:_MOST_ABOUT]
        for word in ("enum", "examples"):
            if isinstance(values := field.get(word), list):
                yield from (str(value)[:_MOST_VALUE] for value in values[:_MOST_VALUES])
        if (usual := field.get("default")) not in (None, ""):
            yield str(usual)[:_MOST_VALUE]
        yield from _iter_input_texts(field, depth + 1)
    yield from _iter_input_texts(schema.get("items"), depth)


def outline_schema(schema: Json, depth: int = 0) -> Json:
    """A schema's fields: their names, types and the beginning of what is said of them. None stays
    None.
    """
    if not isinstance(schema, dict):
        return None
    kept: JsonObject = {key: schema[key] for key in ("type", "required") if key in schema}
    if isinstance(about := schema.get("description"), str) and depth:
        kept["description"] = about[:_MOST_ABOUT]
    if isinstance(options := schema.get("enum"), list):
        kept["enum"] = options[:1]  # that it is a choice, not among what
    inner = schema.get("properties")
    if isinstance(inner, dict) and depth < _MOST_DEPTH:
        kept["properties"] = {
            k: outline_schema(v, depth + 1) or {} for k, v in list(inner.items())[:_MOST_FIELDS]
        }
    if isinstance(items := schema.get("items"), dict) and depth < _MOST_DEPTH:
        kept["items"] = outline_schema(items, depth + 1)
    return kept


def _is_read_only(tool: Tool) -> bool | None:
    return tool.effects.read_only if tool.effects.declared or tool.effects.read_only else None


def _render_text(name: str, description: str, properties: dict[str, Any]) -> str:
    takes = f" Takes {', '.join(properties)}." if properties else ""
    return (
        f"{humanize_name(name)}: {description}{takes}"
        if description
        else f"{humanize_name(name)}.{takes}"
    )
