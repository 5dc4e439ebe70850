"""Many small tools behind several MCP servers: a world of 1,000 tools whose every answer is known.

Four companies keep tables of a hundred things; each company is one server over stdio, each column
of a thing one tool (``forklift_price(city)``). A catalogue of any size holds the tools that the
tasks need, so that runs over 10, 100 and 1,000 tools differ in what surrounds these. Run as a
program, this file is one of the servers: standard library only, so that four of them start at once.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COMPANIES = {
    "warehouse": (
        "forklift pallet crate conveyor scaffold ladder trolley winch hoist shelf barrel tarpaulin"
        " padlock stapler compressor generator hammer chisel drill lathe anvil clamp wrench rivet"
        " bolt"
    ),
    "marina": (
        "canoe kayak dinghy trawler anchor rudder sail mast lifejacket buoy paddle winder compass"
        " sextant fishing_net harpoon outboard_motor raft gondola catamaran hull bilge_pump mooring"
        " lantern flare"
    ),
    "bakery": (
        "baguette croissant pretzel bagel ciabatta brioche muffin scone waffle pancake strudel tart"
        " eclair macaron doughnut crumpet focaccia naan tortilla biscuit cracker flapjack cupcake"
        " meringue panettone"
    ),
    "orchestra": (
        "violin cello oboe bassoon trumpet trombone tuba harp timpani piccolo clarinet viola flute"
        " xylophone cymbal triangle celesta harpsichord bugle cornet gong tambourine glockenspiel"
        " marimba contrabass"
    ),
}
COLUMNS = {
    "price": ("The price in euros of", "euros"),
    "stock": ("How many pieces are in stock of", "pieces"),
    "weight": ("The weight in grams of", "grams"),
    "delivery_days": ("How many days it takes to deliver", "days"),
    "rating": ("The customers' rating out of 1000 of", "points"),
    "warranty": ("The months of warranty on", "months"),
    "returns": ("How many customers sent back", "returns"),
    "length": ("The length in millimetres of", "millimetres"),
    "age": ("The age in years of the oldest", "years"),
    "repairs": ("How often was mended a", "repairs"),
}
_MOST = 1_000_003


@dataclass(frozen=True, slots=True)
class Task:
    """A request, the tools that answer it, and the numbers that a right answer holds."""

    id: str
    query: str
    tools: tuple[str, ...]
    facts: tuple[int, ...]


def compute_value(tool: str, city: str) -> int:
    """Return a tool's value for a city: a number that cannot be guessed."""
    told = hashlib.sha256(f"{tool}/{city.strip().lower()}".encode()).digest()
    return 1_000 + int.from_bytes(told[:6], "big") % _MOST


def list_tool_names(company: str, count: int) -> list[str]:
    """The first ``count`` tools of a company; every column of the first thing comes before the next
    thing's.
    """
    every = [f"{thing}_{column}" for thing in COMPANIES[company].split() for column in COLUMNS]
    asked = [name for task in TASKS for name in task.tools if name in every]
    return list(dict.fromkeys([*asked, *every]))[:count]


def split_tool_count(count: int) -> dict[str, int]:
    """Return how many of ``count`` tools each company serves."""
    each, more = divmod(count, len(COMPANIES))
    return {company: each + (place < more) for place, company in enumerate(COMPANIES)}


def build_server_config(count: int) -> dict[str, Any]:
    """An ``mcpServers`` file with ``count`` tools behind all companies' servers. They are trusted:
    they only read.
    """
    made = {
        company: {
            "command": sys.executable,
            "args": [str(Path(__file__)), company, str(share)],
            "trusted": True,
        }
        for company, share in split_tool_count(count).items()
        if share
    }
    return {"mcpServers": made}


def _build_single_task(id_: str, tool: str, city: str, query: str) -> Task:
    return Task(id_, query, (tool,), (compute_value(tool, city),))


def _build_double_task(
    id_: str, first: tuple[str, str], second: tuple[str, str], query: str
) -> Task:
    return Task(id_, query, (first[0], second[0]), (compute_value(*first), compute_value(*second)))


TASKS: Sequence[Task] = (
    _build_single_task(
        "price", "forklift_price", "Oslo", "What is the price of a forklift in Oslo?"
    ),
    _build_single_task("stock", "canoe_stock", "Bergen", "How many canoes are in stock in Bergen?"),
    _build_single_task(
        "weight", "baguette_weight", "Lyon", "How much does a baguette weigh in Lyon, in grams?"
    ),
    _build_single_task(
        "days",
        "violin_delivery_days",
        "Vienna",
        "How many days does it take to deliver a violin in Vienna?",
    ),
    _build_double_task(
        "price-and-stock",
        ("forklift_price", "Turin"),
        ("canoe_stock", "Turin"),
        "What does a forklift cost in Turin, and how many canoes are in stock there?",
    ),
    _build_double_task(
        "rating-and-days",
        ("croissant_rating", "Porto"),
        ("violin_delivery_days", "Porto"),
        "What is the customers' rating of the croissant in Porto, and in how many days is a violin"
        " delivered there?",
    ),
    _build_double_task(
        "two-cities",
        ("canoe_stock", "Malmo"),
        ("canoe_stock", "Gdansk"),
        "How many canoes are in stock in Malmo, and how many in Gdansk?",
    ),
    _build_double_task(
        "price-and-warranty",
        ("forklift_price", "Ghent"),
        ("cello_warranty", "Ghent"),
        "What is the price of a forklift in Ghent, and how many months of warranty are there on a"
        " cello in Ghent?",
    ),
)


def _describe_tool(name: str, company: str) -> dict[str, Any]:
    column = next(c for c in COLUMNS if name.endswith(f"_{c}"))
    thing, (about, unit) = name.removesuffix(f"_{column}").replace("_", " "), COLUMNS[column]
    city = {"type": "string", "description": "The city."}
    return {
        "name": name,
        "description": f"{about} a {thing} at the {company} of a city.",
        "inputSchema": {"type": "object", "properties": {"city": city}, "required": ["city"]},
        "outputSchema": {
            "type": "object",
            "properties": {"city": {"type": "string"}, unit: {"type": "integer"}},
        },
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    }


def _answer_request(
    method: str, params: dict[str, Any], company: str, offered: Sequence[str]
) -> dict[str, Any]:
    if method == "initialize":
        info = {"name": company, "version": "1"}
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": [_describe_tool(name, company) for name in offered]}
    if method == "tools/call" and params["name"] in offered:
        city = str(params["arguments"]["city"])
        unit = COLUMNS[next(c for c in COLUMNS if params["name"].endswith(f"_{c}"))][1]
        told = {"city": city, unit: compute_value(params["name"], city)}
        return {"content": [{"type": "text", "text": json.dumps(told)}], "structuredContent": told}
    raise LookupError(method)


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve the first so many tools of a company over stdio, until the input ends."""
    company, count = sys.argv[1:] if arguments is None else arguments
    offered = list_tool_names(company, int(count))
    for line in sys.stdin:
        message = json.loads(line)  # noqa: TID251  # a program of its own, which imports nothing of ours
        if "id" not in message:
            continue
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            reply["result"] = _answer_request(
                message["method"], message.get("params") or {}, company, offered
            )
        except LookupError:
            reply["error"] = {"code": -32601, "message": "Method not found"}
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
