"""The order of the phases: a probe where it is needed, by schema or freely, and an end."""

from __future__ import annotations

import json

import pytest

from callwright.proxy.apis.adapters import FRONTS
from callwright.proxy.server.outbound import CHAT
from callwright.proxy.session.context import Toolsets
from callwright.proxy.session.events import (
    Probe,
    Probed,
    Request,
    SendUpstream,
    Tick,
    UpstreamData,
    UpstreamEnd,
    UpstreamHead,
)
from callwright.proxy.session.phases.serving import serve_request
from callwright.proxy.session.phases.transaction import Steps, Transaction
from callwright.proxy.session.record import Record
from callwright.proxy.session.settings import Guided, Settings
from tests.proxy.playbook import JSON, body, whole


def begun(guided: Guided, **more: object) -> tuple[Transaction, Steps[None], list[object]]:
    """A request that has been sent to the generator, and what follows from it."""
    made = Transaction(record=Record("t1", ""), settings=Settings(guided=guided))
    steps = serve_request(made, Toolsets(), FRONTS, 99, is_local=True)
    assert next(steps) == []
    raw = json.dumps(body(False, **more)).encode()
    return made, steps, list(steps.send(Request("POST", CHAT, body=raw)))


def test_a_request_ends_its_generator_with_its_last_commands_left() -> None:
    made, steps, (asked,) = begun("off")
    assert isinstance(asked, SendUpstream)
    assert made.context is not None
    assert made.context.local
    made.commands = []
    assert steps.send(UpstreamHead(200, JSON)) == []
    assert steps.send(UpstreamData(whole("It rains."))) == []
    with pytest.raises(StopIteration):
        steps.send(UpstreamEnd())
    assert [type(c).__name__ for c in made.commands] == ["SendHead", "SendBody", "Finish", "Log"]


@pytest.mark.parametrize(
    ("found", "more", "local", "asking"),
    [
        (Probed(native=True, schema=True), {}, True, "free"),
        (Probed(native=False, schema=False), {}, True, "free"),
        (Probed(native=False, schema=True), {}, False, "guided"),
        (Probed(native=False, schema=True, written=True), {}, False, "free"),
        (Probed(native=False, schema=True, written=True), {}, True, "guided"),
        (
            Probed(native=False, schema=True, written=True),
            {"tool_choice": "required"},
            False,
            "guided",
        ),
    ],
)
def test_what_the_upstream_can_do_decides_how_it_is_asked(
    found: Probed, more: dict[str, object], local: bool, asking: str
) -> None:
    made, steps, (probe,) = begun("auto", **more)
    assert isinstance(probe, Probe)
    assert made.context is not None
    made.context.local = local
    made.commands = []
    assert steps.send(Tick()) == []
    assert [type(c) for c in steps.send(found)] == [SendUpstream]
    assert made.asking == asking


def test_nothing_is_probed_where_the_settings_or_the_client_decide() -> None:
    assert begun("on")[0].asking == "guided"
    assert begun("off")[0].asking == "free"
    assert begun("auto", tool_choice="none")[0].asking == "free"
