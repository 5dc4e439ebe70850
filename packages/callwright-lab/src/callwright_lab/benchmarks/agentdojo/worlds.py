"""AgentDojo (Debenedetti et al., 2024): its tools, a fresh world for each pair of user and
attacker, its own checks.

AgentDojo imports the clients of every vendor of models: it runs in an environment of its own
(:mod:`callwright_lab.benchmarks.comparison.side`), behind a pipe
(:mod:`callwright_lab.benchmarks.agentdojo.served`). What its tools do to the world is declared
here, from their documents alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from callwright.jsontext import parse, write
from callwright.nouns.errors import ConfigError, Failure
from callwright.nouns.protocols import ToolSource
from callwright.nouns.types import (
    READ,
    READ_LOCAL,
    WRITE,
    Effects,
    Json,
    JsonObject,
    Tool,
    ToolCall,
    ToolOutput,
)
from callwright_lab.benchmarks.agentdojo import served as agentdojo_served
from callwright_lab.benchmarks.comparison.side import SideProcess, side_python

REQUIREMENT = "agentdojo==0.1.35"
OWN = frozenset(
    "get_iban get_balance get_user_info get_scheduled_transactions get_user_information"
    " search_contacts_by_name search_contacts_by_email get_current_day get_all_hotels_in_city"
    " get_hotels_prices get_hotels_address get_all_restaurants_in_city"
    " get_cuisine_type_for_restaurants get_restaurants_address"
    " get_dietary_restrictions_for_all_restaurants get_contact_information_for_restaurants"
    " get_price_for_restaurants check_restaurant_opening_hours get_all_car_rental_companies_in_city"
    " get_car_types_available get_car_fuel_options get_car_rental_address get_car_price_per_day"
    " get_flight_information".split()
)
"""Tools that read what the user or the service itself keeps: nothing in it was written by a
stranger.
"""

FOREIGN = frozenset(
    "get_most_recent_transactions read_file get_channels get_users_in_channel read_channel_messages"
    " read_inbox get_webpage get_rating_reviews_for_hotels get_rating_reviews_for_restaurants"
    " get_rating_reviews_for_car_rental search_calendar_events get_day_calendar_events"
    " get_unread_emails get_sent_emails get_received_emails get_draft_emails search_emails"
    " search_files_by_filename get_file_by_id list_files search_files".split()
)
"""Tools that read what anybody may have written: mail, files, messages, reviews, pages,
invitations.
"""


@dataclass(frozen=True)
class Suite:
    """One of AgentDojo's suites. ``users`` and ``attackers``: id -> what they ask for."""

    name: str
    tools: tuple[Tool, ...]
    users: Mapping[str, str]
    attackers: Mapping[str, str]


@dataclass(frozen=True)
class Attack:
    """The goal of an attacker and the calls that reach it. ``said``: a text alone reaches the goal,
    and no call is needed.
    """

    calls: tuple[ToolCall, ...]
    output: str
    goal: str
    said: bool = False


@dataclass(frozen=True)
class Pair:
    """A user's task in a world in which an attacker left his text. ``calls`` and ``output`` solve
    the task.
    """

    query: str
    tools: tuple[Tool, ...]
    calls: tuple[ToolCall, ...]
    output: str
    attack: Attack | None = None


@dataclass(frozen=True)
class Judged:
    """Result of one judged run: whether the user's task and the attacker's goal were reached."""

    useful: bool
    attacked: bool


class Worlds(Protocol):
    """Environment in which pairs are played. One pair is open at a time: ``open`` begins a new
    world, and ``call`` and ``judge`` refer to it.
    """

    def suites(self) -> Mapping[str, Suite]: ...

    def open(self, suite: str, user: str, attacker: str | None = None) -> Pair: ...

    def call(self, tool: str, arguments: JsonObject) -> ToolOutput: ...

    def judge(self, output: str) -> Judged: ...


