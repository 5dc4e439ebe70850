from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from callwright.tools.openapi.yaml_text import YamlError, YamlTooLarge, parse_yaml

TEXT = st.text(max_size=8).filter(
    lambda text: not any("0" <= c <= "9" for c in text)
)  # 1e3: text in YAML 1.1 alone
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


def parsed(text: str, values: int = 10_000, levels: int = 50) -> Any:
    return parse_yaml(text, values=values, levels=levels)


@given(JSON, st.sampled_from([True, False, None]))
def test_what_is_written_as_yaml_is_read_as_it_was(value: Any, flow: bool | None) -> None:
    text = yaml.safe_dump(value, default_flow_style=flow)
    if isinstance(value, float | dict | list) and "inf" in text:
        return  # JSON has no infinity
    assert parsed(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("a:", {"a": None}),
        ("[True, FALSE, yes, no, on, off]", [True, False, "yes", "no", "on", "off"]),
        (
            "[12, -3, 0o17, 0x1F, 0, 010, -007.5, 1_000]",
            [12, -3, 15, 31, 0, "010", "-007.5", "1_000"],
        ),
        ("[1.5, .5, 1e3, -2.E-2, 1e999, .inf, .NaN]", [1.5, 0.5, 1000.0, -0.02, None, None, None]),
        ("[2020-01-01, 1:59, 12:30:45]", ["2020-01-01", "1:59", "12:30:45"]),
        ("{200: ok, true: t, 1.10: v, ~: n}", {"200": "ok", "true": "t", "1.10": "v", "~": "n"}),
        ("['1', \"2\", !!str 3, ! 4, !!int 5, !!binary aGk=]", ["1", "2", "3", "4", 5, "aGk="]),
        ("a: |\n  x\n  y\n", {"a": "x\ny\n"}),
        ("{a: 1, a: 2}", {"a": 2}),
        ("a: &x [1]\nb: *x\n&k c: *k", {"a": [1], "b": [1], "c": "c"}),
        ("a: &x 1\nb: &x 2\nc: *x", {"a": 1, "b": 2, "c": 2}),
        ("a: &x {p: 1, q: 1}\nb: {q: 2, <<: *x}", {"a": {"p": 1, "q": 1}, "b": {"p": 1, "q": 2}}),
        (
            "- &x {p: 1}\n- &y {p: 2, q: 2}\n- {<<: [*x, *y]}",
            [{"p": 1}, {"p": 2, "q": 2}, {"p": 1, "q": 2}],
        ),
        ("{'<<': 1}", {"<<": 1}),
    ],
)
def test_yaml_is_read_by_its_json_ruleset(text: str, value: Any) -> None:
    assert parsed(text) == value


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: b: c", "line 1"),
        ("a: 1\n---\nb: 2", "second document begins at line 2"),
        ("!!python/object/apply:os.system [id]", "the tag '!!python/object/apply:os.system'"),
        ("a: !mine 1", "the tag '!mine'"),
        ("%TAG ! tag:yaml.org,2002:python/\n---\n!name:os.system x", "the tag '!!python"),
        ("a: *x", r"alias \*x names nothing"),
        ("a: &x [*x]", r"alias \*x names nothing that ended"),
        ("a: &x 1\nb: &x [*x]", r"alias \*x names nothing that ended"),
        ("? [1]\n: 2", "a key that is no text"),
        ("a: &x [1]\n*x : 2", "a key that is no text"),
        ("{<<: 1}", "merge key"),
        ("{<<: [1]}", "merge key"),
        ("9" * 5_000, "a number of 5000 digits"),
        ("a: \x00", "characters"),
    ],
)
def test_what_stands_for_no_json_is_refused_with_its_place(text: str, says: str) -> None:
    with pytest.raises(YamlError, match=says):
        parsed(text)


def test_values_are_counted_as_often_as_they_stand() -> None:
    text = "a: &x [1, 2, 3]\nb: *x\nc: {<<: {d: *x}}"  # 1 + 4 + 4 + 1 + 1 + 4
    assert parsed(text, values=15)
    with pytest.raises(YamlTooLarge, match="14 values"):
        parsed(text, values=14)


def test_levels_are_counted_through_aliases() -> None:
    assert parsed("[[[]]]", levels=3) == [[[]]]
    for text in ("[[[]]]", "a: &x [[]]\nb: [*x]"):
        with pytest.raises(YamlTooLarge, match="levels"):
            parsed(text, levels=2)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        "{a: " * 50_000,
        "- " * 100_000,
        "? " * 100_000,
        "\n".join(
            f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" if n else "a0: &a0 [x]"
            for n in range(60)
        ),
        "\n".join(
            f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}" if n else "a0: &a0 {x: 1}"
            for n in range(60)
        ),
        "x: 1" + ":59" * 100_000,
        "&a " * 50_000,
        "!!str " * 50_000,
        "- *a\n" * 50_000,
    ],
)
def test_no_text_is_slow_or_ends_the_process(text: str) -> None:
    start = time.process_time()
    with suppress(YamlError):
        parsed(text, values=100_000)
    assert time.process_time() - start < 3
