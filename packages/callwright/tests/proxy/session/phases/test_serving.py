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
from callwright.proxy.session.settings import GuardMode, GuardSetting, Guided, Settings
from tests.proxy.playbook import JSON, body, whole


def begun(
    guided: Guided, guard: GuardSetting = "on", *, is_local: bool = True, **more: object
) -> tuple[Transaction, Steps[None], list[object]]:
    """A request that has been sent to the generator, and what follows from it."""
    made = Transaction(record=Record("t1", ""), settings=Settings(guided=guided, guard=guard))
    steps = serve_request(made, Toolsets(), FRONTS, 99, is_local=is_local)
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


BY_SCHEMA = Probed(native=False, schema=True)


@pytest.mark.parametrize(
    ("found", "more", "local", "mode", "asking"),
    [
        (Probed(native=True, schema=True), {}, True, "auto", "free"),
        (Probed(native=False, schema=False), {}, True, "auto", "free"),
        (BY_SCHEMA, {}, False, "auto", "guided"),
        (BY_SCHEMA, {}, False, "text", "free"),
        (BY_SCHEMA, {}, True, "text", "guided"),
        (BY_SCHEMA, {"tool_choice": "required"}, False, "text", "guided"),
    ],
)
def test_what_the_upstream_can_do_decides_how_it_is_asked(
    found: Probed, more: dict[str, object], local: bool, mode: Guided, asking: str
) -> None:
    made, steps, (probe,) = begun(mode, is_local=False, **more)
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


@pytest.mark.parametrize("guided", ["auto", "on", "off"])
@pytest.mark.parametrize("is_trusted", [True, False])
def test_the_guard_follows_what_is_on_record_and_nobody_is_asked_for_that(
    guided: Guided, is_trusted: bool
) -> None:
    made, steps, (probe,) = begun(guided, "auto")
    assert isinstance(probe, Probe)
    assert probe.asks == (guided == "auto")
    made.commands = []
    steps.send(Probed(native=False, schema=True, is_trusted=is_trusted))
    assert made.context is not None
    assert made.context.guard == made.record.guarding.mode == ("report" if is_trusted else "act")
    assert made.asking == ("free" if guided == "off" else "guided")


@pytest.mark.parametrize(("guard", "mode"), [("on", "act"), ("report", "report"), ("off", "off")])
def test_the_user_forces_the_guard_whatever_is_on_record(
    guard: GuardSetting, mode: GuardMode
) -> None:
    assert begun("off", guard)[0].record.guarding.mode == mode
    made, steps, _ = begun("auto", guard)
    made.commands = []
    steps.send(Probed(native=True, schema=True, is_trusted=True))
    assert made.context is not None
    assert made.context.guard == mode


def test_where_no_call_may_be_made_nothing_is_looked_up() -> None:
    made, _, (command,) = begun("auto", "auto", tool_choice="none")
    assert isinstance(command, SendUpstream)
    assert made.record.guarding.mode == "act"
