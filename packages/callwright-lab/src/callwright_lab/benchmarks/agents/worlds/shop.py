"""Parts, customers and orders."""

from __future__ import annotations

from typing import Any

from callwright_lab.benchmarks.agents.worlds.failures import (
    Refused,
    find_by_name,
    get_entry,
    take_number,
)

State = dict[str, Any]


def find_part(state: State, name: str) -> Any:
    """Parts whose name holds a word."""
    return find_by_name(state["parts"], name, "code")


def get_part(state: State, part_code: str) -> Any:
    """A part by its code."""
    return {"code": part_code, **get_entry(state["parts"], part_code, "part")}


def find_customer(state: State, name: str) -> Any:
    """Customers whose name holds a word."""
    return find_by_name(state["customers"], name, "customer_id")


def create_order(
    state: State,
    part_code: str,
    quantity: int,
    customer_id: str = "",
    priority: str = "normal",
    note: str = "",
) -> Any:
    """A new order, taken from the stock."""
    part = get_entry(state["parts"], part_code, "part")
    if customer_id:
        get_entry(state["customers"], customer_id, "customer")
    if part["stock"] < quantity:
        raise Refused(f"only {part['stock']} pieces of {part_code} are in stock")
    part["stock"] -= quantity
    key = f"O-{take_number(state, 'orders')}"
    state["orders"][key] = {
        "part_code": part_code,
        "quantity": quantity,
        "customer_id": customer_id,
        "priority": priority,
        "status": "open",
        "note": note,
    }
    return {"order_id": key, "total": round(part["price"] * quantity, 2)}


def get_order(state: State, order_id: str) -> Any:
    """An order by its id."""
    return {"order_id": order_id, **get_entry(state["orders"], order_id, "order")}


def list_orders(state: State, customer_id: str) -> Any:
    """The orders of a customer."""
    get_entry(state["customers"], customer_id, "customer")
    rows = ({"order_id": key, **row} for key, row in state["orders"].items())
    return [row for row in rows if row["customer_id"] == customer_id]


def _get_open_order(state: State, order_id: str) -> Any:
    order = get_entry(state["orders"], order_id, "order")
    if order["status"] != "open":
        raise Refused(f"order {order_id} is {order['status']}")
    return order


def update_order(state: State, order_id: str, quantity: int) -> Any:
    """An open order with another quantity."""
    _get_open_order(state, order_id)["quantity"] = quantity
    return get_order(state, order_id)


def cancel_order(state: State, order_id: str) -> Any:
    """An open order, cancelled."""
    _get_open_order(state, order_id)["status"] = "cancelled"
    return {"order_id": order_id, "status": "cancelled"}


TOOLS = (
    find_part,
    get_part,
    find_customer,
    create_order,
    get_order,
    list_orders,
    update_order,
    cancel_order,
)
