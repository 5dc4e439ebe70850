"""Reads a Dockerfile: its stages, with the instructions of each."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Stage:
    """One stage: its base, its name, and (instruction, rest of the line) in order."""

    base: str
    name: str
    steps: list[tuple[str, str]] = field(default_factory=list)

    def rests(self, instruction: str) -> list[str]:
        """What stands behind each instruction of this kind."""
        return [rest for found, rest in self.steps if found == instruction]

    def read_variables(self, given: Mapping[str, str]) -> dict[str, str]:
        """ARG and ENV of the stage, those in ``given`` with the value given there."""
        found = dict(given)
        for instruction, rest in self.steps:
            for word in shlex.split(rest) if instruction in ("ARG", "ENV") else ():
                name, _, value = word.partition("=")
                if instruction == "ENV" or name not in given:
                    found[name] = expand_variables(value, found)
        return found


def read_stages(path: Path) -> list[Stage]:
    """The stages of a Dockerfile, with the arguments before the first in their bases."""
    text = re.sub(r"^\s*#.*\n", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", " ", text).splitlines()
    stages: list[Stage] = []
    before: dict[str, str] = {}
    for line in filter(str.strip, lines):
        instruction, rest = line.strip().split(maxsplit=1)
        if instruction == "FROM":
            base, *named = re.split(r"\s+AS\s+", rest)
            stages.append(Stage(expand_variables(base, before), *(named or [""])))
        elif stages:
            stages[-1].steps.append((instruction, rest))
        else:
            name, _, value = rest.partition("=")
            before[name] = value
    return stages


def read_exec(rest: str) -> list[str]:
    """The words of an instruction in its JSON form."""
    words = json.loads(rest[rest.index("[") :])
    assert isinstance(words, list)
    return [str(word) for word in words]


def expand_variables(text: str, values: Mapping[str, str]) -> str:
    return re.sub(r"\$\{(\w+)\}|\$(\w+)", lambda m: values.get(m[1] or m[2], ""), text)
