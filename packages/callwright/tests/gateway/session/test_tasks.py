from __future__ import annotations

from callwright.gateway.session.tasks import name_tasks, split_task


def test_a_task_is_known_by_its_server_and_found_there_again() -> None:
    for result in (
        {"resultType": "task", "taskId": "7", "status": "working"},
        {"resultType": "task", "task": {"taskId": "7"}},
    ):
        made = name_tasks("mail", result)
        told = made.get("taskId") or made["task"]["taskId"]
        assert told == "mail~7"
        assert split_task(told, ["maps", "mail"]) == ("mail", "7")
    assert split_task("mail~a~b", ["mail"]) == ("mail", "a~b")


def test_what_is_no_task_is_left_alone() -> None:
    assert name_tasks("mail", {"content": []}) == {"content": []}
    assert name_tasks("mail", {"taskId": 5}) == {"taskId": 5}
    assert split_task("7", ["mail"]) == ("", "")
    assert split_task("other~7", ["mail"]) == ("", "")
