"""The shop: an order changes the stock and what later calls read."""

from __future__ import annotations

from callwright_lab.benchmarks.agents.worlds.world import World

SHOP = ["get_part", "create_order", "get_order", "list_orders", "update_order", "cancel_order"]


def test_an_order_takes_from_the_stock() -> None:
    world = World(SHOP)
    made = world.call("create_order", {"part_code": "A-100", "quantity": 5, "customer_id": "K-17"})
    assert made.content == {"order_id": "O-5005", "total": 122.5}
    assert world.call("get_part", {"part_code": "A-100"}).content["stock"] == 35
    listed = world.call("list_orders", {"customer_id": "K-17"}).content
    assert [row["order_id"] for row in listed] == ["O-5001", "O-5005"]


def test_more_than_the_stock_is_refused_and_changes_nothing() -> None:
    world = World(SHOP)
    made = world.call("create_order", {"part_code": "C-330", "quantity": 8})
    assert (made.is_ok, made.is_write) == (False, False)
    assert made.content == {"error": "only 7 pieces of C-330 are in stock"}
    assert world.call("get_part", {"part_code": "C-330"}).content["stock"] == 7


def test_only_an_open_order_is_changed_or_cancelled() -> None:
    world = World(SHOP)
    assert not world.call("cancel_order", {"order_id": "O-5001"}).is_ok
    assert world.call("update_order", {"order_id": "O-5003", "quantity": 12}).is_ok
    assert world.call("cancel_order", {"order_id": "O-5003"}).is_ok
    again = world.call("cancel_order", {"order_id": "O-5003"})
    assert again.content == {"error": "order O-5003 is cancelled"}
    assert world.call("get_order", {"order_id": "O-5003"}).content["quantity"] == 12
