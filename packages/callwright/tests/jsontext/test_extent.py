from __future__ import annotations

import json
import time
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from callwright.jsontext import is_deeper, most_values

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=30,
)


def _values(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(_values, inner))


def _empty(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return (value in ({}, [])) + sum(map(_empty, inner))


def _levels(value: Any) -> int:
    inner = (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    )
    return 0 if inner is None else 1 + max(map(_levels, inner), default=0)


@given(JSON)
def test_the_bound_is_exact_but_for_empty_containers(value: Any) -> None:
    for text in (
        json.dumps(value),
        json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"),
    ):
        assert most_values(text, 0) == _values(value) + _empty(value)
        assert most_values(text, 10**9) >= _values(value)


@given(JSON, st.integers(0, 8))
def test_levels_are_counted(value: Any, levels: int) -> None:
    assert is_deeper(value, levels) == (_levels(value) > levels)


def test_no_text_is_slow_and_no_depth_overflows() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    spent = []
    for _ in range(3):  # the machine may be busy in one of them
        start = time.process_time()
        assert most_values('"\\' * 500_000, 0) <= 1_000_001
        assert most_values('"' + "a," * 500_000, 0) == 1
        assert is_deeper(deep, 1024)
        spent.append(time.process_time() - start)
    assert min(spent) < 2
