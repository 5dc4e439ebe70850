"""Every family is read as its own upstream writes it: samples that upstreams render or publish,
sources named.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.nouns.types import Tool
from callwright.parsing import DIALECTS, CallPiece, Parser, TextPiece
from tests.places import ROOT, SUITE

SAMPLES = SUITE / "dialects" / "samples"
CASES: list[dict[str, Any]] = [
    {**case, "id": f"{file.stem}-{i}"}
    for file in sorted(SAMPLES.glob("*.json"))
    for i, case in enumerate(json.loads(file.read_text(encoding="utf-8")))
]
ENOUGH = 5
registered = pytest.mark.skipif(
    bool({case["family"] for case in CASES} - set(DIALECTS)),
    reason="needs callwright-lab: it registers families of data sets",
)
_TAGS = re.compile(
    r"</?think(?:ing)?>|\[/?THINK\]|<\|channel\|>\w+<\|message\|>|<\|?channel\|?>(?:thought)?"
    r"|<\|e(?:nd|om)\|>| to=self<\|message\|>"
)


def counted() -> Counter[str]:
    """Samples per family that its upstream rendered or published: not our own, not those that we
    read differently.
    """
    own = "written for this project"
    return Counter(
        c["family"] for c in CASES if not c["source"].startswith(own) and "differs" not in c
    )


def _tools(case: dict[str, Any]) -> list[Tool]:
    return [
        Tool(t) if isinstance(t, str) else Tool(t["name"], input_schema=t.get("parameters", {}))
        for t in case["tools"]
    ]


def _parser(case: dict[str, Any]) -> Parser:
    """Reads all families at once, and one that must be asked for alone. The samples of a family
    that is not registered here are read all the same: its shape is one of the core's.
    """
    family = case["family"]
    asked = family in DIALECTS and DIALECTS[family].asked
    return Parser(_tools(case), dialects=[family] if asked else None)


def _read(case: dict[str, Any], *chunks: str) -> tuple[list[list[Any]], str, str, bool]:
    parser = _parser(case)
    pieces = [p for chunk in chunks for p in parser.feed(chunk)] + parser.close()
    calls = [p for p in pieces if isinstance(p, CallPiece)]
    texts = [p for p in pieces if isinstance(p, TextPiece)]
    assert "".join(p.raw if isinstance(p, CallPiece) else p.text for p in pieces) == "".join(chunks)
    return (
        [[p.call.tool, p.call.arguments] for p in calls],
        "".join(p.text for p in texts if not p.reasoning),
        "".join(p.text for p in texts if p.reasoning),
        any(p.truncated for p in calls),
    )


def _words(text: str) -> str:
    """White space between calls and text is nobody's: compared by words."""
    return " ".join(text.split())


@pytest.mark.parametrize("case", CASES, ids=lambda c: c["id"])
def test_a_sample_is_read_as_its_upstream_means_it(case: dict[str, Any]) -> None:
    calls, text, reasoning, truncated = _read(case, case["text"])
    assert calls == [[c["name"], c["arguments"]] for c in case["calls"]], case["source"]
    assert truncated is case.get("truncated", False)
    assert (text if not calls else _words(text)) == (
        case["rest"] if not calls else _words(case["rest"])
    )
    if "reasoning" in case:
        assert _words(_TAGS.sub("", reasoning)) == _words(case["reasoning"])


@pytest.mark.parametrize("case", CASES, ids=lambda c: c["id"])
def test_a_sample_is_the_same_one_character_at_a_time(case: dict[str, Any]) -> None:
    assert _read(case, *case["text"]) == _read(case, case["text"])


@settings(max_examples=120)
@given(data=st.data())
def test_a_sample_is_the_same_wherever_it_is_cut(data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(CASES))
    text = case["text"]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    chunks = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert _read(case, *chunks) == _read(case, text)


@settings(max_examples=120)
@given(data=st.data())
def test_a_sample_cut_off_never_becomes_a_call_that_it_is_not(data: st.DataObject) -> None:
    """What arrives of a call that stops is text, or a truncated call whose arguments are text:
    never completed.
    """
    case = data.draw(st.sampled_from([c for c in CASES if c["calls"] and not c.get("truncated")]))
    text = case["text"][: data.draw(st.integers(0, len(case["text"])))]
    meant = [[c["name"], c["arguments"]] for c in case["calls"]]
    parser = _parser(case)
    # a bracket tag alone is a whole call of a tool without parameters
    bare = [t for t in case["tools"] if isinstance(t, str) and case["family"] == "bracket"]
    for piece in [*parser.feed(text), *parser.close()]:
        if isinstance(piece, CallPiece) and piece.call.tool in bare and not piece.call.arguments:
            continue
        if (
            isinstance(piece, CallPiece)
            and isinstance(piece.call.arguments, dict)
            and not piece.truncated
        ):
            assert [piece.call.tool, piece.call.arguments] in meant, (case["source"], text)


@registered
def test_every_family_that_is_counted_has_samples_enough() -> None:
    """``verified`` in DIALECTS is what the samples say, no more and no less."""
    claimed = {name for name, family in DIALECTS.items() if family.verified}
    shown = {name for name, n in counted().items() if n >= ENOUGH}
    assert claimed == shown & set(DIALECTS)
    assert not set(counted()) - set(DIALECTS), "samples of a family that nobody reads"


@registered
def test_the_table_in_the_docs_says_the_same() -> None:
    text = (ROOT / "docs" / "dialects.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \|.*\| (yes|no) \| (\d+) \|$", text, re.M)
    samples = counted()
    assert [(name, verified, int(n)) for name, verified, n in rows] == [
        (name, "yes" if family.verified else "no", samples[name])
        for name, family in DIALECTS.items()
    ]


def test_every_sample_names_its_source_and_shape() -> None:
    for case in CASES:
        assert set(case) <= {
            "id", "family", "source", "text", "tools", "calls", "rest", "reasoning", "truncated", "note", "differs",
        }  # fmt: skip
        assert case["source"].strip()
        assert case["id"].startswith(case["family"])
