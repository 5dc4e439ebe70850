"""Reads the client's request: what of it goes upstream, and what it says about calls."""

from __future__ import annotations

from collections.abc import Mapping

from callwright.nouns.types import JsonObject
from callwright.proxy.apis.adapters import ANSWERS, FRONTS, Front
from callwright.proxy.apis.translated import BadRequest
from callwright.proxy.server.budget import count_items
from callwright.proxy.server.outbound import CHAT, Outbound
from callwright.proxy.session import history
from callwright.proxy.session.answers.form import read_form
from callwright.proxy.session.answers.sse import json_bytes, json_object
from callwright.proxy.session.context import Toolsets, read_context
from callwright.proxy.session.events import Request, SendUpstream
from callwright.proxy.session.faults import OverBudget
from callwright.proxy.session.phases.transaction import Transaction

_CHATS = frozenset({CHAT, "/chat/completions"})


def is_read(request: Request) -> bool:
    """Return True if the proxy reads this request; all others pass unchanged."""
    return request.method == "POST" and (
        request.path in _CHATS or request.path in FRONTS or request.path in ANSWERS
    )


def find_front(request: Request, fronts: Mapping[str, Front]) -> Front | None:
    """Return the API that a request is written in; None for chat completions and all else."""
    return fronts.get(request.path) if request.method == "POST" else None


def read_request(
    transaction: Transaction,
    request: Request,
    toolsets: Toolsets,
    fronts: Mapping[str, Front],
    most_items: int,
) -> SendUpstream | None:
    """Return what goes upstream first, None for a request that is answered here.

    Sets the transaction's context where the answer's calls have to be read. Raises OverBudget where
    there are more than ``most_items`` tools, messages, calls and parts.
    """
    transaction.started, transaction.record.path = transaction.now, request.path
    front = transaction.front = find_front(request, fronts)
    transaction.outbound = Outbound(request, front is not None)
    is_post, path = request.method == "POST", request.path
    answer = ANSWERS.get(path) if is_post else None
    is_ours = front is not None or answer is not None
    body = json_object(request.body) if is_ours or (is_post and path in _CHATS) else None
    if body is None and not is_ours:
        return transaction.outbound.unchanged()
    try:
        if body is None:
            raise BadRequest("the body is no JSON object")
        if answer is None:
            return _read_chat(transaction, body, toolsets, most_items)
        transaction.reply(200, answer(body))
    except BadRequest as exc:
        transaction.refuse(400, str(exc), exc.body)
    return None


def _read_chat(
    transaction: Transaction, body: JsonObject, toolsets: Toolsets, most_items: int
) -> SendUpstream:
    outbound, record = transaction.outbound, transaction.record
    came, raw = body, outbound.request.body
    if transaction.front is not None:
        writer = transaction.front.writer(body)
        body = transaction.front.request(body)
        raw = json_bytes(body)
        transaction.writer, transaction.bare = writer, outbound.chat(raw)
    if (items := count_items(body)) > most_items:
        raise OverBudget(f"{items} items")
    body = toolsets.apply_overlay(body)
    paired, edits = history.pair_messages(body.get("messages"))
    if edits:
        body = {**body, "messages": paired}
        record.edits += edits
    transaction.stream = record.stream = body.get("stream") is True
    record.model = str(body.get("model") or "")
    context = read_context(body, raw, toolsets, transaction.settings)
    transaction.context = context
    transaction.form = read_form(body)
    record.has_form = transaction.form is not None
    if context is not None:
        record.tools = tuple(t.name for t in context.toolset.tools)
    return outbound.chat(json_bytes(body) if body is not came else outbound.request.body)
