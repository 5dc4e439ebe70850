"""Contacts, mail, calendar, files and tickets."""

from __future__ import annotations

from typing import Any

from callwright_lab.benchmarks.agents.worlds.failures import (
    Refused,
    find_by_name,
    get_entry,
    take_number,
)

State = dict[str, Any]


def find_contact(state: State, name: str) -> Any:
    """Colleagues whose name holds a text."""
    return find_by_name(state["contacts"], name, "contact_id")


def send_mail(state: State, to: str, subject: str, body: str) -> Any:
    """A mail that was sent."""
    key = f"M-{take_number(state, 'mail')}"
    sender = "office@nordwind.example"
    state["mail"][key] = {"from": sender, "to": to, "subject": subject, "body": body}
    return {"mail_id": key, "status": "sent"}


def search_mail(state: State, word: str) -> Any:
    """The mails that hold a word."""
    return [
        {"mail_id": key, **row}
        for key, row in state["mail"].items()
        if word.strip().casefold() in " ".join(row.values()).casefold()
    ]


def list_events(state: State, date: str) -> Any:
    """The events of a day."""
    return [{"event_id": k, **row} for k, row in state["events"].items() if row["date"] == date]


def create_event(state: State, title: str, date: str, time: str, attendee: str = "") -> Any:
    """A new event."""
    key = f"V-{take_number(state, 'events')}"
    state["events"][key] = {"title": title, "date": date, "time": time, "attendee": attendee}
    return {"event_id": key, "date": date, "time": time}


def delete_event(state: State, event_id: str) -> Any:
    """An event that is gone."""
    get_entry(state["events"], event_id, "event")
    del state["events"][event_id]
    return {"event_id": event_id, "status": "deleted"}


def list_files(state: State, folder: str) -> Any:
    """The paths below a folder."""
    return [path for path in state["files"] if path.startswith(folder.strip("/") + "/")]


def read_file(state: State, path: str) -> Any:
    """A file's text."""
    return {"path": path, "text": get_entry(state["files"], path, "file")["text"]}


def write_file(state: State, path: str, text: str) -> Any:
    """A file with a new text."""
    state["files"][path] = {"text": text}
    return {"path": path, "status": "written"}


def delete_file(state: State, path: str) -> Any:
    """A file that is gone."""
    get_entry(state["files"], path, "file")
    del state["files"][path]
    return {"path": path, "status": "deleted"}


def create_ticket(state: State, title: str, priority: str = "normal") -> Any:
    """A new ticket."""
    key = f"T-{take_number(state, 'tickets')}"
    state["tickets"][key] = {"title": title, "priority": priority, "status": "open"}
    return {"ticket_id": key, "status": "open"}


def get_ticket(state: State, ticket_id: str) -> Any:
    """A ticket by its id."""
    return {"ticket_id": ticket_id, **get_entry(state["tickets"], ticket_id, "ticket")}


def list_tickets(state: State, status: str) -> Any:
    """The tickets of a status."""
    rows = ({"ticket_id": key, **row} for key, row in state["tickets"].items())
    return [row for row in rows if row["status"] == status]


def close_ticket(state: State, ticket_id: str) -> Any:
    """An open ticket, closed."""
    ticket = get_entry(state["tickets"], ticket_id, "ticket")
    if ticket["status"] == "closed":
        raise Refused(f"ticket {ticket_id} is closed already")
    ticket["status"] = "closed"
    return {"ticket_id": ticket_id, "status": "closed"}


TOOLS = (
    find_contact,
    send_mail,
    search_mail,
    list_events,
    create_event,
    delete_event,
    list_files,
    read_file,
    write_file,
    delete_file,
    create_ticket,
    get_ticket,
    list_tickets,
    close_ticket,
)
