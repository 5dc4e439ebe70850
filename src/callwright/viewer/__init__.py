"""A trace as one self-contained HTML page. Pure: events in, text out."""

from __future__ import annotations

from callwright.viewer.page import page, plan_page

__all__ = ["page", "plan_page"]
