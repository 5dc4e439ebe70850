"""The refiner of a gateway: the model that is asked, and its last answers."""

from __future__ import annotations

import hashlib
import logging
from collections import OrderedDict
from typing import TYPE_CHECKING

from callwright.gateway.session.commands import AskRefiner, Refined
from callwright.nouns.errors import CallwrightError
from callwright.nouns.protocols import ChatModel
from callwright.nouns.types import Reply, to_canonical_json

if TYPE_CHECKING:
    from callwright.repair.by_model.refiner_settings import RefinerSettings

_LOG = logging.getLogger("callwright.gateway")
_MOST_KEPT = 256


class Refiner:
    """A model and how it is asked. A call that its client sends again, with an approval or an
    input, is what was approved: it gets the answer from before, or none.
    """

    def __init__(self, model: ChatModel, settings: RefinerSettings) -> None:
        self.model, self.settings = model, settings
        self._kept: OrderedDict[str, Reply] = OrderedDict()

    async def answer(self, command: AskRefiner, *, is_resumed: bool = False) -> Refined:
        """Ask, unless the same was asked before."""
        told = to_canonical_json([m.content for m in command.request.messages])
        key = hashlib.sha256(told.encode()).hexdigest()
        if key not in self._kept and not is_resumed:
            try:
                self._kept[key] = await self.model.complete(command.request)
            except CallwrightError as error:
                _LOG.warning("the refiner was not asked: %s", error)
            except Exception as error:  # a fault of its own costs the call no answer
                _LOG.warning("the refiner failed: %s", type(error).__name__)
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        return Refined(self._kept.get(key))

    async def aclose(self) -> None:
        """Close the model."""
        await self.model.aclose()
