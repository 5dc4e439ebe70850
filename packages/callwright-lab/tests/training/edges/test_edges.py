"""Training the edge model: what counts, what is exported exactly, how it is calibrated, what may be
passed on.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Tool
from callwright.planning.edges import SHIPPED, EdgePlanner, open_model
from callwright.planning.features import NAMES
from callwright.planning.meaning import NAMES as MEANINGS
from callwright.weights.trees import read_forest, write_forest
from callwright_lab.datasets.examples import (
    PlanExample,
    add_distractors,
    example_from_calls,
    to_sequence,
)
from callwright_lab.datasets.splits import get_fold
from callwright_lab.training.boosting import export_forest
from callwright_lab.training.edges import edges

SMALL = edges.Settings(rounds=20, least=5, distractors=1)
THINGS = (
    "movie",
    "order",
    "flight",
    "hotel",
    "user",
    "song",
    "parcel",
    "ticket",
    "photo",
    "recipe",
    "lesson",
    "car",
)


def tool(verb: str, thing: str, required: str, gives: str) -> Tool:
    text = {"type": "string"}
    return Tool(
        f"{verb}_{thing}",
        f"{verb} a {thing}",
        {"type": "object", "properties": {required: text}, "required": [required]},
        {"type": "object", "properties": {gives: text}},
    )


def example(i: int, source: str = "even") -> PlanExample:
    """Every second one needs the identifier that the other tool finds; the others are
    independent.
    """
    one, other = THINGS[i % 12], THINGS[(i + 1 + i // 12) % 12]
    find = tool("find", one, "title", f"{one}_id")
    act = (
        tool("rate", one, f"{one}_id", "status")
        if i % 2
        else tool("rate", other, "score", "status")
    )
    query = (
        f"find the {one} called 'X{i}', then rate {'it' if i % 2 else f'the {other} with score 5'}"
    )
    names = [find.name, act.name]
    return example_from_calls(
        f"{source}-{i}", source, query, [find, act], names, {1: [0]} if i % 2 else {}
    )


EXAMPLES = [example(i, "one" if i % 4 < 2 else "two") for i in range(96)]


def test_pairs_with_a_distractor_do_not_count() -> None:
    mixed = add_distractors(EXAMPLES[1], [Tool("spare_part")], 1)
    rows = edges.build_rows(mixed)
    spare = [t.name for t in mixed.tools].index("spare_part")
    assert rows.mask.sum() == 2
    assert not rows.mask[spare].any()
    assert not rows.mask[:, spare].any()
    assert rows.target.sum() == 1


def test_in_training_a_called_tool_needs_nothing_of_one_that_is_not_called_nor_the_other_way_round() -> (
    None
):
    mixed = add_distractors(EXAMPLES[1], [Tool("spare_part"), Tool("other_part")], 2)
    rows = edges.build_rows(mixed, others=True)
    gold = np.array([t.name in mixed.gold for t in mixed.tools])
    assert rows.mask[gold][:, ~gold].all()
    assert rows.mask[~gold][:, gold].all()
    assert not rows.mask[~gold][:, ~gold].any()
    assert not rows.target[gold][:, ~gold].any()
    plain, *more = edges.Prepared(EXAMPLES, SMALL).variants["one one-1"]
    assert plain.mask.sum() == 2, "what is measured are the pairs of gold tools"
    assert any(len(r.example.tools) > 2 and r.mask.sum() > 2 for r in more)


def test_every_example_is_also_shown_without_outputs_and_with_distractors() -> None:
    plain, bare, mixed = edges.vary_example(
        EXAMPLES[1], [Tool("spare_part"), Tool("other_part")], 2
    )
    assert plain is EXAMPLES[1]
    assert all(t.output_schema is None for t in bare.tools)
    assert len(mixed.tools) > len(plain.tools)
    assert plain.edges == bare.edges == mixed.edges


def test_independent_tools_are_also_shown_two_by_two() -> None:
    three = example_from_calls(
        "x", "s", "q", [Tool("a"), Tool("b"), Tool("c")], ["a", "b", "c"], {}
    )
    *_, two = edges.vary_example(three, [], 0)
    assert len(two.tools) == len(two.gold) == 2
    assert two.layers == dict.fromkeys(two.gold, 0)


def test_two_requests_in_one_breath_do_not_need_each_other() -> None:
    made = edges.join_examples(EXAMPLES[1], EXAMPLES[5])
    assert made.edges == EXAMPLES[1].edges | EXAMPLES[5].edges
    assert made.layers == EXAMPLES[1].layers | EXAMPLES[5].layers
    assert len(made.tools) == 4


def test_two_requests_are_joined_to_one_sentence_or_to_two() -> None:
    texts = {
        edges.join_examples(a, b).query.removeprefix(a.query.rstrip("."))
        for a, b in edges.pair_examples(EXAMPLES)
    }
    assert {text[: text.index("find")] for text in texts} == {*edges.JOINTS}


def test_every_example_has_several_partners_and_each_in_one_round_only() -> None:
    once, more = edges.pair_examples(EXAMPLES, rounds=1), edges.pair_examples(EXAMPLES)
    assert more[: len(once)] != []
    assert len(more) > 2 * len(once)
    names = [e.id for couple in once for e in couple]
    assert len(names) == len(set(names))


def test_the_joined_requests_of_a_source_are_predicted_by_trees_that_have_not_seen_it() -> None:
    pytest.importorskip("lightgbm", reason="extra 'train' is not installed")
    prepared = edges.Prepared(EXAMPLES, SMALL)
    together: edges.Predicted = []
    alone = edges.unseen_sources(prepared, SMALL, together)
    assert len(alone) == len(EXAMPLES)
    assert {r.example.id for r, _ in together} <= {
        edges.join_examples(a, b).id for a, b in edges.pair_examples(EXAMPLES)
    }
    assert together


def test_couples_are_of_one_source_and_one_fold_and_share_no_tool() -> None:
    made = edges.pair_examples(EXAMPLES)
    assert made
    for a, b in made:
        assert (a.source, get_fold(a)) == (b.source, get_fold(b))
        assert not {t.name for t in a.tools} & {t.name for t in b.tools}


ONE = [e for e in EXAMPLES if e.source == "one"]


def test_strangers_are_of_two_sources_and_one_fold_and_share_no_tool() -> None:
    made = edges.strangers(EXAMPLES)
    assert made
    for a, b in made:
        assert a.source != b.source
        assert get_fold(a) == get_fold(b)
        assert not {t.name for t in a.tools} & {t.name for t in b.tools}
    assert edges.strangers(ONE) == []


def test_three_requests_are_joined_where_that_is_not_too_many_tools() -> None:
    made = edges.threes(EXAMPLES, most=6)
    assert made
    for parts in made:
        assert len({e.source for e in parts}) == 2
        whole = edges.join_examples(*parts)
        assert len(whole.gold) == len(whole.tools) == 6
        assert whole.edges == parts[0].edges | parts[1].edges | parts[2].edges
    assert edges.threes(EXAMPLES, most=5) == edges.threes(ONE) == []


def test_strangers_are_not_learned_from_where_one_of_their_sources_is_left_out() -> None:
    prepared = edges.Prepared(EXAMPLES, SMALL)
    assert any(len({e.source for e in parts}) == 2 for parts, _ in prepared.couples)
    kept = {e.id for e in ONE}
    assert all(set(rows.example.id.split(" + ")) <= kept for rows in prepared.coupled(ONE))


def test_a_couple_is_learned_from_only_where_both_may_be() -> None:
    prepared = edges.Prepared(EXAMPLES, SMALL)
    a, b = edges.pair_examples(EXAMPLES)[0]
    ids = [r.example.id for r in prepared.rows([a, b])]
    assert any(" + " in id for id in ids)
    assert not any(" + " in r.example.id for r in prepared.rows([a]))


def test_sources_weigh_alike_whatever_their_size() -> None:
    rows = [
        edges.build_rows(e)
        for e in [example(i, "big") for i in range(64)] + [example(i, "small") for i in range(4)]
    ]
    found = edges.compute_pair_weights(rows, edges.Settings(power=0.0))
    assert found[:128].sum() == pytest.approx(found[128:].sum())


@pytest.fixture(scope="module")
def booster() -> Any:
    pytest.importorskip("lightgbm", reason="extra 'train' is not installed")
    prepared = edges.Prepared(EXAMPLES, SMALL)
    return edges.fit_booster(prepared.rows(EXAMPLES), SMALL)


def test_exported_trees_give_exactly_what_lightgbm_gives(booster: Any) -> None:
    forest = export_forest(booster)
    draw = np.random.default_rng(0)
    known = np.concatenate([r.features[r.mask] for r in map(edges.build_rows, EXAMPLES)])
    noise = draw.normal(size=(200, known.shape[1])).astype(np.float32) * known.std(axis=0).clip(0.1)
    rows = np.concatenate([known, noise])
    assert np.abs(forest(rows) - booster.predict(rows, raw_score=True)).max() < 1e-9


def test_a_forest_of_one_leaf_is_exported(booster: Any) -> None:
    none = [example(i) for i in range(0, 40, 2)]
    rows = [edges.build_rows(e) for e in none]
    forest = export_forest(edges.fit_booster(rows, edges.Settings(rounds=2, least=5)))
    assert len(forest(rows[0].features[rows[0].mask])) == 2


def test_learned_edges_are_found_again(booster: Any) -> None:
    forest = export_forest(booster)
    right = 0
    for e in EXAMPLES:
        rows = edges.build_rows(e)
        layers, found = edges.decode_plan(rows, edges.log_odds(forest, rows), 1.0, 0.0)
        right += layers == e.layers
        assert found <= {(a, b) for a in e.gold for b in e.gold if a != b}
    assert right > 0.95 * len(EXAMPLES)


def test_calibration_finds_the_curve_that_made_the_labels() -> None:
    draw = np.random.default_rng(1)
    found = []
    for i in range(400):
        rows = edges.build_rows(example(i))
        odds = draw.normal(size=(2, 2)) * 2
        chance = 1 / (1 + np.exp(-(0.5 * odds + 1.0)))
        found.append(
            (edges.Rows(rows.example, rows.features, draw.random((2, 2)) < chance, rows.mask), odds)
        )
    slope, offset = edges.fit_calibration(found)
    assert slope == pytest.approx(0.5, abs=0.12)
    assert offset == pytest.approx(1.0, abs=0.2)


def write_nestools(folder: Path) -> None:
    rows = []
    for i, e in enumerate(EXAMPLES):
        tools = {t.name: t for t in e.tools}
        order = sorted(e.gold, key=lambda n: (e.layers[n], n))
        api = [
            {"api_name": t.name, "api_description": t.description, "required": list(t.required),
             "parameters": {k: {"type": "str"} for k in t.properties},
             "responses": {k: {"type": "str"} for k in (t.output_schema or {})["properties"]}}
            for t in tools.values()
        ]  # fmt: skip
        calls = [
            {"api_name": n, "responses": [f"API_call_{k}"],
             "parameters": {"x": "API_call_0" if e.layers[n] else "value"}}
            for k, n in enumerate(order)
        ]  # fmt: skip
        rows.append({"test_id": i, "task": e.query, "api": api, "call": calls})
    (folder / "nestools").mkdir(parents=True)
    (folder / "nestools" / "test_data.jsonl").write_text("\n".join(map(json.dumps, rows)))


def test_the_command_writes_weights_that_plan_and_a_card_that_tells(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("lightgbm", reason="extra 'train' is not installed")
    write_nestools(tmp_path / "data")
    arguments = [
        "--sources",
        "nestools",
        "--data",
        str(tmp_path / "data"),
        "--rounds",
        "20",
        "--out",
        str(tmp_path),
    ]
    assert edges.main(arguments) == 0
    said = capsys.readouterr().out
    assert "five folds by tool combination" in said
    assert f"{tmp_path / 'edges.npz'}, sha256 " in said
    model = open_model(tmp_path / "edges.npz")
    assert model.card["data"]["nestools"]["examples"] == 96
    assert model.card["data"]["nestools"]["licence"] == "Apache-2.0"
    assert model.card["private"] is False
    assert (
        model.card["command"]
        == "callwright train layers --model edges --sources nestools --rounds 20"
    )
    again = tmp_path / "again"
    edges.main([*arguments[:-1], str(again)])
    assert read_forest(again / "edges.npz")[1]["sha256"] == model.card["sha256"]
    plan = EdgePlanner(model).plan(EXAMPLES[1].query, EXAMPLES[1].tools)
    assert [[s.tool for s in layer] for layer in plan.layers] == [["find_order"], ["rate_order"]]


def test_in_execution_order_the_second_tool_always_comes_after_the_first(tmp_path: Path) -> None:
    pytest.importorskip("lightgbm", reason="extra 'train' is not installed")
    write_nestools(tmp_path / "data")
    where = ["--sources", "nestools", "--data", str(tmp_path / "data"), "--out", str(tmp_path)]
    assert edges.main([*where, "--rounds", "20", "--labels", "sequence"]) == 0
    model = open_model(tmp_path / "edges.npz")
    assert model.card["labels"] == "sequence"
    assert model.card["what"].startswith("P(tool j is called right after tool i)")
    plan = EdgePlanner(model).plan(EXAMPLES[0].query, EXAMPLES[0].tools)
    assert [[s.tool for s in layer] for layer in plan.layers] == [["find_movie"], ["rate_order"]]
    assert plan.slots[[s.tool for s in plan.slots].index("rate_order")].reason.startswith(
        "is usually called after find_movie ("
    )


class Letters:
    """A stand-in encoder: how often each letter stands in a text."""

    name, width = "letters", 27

    def encode(self, texts: Sequence[str]) -> np.ndarray[Any, Any]:
        made = np.array(
            [[1, *(t.lower().count(chr(97 + i)) for i in range(26))] for t in texts], np.float32
        )
        out: np.ndarray[Any, Any] = made / np.linalg.norm(made, axis=1, keepdims=True)
        return out


def test_with_an_encoder_half_of_the_trees_read_vectors_and_the_export_is_exact() -> None:
    pytest.importorskip("lightgbm", reason="extra 'train' is not installed")
    rows = [edges.build_rows(e, Letters()) for e in EXAMPLES]
    table = np.concatenate([r.features[r.mask] for r in rows])
    assert table.shape[1] == len(NAMES) + len(MEANINGS)
    plain, both = (edges.fit_booster(rows, SMALL, meanings=m) for m in (False, True))
    wanted = (
        plain.predict(table[:, : len(NAMES)], raw_score=True) + both.predict(table, raw_score=True)
    ) / 2
    assert np.abs(edges.grow_forest(rows, SMALL)(table) - wanted).max() < 1e-9


def test_a_model_trained_with_an_encoder_plans_with_it(tmp_path: Path) -> None:
    pytest.importorskip("lightgbm", reason="extra 'train' is not installed")
    write_nestools(tmp_path / "data")
    model, about = edges.train_model(["nestools"], SMALL, tmp_path / "data", encoder=Letters())
    assert about["encoder"] == "letters"
    write_forest(tmp_path, "mine", model.forest, about)
    again = open_model(tmp_path / "mine.npz", Letters())
    found = [m.probabilities(EXAMPLES[1].query, EXAMPLES[1].tools) for m in (model, again)]
    assert (found[0] == found[1]).all()
    plan = EdgePlanner(again).plan(EXAMPLES[1].query, EXAMPLES[1].tools)
    assert [[s.tool for s in layer] for layer in plan.layers] == [["find_order"], ["rate_order"]]


def test_requests_are_not_joined_where_order_is_all_that_is_known() -> None:
    chains = [made for e in EXAMPLES if (made := to_sequence(e)) is not None]
    assert edges.pair_examples(chains)
    assert edges.Prepared(chains, SMALL).couples == []


@pytest.mark.parametrize(
    ("more", "part"),
    [
        (["--private"], "--private weights cannot be shipped"),
        (["--labels", "sequence"], "cannot be shipped"),
        (["--name", "mine"], "replaces the weights that are loaded, edges"),
    ],
)
def test_what_must_not_be_shipped_is_refused_before_anything_is_trained(
    more: list[str], part: str
) -> None:
    with pytest.raises(ConfigError, match=part):
        edges.main(["--ship", *more, "--data", "nowhere"])


def test_without_a_folder_the_shipped_weights_stay_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("lightgbm", reason="extra 'train' is not installed")
    write_nestools(tmp_path / "data")
    before = SHIPPED.read_bytes(), SHIPPED.with_suffix(".json").read_bytes()
    monkeypatch.chdir(tmp_path)
    assert edges.main(["--sources", "nestools", "--data", "data", "--rounds", "2"]) == 0
    assert (SHIPPED.read_bytes(), SHIPPED.with_suffix(".json").read_bytes()) == before
    assert (
        open_model(tmp_path / "runs" / "layers" / "edges.npz").card["data"]["nestools"]["examples"]
        == 96
    )
    assert "runs/layers/edges.npz" in capsys.readouterr().out


def test_a_folder_and_the_package_cannot_both_be_written_to(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        edges.main(["--ship", "--out", "here"])
    assert "not allowed with argument --ship" in capsys.readouterr().err


def test_a_source_that_must_not_be_passed_on_is_refused() -> None:
    with pytest.raises(ConfigError, match="trained on ultratool must not be passed on"):
        edges.main(["--sources", "nestools,ultratool"])
    with pytest.raises(ConfigError, match="no data source 'nothing'"):
        edges.main(["--sources", "nothing"])
