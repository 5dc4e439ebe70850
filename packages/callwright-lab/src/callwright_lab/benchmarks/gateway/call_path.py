"""One call on the gateway's own way from a client to a server, without a server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from callwright.gateway.session.call import CallFacts, CallRequest, run_call
from callwright.gateway.session.catalog import GatewayCatalog, build_catalog, read_listing
from callwright.gateway.session.commands import Consult, Consulted, Dispatch, Returned
from callwright.gateway.session.policy import ServerPolicy
from callwright.gateway.session.record import CallRecord
from callwright.nouns.types import JsonObject, Tool
from callwright.tools.lists.tools import tool_to_mcp

_SERVER = "s"


@dataclass(frozen=True, slots=True)
class Passed:
    """The end of a call. ``tool`` and ``arguments`` are what its server was sent, None where
    nothing was; ``refused`` is the reason then, and ``text`` what the client was told.
    """

    tool: str | None
    arguments: JsonObject | None
    refused: str
    text: str
    rules: tuple[str, ...]


def offer_tools(tools: Sequence[Tool]) -> GatewayCatalog:
    """The tools as the gateway offers those of one server, under their own names."""
    policy = ServerPolicy(name=_SERVER)
    return build_catalog([read_listing(policy, [tool_to_mcp(tool) for tool in tools])])


def find_offered_name(catalog: GatewayCatalog, tool: str) -> str:
    """The name under which a client calls a server's tool."""
    return next(offer.exposed for offer in catalog if offer.name == tool)


def send_call(catalog: GatewayCatalog, name: str, arguments: JsonObject | str | None) -> Passed:
    """Send a call on its way. The client approves by itself, and the server answers at once."""
    record = CallRecord("call-1", name, arguments)
    request = CallRequest(name=name, arguments=arguments)
    steps = run_call(request, CallFacts(catalog=catalog, consent=None), record)
    sent: JsonObject | None = None
    try:
        command = next(steps)
        while True:
            if isinstance(command, Dispatch):
                sent = command.params
                command = steps.send(Returned({"content": []}))
            else:
                assert isinstance(command, Consult)
                command = steps.send(Consulted())
    except StopIteration:
        rules = tuple(edit.rule for edit in record.edits)
    if sent is None:
        return Passed(None, None, record.reason, record.reply, rules)
    return Passed(sent["name"], sent.get("arguments"), "", "", rules)