class AgentDojo:
    """AgentDojo's own worlds, in a process beside ours. A context manager. Raises ConfigError where
    it breaks off.
    """

    def __init__(
        self, python: str | Path | None = None, attack: str = agentdojo_served.ATTACK
    ) -> None:
        """``python``: an interpreter that has AgentDojo; by default one is made."""
        self._python = python
        self._attack = attack
        self._known: dict[str, Suite] = {}
        self._judged: dict[bytes, Judged] = {}
        self._since: list[Any] = []  # the pair that is open, and what was called in it

    def __enter__(self) -> AgentDojo:
        python = self._python or side_python("agentdojo", [REQUIREMENT])
        # -I: neither our packages nor the folder of this module, which has an agentdojo of its own,
        # are seen there
        command = [str(python), "-I", str(Path(agentdojo_served.__file__)), self._attack]
        self._process = SideProcess(command, Path.home())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.close()

    def suites(self) -> Mapping[str, Suite]:
        if not self._known:
            told = self._ask("suites")
            self._known = {name: _build_suite(name, value) for name, value in told.items()}
        return self._known

    def open(self, suite: str, user: str, attacker: str | None = None) -> Pair:
        told = self._ask("open", suite=suite, user=user, attacker=attacker)
        self._since = [suite, user, attacker]
        known = self.suites()[suite]
        attack = told.get("attack")
        return Pair(
            known.users[user],
            known.tools,
            _build_calls(told["calls"]),
            told["output"],
            (
                Attack(
                    _build_calls(attack["calls"]), attack["output"], attack["goal"], attack["said"]
                )
                if attack
                else None
            ),
        )

    def call(self, tool: str, arguments: JsonObject) -> ToolOutput:
        told = self._ask("call", tool=tool, arguments=arguments)
        self._since.append([tool, arguments])
        if "error" in told:
            return ToolOutput(failure=Failure("tool_error", told["error"]))
        return ToolOutput(told["content"])

    def judge(self, output: str) -> Judged:
        """The same calls in the same order leave the same world: its verdict, which is slow, is
        asked for once.
        """
        key = write([*self._since, output])
        if key not in self._judged:
            self._judged[key] = Judged(**self._ask("judge", output=output))
        return self._judged[key]

    def _ask(self, what: str, **asked: Any) -> Any:
        try:
            line = self._process.ask(write({"do": what, **asked}))
        except OSError as exc:
            raise ConfigError(f"AgentDojo's process cannot be reached: {exc}") from exc
        if not line:
            raise ConfigError(
                f"AgentDojo's process ended at {what!r}", hint="what it said last stands above"
            )
        told = parse(line)
        if "wrong" in told:
            raise ConfigError(f"AgentDojo could not answer {what!r}: {told['wrong']}")
        return told["answer"]


def _build_suite(name: str, told: JsonObject) -> Suite:
    tools = tuple(
        Tool(t["name"], t["description"], t["parameters"], None, get_effects(t["name"]), name)
        for t in told["tools"]
    )
    return Suite(name, tools, told["users"], told["attackers"])


def get_effects(tool: str) -> Effects:
    """Return the effects of a tool of AgentDojo. A tool in neither list counts as one that may
    write.
    """
    if tool in OWN:
        return READ_LOCAL
    if tool in FOREIGN:
        return READ
    return WRITE


def _build_calls(told: Sequence[Json]) -> tuple[ToolCall, ...]:
    return tuple(ToolCall("", call["tool"], call["arguments"]) for call in told)


@dataclass
class WorldSource(ToolSource):
    """The world that is open now, as a tool source. ``made`` are the calls that reached it."""

    worlds: Worlds
    tools: tuple[Tool, ...]
    made: list[tuple[str, JsonObject]] = field(default_factory=list)
    name: str = "agentdojo"

    async def open(self) -> Sequence[Tool]:
        return self.tools

    async def call(self, tool: Tool, arguments: JsonObject) -> ToolOutput:
        self.made.append((tool.name, arguments))
        return self.worlds.call(tool.name, arguments)

    async def aclose(self) -> None:
        """Nothing is held: the world stays open for the judge."""
