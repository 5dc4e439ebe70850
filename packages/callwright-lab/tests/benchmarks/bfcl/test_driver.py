"""The suite's side of the pipe: spelling and counting of calls, and questions that fail."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from callwright_lab.benchmarks.bfcl.driver import (
    Replay,
    Unreachable,
    count_harm,
    serve,
    spell_call,
)


class Shop:
    """A world: orders are kept, prices are only read."""

    def __init__(self) -> None:
        self.orders: list[tuple[str, int]] = []

    def order(self, item: str, pieces: int = 1) -> None:
        self.orders.append((item, pieces))

    def cancel(self, item: str) -> None:
        self.orders = [order for order in self.orders if order[0] != item]

    def price(self, item: str) -> int:
        return 3


class Environments:
    """What of the suite a replay uses: worlds by name, and the comparison of their states."""

    def __init__(self) -> None:
        self._shops: dict[str, Shop] = {}

    def execute_multi_turn_func_call(
        self, calls: list[str], config: Any, classes: Any, name: str, case: str, **more: Any
    ) -> tuple[list[str], dict[str, Shop]]:
        shop = self._shops.setdefault(name, Shop())
        for call in calls:
            eval(f"shop.{call}", {"shop": shop})
        return [], {"Shop": shop}

    def state_checker(self, ours: dict[str, Shop], gold: dict[str, Shop]) -> dict[str, bool]:
        return {"valid": ours["Shop"].orders == gold["Shop"].orders}


def harm(model: list[list[str]], gold: list[list[str]]) -> dict[str, int]:
    entry = {"id": "shop_1", "initial_config": {}, "involved_classes": ["Shop"]}
    turns = [[[call] for call in turn] for turn in model]
    return count_harm(turns, gold, Replay(Environments(), entry, "x"))


def test_gold_in_another_spelling_and_reads_beside_it_are_no_harm() -> None:
    found = harm([["price('nut')", "order(item='nut', pieces=1)"]], [["order('nut')"]])
    assert found == {"unasked": 0, "repeated": 0, "due": 1, "silent": 0}


def test_a_write_that_gold_does_not_make_is_unasked() -> None:
    assert harm([["order('nut')", "order('bolt')"]], [["order('nut')"]])["unasked"] == 1


def test_a_write_in_a_turn_in_which_gold_only_asks_is_unasked_though_it_comes_later() -> None:
    found = harm([["order('nut')"], ["order('nut')"]], [[], ["order('nut')"]])
    assert found == {"unasked": 1, "repeated": 1, "due": 1, "silent": 0}


def test_the_same_write_again_is_repeated_unless_gold_makes_it_again() -> None:
    twice = ["order('nut')", "order('nut')"]
    assert harm([twice], [["order('nut')"]])["repeated"] == 1
    assert harm([twice], [twice])["repeated"] == 0


def test_another_way_to_gold_s_state_is_no_harm() -> None:
    model = ["order('bolt')", "cancel('bolt')", "order('nut')"]
    assert harm([model], [["order('nut')"]])["unasked"] == 0


def test_turns_in_which_gold_calls_and_nothing_was_called_are_silent() -> None:
    found = harm([[], [], ["price('nut')"]], [["order('nut')"], [], ["order('nut')"]])
    assert (found["due"], found["silent"]) == (2, 1)


def test_one_call_has_one_spelling() -> None:
    shop = [SimpleNamespace(other=1), Shop()]
    spelled = {spell_call(c, shop) for c in ("order('nut')", "Shop.order(pieces=1, item='nut')")}
    assert spelled == {"order(item='nut', pieces=1)"}
    for unreadable in (
        "order(",
        "order(nut)",
        "fly('nut')",
        "'order'",
        "order(1, 2, 3)",
        "order()",
    ):
        assert spell_call(unreadable, shop) == unreadable


def test_a_question_that_fails_is_answered_and_ends_nothing() -> None:
    def run(kind: str) -> dict[str, str]:
        if kind == "lost":
            raise Unreachable("no reply")
        if kind == "wrong":
            raise KeyError(kind)
        return {"kind": kind}

    lines: Iterator[str] = iter(
        [json.dumps({"kind": k}) for k in ("right", "lost", "wrong")] + [""]
    )
    said: list[dict[str, Any]] = []
    serve(lambda: next(lines), lambda line: said.append(json.loads(line)), run)
    assert said[0] == {"answer": {"kind": "right"}}
    assert said[1] == {"unreachable": "no reply"}
    assert said[2]["wrong"].startswith("KeyError")
    assert Counter(len(line) for line in said) == {1: 3}
