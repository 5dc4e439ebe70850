"""The questions that only the lab puts to a model, in the form of :mod:`callwright.prompts`."""

from __future__ import annotations

from callwright.prompts import PromptFolder

_OWN = PromptFolder(__name__)
names = _OWN.names
load = _OWN.load
render = _OWN.render
