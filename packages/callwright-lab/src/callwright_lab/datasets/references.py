"""Notations in which data sets refer to another call's result, for ``callwright.references``."""

from __future__ import annotations

import re

from callwright.repair.ordering.notations import PATH, ReferenceNotation

NOTATIONS = (
    # NESTFUL: $var1.field$, $var_1.result$; the closing mark is sometimes lost, then it must be the
    # whole text
    ReferenceNotation(
        "variable",
        "$",
        (
            re.compile(r"\$(?P<label>[A-Za-z][A-Za-z_]*\d+)(?P<field>(?:[.\[][^$\n]{0,200})?)\$"),
            re.compile(rf"\A\$(?P<label>var_?\d+){PATH}\Z"),
        ),
        10,
    ),
    # NesTools, Seal-Tools: API_call_0, one label for each output
    ReferenceNotation(
        "response",
        "API_call_",
        (re.compile(r"(?<!\w)(?P<label>API_call_\d+)(?P<field>)(?!\w)"),),
        20,
    ),
    # Bamboogle*: output_birthplace, the name of what a tool returns
    ReferenceNotation(
        "output",
        "output_",
        (re.compile(r"\A(?P<label>output_[a-z0-9_]+)(?P<field>)\Z"),),
        50,
    ),
)
"""What ``callwright.references`` registers."""
