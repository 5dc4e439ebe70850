"""Tasks of servers (MCP 2026-07-28, extension ``io.modelcontextprotocol/tasks``, SEP-2663): a client
knows them by an id that names the server, so that the gateway need remember nothing.

Tasks of 2025-11-25 are not handed on: the SDK's sessions have no results of that form. A tool that
runs in no other way is called as a task by the gateway, which waits for the result
(:mod:`callwright.gateway.server.task_call`).
"""

from __future__ import annotations

from callwright.nouns.types import Json, JsonObject

TASKS = "io.modelcontextprotocol/tasks"
METHODS = ("tasks/get", "tasks/update", "tasks/cancel")
RESULT, CANCEL = "tasks/result", "tasks/cancel"  # of 2025-11-25
_MARK = "~"


def name_tasks(server: str, result: JsonObject) -> JsonObject:
    """The result with its task's id as clients know it; as it is where it is about none."""
    if "taskId" not in result and "task" not in result:
        return result
    made: JsonObject = _name_task(server, result)
    if "task" in made:
        made["task"] = _name_task(server, made["task"])
    return made


def split_task(task: str, servers: list[str]) -> tuple[str, str]:
    """The server of a task, and the server's own id of it; "" and "" for an id that is none of
    ours.
    """
    server, mark, own = task.partition(_MARK)
    return (server, own) if mark and server in servers else ("", "")


def _name_task(server: str, value: Json) -> Json:
    if not isinstance(value, dict) or not isinstance(value.get("taskId"), str):
        return value
    return {**value, "taskId": f"{server}{_MARK}{value['taskId']}"}
