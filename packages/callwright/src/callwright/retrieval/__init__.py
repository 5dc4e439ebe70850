"""From thousands of tools to the handful that a request may need. Extra: ``retrieval``.

A :class:`ToolIndex` is built once and kept up to date; :meth:`ToolIndex.search` ranks its tools for
a request by several scores at once: of its words and, with an encoder, of its meaning; of the whole
request and of each thing it asks for; of the tool, and of the tools that come from the same place.
"""

from callwright.retrieval.features import MODES, Mode, mode_named, needs_encoder
from callwright.retrieval.index import Hit, ToolIndex

__all__ = ["MODES", "Hit", "Mode", "ToolIndex", "mode_named", "needs_encoder"]
