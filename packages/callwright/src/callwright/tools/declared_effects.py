"""Effects that a user declares of tools that say nothing of them themselves, or something
else: ``send_mail=write``, ``get_*=read``, or a TOML file of such lines.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from callwright.nouns.errors import ConfigError, build_read_error
from callwright.nouns.types import DESTRUCTIVE, READ, WRITE, Effects, Tool

KINDS: Mapping[str, Effects] = {
    "read": READ,
    "write": WRITE,
    "idempotent": replace(WRITE, idempotent=True),
    "destructive": DESTRUCTIVE,
}
"""What a tool may be declared to be. ``idempotent``: a write that may be made twice."""

_HINT = f"NAME=KIND, where NAME may hold * and KIND is one of {', '.join(KINDS)}; or a .toml file"


@dataclass(frozen=True, slots=True)
class DeclaredEffects:
    """Patterns of names, and what their tools are. The first that fits counts."""

    rules: tuple[tuple[str, Effects], ...] = ()

    @classmethod
    def parse(cls, texts: Iterable[str]) -> DeclaredEffects:
        """Rules as a user writes them: ``NAME=KIND``, or the path of a TOML file in which each line
        is one (``send_mail = "write"``). Raises ConfigError.
        """
        rules: list[tuple[str, Effects]] = []
        for text in texts:
            name, equals, kind = text.partition("=")
            if equals:
                rules.append((name.strip(), _read_kind(kind.strip(), text)))
            else:
                rules += _read_file(Path(text).expanduser())
        return cls(tuple(rules))

    def apply(self, tools: Sequence[Tool]) -> tuple[Tool, ...]:
        """The tools with the effects that are declared of them."""
        if not self.rules:
            return tuple(tools)
        return tuple(self._declare(tool) for tool in tools)

    def _declare(self, tool: Tool) -> Tool:
        for pattern, effects in self.rules:
            if fnmatchcase(tool.name, pattern):
                return replace(tool, effects=effects)
        return tool


def _read_kind(kind: str, text: str) -> Effects:
    if kind not in KINDS:
        raise ConfigError(f"--effects {text}: there is no kind {kind!r}", hint=_HINT)
    return KINDS[kind]


def _read_file(path: Path) -> list[tuple[str, Effects]]:
    try:
        read = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise build_read_error(path, error) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not TOML: {error}", hint=_HINT) from None
    return [(name, _read_kind(str(kind), f"{name}={kind}")) for name, kind in read.items()]
