"""Faults put into the desk's ordinary tasks, by a rule that nobody can choose with: more errors to
recover from.

The 22 tasks that were written with a fault stand as they are. Of the others, each whose gold calls
something without an error gets one fault at one of these calls: which kind, which call and which
parameter is decided by the sha256 of the task's id, kinds taking turns as far as calls can have
them, and so is how the server words it. The tool behind stays what it is, facts and halves stay;
only the call that the documentation asks for is refused, in words that say what is right. In gold
that call stands as failing, and the one that the server's words lead to stands after it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeAlias

from callwright.nouns.types import JsonObject, Tool
from callwright_lab.benchmarks.comparison.task_sets import hash_text
from callwright_lab.benchmarks.desk.tasks import DeskTask

Maker: TypeAlias = Callable[[Tool, JsonObject], list[JsonObject]]

KINDS = ("misnamed", "stale_enum", "hint_400", "error_200", "renamed")
"""``empty`` is not put in: of an empty list only some names have another spelling, and those tasks
were written.
"""

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_CODE = re.compile("[A-Z]{3}")
_SEED = "callwright desk faults 1"  # changing it changes every assignment: never do
_FORMS = (("%Y%m%d", "YYYYMMDD, without dashes"), ("%d/%m/%Y", "DD/MM/YYYY"))


def inject_faults(tasks: Iterable[DeskTask], tools: Mapping[str, Tool]) -> tuple[DeskTask, ...]:
    """The tasks that can have a fault, each with one. ``tools``: the desk's functions, by name.

    Left out: tasks with a fault of their own, tasks that cannot be done, and those whose calls go
    to other servers.
    """
    made: list[DeskTask] = []
    counts = dict.fromkeys(KINDS, 0)
    for task in sorted(tasks, key=lambda task: hash_text(f"{_SEED} {task.id}")):
        if task.faults or task.expect.limitation:
            continue
        rare = sorted(
            KINDS, key=lambda kind: (counts[kind], hash_text(f"{_SEED} {task.id} {kind}"))
        )
        found = next(
            ((kind, fault) for kind in rare if (fault := _choose_fault(task, kind, tools))), None
        )
        if found is not None:
            counts[found[0]] += 1
            made.append(_add_fault(task, *found))
    return tuple(sorted(made, key=lambda task: task.id))


def _add_fault(task: DeskTask, kind: str, fault: JsonObject) -> DeskTask:
    """The task with its fault. A renamed tool stands beside its old name, and may be the one that
    had to answer.
    """
    alias = fault.get("to")
    names = task.tools if alias is None else tuple(sorted((*task.tools, str(alias))))
    groups = tuple(
        (*group, str(alias)) if alias and fault["tool"] in group else group
        for group in task.expect.must
    )
    return replace(
        task,
        id=f"{task.id}+{kind}",
        kind=kind,
        tools=names,
        gold_calls=tuple(
            each for call in task.gold_calls for each in _build_gold_calls(fault, call)
        ),
        faults=(fault,),
        expect=replace(task.expect, must=groups),
    )


def _build_gold_calls(fault: JsonObject, call: JsonObject) -> tuple[JsonObject, ...]:
    """A gold call as it goes with the fault: refused first and then as the server wants it, if it
    meets the fault.
    """
    tool, arguments, key = call["tool"], call["arguments"], fault.get("parameter", "")
    if tool != fault["tool"] or (key and key not in arguments):
        return (call,)
    refused = {**call, "fails": True}
    if fault["kind"] == "renamed":
        return refused, {**call, "tool": fault["to"]}
    if "wanted" in fault:
        named = {
            fault["wanted"] if name == key else name: value for name, value in arguments.items()
        }
        return refused, {**call, "arguments": named}
    value = arguments[key]
    taken: str | None
    if "form" in fault:
        taken = datetime.strptime(value, "%Y-%m-%d").strftime(fault["form"])
    else:
        taken = next((new for new, old in fault["becomes"].items() if old == value), None)
    return (call,) if taken is None else (refused, {**call, "arguments": {**arguments, key: taken}})


def _choose_fault(task: DeskTask, kind: str, tools: Mapping[str, Tool]) -> JsonObject | None:
    """One fault of a kind at one of the task's right calls; None where none of them can have it."""
    made = [
        fault
        for call in task.gold_calls
        if not call.get("fails") and call["tool"] in tools
        for fault in _MAKERS[kind](tools[call["tool"]], call["arguments"])
    ]
    return min(made, key=lambda fault: hash_text(f"{_SEED} {task.id} {fault}"), default=None)


def _make_misnamed_faults(tool: Tool, arguments: JsonObject) -> list[JsonObject]:
    found: list[JsonObject] = []
    for key in arguments:
        wanted = _rename_parameter(key)
        if key in tool.required and wanted not in tool.properties:
            for said in _build_misnamed_errors(tool.name, key, wanted):
                found.append(
                    {
                        "kind": "misnamed",
                        "tool": tool.name,
                        **said,
                        "parameter": key,
                        "wanted": wanted,
                    }
                )
    return found


