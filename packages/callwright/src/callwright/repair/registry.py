"""Every rule of repair: what it is called, what it needs, the edits that it makes, and an example.

The rules are those of the configurations. What the documentation says of their edits, and of those
that other rooms make, stands in ``data/rules.toml``. ``python -m callwright.repair.registry``
prints the tables of docs/rules.md; with the page's path it writes them there, between its markers.
A test runs every example.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from callwright.jsontext import parse
from callwright.nouns.types import READ, Json, Tool, ToolCall, to_canonical_json
from callwright.repair.by_model.question import RUN_RULES
from callwright.repair.by_model.refiner import MODEL_RULES
from callwright.repair.refinement import PROXY_RULES
from callwright.repair.rule import Rule
from callwright.repair.rules.lossless import LOSSLESS_RULES, PROVENANCE_RULES

FILE = Path(__file__).with_name("data") / "rules.toml"
BEGIN, END = "<!-- rules: begin -->", "<!-- rules: end -->"


@dataclass(frozen=True, slots=True)
class Example:
    """Calls that come in, and the calls that go out. ``mode`` is how it is run (see the file)."""

    before: tuple[ToolCall, ...]
    after: tuple[ToolCall, ...]
    tools: tuple[Tool, ...]
    query: str = ""
    mode: str = "refine"
    earlier: tuple[ToolCall, ...] = ()
    results: Json = None
    reply: str = ""


@dataclass(frozen=True, slots=True)
class EditKind:
    """One kind of edit: its name on the wire, the rule that makes it, its row in the docs."""

    wire: str
    rule: str
    does: str
    only_if: str
    example: Example


@dataclass(frozen=True, slots=True)
class OtherEdit:
    """One kind of edit that no rule of the pipeline makes: its name on the wire, and what makes it."""

    wire: str
    by: str
    does: str


def every_rule() -> tuple[Rule[Any], ...]:
    """The rules of all configurations, those of the gate first."""
    return (
        *LOSSLESS_RULES,
        *PROVENANCE_RULES,
        *PROXY_RULES,
        *MODEL_RULES,
        *RUN_RULES,
    )


def edit_kinds() -> tuple[EditKind, ...]:
    """Every kind of edit, in the order of the table."""
    tables = tomllib.loads(FILE.read_text(encoding="utf-8"))
    tools = {name: _build_tool(name, parse(text)) for name, text in tables["tools"].items()}
    return tuple(_build_edit_kind(row, tools) for row in tables["edits"])


def other_edits() -> tuple[OtherEdit, ...]:
    """The kinds of edits that the proxy, the answer's check and learned overlays make."""
    tables = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return tuple(OtherEdit(**row) for row in tables["elsewhere"])


def _build_tool(name: str, row: Mapping[str, Any]) -> Tool:
    schema = {"type": "object", "properties": row["properties"], "required": row["required"]}
    returned = {key: {"type": "string"} for key in row.get("returns", ())}
    returns = {"type": "object", "properties": returned} if returned else None
    return Tool(name, row["about"], schema, returns, READ)


def _build_edit_kind(row: Mapping[str, Any], tools: Mapping[str, Tool]) -> EditKind:
    example = Example(
        _parse_calls(row["before"]),
        _parse_calls(row["after"]),
        tuple(tools[name] for name in row["tools"]),
        row.get("query", ""),
        row.get("mode", "refine"),
        _parse_calls(row.get("earlier", "[]")),
        parse(row["results"]) if "results" in row else None,
        row.get("reply", ""),
    )
    return EditKind(row["wire"], row["rule"], row["does"], row.get("only_if", ""), example)


def _parse_calls(text: str) -> tuple[ToolCall, ...]:
    rows = enumerate(parse(text), 1)
    return tuple(
        ToolCall(row[2] if len(row) > 2 else f"call_{n}", row[0], row[1]) for n, row in rows
    )


# ---------------------------------------------------------------- the table


def render_table() -> str:
    """The rows of the documentation, in Markdown: the edits of the rules, then the other edits."""
    return "\n".join([*_iter_rows(), "", *_iter_other_rows()])


def _iter_rows() -> Iterator[str]:
    needs = {rule.id: rule.needs for rule in every_rule()}
    yield "| edit | what it does | for example | only if |"
    yield "|---|---|---|---|"
    for kind in edit_kinds():
        before, after = (
            "; ".join(map(_render_call, calls))
            for calls in (kind.example.before, kind.example.after)
        )
        if kind.example.mode == "none":
            shown = ""
        elif before == after:
            shown = f"`{before}` gets another id"
        else:
            shown = f"`{before}` → " + (f"`{after}`" if after else "no call")
        more = " and ".join(sorted(needs[kind.rule] - {"schema"}))  # which every rule needs
        only_if = "; ".join(filter(None, (kind.only_if, more and f"needs {more}")))
        cells = (kind.does, shown, only_if)
        yield f"| `{kind.wire}` | " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _iter_other_rows() -> Iterator[str]:
    yield "Edits that no rule of the pipeline makes:"
    yield ""
    yield "| edit | made by | what it does |"
    yield "|---|---|---|"
    for edit in other_edits():
        yield f"| `{edit.wire}` | {edit.by} | {edit.does} |"


def _render_call(call: ToolCall) -> str:
    if isinstance(call.arguments, str):
        return f"{call.tool} {call.arguments}".strip()
    return f"{call.tool}({', '.join(f'{k}={to_canonical_json(v)}' for k, v in call.arguments.items())})"


def replace_table(page: str) -> str:
    """The page with the table between its markers. Raises ValueError where they are not there."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page has no {BEGIN} … {END}")
    return f"{before}{BEGIN}\n{render_table()}\n{END}{after}"


def main(arguments: Sequence[str]) -> int:
    """Print the table, or write it into the pages that are named."""
    for name in arguments:
        path = Path(name)
        path.write_text(replace_table(path.read_text(encoding="utf-8")), encoding="utf-8")
    if not arguments:
        sys.stdout.write(render_table() + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
