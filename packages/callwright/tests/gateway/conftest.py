"""What tests of the gateway share with those of tool sources."""

from __future__ import annotations

from tests.tools.conftest import repository

__all__ = ["repository"]
