"""The group ``callwright verify``: every command is a function with a help text."""

from __future__ import annotations

from callwright.cli.verify import VERIFIERS, verify


def test_every_verifier_is_a_command_that_says_what_it_does() -> None:
    assert [command.name for command in verify.registered_commands] == list(VERIFIERS)
    assert all(command.__doc__ for command in VERIFIERS.values())
