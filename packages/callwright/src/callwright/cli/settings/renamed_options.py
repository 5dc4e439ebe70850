"""Old spellings of options, accepted for one version and shown in no help text."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

_REFINER = {"--model-rung": "--refiner", "--prompt": "--refiner-prompt"}
RENAMED: Mapping[str, Mapping[str, str]] = {
    "run": {"--may-fill": "--allow-source"},
    "proxy": {"--keep": "--training-log", **_REFINER},
    "gateway": _REFINER,
    "refine": {"--rungs": "--rule-groups", **_REFINER},
    "bench refine": _REFINER,
    "train harm-bound": _REFINER,
    "verify": {"--anew": "--fresh"},
    "explore": {"--anew": "--fresh"},
}
"""Command, or command and sub-command -> old option -> new option."""


def replace_old_options(arguments: Sequence[str]) -> list[str]:
    """Replace old spellings by today's, each with a line on standard error.

    Only options of the named command are replaced, and nothing after ``--``.
    """
    words = [a for a in arguments if not a.startswith("-")][:2]
    names = RENAMED.get(" ".join(words[:1])) or RENAMED.get(" ".join(words), {})
    made: list[str] = []
    for place, argument in enumerate(arguments):
        if argument == "--":
            return [*made, *arguments[place:]]
        option, equals, value = argument.partition("=")
        if option in names:
            sys.stderr.write(f"warning: {option} is now {names[option]}\n")
            option = names[option]
        made.append(option + equals + value)
    return made
