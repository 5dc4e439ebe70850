"""What of a program can be known before it runs."""

from __future__ import annotations

import pytest

from callwright.parsing.formats.program import has_computed_argument
from callwright_lab.reflection.syntax import (
    collect_literals,
    find_expressions,
    is_fully_printed,
    is_literal_program,
)

TOOLS = ("f", "g")


@pytest.mark.parametrize(
    ("code", "is_plain", "is_computed"),
    [
        ("print(f(a='x'))", True, False),
        ("f(a=[1, {'b': None}])\nprint(g(b=-2.5))", True, False),
        ("x = f(a='x')\nprint(x['id'])", False, False),
        ("x = f(a='x')\nprint(g(b=x['id']))", False, True),
        ("print(g(b=f(a='x')))", False, True),
        ("print(f(**{'a': 1}))", False, False),
        ("print(f(**{'not a name': 1}, a=2))", False, False),
        ("x = {'a': 1}\nprint(f(**x))", False, True),
        ("print(f(**{'a': f(a=1)}))", False, True),
        ("for i in [1, 2]:\n    print(f(a=1))", False, False),
        ("print(f(a=1), f(a=2))", False, False),
        ("f(a=1)\nf(a=2)\nf(a=3)", False, False),
        ("print(other(a=1))", False, False),
        ("print(f(a='x'", False, False),
        ("", False, False),
    ],
)
def test_only_literal_calls_one_a_line_need_no_run(
    code: str, is_plain: bool, is_computed: bool
) -> None:
    assert (is_literal_program(code, TOOLS), has_computed_argument(code, TOOLS)) == (
        is_plain,
        is_computed,
    )


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("print(f(a='x'))", True),
        ("x = f(a='x')\nprint(x)", True),
        ("x = f(a='x')\ny = g(b=x['id'])\nprint(x)\nprint(y)", True),
        ("print(f(a='x'))\ny = g(b=2)\nprint(y)", True),
        ("x = f(a='x')\nprint(x['id'])", False),
        ("x = f(a='x')\nprint('done')", False),
        ("x = f(a='x')\nprint(x, x)", False),
        ("x = f(a='x')\ny = g(b=2)\nprint(y)\nprint(x)", False),
        ("x = f(a='x')\ny = g(b=2)\nprint(y)", False),
        ("x = f(a='x')\nx = g(b=2)\nprint(x)\nprint(x)", False),
        ("x = f(a='x')\nx = 1\nprint(x)", False),
        ("print(g(b=f(a='x')))", False),
        ("print(len(f(a='x')))", False),
        ("f(a='x')", False),
        ("print('x')", False),
        ("print(f(", False),
    ],
)
def test_a_print_out_tells_what_calls_returned_only_where_it_is_nothing_else(
    code: str, told: bool
) -> None:
    assert is_fully_printed(code, TOOLS) == told


def test_the_values_that_stand_in_a_program_are_its_own() -> None:
    assert collect_literals("x = f(a='Oslo', n=3)\nprint(g(b=x['id'], c=[2.5]))") == {
        '"Oslo"',
        "3",
        '"id"',
        "2.5",
    }
    assert collect_literals("f(") == frozenset()


def test_what_a_program_computes_is_told_from_what_it_says() -> None:
    assert find_expressions("x = f(a='y')\nprint(g(x['id'], c=[2.5], d=y))", TOOLS) == {
        "x['id']",
        "y",
    }
    assert find_expressions("f(a='y')", TOOLS) == frozenset()
