"""Every limit of a run is an option."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, fields
from typing import Annotated, Any, get_type_hints

import pytest
import typer
from typer.testing import CliRunner

from callwright.agent.strategies import STRATEGIES
from callwright.cli.app import app as cli
from callwright.cli.settings.options import LimitOptions, add_strict_option, group_options
from callwright.nouns.limits import LIMITS
from tests.cli.program import callwright


def test_the_help_of_run_names_every_limit_with_what_it_is_usually() -> None:
    told = " ".join(callwright("run", "--help").stdout.split())
    for limit in LIMITS.values():
        assert re.search(rf"--{limit.name.replace('_', '-')} <\w+ range>", told), limit.name
        assert f"[{limit.default:,}]".replace(".0]", "]") in told


@pytest.mark.parametrize(
    "given",
    [
        ("--turns", "0"),
        ("--tokens", "many"),
        ("--concurrency", "1.5"),
        ("--seconds", "-1"),
        ("--tool-seconds", "0"),
    ],
)
def test_nonsense_is_refused_with_the_option_it_was_given_to(given: tuple[str, str]) -> None:
    done = callwright("run", "x", *given)
    assert done.returncode == 2
    assert f"'{given[0]}'" in done.stderr


def test_a_limit_holds_that_no_range_can_tell() -> None:
    done = callwright("run", "x", "--tools", "json", "--seconds", "inf")
    assert done.returncode == 1
    assert "the limit seconds is inf, and must be 0 or more, and finite" in done.stderr


def test_the_help_of_run_names_every_strategy_that_is_no_part_of_another() -> None:
    told = " ".join(callwright("run", "--help").stdout.split())
    for name in STRATEGIES:
        if "-no-" not in name and name != "given":  # ablations, and what --plan asks for
            assert re.search(
                rf"\b{name}\b", told.partition("--strategy")[2].partition("--repair ")[0]
            ), name


@dataclass(frozen=True, slots=True)
class Shape:
    size: Annotated[int, typer.Option(help="How large.", min=1)] = 3
    is_round: Annotated[bool, typer.Option("--round", help="Without corners.")] = False


@dataclass(frozen=True, slots=True)
class Colour:
    name: Annotated[str | None, typer.Option("--colour")] = None


def test_a_command_is_given_its_options_in_groups_and_its_help_names_each() -> None:
    seen: list[object] = []
    app = typer.Typer()

    @app.command()
    @add_strict_option
    @group_options("what name size")
    def draw(
        what: Annotated[str, typer.Argument(help="What.")], shape: Shape, colour: Colour
    ) -> None:
        """Draw something."""
        seen.append((what, shape, colour))

    assert [*inspect.signature(draw).parameters] == ["what", "name", "size", "is_round", "strict"]
    done = CliRunner().invoke(app, ["box", "--colour", "red", "--round"])
    assert done.exit_code == 0, done.output
    assert CliRunner().invoke(app, ["box"]).exit_code == 0
    assert seen == [("box", Shape(3, True), Colour("red")), ("box", Shape(), Colour())]
    refused = CliRunner().invoke(app, ["box", "--size", "0"])
    assert (refused.exit_code, "--size" in refused.output) == (2, True)


def test_two_options_of_one_name_are_refused_when_the_command_is_declared() -> None:
    with pytest.raises(TypeError, match="two options of one name"):

        @group_options()
        def draw(size: int, shape: Shape) -> None:
            raise AssertionError


def test_what_a_guard_and_a_source_are_to_an_option_is_said_by_its_name() -> None:
    """A name that two commands share means the same in both."""
    commands: dict[str, Any] = dict(typer.main.get_command(cli).commands)  # type: ignore[attr-defined]
    for group in ("tools", "gateway"):
        below = commands.pop(group).commands
        commands |= {f"{group} {name}": one for name, one in below.items()}
    found: dict[str, dict[str, str]] = {}
    for command, one in commands.items():
        for parameter in one.params:
            for name in parameter.opts:
                found.setdefault(name, {})[command] = parameter.help
    assert "--strict" not in found
    assert [*found["--no-guard"]] == ["refine"]
    assert [*found["--refused-as-text"]] == ["proxy"]
    assert {*found["--no-refiner-guard"]} == {"proxy", "gateway serve"}
    assert len({*found["--require-sources"].values()}) == 1


def test_every_limit_is_an_option_of_its_kind() -> None:
    assert [one.name for one in fields(LimitOptions)] == [*LIMITS]
    hints = get_type_hints(LimitOptions)
    assert all(hints[limit.name] == limit.kind | None for limit in LIMITS.values())
    assert LimitOptions(turns=3).to_settings()["limits.turns"] == 3
