"""The planners that learn nothing, and which one is the default."""

from __future__ import annotations

from typing import Any

import pytest

from callwright.nouns.errors import ConfigError, PlanError
from callwright.nouns.types import Tool
from callwright.planning import default_planner, open_planner
from callwright.planning.planner import AllInOnePlanner, MentionPlanner, SchemaPlanner

TEXT = {"type": "string"}
PAY = Tool(
    "pay_invoice", input_schema={"properties": {"invoice_id": TEXT}, "required": ["invoice_id"]}
)
BILL = Tool("create_invoice", output_schema={"properties": {"invoice_id": TEXT}})
MAIL = Tool("send_mail", "Send a mail")


def layers(planner: object, query: str = "send a mail, then pay the invoice") -> list[list[str]]:
    return [[s.tool for s in layer] for layer in planner.plan(query, [PAY, BILL, MAIL]).layers]  # type: ignore[attr-defined]


def test_the_schema_planner_waits_where_a_required_input_is_made() -> None:
    assert layers(SchemaPlanner()) == [["create_invoice", "send_mail"], ["pay_invoice"]]
    slot = SchemaPlanner().plan("", [PAY, BILL]).slots[0]
    assert slot.reason == "needs 'invoice_id', which 'invoice_id' of create_invoice provides"


def test_all_in_one_has_one_layer() -> None:
    assert layers(AllInOnePlanner()) == [["pay_invoice", "create_invoice", "send_mail"]]


def test_by_mention_every_tool_has_a_layer_of_its_own() -> None:
    found = layers(MentionPlanner(), "send the mail. pay what is due. create it.")
    assert found == [["send_mail"], ["pay_invoice"], ["create_invoice"]]


def test_the_default_is_the_shipped_edge_model() -> None:
    assert default_planner().name == "edges"


@pytest.mark.parametrize(
    "spec", [None, "default", "edges", "schema", "mention", "all-in-one", AllInOnePlanner()]
)
def test_an_encoder_that_would_go_unused_is_refused(spec: Any) -> None:
    with pytest.raises(
        ConfigError, match="reads no vectors: the encoder 'minilm' would go unused"
    ) as caught:
        open_planner(spec, "minilm")
    assert "--planner layers" in caught.value.hint


@pytest.mark.parametrize("name", ["schema", "all-in-one", "mention", "edges"])
def test_every_planner_places_every_tool_once_and_refuses_names_used_twice(name: str) -> None:
    planner = open_planner(name)
    assert [s.tool for s in planner.plan("do it all", [PAY, BILL, MAIL]).slots] == [
        "pay_invoice",
        "create_invoice",
        "send_mail",
    ]
    assert planner.plan("", []).slots == ()
    with pytest.raises(PlanError, match="'send_mail'"):
        planner.plan("", [MAIL, MAIL])
