"""Libraries a user could pick instead, each as a reader: what it makes of the same text, by its own
documentation.

====================  ==========================================================================================
``toolpatch``         pulls leaked calls (Hermes, fenced, bare JSON) out of a text; is told the tools' names
``agent_tool_parser`` a parser of seven dialects with repairs; knows nothing of tools
``llm_output_parser`` the JSON values in a text, read as calls as the baseline reads them
``baml``              BAML's schema-aligned parsing of the text into a list of the tools' own types
====================  ==========================================================================================

None is needed for anything else: the extra ``peers`` installs them. A peer that raises has read
no call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType

from callwright.nouns.errors import MissingExtra
from callwright.nouns.types import ToolCall
from callwright_lab.benchmarks.refine.baml import parse_aligned
from callwright_lab.benchmarks.refine.read import (
    Reader,
    extract_shaped_calls,
    parse_strict_object,
    read_repaired_json,
    read_server_calls,
)
from callwright_lab.benchmarks.refine.task import Found, Recorded, Task

Peer = Callable[[ModuleType, str, Task], list[ToolCall]]


def make_reader(module: str, read: Peer) -> Reader:
    """The server's own calls, or else what a peer reads in the text. Raises MissingExtra where it
    is not there.
    """

    def found(reply: Recorded, task: Task) -> Found:
        own = read_server_calls(reply, task).calls
        if own:
            return Found(own)
        try:
            library = import_module(module)
        except ImportError:
            raise MissingExtra(f"the peer '{module}'", "peers", "callwright-lab") from None
        try:
            return Found(tuple(read(library, reply.text, task)))
        except Exception:  # whatever a library raises for a model's text: it read no call
            return Found()

    return found


def _read_toolpatch(library: ModuleType, text: str, task: Task) -> list[ToolCall]:
    found = library.extract_tool_calls(text, {t.name for t in task.tools})
    rows = found.tool_calls if found is not None else []
    made = [(row["id"], row["function"]["name"], row["function"]["arguments"]) for row in rows]
    return [
        ToolCall(label, name, parse_strict_object(arguments)) for label, name, arguments in made
    ]


def _agent_tool_parser(library: ModuleType, text: str, _: Task) -> list[ToolCall]:
    found = library.parse_tool_calls(text)
    return [ToolCall(f"call_{n}", c.name, dict(c.args)) for n, c in enumerate(found, 1)]


def _llm_output_parser(library: ModuleType, text: str, _: Task) -> list[ToolCall]:
    found = library.parse_jsons(text)
    return extract_shaped_calls(
        [x for value in found for x in (value if isinstance(value, list) else [value])], 0
    )


def _read_baml(library: ModuleType, text: str, task: Task) -> list[ToolCall]:
    return parse_aligned(library, text, task.tools)


PEERS: Mapping[str, Reader] = {
    "json_repair": read_repaired_json,
    "toolpatch": make_reader("toolpatch", _read_toolpatch),
    "agent_tool_parser": make_reader("agent_tool_parser", _agent_tool_parser),
    "llm_output_parser": make_reader("llm_output_parser", _llm_output_parser),
    "baml": make_reader("baml_py", _read_baml),
}
