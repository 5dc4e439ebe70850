"""Every question we put to a model, one Markdown file each.

A file has sections opened by a line ``[system]`` or ``[user]``; ``{{name}}`` is replaced. Rendering
is strict: a placeholder without a value, or a value without a placeholder, is an error. Another
package keeps its own questions in a :class:`PromptFolder` of its own.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import cast

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Message, Role

_SECTION = re.compile(r"^\[(system|user|assistant)\]\s*$", re.MULTILINE)
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")


class PromptFolder:
    """The prompts that lie as Markdown files beside the modules of one package.

    ``package`` is the package's import name.
    """

    def __init__(self, package: str) -> None:
        self.package = package
        self.load = cache(self._load)

    def names(self) -> tuple[str, ...]:
        """The names of all prompts of the package."""
        found = (file.name for file in files(self.package).iterdir())
        return tuple(sorted(name.removesuffix(".md") for name in found if name.endswith(".md")))

    def _load(self, name: str) -> tuple[tuple[Role, str], ...]:
        """The sections of one prompt, placeholders unfilled. ConfigError if there is none."""
        try:
            text = files(self.package).joinpath(f"{name}.md").read_text(encoding="utf-8")
        except FileNotFoundError:
            raise ConfigError(
                f"there is no prompt {name!r}", hint="prompts: " + ", ".join(self.names())
            ) from None
        parts = _SECTION.split(text)
        if parts[0].strip() or len(parts) < 3:
            raise ConfigError(f"the prompt {name!r} must begin with a [system] or [user] line")
        return tuple(
            (cast("Role", role), body.strip())
            for role, body in zip(parts[1::2], parts[2::2], strict=True)
        )

    def render(self, name: str, /, **values: str) -> tuple[Message, ...]:
        """The messages of one prompt with every placeholder filled. Raises ConfigError on a
        mismatch.
        """
        sections = self.load(name)
        wanted = {key for _, body in sections for key in _PLACEHOLDER.findall(body)}
        if wanted != set(values):
            raise ConfigError(
                f"prompt {name!r}: missing {sorted(wanted - set(values))}, unused"
                f" {sorted(set(values) - wanted)}"
            )
        return tuple(
            Message(role, _PLACEHOLDER.sub(lambda m: values[m[1]], body)) for role, body in sections
        )


_OWN = PromptFolder(__name__)
names = _OWN.names
load = _OWN.load
render = _OWN.render
