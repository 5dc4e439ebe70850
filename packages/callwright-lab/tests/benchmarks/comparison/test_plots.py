from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from callwright_lab.benchmarks.comparison.plots import SIZES, TOKENS, build_points, write_plots

SIZED = (("qwen-0.5b", None), ("qwen-1.5b", None), ("file", 7.6))


def row(
    task: int, strategy: str, success: bool, tokens: int, model: str = "qwen-1.5b", **rest: Any
) -> dict[str, Any]:
    named = {
        "task": f"t{task}",
        "strategy": strategy,
        "model": model,
        "config": "c0",
        "half": "dev",
    }
    return {
        **named,
        "success": success,
        "prompt_tokens": tokens - 100,
        "completion_tokens": 100,
        **rest,
    }


def rows(**rest: Any) -> list[dict[str, Any]]:
    return [
        row(n, name, n < good, tokens + 10 * n, model, size=size, **rest)
        for model, size in SIZED
        for name, good, tokens in (("react", 4, 3000), ("layered", 6, 2000))
        for n in range(10)
    ]


def test_a_point_is_one_strategy_with_one_model_on_what_it_has_done() -> None:
    found = build_points(
        [*rows(), row(0, "dfsdt", False, 9000), {**row(1, "dfsdt", False, 1), "error": "no model"}]
    )
    assert [(p.model, p.strategy, p.tasks) for p in found if p.model == "qwen-1.5b"] == [
        ("qwen-1.5b", "layered", 10),
        ("qwen-1.5b", "dfsdt", 1),
        ("qwen-1.5b", "react", 10),
    ]
    layered = next(p for p in found if p.strategy == "layered")
    assert layered.success.value == 0.6
    assert layered.tokens.value == 2045
    assert layered.tokens.low < 2045 < layered.tokens.high


def test_a_size_comes_from_the_file_and_else_from_the_name() -> None:
    assert {p.model: p.size for p in build_points(rows())} == {
        "qwen-0.5b": 0.5,
        "qwen-1.5b": 1.5,
        "file": 7.6,
    }


def test_configurations_are_told_apart_by_what_differs() -> None:
    plain = [{**r, "config": "c1", "mode": "text", "label": "x"} for r in rows(mode="schema")]
    assert {p.series for p in build_points([*rows(mode="schema", label="x"), *plain])} == {
        "layered, schema",
        "react, schema",
        "layered, text",
        "react, text",
    }
    again = [{**r, "config": "c1", "label": "new"} for r in rows()]
    assert "layered, new" in {p.series for p in build_points([*rows(label="old"), *again])}
    assert "layered, c1" in {
        p.series for p in build_points([*rows(), *({**r, "config": "c1"} for r in rows())])
    }


@pytest.mark.parametrize("model", ["qwen-0.5b", "nameless"])
def test_both_plots_are_svg_that_names_what_it_shows_and_the_same_for_the_same_rows(
    tmp_path: Path, model: str
) -> None:
    pytest.importorskip("matplotlib", reason="extra 'bench' is not installed")
    given = [
        {**r, "model": model if r["model"] == "file" else r["model"], "size": None} for r in rows()
    ]
    written = write_plots(given, tmp_path / "plots")
    assert [path.name for path in written] == [TOKENS, SIZES]
    for path in written:
        text = path.read_text()
        ElementTree.fromstring(text)
        assert {"layered", "react", model} <= set(
            text.replace(",", "").replace("<", " ").replace(">", " ").split()
        )
    once = [path.read_bytes() for path in written]
    assert [path.read_bytes() for path in write_plots(given, tmp_path / "plots")] == once


def test_no_rows_are_no_plot(tmp_path: Path) -> None:
    assert write_plots([], tmp_path / "plots") == []
    assert not (tmp_path / "plots").exists()
