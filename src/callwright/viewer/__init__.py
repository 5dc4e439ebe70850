"""A trace as one self-contained HTML page. Pure: events in, text out."""

from __future__ import annotations

from callwright.viewer.page import page

__all__ = ["page"]
