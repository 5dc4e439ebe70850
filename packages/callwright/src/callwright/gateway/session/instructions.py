"""The text that the gateway tells models at the beginning of a conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from callwright.gateway.session.names import build_name
from callwright.gateway.session.policy import ServerPolicy

_MOST = 2_000  # characters of what one server tells


def render_instructions(
    policies: Sequence[ServerPolicy], hidden: str, said: Mapping[str, str]
) -> str:
    """The text. ``hidden``: what is said of tools that are not listed; ``said``: what each trusted
    server tells. The text of another server is nobody's word, and is left out.
    """
    named = [f"{build_name(one.prefix, '')}… of {one.name}" for one in policies if one.prefix]
    parts = []
    if named:
        parts.append(f"Names of tools begin with their server: {', '.join(named)}.")
    if hidden:
        parts.append(hidden)
    parts += [f"{name}: {_shorten_text(text)}" for name, text in said.items() if text.strip()]
    return "\n\n".join(parts)


def _shorten_text(text: str) -> str:
    told = text.strip()
    return told if len(told) <= _MOST else told[: _MOST - 1] + "…"
