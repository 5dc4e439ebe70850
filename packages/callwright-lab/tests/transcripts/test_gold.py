"""Gold calls as trajectories without results."""

from __future__ import annotations

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.transcripts import FORMATS, Transcript, read_record, write
from callwright_lab.transcripts.gold import SealTools
from tests.transcripts.trajectories import EXAMPLE


def _spec(name: str, takes: str, gives: str) -> dict[str, object]:
    parameters, responses = {takes: {"type": "str"}}, {gives: {"type": "str"}}
    return {
        "api_name": name,
        "api_description": "",
        "parameters": parameters,
        "required": [takes],
        "responses": responses,
    }


SPECS = [_spec("find", "name", "id"), _spec("price", "id", "price")]
CALLS = [
    {"name": "find", "parameters": {"name": "ink"}, "responses": ["API_call_0"]},
    {"name": "price", "parameters": {"id": "API_call_0"}, "responses": ["API_call_1"]},
]


def _named(key: str) -> list[dict[str, object]]:
    return [{key: c["name"], **{k: v for k, v in c.items() if k != "name"}} for c in CALLS]


def test_a_label_is_shown_by_the_round_that_makes_it() -> None:
    nes = read_record(
        {"test_id": 7, "api": SPECS, "task": "Price of ink?", "call": _named("api_name")}
    )
    catalogue = {str(s["api_name"]): s for s in SPECS}
    seal = read_record(
        {"id": "x", "query": "Price of ink?", "calling": _named("api")},
        {"seal-tools": SealTools(catalogue)},
    )
    for found, id in ((nes, "nestools-7"), (seal, "seal-x")):
        t = found.trajectory
        assert (t.id, t.query, [tool.name for tool in t.tools]) == (
            id,
            "Price of ink?",
            ["find", "price"],
        )
        assert [s.shown for s in t.steps] == ['{"id": "API_call_0"}', '{"price": "API_call_1"}']
        assert (t.calls[1].arguments, t.results, t.answer) == ({"id": "API_call_0"}, (), None)


def test_api_bank_rows_have_the_dialogue_as_request_and_one_round() -> None:
    system = (
        "In your response, you can use the following tools:\n1. Name: Wiki\nDescription: Looks"
        " up.\nParameters: {'keyword': {'type': 'str', 'description': 'The word.'}}\n\n**Steps for"
        " Each Turn**\n"
    )
    answer = {"name": "Wiki", "parameters": {"keyword": "ink"}}
    t = read_record(
        {"system": system, "user": "<user>What is ink?</user>", "answer": answer, "other": {}}
    ).trajectory
    assert (t.query, t.calls[0].arguments, t.tools[0].required) == (
        "<user>What is ink?</user>",
        {"keyword": "ink"},
        ("keyword",),
    )


def test_they_are_kept_and_not_written() -> None:
    for name in ("nestools", "seal-tools", "api-bank", "toolbench"):
        with pytest.raises(ConfigError, match="kept or dropped"):
            write(Transcript(EXAMPLE), FORMATS[name])
