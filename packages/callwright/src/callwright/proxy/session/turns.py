"""Conversations in the order that strict chat templates want: many refuse a system message that is
not the first, two of them, or two turns of the user in a row (Mistral, Gemma, Qwen 3.5), and agents
send all three.
"""

from __future__ import annotations

from typing import Any

from callwright.nouns.types import Json, JsonObject
from callwright.proxy.session.media import is_result_media, move_result_media


def arrange_messages(messages: list[Json]) -> list[Json]:
    """The same messages with one system message at the beginning and the user's turns in one piece.

    What the system says before the first answer joins its first message; what it says later stays
    where it is, as a reminder in the user's turn. Nothing is left out. Not for requests that pass
    through: those stay as they are.
    """
    system: list[str] = []
    made: list[Json] = []
    answered = False
    for message in move_result_media(messages):
        role = message.get("role") if isinstance(message, dict) else None
        answered = answered or role in ("assistant", "tool")
        if role == "system" and not answered and isinstance(message, dict):
            system.append(_join_text(message))
        elif role == "system" and isinstance(message, dict):
            _append_user_turn(
                made,
                {"role": "user", "content": wrap_reminder(_join_text(message))},
            )
        elif role == "user" and isinstance(message, dict):
            _append_user_turn(made, message)
        else:
            made.append(message)
    said = "\n\n".join(text for text in system if text)
    return [{"role": "system", "content": said}, *made] if said else made


def wrap_reminder(text: str) -> str:
    """The text as a reminder of the client in the user's turn: it opens no turn of the user."""
    return f"<system-reminder>\n{text}\n</system-reminder>"


def _append_user_turn(made: list[Json], message: JsonObject) -> None:
    last = made[-1] if made else None
    if not isinstance(last, dict) or last.get("role") != "user":
        made.append(message)
        return
    before, after = last.get("content"), message.get("content")
    if not after:
        return
    if is_result_media(before):  # the user's own words come first, or they are read as its
        joined: Json = [*_to_parts(after), *_to_parts(before)]
    elif isinstance(before, str) and isinstance(after, str):
        joined = f"{before}\n\n{after}" if before else after
    else:
        joined = [*_to_parts(before), *_to_parts(after)]
    made[-1] = {**last, "content": joined}


def _to_parts(content: Json) -> list[Json]:
    if isinstance(content, list):
        return content
    return [{"type": "text", "text": content}] if content else []


def _join_text(message: JsonObject) -> str:
    content: Any = message.get("content")
    parts = content if isinstance(content, list) else [{"text": content}]
    return "\n\n".join(str(p["text"]) for p in parts if isinstance(p, dict) and p.get("text"))
