"""Ranks the gateway's tools for a request, with what is known of how well they work.

Needs the extra ``retrieval``. With the encoder's weights at hand tools are found by meaning too and
put in order by the learned ranker; without them by words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.util import find_spec
from threading import Lock

from callwright.gateway.exposure.meta_tools import Found, Search
from callwright.gateway.session.catalog import GatewayTool
from callwright.nouns.protocols import Encoder
from callwright.nouns.types import Tool
from callwright.retrieval import ToolIndex
from callwright.retrieval.features import Mode
from callwright.tools.evidence import Rate, get_known_rates

BROKEN = 0.25
"""A success rate below which a tool comes last. With the uniform prior, three failures of this week
and no success are below it; two are not.
"""


class ToolSearch:
    """Search over the tools that the gateway offers now.

    It finds by words at once. :meth:`encode` makes vectors, after which it finds by meaning too:
    work of some ten milliseconds a new tool, for a thread of its own. ``rates`` returns what
    evidence says, by a tool's digest; it is asked at each search, so that a tool which broke a
    minute ago comes last already.
    """

    def __init__(
        self,
        rates: Callable[[], Mapping[str, Rate]] = dict,
        *,
        encoder: Encoder | None = None,
    ) -> None:
        """Without an ``encoder`` it finds by words alone. Raises MissingExtra without the extra."""
        self._rates = rates
        self._encoder = encoder
        self._by_words = ToolIndex.build(())
        self._by_meaning: ToolIndex | None = None
        self._encoding = Lock()
        self._offers: dict[str, GatewayTool] = {}

    def update(self, offers: Iterable[GatewayTool]) -> None:
        """Search exactly these from now on; only what is new or changed is read again."""
        self._offers = {offer.exposed: offer for offer in offers}
        self._by_words = self._by_words.synced(self._iter_tools())

    def encode(self) -> None:
        """Make the vectors of the tools of the last update; nothing without an encoder.

        Raises WeightsError where the encoder's files are broken.
        """
        if self._encoder is None:
            return
        with self._encoding:  # one thread at a time: the other finds the texts encoded
            index = self._by_meaning or ToolIndex.build((), self._encoder)
            self._by_meaning = index.synced(self._iter_tools())

    def __len__(self) -> int:
        return len(self._offers)

    def find(self, search: Search) -> list[Found]:
        """The best tools for a search, broken ones last; [] where none fits."""
        rates = self._rates()
        known = get_known_rates(rates, self._iter_tools())
        # Of one server's tools all are looked at: the best of all may be of others.
        pool = len(self) if search.server else 4 * search.count
        index = self._current_index()
        mode: Mode = "lexical" if index.vectors is None else "ranked"
        hits = index.search(search.query, max(pool, 1), mode=mode, known=known or None, bring=0)
        wanted = [
            hit.name
            for hit in hits
            if not search.server or self._offers[hit.name].server == search.server
        ]
        last = [name for name in wanted if known.get(name, 1.0) < BROKEN]
        first = [name for name in wanted if known.get(name, 1.0) >= BROKEN]
        return [self._describe(name, known) for name in (*first, *last)[: search.count]]

    def _iter_tools(self) -> Iterator[Tool]:
        yield from (offer.tool for offer in self._offers.values())

    def _current_index(self) -> ToolIndex:
        """The index with vectors, unless tools came or changed since they were made."""
        made = self._by_meaning
        is_current = made is not None and made.documents.digests == self._by_words.documents.digests
        return made if made is not None and is_current else self._by_words

    def _describe(self, name: str, known: Mapping[str, float]) -> Found:
        is_broken = known.get(name, 1.0) < BROKEN
        note = "its last calls failed; prefer another tool if one fits" if is_broken else ""
        return Found(name, self._offers[name].definition, note)


def open_search_encoder() -> Encoder | None:
    """The encoder whose weights are at hand, with the user's cache of vectors; None where they
    would have to be fetched first.
    """
    from callwright import weights

    is_here = all(find_spec(library) for library in ("onnxruntime", "tokenizers"))
    if not (is_here and all(weights.find(n) for n in ("minilm-int8", "minilm-tokenizer"))):
        return None
    from callwright.models.encoders import open_encoder
    from callwright.storage.database import state_dir

    return open_encoder(cache=state_dir() / "vectors.db")
