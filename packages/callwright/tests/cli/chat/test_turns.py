"""The main thread answers a turn's questions, and stops it."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from callwright import Orchestrator, Run
from callwright.cli.chat.turns import Turns
from callwright.nouns.errors import CatalogError, ConfigError
from callwright.testing import FakeTool, ScriptedModel, fake_source


def orchestrator() -> Orchestrator:
    return Orchestrator([fake_source(FakeTool("stock", {}))], model=ScriptedModel({}))


def test_a_question_of_a_turn_is_answered_on_the_main_thread() -> None:
    with Turns(orchestrator(), lambda: "yes") as turns:

        async def turn() -> Run:
            raise ConfigError(await asyncio.to_thread(turns.ask))

        with pytest.raises(ConfigError, match="yes"):
            turns.carry_out(turn)


def test_an_interrupt_stops_the_turn_and_the_next_one_is_carried_out() -> None:
    def interrupt() -> str:
        raise KeyboardInterrupt

    async def next_turn() -> Run:
        raise ConfigError("the next turn")

    with Turns(orchestrator(), interrupt) as turns:

        async def turn() -> Run:
            with suppress(EOFError):  # nobody answers any more
                await asyncio.to_thread(turns.ask)
            await asyncio.Event().wait()
            raise AssertionError

        with pytest.raises(KeyboardInterrupt):
            turns.carry_out(turn)
        with pytest.raises(ConfigError, match="the next turn"):
            turns.carry_out(next_turn)


def test_tools_that_cannot_be_opened_end_it_at_once() -> None:
    source = Orchestrator(["no_such_module"], model=ScriptedModel({}))
    with pytest.raises((CatalogError, ConfigError)), Turns(source):
        raise AssertionError
