"""The tools that a client of the gateway sees: all of them, or two that search and call, and
those that the user pinned.

Pure but for :mod:`.tool_search`, which needs the extra ``retrieval``.
"""

from callwright.gateway.exposure.exposure import (
    LIMIT,
    MODES,
    Exposed,
    ExposureMode,
    ExposureSettings,
    expose_tools,
)
from callwright.gateway.exposure.search_exposure import SearchExposure
from callwright.gateway.session.names import CALL_TOOL, SEARCH_TOOLS

__all__ = [
    "CALL_TOOL",
    "LIMIT",
    "MODES",
    "SEARCH_TOOLS",
    "Exposed",
    "ExposureMode",
    "ExposureSettings",
    "SearchExposure",
    "expose_tools",
]
