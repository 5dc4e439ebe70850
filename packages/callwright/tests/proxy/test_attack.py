"""The soak with an attacker among the clients, in small (benchmarks/reliability/proxy_attack.py is
the whole).
"""

from __future__ import annotations

import asyncio

import pytest
from benchmarks.reliability.proxy_attack import MOST, attacks, measure, proxied

FLOOR = 0.5  # seconds: below that a busy machine decides, and not the proxy
TRIES = 4  # other suites run beside this one; a proxy that keeps clients waiting does so each time


@pytest.mark.heavy
def test_an_attacker_does_not_keep_the_others_waiting() -> None:
    said: list[str] = []
    for _ in range(TRIES):
        with proxied(0.05) as port:
            made = asyncio.run(measure(port, 40, 20.0, 1.0, 1, said.append))
        assert not made.without.wrong + made.attacked.wrong
        assert {status for _, _, status in made.rows} == {200}, made.rows
        if made.attacked.at(0.99) < max(MOST * made.without.at(0.99), FLOOR):
            return
    pytest.fail("\n".join(said))


@pytest.mark.heavy
def test_the_attacks_are_of_every_size() -> None:
    sizes = sorted(len(asked) for _, asked, _ in attacks())
    assert sizes[0] < 1_000
    assert sizes[-1] > 18_000_000
    assert len(sizes) > 20
