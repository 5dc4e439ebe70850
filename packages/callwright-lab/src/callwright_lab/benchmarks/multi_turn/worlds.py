"""BFCL's executable environments: their tools, a fresh world, and BFCL's own checks of its state
and its replies.

Eight Python classes from the wheel of ``bfcl-eval`` (:mod:`callwright_lab.benchmarks.refine.bfcl`),
used as they are. What each method may do to the world is declared here by class, from the methods'
documents; a test holds the readers to it.
"""

from __future__ import annotations

import ast
import copy
import json
from collections.abc import Sequence
from functools import cache
from typing import Any

from callwright.jsontext import JsonError, parse
from callwright.nouns.errors import ConfigError, Failure
from callwright.nouns.protocols import ToolSource
from callwright.nouns.types import (
    READ_LOCAL,
    Effects,
    Json,
    JsonObject,
    Tool,
    ToolCall,
    ToolOutput,
)
from callwright.tools.lists.tools import tool_from_wire
from callwright_lab.benchmarks.refine.bfcl import import_from_wheel, read_lines, unpack_folder

CHECKER = "bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker"
BACKEND = "bfcl_eval.constants.executable_backend_config"
SAID_OF_EVERY_TOOL = (  # what stands before it describes the class, and is the same for each
    "Tool description: "
)

READS: dict[str, str] = {
    "GorillaFileSystem": "cat diff du find grep ls pwd sort tail wc",
    "MathAPI": (
        "absolute_value add divide imperial_si_conversion logarithm max_value mean min_value"
        " multiply percentage power round_number si_unit_conversion square_root standard_deviation"
        " subtract sum_values"
    ),
    "MessageAPI": (
        "get_message_stats get_user_id list_users message_get_login_status search_messages "
        "view_messages_sent"
    ),
    "TwitterAPI": (
        "get_tweet get_tweet_comments get_user_stats get_user_tweets list_all_following "
        "posting_get_login_status search_tweets"
    ),
    "TicketAPI": "get_ticket get_user_tickets ticket_get_login_status",
    "TradingBot": (
        "filter_stocks_by_price get_account_info get_available_stocks get_current_time"
        " get_order_details get_order_history get_stock_info get_symbol_by_name"
        " get_transaction_history get_watchlist notify_price_change trading_get_login_status"
    ),
    "TravelAPI": (
        "compute_exchange_rate get_all_credit_cards get_booking_history get_budget_fiscal_year"
        " get_credit_card_balance get_flight_cost get_nearest_airport_by_city list_all_airports"
        " retrieve_invoice travel_get_login_status verify_traveler_information"
    ),
    "VehicleControlAPI": (
        "check_tire_pressure displayCarStatus display_log estimate_distance"
        " estimate_drive_feasibility_by_mileage find_nearest_tire_shop gallon_to_liter"
        " get_current_speed get_outside_temperature_from_google"
        " get_outside_temperature_from_weather_com get_zipcode_based_on_city liter_to_gallon"
    ),
}
"""Class -> the methods that only read. The rest may write."""

DESTROYS = frozenset(
    "rm rmdir echo delete_message unfollow_user remove_stock_from_watchlist cancel_order"
    " cancel_booking".split()
)
"""The writing methods that take something away or write over it."""

WRITES, DELETES = Effects(destructive=False, open_world=False), Effects(open_world=False)


@cache
def read_class_tools(name: str) -> tuple[Tool, ...]:
    """The tools of one class, from its own document."""
    path = (
        unpack_folder()
        / "bfcl_eval/data/multi_turn_func_doc"
        / import_from_wheel(BACKEND).MULTI_TURN_FUNC_DOC_FILE_MAPPING[name]
    )
    return tuple(_build_tool(name, row) for row in read_lines(path))


def _build_tool(owner: str, row: JsonObject) -> Tool:
    described = row["description"].partition(SAID_OF_EVERY_TOOL)[2] or row["description"]
    made = tool_from_wire({**row, "description": described}, source=owner)
    reads = made.name in READS[owner].split()
    if reads:
        effects = READ_LOCAL
    elif made.name in DESTROYS:
        effects = DELETES
    else:
        effects = WRITES
    return Tool(made.name, made.description, made.input_schema, made.output_schema, effects, owner)


def list_offered_tools(row: JsonObject) -> tuple[Tool, ...]:
    """Return the tools of a scenario: those of its classes, minus the excluded ones."""
    away = row.get("excluded_function", ())
    return tuple(
        tool
        for name in row["involved_classes"]
        for tool in read_class_tools(name)
        if tool.name not in away
    )


