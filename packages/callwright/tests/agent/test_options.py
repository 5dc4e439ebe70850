"""The options of an orchestrator: in groups, and for one version also one by one."""

from __future__ import annotations

import asyncio
from dataclasses import fields
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from callwright import Interaction, Orchestrator, Persistence, Safety, ToolSelection
from callwright.agent.options import RunOptions
from callwright.nouns.errors import ConfigError
from callwright.nouns.trace import MemorySink
from callwright.nouns.types import DESTRUCTIVE
from callwright.testing import FakeTool, ScriptedModel, fake_source

SINKS = [MemorySink()]
FLAT: dict[str, Any] = {
    "approve": lambda proposal: True,
    "allow": ["send_*"],
    "dry_run": True,
    "sandbox": True,
    "freeze": "plan",
    "may_fill": {"send.to": ["request"]},
    "only": ["look"],
    "shortlist": 3,
    "trials": "read-only",
    "retrieval": "lexical",
    "strict": False,
    "trust": None,
    "journal": Path("runs"),
    "evidence": None,
    "sinks": SINKS,
    "mode": "text",
    "today": lambda: date(2026, 11, 24),
    "on_text": print,
    "on_reply": print,
}
GROUPED = ("probing", "simulator", "ask", "secrets")  # came after that version
DIRECT = {
    "instructions": "Be brief.",
    "model_profile": "large",
}  # stay keywords of the orchestrator


def test_every_option_of_every_group_may_be_given_alone_for_one_version() -> None:
    groups = [getattr(RunOptions(), group.name) for group in fields(RunOptions)]
    named = {one.name for group in groups for one in fields(group)}
    assert named == {*FLAT, *DIRECT, *GROUPED}
    for name in GROUPED:
        with pytest.raises(TypeError, match=name):
            Orchestrator([], **{name: None})


@pytest.mark.parametrize("name", [*FLAT])
def test_an_option_that_is_given_alone_is_that_of_its_group_and_warns(name: str) -> None:
    with pytest.warns(DeprecationWarning, match=rf"Orchestrator\({name}=…\) is deprecated") as told:
        made = Orchestrator([], strategy="dag", **{name: FLAT[name]})
    assert told[0].filename == __file__
    group = str(told[0].message).rpartition(": ")[2].partition("=")[0]
    grouped = getattr(made._setup.options, group)
    assert getattr(grouped, name) == FLAT[name]
    assert grouped == type(grouped)(**{name: FLAT[name]})


def test_an_option_that_has_its_own_keyword_warns_of_nothing(
    recwarn: pytest.WarningsRecorder,
) -> None:
    made = Orchestrator([], **DIRECT)
    assert made._setup.options.interaction == Interaction(**DIRECT)
    assert not recwarn.list


def test_it_goes_before_that_of_the_group() -> None:
    with pytest.warns(DeprecationWarning, match="allow"):
        made = Orchestrator([], safety=Safety(allow=["a"], sandbox=True), allow=["b"])
    assert made._setup.options.safety == Safety(allow=["b"], sandbox=True)


def test_an_option_that_there_never_was_is_refused() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        Orchestrator([], colour="red")  # type: ignore[call-arg]


def test_the_groups_are_given_without_a_warning(recwarn: pytest.WarningsRecorder) -> None:
    Orchestrator(
        [],
        safety=Safety(allow=["send_*"]),
        selection=ToolSelection(only=["look"]),
        persistence=Persistence(sinks=SINKS),
        interaction=Interaction(mode="text"),
    )
    assert not recwarn.list


async def test_both_ways_do_the_same() -> None:
    def wipe() -> FakeTool:
        return FakeTool("wipe", {"what": {"type": "string"}}, effects=DESTRUCTIVE)

    said = {"statements": [{"text": "Done.", "results": []}], "missing": []}
    script = {"bind": [{"calls": [{"tool": "wipe", "arguments": {"what": "a"}}]}], "*": said}
    grouped = Orchestrator(
        [fake_source(wipe())], model=ScriptedModel(script), safety=Safety(dry_run=True)
    )
    model, old = ScriptedModel(script), {"dry_run": True}
    with pytest.warns(DeprecationWarning, match="dry_run"):
        flat = Orchestrator([fake_source(wipe())], model=model, **old)  # type: ignore[arg-type]
    one, other = await grouped.run("Wipe a."), await flat.run("Wipe a.")
    assert one.skips
    assert (one.skips, one.results, one.answer) == (other.skips, other.results, other.answer)


@pytest.mark.parametrize(
    ("shortlist", "trials", "size"), [(None, "off", None), (3, "off", 3), (None, "read-only", 8)]
)
def test_a_shortlist_or_trials_choose_the_tools(shortlist: Any, trials: Any, size: Any) -> None:
    chosen = ToolSelection(shortlist=shortlist, trials=trials).shortlisting()
    assert (None if chosen is None else chosen.size) == size
    with pytest.raises(ConfigError, match="at least one tool"):
        ToolSelection(shortlist=0).shortlisting()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"limits": {"seconds": 3}}, "limits takes Limits(…), and was given a dict"),
        ({"safety": {"dry_run": True}}, "safety takes Safety(…), and was given a dict"),
        ({"persistence": "runs"}, "persistence takes Persistence(…), and was given a str"),
    ],
)
def test_a_group_of_another_type_is_a_clear_error(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Orchestrator([], **options)
    assert caught.value.message == said


@pytest.mark.parametrize("only", ["weather", [1]])
def test_tools_are_named_by_a_list_of_texts(only: Any) -> None:
    with pytest.raises(ConfigError, match="only takes a list of texts"):
        ToolSelection(only)


@pytest.mark.parametrize("secrets", ["hunter2-hunter2", ["hun"]])
def test_secrets_that_could_not_be_removed_are_refused_and_not_shown(secrets: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        Persistence(secrets=secrets)
    assert "hun" not in str(caught.value)
    assert "hunter2" not in repr(Persistence(secrets=["hunter2"]))


@pytest.mark.parametrize(
    ("build", "said", "hint"),
    [
        (lambda: Interaction(mode="json"), "no mode 'json'", "native, schema, text"),
        (lambda: Interaction(mode="nativ"), "no mode 'nativ'", "did you mean 'native'?"),
        (lambda: Interaction(today=date(2026, 1, 2)), "today is .*a function", "date.today"),
        (lambda: Interaction(on_text="x"), "on_text is 'x', and must be a function", "print"),
        (lambda: Interaction(on_text=asyncio.sleep), "a function that is not async", "print"),
        (lambda: Interaction(instructions=["a"]), "instructions is .* be a text", "instructions="),
        (lambda: Interaction(model_profile=3), "model_profile is 3, and must be a text", "="),
        (lambda: Persistence(sinks=MemorySink()), "sinks takes a list of sinks", "[MemorySink()]"),
        (lambda: Persistence(sinks="trace"), "sinks takes a list of sinks", "[MemorySink()]"),
    ],
)
def test_an_option_of_another_kind_is_refused_where_it_is_given(
    build: Any, said: str, hint: str
) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        build()
    assert hint in caught.value.hint


def test_a_retrieval_mode_that_is_none_is_refused_before_a_run() -> None:
    with pytest.raises(ConfigError, match="no retrieval mode 'bm52'") as caught:
        Orchestrator([], selection=ToolSelection(retrieval="bm52", shortlist=3))  # type: ignore[arg-type]
    assert caught.value.hint.startswith("did you mean 'bm25'?")
