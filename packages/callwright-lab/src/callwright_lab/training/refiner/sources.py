"""Tool-calling data sets -> tasks: Glaive, ToolACE, xLAM, NesTools, Seal-Tools, and ToolRL's mix of
ToolACE, Hammer and xLAM.

Each is read in place from its publisher's own file. Any other file will do whose rows have one of
these layouts, or that of OpenAI's chats (``messages`` with ``tool_calls``, and ``tools``). Rows
without a call, with a call that their format cannot say (ToolACE names with spaces), or with gold
that cannot be read are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from callwright.jsontext import JsonError, parse, parse_lenient
from callwright.jsontext.scan import first_span
from callwright.nouns.errors import CatalogError, ConfigError
from callwright.nouns.types import Json, Tool
from callwright.tools.lists.tools import tools_from_wire
from callwright_lab.datasets.examples import (
    compute_depths,
    object_schema,
    property_schema,
    read_json,
    read_lines,
)
from callwright_lab.datasets.nested import (
    NESTOOLS_WHERE,
    SEAL_WHERE,
    read_seal_offers,
    response_needs,
)
from callwright_lab.training.refiner.corrupted import write_reply
from callwright_lab.training.refiner.formats import FORMATS, Invocation, is_representable
from callwright_lab.training.refiner.task import Task

Row = Callable[[Json, str], Task | None]
_CALL = re.compile(r"ASSISTANT:\s*<functioncall>\s*(\{.*?\})\s*(?:<\|endoftext\|>|\Z)", re.DOTALL)
_TOOLRL_TOOL = re.compile(r"^\d+\. Name: (.*)\nDescription: (.*)\nParameters: (.*)$", re.MULTILINE)
_TOOLRL_CALLS = re.compile(r"<tool_call>\n(.*?)\n</tool_call>", re.DOTALL)
_NEST = (
    "Plan the calls of nested tools. A call may use what an earlier one returned by its label."
    ' Write the calls as [{"api_name": name, "parameters": {...}, "responses": ["API_call_0",'
    " ...]}, ...] between <nested_function> and </nested_function>. The tools: "
)
_ORDER = (
    "Plan in which steps nested tools are called; tools of one step do not need each other. Write"
    ' the steps as [{"step": 1, "tool_list": [name, ...]}, ...] between <order_func> and'
    " </order_func>. The tools: "
)
_XLAM = (
    "Choose tools for the query. Write the calls as "
    '[{"name": name, "arguments": {...}}, ...] between <func_call> and </func_call>. The tools: '
)
_ASKED = {
    "xlam": _XLAM,
    "toolace": (
        "Choose tools for the query. Write the calls as [name(key=value), ...] between"
        " <function_list> and </function_list>. The tools: "
    ),
    "glaive": (
        "Choose a tool for the query. Write the call as "
        '<functioncall> {"name": name, "arguments": {...}} <|endoftext|>. The tools: '
    ),
}
UNKNOWN = "unknown (a user's own file)"
_TOOLACE_TAGS = " Enclose the list in <function_list> and </function_list>."


def _parse_tool(spec: Json) -> Tool:
    """A tool as Glaive, ToolACE (type ``dict``) and xLAM (bare parameters) describe it."""
    given = spec.get("parameters") or {}
    if not isinstance(given, dict):
        given = {}
    if isinstance(given.get("properties"), dict) and given.get("type") in ("object", "dict", None):
        required = given.get("required") if isinstance(given.get("required"), list) else ()
        return Tool(
            str(spec["name"]),
            str(spec.get("description") or ""),
            object_schema(given["properties"], required or ()),
        )
    schema = {"type": "object", "properties": {k: property_schema(v) for k, v in given.items()}}
    return Tool(str(spec["name"]), str(spec.get("description") or ""), schema)


def _parse_invocations(items: Json) -> tuple[Invocation, ...]:
    """Calls as JSON objects write them; ValueError for anything else."""
    found = []
    for item in items if isinstance(items, list) else [items]:
        arguments = (
            item.get("arguments", item.get("parameters")) if isinstance(item, dict) else None
        )
        if isinstance(arguments, str):
            arguments = parse(arguments)
        if not isinstance(arguments, dict) or not isinstance(item.get("name"), str):
            raise ValueError("not a call")
        found.append(Invocation(item["name"], arguments))
    return tuple(found)


def parse_glaive(row: Json, id: str) -> Task | None:
    """``{"system": "SYSTEM: … {tool} {tool}", "chat": "USER: … ASSISTANT: <functioncall> {…} <|endoftext|>"}``."""
    found = _CALL.search(row["chat"])
    if found is None:
        return None
    call = re.sub(
        r"'(\{.*\})'\s*\}\s*\Z",
        lambda m: write_reply(m[1].replace("\\'", "'")) + "}",
        found[1],
        flags=re.DOTALL,
    )
    system = row["system"].removeprefix("SYSTEM: ").strip()
    tools = tuple(_parse_tool(spec) for spec in _iter_objects(system))
    query = row["chat"][: found.start()].strip()
    return Task(
        id, "glaive", "glaive", system, query, tools, _parse_invocations(parse_lenient(call).value)
    )


def _iter_objects(text: str, at: int = 0) -> Iterator[Json]:
    """The JSON values that stand one after the other in a text."""
    while (span := first_span(text, at)) is not None:
        yield parse(text[span.start : span.end])
        at = span.end


def parse_toolace(row: Json, id: str) -> Task | None:
    """``{"system": … [tools], "conversations": [{"from": "user", …}, {"from": "assistant", "value":
    "[f()]"}]}``.
    """
    before: list[str] = []
    calls = None
    for turn in row["conversations"]:
        calls = (
            FORMATS["toolace"].read(turn["value"]).calls
            if turn["from"] in ("assistant", "gpt")
            else None
        )
        if calls:
            break
        before.append(f"{turn['from'].upper()}: {turn['value']}")
    if not calls:
        return None
    query = "\n".join(before) if len(before) > 1 else row["conversations"][0]["value"]
    start = row["system"].find('[{"')
    listed: Json = next(_iter_objects(row["system"], start), []) if start >= 0 else []
    system = row["system"].strip() + _TOOLACE_TAGS
    return Task(
        id, "toolace", "toolace", system, query, tuple(_parse_tool(s) for s in listed), calls
    )


def parse_xlam(row: Json, id: str) -> Task | None:
    """``{"query": …, "tools": "[…]", "answers": "[…]"}``, tools and answers being JSON in text."""
    listed, answers = (
        parse(v) if isinstance(v, str) else v for v in (row["tools"], row["answers"])
    )
    tools = tuple(_parse_tool(s) for s in listed)
    return Task(
        id,
        "xlam",
        "xlam",
        _XLAM + write_reply(listed),
        row["query"],
        tools,
        _parse_invocations(answers),
    )


def parse_nestools(row: Json, id: str) -> Task:
    """``{"task": …, "api": [{"api_name", "parameters", "required", "responses"}], "call":
    [{…}]}``.
    """
    tools = tuple(
        Tool(
            a["api_name"],
            a.get("api_description") or "",
            object_schema(a.get("parameters"), a.get("required") or ()),
            object_schema(a.get("responses")),
        )
        for a in row["api"]
    )
    gold = tuple(
        Invocation(c["api_name"], c["parameters"], tuple(c.get("responses") or ()))
        for c in row["call"]
    )
    return Task(
        id, "nestools", "nestools", _NEST + write_reply(row["api"]), row["task"], tools, gold
    )


def parse_seal(row: Json, id: str) -> Task | None:
    """A row of Seal-Tools in the layout of NesTools (:func:`read_seal_rows`). Calls that use no
    other's result are written as xLAM writes them.
    """
    task = replace(parse_nestools(row, id), source="seal_tools")
    if any(response_needs(row["call"]).values()):
        return task
    gold = tuple(Invocation(call.name, call.arguments) for call in task.gold)
    listed = [
        {"name": t.name, "description": t.description, "parameters": t.input_schema}
        for t in task.tools
    ]
    return replace(task, format="xlam", system=_XLAM + write_reply(listed), gold=gold)


def read_seal_rows(root: Path) -> Iterator[Json]:
    """The rows of Seal-Tools in the layout of NesTools (:func:`read_seal_offers`)."""
    for row, offered in read_seal_offers(root):
        calls = [{**call, "api_name": call["api"]} for call in row["calling"]]
        yield {"task": row["query"], "api": offered, "call": calls}


def simplify_to_steps(task: Task) -> Task:
    """A NesTools task in the simplified format (C.2): the tools of each step, a step being all
    calls of one depth.
    """
    raw = [{"parameters": c.arguments, "responses": list(c.labels)} for c in task.gold]
    depth = compute_depths(len(raw), response_needs(raw))
    gold = tuple(
        Invocation(c.name, {}, step=d + 1)
        for d, c in sorted(zip(depth, task.gold, strict=True), key=lambda p: p[0])
    )
    return replace(task, format="order", system=_ORDER + task.system.removeprefix(_NEST), gold=gold)


def parse_toolrl(row: Json, id: str) -> Task | None:
    """``{"instruction": … "1. Name: …", "input": …, "output": "<think>…<tool_call> one JSON call a
    line …"}``.
    """
    found = _TOOLRL_CALLS.search(row["output"])
    if found is None:
        return None
    specs = [
        {"name": name, "description": text, "parameters": parse(given)}
        for name, text, given in _TOOLRL_TOOL.findall(row["instruction"])
    ]
    gold = _parse_invocations([parse(line) for line in found[1].splitlines() if line.strip()])
    query = row["input"].removeprefix("**Dialogue Records History**").strip()
    query = re.sub(r"\A<user>(.*)</user>\Z", r"\1", query, flags=re.DOTALL).strip()
    made = Task(
        id,
        "toolrl",
        "xlam",
        _XLAM + write_reply(specs),
        query,
        tuple(_parse_tool(s) for s in specs),
        gold,
    )
    return _rotate_format(made)


def parse_chat(row: Json, id: str) -> Task | None:
    """``{"messages": [… {"role": "assistant", "tool_calls": [{"function": {…}}]}], "tools":
    [{…}]}`` (OpenAI).
    """
    before: list[str] = []
    system = ""
    for turn in row["messages"]:
        if turn["role"] == "assistant" and turn.get("tool_calls"):
            break
        if turn["role"] in ("system", "developer"):
            system = f"\n\n{turn['content']}"
        else:
            before.append(f"{turn['role'].upper()}: {turn['content']}")
    else:
        return None
    gold = _parse_invocations([call["function"] for call in turn["tool_calls"]])
    query = "\n".join(before) if len(before) > 1 else "".join(before).removeprefix("USER: ")
    tools = tools_from_wire(parse(row["tools"]) if isinstance(row["tools"], str) else row["tools"])
    listed = [
        {"name": t.name, "description": t.description, "parameters": t.input_schema} for t in tools
    ]
    return _rotate_format(
        Task(id, "chat", "xlam", _XLAM + write_reply(listed) + system, query, tools, gold)
    )


def _rotate_format(task: Task) -> Task:
    """Data without a format of their own: a third of the tasks each as xLAM, ToolACE and Glaive,
    where they may.
    """
    wanted = ("xlam", "toolace", "glaive")[int(task.id.rpartition(":")[2]) % 3]
    system = _ASKED[wanted] + task.system.removeprefix(_XLAM)
    return (
        replace(task, format=wanted, system=system) if is_representable(task.gold, wanted) else task
    )


@dataclass(frozen=True, slots=True)
class TaskSource:
    """Location of a data set's file under the data folder, and instructions to get it. ``read``
    takes that folder, where the set is more than one file. ``train``: weights trained on it may be
    given away; None where nobody knows, as of a user's own file.
    """

    name: str
    row: Row
    file: str
    where: str
    lines: bool = False
    read: Callable[[Path], Iterator[Json]] | None = None
    licence: str = UNKNOWN
    train: bool | None = None

    def read_rows(self, root: Path) -> Iterable[Json]:
        """The rows under the data folder. ConfigError says where to get a missing file."""
        if self.read is not None:
            return self.read(root)
        read = read_lines if self.lines else read_json
        rows: Iterable[Json] = read(
            root / self.file, f"get {self.where} and put it at <data>/{self.file}"
        )
        return rows


SOURCES: Mapping[str, TaskSource] = {
    s.name: s
    for s in (
        TaskSource(
            "glaive",
            parse_glaive,
            "glaive/glaive-function-calling-v2.json",
            "glaiveai/glaive-function-calling-v2",
            licence="Apache-2.0 (glaiveai)",
            train=True,
        ),
        TaskSource(
            "toolace",
            parse_toolace,
            "toolace/data.json",
            "data.json of Team-ACE/ToolACE",
            licence="Apache-2.0 (Team-ACE)",
            train=True,
        ),
        TaskSource(
            "xlam",
            parse_xlam,
            "xlam/xlam_function_calling_60k.json",
            "Salesforce/xlam-function-calling-60k",
            licence="CC-BY-4.0 (Salesforce)",
            train=True,
        ),
        TaskSource(
            "nestools",
            parse_nestools,
            "nestools/test_data.jsonl",
            NESTOOLS_WHERE,
            lines=True,
            licence="Apache-2.0 (hhan1018/NesTools)",
            train=True,
        ),
        TaskSource(
            "seal_tools",
            parse_seal,
            "seal_tools/tool.jsonl",
            SEAL_WHERE,
            read=read_seal_rows,
            licence="Apache-2.0 (fairyshine/Seal-Tools)",
            train=True,
        ),
        TaskSource(
            "toolrl",
            parse_toolrl,
            "rlla/rlla_sft.json",
            "rlla_sft.json of qiancheng0/ToolRL",
            licence="Apache-2.0 (ToolRL); its parts have their own terms",
            train=False,
        ),
    )
}
"""The data sets by name."""
LAYOUTS: Mapping[frozenset[str], Row] = {
    frozenset({"messages", "tools"}): parse_chat,
    frozenset({"system", "chat"}): parse_glaive,
    frozenset({"system", "conversations"}): parse_toolace,
    frozenset({"query", "tools", "answers"}): parse_xlam,
    frozenset({"task", "api", "call"}): parse_nestools,
    frozenset({"instruction", "input", "output"}): parse_toolrl,
}
"""How a row is read, by the keys it must have: for files that are named by their path."""


def load_tasks(source: str, root: Path) -> list[Task]:
    """The usable tasks of one data set under the folder ``root``, or of any file in one of the
    layouts.

    ConfigError says where to get a missing file, or which layouts there are.
    """
    if source in SOURCES:
        found = SOURCES[source]
        return list(iter_tasks(found, found.read_rows(root)))
    path = Path(source).expanduser()
    if not path.is_file():
        hint = "data sets: " + ", ".join(SOURCES) + "; or the path of a file of JSON or JSON lines"
        raise ConfigError(f"there is no tool-calling data set {source!r}", hint=hint)
    try:
        given = read_lines(path, "") if path.suffix == ".jsonl" else read_json(path, "")
    except JsonError as error:
        raise ConfigError(
            f"{path} cannot be read: {error}", hint="a list of objects, or .jsonl: one a line"
        ) from None
    first = given[0] if isinstance(given, list) and given and isinstance(given[0], dict) else {}
    row = next((read for keys, read in LAYOUTS.items() if keys <= set(first)), None)
    if row is None:
        layouts = "; ".join(", ".join(sorted(keys)) for keys in LAYOUTS)
        raise ConfigError(
            f"the rows of {path} have no layout that is known", hint=f"keys of a row: {layouts}"
        )
    made = iter_tasks(TaskSource(path.stem, row, str(path), ""), given)
    # a file of one's own never has a data set's name, and so never its licence
    name = path.name if path.stem in SOURCES else path.stem
    return [replace(task, source=name) for task in made]


def iter_tasks(source: TaskSource, rows: Iterable[Json]) -> Iterator[Task]:
    """The tasks of rows already read. What cannot be read or said is left out."""
    for number, row in enumerate(rows):
        try:
            task = source.row(row, f"{source.name}:{number}")
        except (
            ValueError,
            KeyError,
            TypeError,
            AttributeError,
            JsonError,
            SyntaxError,
            CatalogError,
        ):
            continue
        if task is not None and _is_usable(task):
            yield task


def _is_usable(task: Task) -> bool:
    """Return True if a task has calls, every call names a tool on offer, and the format can express
    them.
    """
    offered = {t.name for t in task.tools}
    return (
        bool(task.query and task.gold)
        and {c.name for c in task.gold} <= offered
        and is_representable(task.gold, task.format)
    )