def _build_misnamed_errors(tool: str, key: str, wanted: str) -> list[JsonObject]:
    """Return the error messages of servers for a misnamed parameter: plain JSON, a code and a
    message, FastAPI, an MCP server.
    """
    detail = [
        {"type": "missing", "loc": ["query", wanted], "msg": "Field required"},
        {"type": "extra_forbidden", "loc": ["query", key], "msg": "Extra inputs are not permitted"},
    ]
    text = (
        f"Error executing tool {tool}: 2 validation errors for {tool}Arguments\n{wanted}\n  Field"
        f" required [type=missing, input_type=dict]\n{key}\n  Extra inputs are not permitted"
        " [type=extra_forbidden, input_value='{value}', input_type=str]"
    )
    return [
        {"body": {"error": f"unknown parameter '{key}', expected '{wanted}'"}},
        {
            "body": {
                "code": 400,
                "message": f"Missing required field '{wanted}'; unknown field '{key}'",
            }
        },
        {"body": {"detail": detail}, "status": 422},
        {"body": text, "status": 0},
    ]


def _stale_enum(tool: Tool, arguments: JsonObject) -> list[JsonObject]:
    found: list[JsonObject] = []
    for key, value in arguments.items():
        options = tool.properties.get(key, {}).get("enum")
        if (
            not isinstance(options, list)
            or value not in options
            or not all(isinstance(o, str) for o in options)
        ):
            continue
        becomes = {
            option.upper() if option != option.upper() else option.lower(): option
            for option in options
        }
        listed = ", ".join(becomes)
        for body, status in (
            ({"error": f"Invalid value '{{value}}' for '{key}'. Allowed values: {listed}"}, 400),
            ({key: [f'"{{value}}" is not a valid choice. Valid choices are: {listed}']}, 400),
            ({"message": f"{key} must be one of: {listed}"}, 422),
        ):
            fault = {"kind": "stale_enum", "tool": tool.name, "body": body, "status": status}
            found.append({**fault, "parameter": key, "becomes": becomes})
    return found


def _refused_value(kind: str, tool: Tool, said: str, **fault: Any) -> list[JsonObject]:
    """A value that is refused in words that say what is taken, in the ways of a 400 or of a 200."""
    bodies: dict[str, tuple[JsonObject, ...]] = {
        "hint_400": (
            {"error": "Bad Request", "message": said},
            {"title": "Bad Request", "detail": said},
            {"error": {"code": "invalid_argument", "message": said}},
        ),
        "error_200": (
            {"success": False, "error": said},
            {"status": "error", "message": said},
            {"ok": False, "error": "invalid_arguments", "message": said},
        ),
    }
    status = 400 if kind == "hint_400" else 200
    return [
        {"kind": kind, "tool": tool.name, "body": body, "status": status, **fault}
        for body in bodies[kind]
    ]


def _make_value_maker(kind: str) -> Maker:
    """A date that is taken in another form only, or a code of three letters that is taken in small
    letters only.
    """

    def make(tool: Tool, arguments: JsonObject) -> list[JsonObject]:
        found: list[JsonObject] = []
        for key, value in arguments.items():
            part = tool.properties.get(key, {})
            if not isinstance(value, str) or "enum" in part:
                continue
            if _DATE.fullmatch(value) and "format" not in part:
                for form, words in _FORMS:
                    found += _refused_value(
                        kind, tool, f"{key} must be given as {words}", parameter=key, form=form
                    )
            if _CODE.fullmatch(value):
                small = value.lower()
                for words in (f"write it in small letters, '{small}'", f"did you mean '{small}'?"):
                    said = f"{key} '{{value}}' is not accepted: {words}"
                    only = {
                        "parameter": key,
                        "refuses": f"(?-i:{value})",
                        "becomes": {small: value},
                    }
                    found += _refused_value(kind, tool, said, **only)
        return found

    return make


def _renamed_tool(tool: Tool, arguments: JsonObject) -> list[JsonObject]:  # noqa: ARG001
    first, _, rest = tool.name.partition("_")
    other = f"{rest or first}_{first}_v2" if rest else f"{first}_v2"
    about = f"{tool.description} (New name of {tool.name}.)"
    words = (
        ({"error": f"{tool.name} has been renamed. Call {other} with the same arguments."}, 410),
        ({"detail": f"'{tool.name}' was replaced by '{other}' in version 2"}, 404),
        (
            {
                "success": False,
                "message": f"{tool.name} is deprecated and gone, please use {other}",
            },
            200,
        ),
    )
    fault = {"kind": "renamed", "tool": tool.name, "to": other, "about": about}
    return [{**fault, "body": body, "status": status} for body, status in words]


_MAKERS: Mapping[str, Maker] = {
    "misnamed": _make_misnamed_faults,
    "stale_enum": _stale_enum,
    "hint_400": _make_value_maker("hint_400"),
    "error_200": _make_value_maker("error_200"),
    "renamed": _renamed_tool,
}


def _rename_parameter(key: str) -> str:
    """Another name that servers give a parameter: ``trip_id`` as ``tripId``, ``city`` as
    ``city_name``.
    """
    first, *rest = key.split("_")
    return first + "".join(part.capitalize() for part in rest) if rest else f"{key}_value"
