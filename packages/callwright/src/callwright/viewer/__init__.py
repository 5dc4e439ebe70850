"""A trace or a report as one self-contained HTML page. Pure: events or rows in, text out."""

from __future__ import annotations

from callwright.viewer.page import page, render_plan_page
from callwright.viewer.report import (
    Bar,
    Bars,
    Change,
    Changes,
    Item,
    Lines,
    Part,
    Report,
    Table,
    render_report_page,
)

__all__ = [
    "Bar",
    "Bars",
    "Change",
    "Changes",
    "Item",
    "Lines",
    "Part",
    "Report",
    "Table",
    "page",
    "render_plan_page",
    "render_report_page",
]
