"""The write cases of the doctor: small whole jobs, and the small world in which they are done."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from callwright.cli.doctor.endpoint import build_tool
from callwright.nouns.types import JsonObject

_FILE = Path(__file__).with_name("write_cases.toml")
_TEXT, _INTEGER = {"type": "string"}, {"type": "integer", "minimum": 1}
_PRODUCTS: Final = {
    "A-100": {"name": "Orion lamp", "price": 14, "stock": 420},
    "B-200": {"name": "Hex bolt", "price": 2, "stock": 310},
    "C-330": {"name": "Vega chair", "price": 89, "stock": 75},
    "E-900": {"name": "Lyra desk", "price": 240, "stock": 0},
}
_ORDERS: Final = ("O-12", "O-13")  # placed long ago
_ADDRESS = {"type": "string", "format": "email"}

TOOLS: Final = (
    build_tool("find_product", "Finds products by a part of their name.", words=_TEXT),
    build_tool("get_product", "Returns name, price and stock of a product.", code=_TEXT),
    build_tool("get_order", "Returns the status of an order.", order=_TEXT),
    build_tool("place_order", "Orders pieces of a product.", code=_TEXT, quantity=_INTEGER),
    build_tool("cancel_order", "Cancels an order. That takes a while.", order=_TEXT),
    build_tool("send_message", "Sends a message to an address.", to=_ADDRESS, text=_TEXT),
)


@dataclass(frozen=True, slots=True)
class Call:
    """A call by the arguments that identify it; others, such as the text of a message, are free."""

    tool: str
    arguments: JsonObject

    def is_met_by(self, made: Call) -> bool:
        """Return True if a call that was made is this one."""
        values = made.arguments
        return self.tool == made.tool and all(values.get(k) == v for k, v in self.arguments.items())


@dataclass(frozen=True, slots=True)
class WriteCase:
    """``said``: what the user says, the request last; what comes before it was answered with the
    calls ``before`` and with ``reply``. ``writes``: exactly those that have to be made. ``talk``:
    nothing may be called at all. ``says``: numbers that the answer has to hold.
    """

    name: str
    said: tuple[str, ...]
    writes: tuple[Call, ...] = ()
    before: tuple[Call, ...] = ()
    reply: str = ""
    talk: bool = False
    says: tuple[str, ...] = ()


@cache
def read_cases() -> tuple[int, tuple[WriteCase, ...]]:
    """Return the version of the cases, and the cases."""
    document = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return document["version"], tuple(_read_case(**entry) for entry in document["case"])


def _read_case(**entry: Any) -> WriteCase:
    for name in ("writes", "before"):
        calls = (dict(one) for one in entry.get(name, ()))
        entry[name] = tuple(Call(one.pop("tool"), one) for one in calls)
    for name in ("said", "says"):
        entry[name] = tuple(entry.get(name, ()))
    return WriteCase(**entry)


@dataclass(slots=True)
class World:
    """State that the tools act on. ``made``: the writes that succeeded, in order."""

    made: list[Call] = field(default_factory=list)
    _orders: dict[str, str] = field(default_factory=lambda: dict.fromkeys(_ORDERS, "placed"))
    _asked: set[str] = field(default_factory=set)  # orders under way that were asked about

    def call(self, tool: str, arguments: JsonObject | str) -> JsonObject:
        """Return the result of a call. What a real server refuses is an error, and changes
        nothing.
        """
        does: dict[str, Callable[[JsonObject], JsonObject]] = {
            "find_product": self._find_product,
            "get_product": self._get_product,
            "get_order": self._get_order,
            "place_order": self._place_order,
            "cancel_order": self._cancel_order,
            "send_message": self._send_message,
        }
        if tool not in does:
            return {"error": f"there is no tool {tool}"}
        if not isinstance(arguments, dict):
            return {"error": "the arguments are no JSON object"}
        made = does[tool](arguments)
        if "error" not in made and tool in ("place_order", "cancel_order", "send_message"):
            self.made.append(Call(tool, arguments))
        return made

    def _find_product(self, given: JsonObject) -> JsonObject:
        words = str(given.get("words", "")).lower().strip().removesuffix("s")
        found = [
            {"code": code, **product}
            for code, product in _PRODUCTS.items()
            if words and words in str(product["name"]).lower()
        ]
        return {"products": found}

    def _get_product(self, given: JsonObject) -> JsonObject:
        product = _PRODUCTS.get(str(given.get("code")))
        return {"error": "there is no such product"} if product is None else {**product}

    def _get_order(self, given: JsonObject) -> JsonObject:
        order = str(given.get("order"))
        if order not in self._orders:
            return {"error": "there is no such order"}
        if order in self._asked:
            self._orders[order] = "cancelled"
        elif self._orders[order] == "pending":
            self._asked.add(order)
        return {"order": order, "status": self._orders[order]}

    def _place_order(self, given: JsonObject) -> JsonObject:
        product, quantity = _PRODUCTS.get(str(given.get("code"))), given.get("quantity")
        if product is None:
            return {"error": "there is no such product"}
        if type(quantity) is not int or quantity < 1:
            return {"error": "quantity has to be a whole number above 0"}
        if quantity > int(str(product["stock"])):
            return {"error": f"only {product['stock']} pieces are in stock"}
        order = f"O-{499 + len(self._orders)}"
        self._orders[order] = "placed"
        return {"order": order, "status": "placed"}

    def _cancel_order(self, given: JsonObject) -> JsonObject:
        order = str(given.get("order"))
        if order not in self._orders:
            return {"error": "there is no such order"}
        self._orders[order] = "pending"
        return {"order": order, "status": "pending"}

    def _send_message(self, given: JsonObject) -> JsonObject:
        if "@" not in str(given.get("to")):
            return {"error": "this is no address"}
        return {"status": "sent"}
