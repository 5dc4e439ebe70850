"""Results that the gateway writes itself, and what it adds to those of servers. A model reads them:
each says what happened, to what, and what to do next.
"""

from __future__ import annotations

from collections.abc import Sequence

from callwright.gateway.session.catalog import GatewayCatalog, GatewayTool
from callwright.nouns.errors import Failure
from callwright.nouns.types import Edit, JsonObject, to_json

META_KEY = "callwright/gateway"
"""The one key in a result's ``_meta``: ``edits`` lists what was changed in the arguments
(``path``, a JSON Pointer into them, ``before``, ``after``, ``rule``); ``refused`` is the reason why
a call was not sent; ``outcome`` is "unknown" where a call may have taken effect.
"""


_NEXT = {
    False: "It was not sent again. Find out what happened before you call it once more.",
    True: "To make the very same call once more does no harm.",
}


def build_refusal(text: str, refused: str, edits: Sequence[Edit] = ()) -> JsonObject:
    """The result of a call that was not sent."""
    return attach_meta(_build_error(text), {"refused": refused, **_list_edits(edits)})


def build_failure(failure: Failure, offer: GatewayTool, *, is_unknown: bool) -> JsonObject:
    """The result of a call whose server did not answer. ``is_unknown``: it may have taken
    effect.
    """
    text = f"'{offer.exposed}' of the server {offer.server!r} gave no result: {failure.message}"
    if is_unknown:
        text += f"\nThe call may have taken effect. {_NEXT[offer.tool.effects.may_repeat]}"
        return attach_meta(_build_error(text), {"outcome": "unknown"})
    if failure.retryable:
        waits = failure.detail.get("retry_after") if isinstance(failure.detail, dict) else None
        when = f"in {waits:g} seconds" if isinstance(waits, int | float) else "later"
        text += f"\nNothing was changed. The same call may succeed {when}."
    return _build_error(text)


def attach_meta(result: JsonObject, said: JsonObject) -> JsonObject:
    """The result with what the gateway says of it; as it is where there is nothing to say."""
    if not said:
        return result
    meta = result.get("_meta") or {}
    return {**result, "_meta": {**meta, META_KEY: {**meta.get(META_KEY, {}), **said}}}


def attach_edits(result: JsonObject, edits: Sequence[Edit]) -> JsonObject:
    """The result with the list of what was changed in the call."""
    return attach_meta(result, _list_edits(edits))


def describe_unknown(name: str, catalog: GatewayCatalog, absent: str = "") -> str:
    """Return what is said to a call of a tool that is not offered; ``absent``: why its server has
    no tools now.
    """
    if reason := catalog.hidden.get(name):
        return f"There is a tool {name[:80]!r}, and it may not be called: {reason}."
    if absent:
        return f"There is no tool {name[:80]!r} now, and the call was not sent: {absent}."
    said = f"There is no tool {name[:80]!r}."
    if near := catalog.list_near(name):
        return f"{said} Did you mean {' or '.join(map(repr, near))}? The call was not sent."
    return f"{said} Nothing of the kind is among the {len(catalog)} tools of this gateway."


def _build_error(text: str) -> JsonObject:
    return {"content": [{"type": "text", "text": text}], "isError": True}


def _list_edits(edits: Sequence[Edit]) -> JsonObject:
    return {"edits": to_json(list(edits))} if edits else {}