class World:
    """One scenario's environments as they are before its first turn. ``said`` is every reply, as
    BFCL writes it.
    """

    def __init__(self, row: JsonObject) -> None:
        backend = import_from_wheel(BACKEND)
        self.instances: dict[str, Any] = {}
        self.said: list[str] = []
        for name in row["involved_classes"]:
            made = getattr(import_from_wheel(backend.CLASS_FILE_PATH_MAPPING[name]), name)()
            if name not in backend.STATELESS_CLASSES:
                made._load_scenario(
                    copy.deepcopy(row["initial_config"].get(name, {})), long_context=False
                )
            self.instances[name] = made
        self._owner = {tool.name: tool.source for tool in list_offered_tools(row)}

    def call(self, name: str, arguments: JsonObject) -> ToolOutput:
        """Call a method that the scenario offers. ``{"error": …}`` and what it raises are
        failures.
        """
        try:
            found = getattr(self.instances[self._owner[name]], name)(**arguments)
        except Exception as error:  # the environments raise whatever Python does
            self.said.append(f"Error during execution: {error}")
            return ToolOutput(failure=Failure("tool_error", str(error) or type(error).__name__))
        self.said.append(write_reply(found))
        if isinstance(found, dict) and set(found) == {"error"}:
            return ToolOutput(failure=Failure("tool_error", str(found["error"])))
        return ToolOutput(_to_plain_json(found))

    def play(self, calls: Sequence[ToolCall]) -> list[ToolOutput]:
        """Call one after the other."""
        return [self.call(c.tool, c.arguments) for c in calls if isinstance(c.arguments, dict)]


def write_reply(value: Any) -> str:
    """A reply as BFCL compares it: texts as they are, dicts as JSON where that can be, the rest as
    Python says it.
    """
    if isinstance(value, str):
        return value
    if type(value) is dict:
        try:
            return json.dumps(value)
        except (TypeError, ValueError):
            return str(value)
    return str(value)


def _to_plain_json(value: Any) -> Json:
    """A reply as JSON; where it holds an object of the environment, as text."""
    try:
        return parse(json.dumps(value))
    except (TypeError, ValueError, JsonError):
        return str(value)


class WorldSource(ToolSource):
    """A world as a tool source: one call at a time, in the order in which they are made."""

    name = "bfcl"

    def __init__(self, world: World, tools: Sequence[Tool]) -> None:
        self._world, self._tools = world, tuple(tools)

    async def open(self) -> Sequence[Tool]:
        return self._tools

    async def call(self, tool: Tool, arguments: JsonObject) -> ToolOutput:
        return self._world.call(tool.name, arguments)

    async def aclose(self) -> None:
        """Nothing is held."""


def parse_gold_calls(texts: Sequence[str], tools: Sequence[Tool]) -> tuple[ToolCall, ...]:
    """BFCL's gold, ``name(key=value)``, as calls; values without a key take the parameters'
    order.
    """
    by_name = {tool.name: tool for tool in tools}
    return tuple(_parse_call(number, text, by_name) for number, text in enumerate(texts, 1))


def _parse_call(number: int, text: str, tools: dict[str, Tool]) -> ToolCall:
    node = ast.parse(text.strip(), mode="eval").body
    if (
        not isinstance(node, ast.Call)
        or not isinstance(node.func, ast.Name)
        or node.func.id not in tools
    ):
        raise ConfigError(f"BFCL's gold {text!r} is no call of an offered tool")
    placed = zip(tools[node.func.id].properties, node.args, strict=False)
    keyed = ((part.arg or "", part.value) for part in node.keywords)
    arguments = {key: ast.literal_eval(value) for key, value in (*placed, *keyed)}
    return ToolCall(f"gold_{number}", node.func.id, arguments)


def check_turn(ours: World, gold: World, wanted: Sequence[str], turn: int) -> list[str]:
    """BFCL's two checks: the same public state as gold's, and every reply that gold had in this
    turn.

    ``wanted`` are gold's replies of the turn. Returns every reason why not.
    """
    checker = import_from_wheel(CHECKER)
    state = checker.state_checker(ours.instances, gold.instances)
    replies = checker.response_checker(ours.said, list(wanted), turn)
    reasons = []
    if not state["valid"]:
        apart = ", ".join(sorted(state["details"]["differences"]))
        reasons.append(f"{state['error_message'].split()[3]} is not in gold's state: {apart}")
    if not replies["valid"]:
        missing = replies["details"]["missing_items"]
        reasons.append(
            f"{len(missing)} of gold's {len(wanted)} replies never came, the first:"
            f" {missing[0][:120]}"
        )
    return reasons
