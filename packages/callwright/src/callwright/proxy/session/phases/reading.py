"""Reads the client's request: what of it goes upstream, and what it says about calls."""

from __future__ import annotations

from collections.abc import Mapping

from callwright.nouns.types import JsonObject
from callwright.proxy.apis.adapters import ANSWERS, FRONTS, OLDER, Front
from callwright.proxy.apis.functions import convert_to_tools, is_older
from callwright.proxy.apis.translated import BadRequest
from callwright.proxy.server.address import normalize_path
from callwright.proxy.server.budget import count_items
from callwright.proxy.server.outbound import Outbound
from callwright.proxy.session import history
from callwright.proxy.session.answers.form import read_form
from callwright.proxy.session.answers.sse import json_bytes, json_object
from callwright.proxy.session.context import Toolsets, read_context
from callwright.proxy.session.events import Request, SendUpstream
from callwright.proxy.session.faults import OverBudget
from callwright.proxy.session.phases.transaction import Transaction

_CHAT = "/chat/completions"  # at the end of a path: many servers have it under their own


def _get_read_path(request: Request) -> str:
    """The path under which a request is read; "" for one that passes unchanged."""
    path = normalize_path(request.path) if request.method == "POST" else ""
    return path if path.endswith(_CHAT) or path in FRONTS or path in ANSWERS else ""


def is_read(request: Request) -> bool:
    """Return True if the proxy reads this request; all others pass unchanged."""
    return bool(_get_read_path(request))


def find_front(request: Request, fronts: Mapping[str, Front]) -> Front | None:
    """Return the API that a request is written in; None for chat completions and all else."""
    return fronts.get(_get_read_path(request))


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
    path = _get_read_path(request)
    packings = [value for name, value in request.headers if name == "content-encoding"]
    if path and {*packings} - {"identity", ""}:  # it would pass unread
        said = f"the body is compressed ({', '.join(packings)}); send it without content-encoding"
        transaction.refuse(415, said)
        return None
    answer = ANSWERS.get(path)
    is_ours = front is not None or answer is not None
    body = json_object(request.body) if path else None
    if body is None and not is_ours:
        return transaction.outbound.unchanged()
    if body is not None and not is_ours and is_older(body):
        transaction.front = OLDER
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
    else:
        body = convert_to_tools(body)
    if (items := count_items(body)) > most_items:
        raise OverBudget(f"{items} items")
    body = toolsets.apply_overlay(body)
    paired, edits = history.pair_messages(body.get("messages"))
    if edits:
        body = {**body, "messages": paired}
        record.edits += edits
    transaction.stream = record.stream = body.get("stream") is True
    transaction.wants_several = body.get("n") not in (None, 1)
    record.model = str(body.get("model") or "")
    alone = {key: value for key, value in body.items() if key != "n"}
    context = read_context(alone, raw, toolsets, transaction.settings)
    transaction.context = context
    transaction.form = read_form(body)
    record.has_form = transaction.form is not None
    if context is not None:
        record.tools = tuple(t.name for t in context.toolset.tools)
        context.parallel = context.parallel and transaction.front is not OLDER
    return outbound.chat(json_bytes(body) if body is not came else outbound.request.body)
