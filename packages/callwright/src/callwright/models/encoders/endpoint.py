"""Vectors from any OpenAI-compatible embeddings endpoint: ``POST {base}/embeddings`` with ``model``
and ``input``.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from callwright.http import Egress, HttpClient, HttpResponse
from callwright.nouns.errors import ConfigError, Failure, ModelError

if TYPE_CHECKING:
    from numpy import ndarray

Result = TypeVar("Result")

KEY_VARIABLE = "CALLWRIGHT_EMBEDDINGS_KEY"


class EndpointEncoder:
    """Texts -> unit vectors by an endpoint. Raises ModelError when it cannot be asked or answers
    nonsense.

    ``base`` is the URL in front of ``/embeddings`` ("https://api.openai.com/v1"). ``key`` is sent
    as a bearer token; by default it is read from ``CALLWRIGHT_EMBEDDINGS_KEY``, so no other
    service's key goes to an address it is not for. ``width`` is asked of the endpoint on first use,
    unless given.
    """

    def __init__(
        self,
        base: str,
        model: str,
        *,
        key: str | None = None,
        width: int | None = None,
        batch: int = 64,
        seconds: float = 120.0,
        egress: Egress | None = None,
    ) -> None:
        if not model:
            raise ConfigError(
                f"which model of {base} shall embed?",
                hint="name it behind a #: https://host/v1#model-name",
            )
        self._url = base.rstrip("/") + "/embeddings"
        self._model = model
        self._key = os.environ.get(KEY_VARIABLE, "") if key is None else key
        self._batch = batch
        self._seconds = seconds
        self._egress = egress or Egress.any()  # the user typed this address
        self._width = width
        self.name = f"{model}@{urlsplit(base).netloc.rpartition('@')[2]}"

    @property
    def width(self) -> int:
        if self._width is None:
            self.encode(["width"])
        assert self._width is not None
        return self._width

    def encode(self, texts: Sequence[str]) -> ndarray[Any, Any]:
        """Unit vectors, float32 of shape (len(texts), width).

        May be called inside a running event loop, which then waits; there, ``await encode_async``
        is better.
        """
        return _run_coroutine(self.encode_async(texts))

    async def encode_async(self, texts: Sequence[str]) -> ndarray[Any, Any]:
        """As :meth:`encode`, for callers that are asynchronous themselves."""
        import numpy as np

        if not texts:
            return np.zeros((0, self._width or 0), np.float32)
        parts = []
        async with HttpClient(self._egress) as client:
            for start in range(0, len(texts), self._batch):
                parts.append(
                    await self._ask(client, [t or " " for t in texts[start : start + self._batch]])
                )
        vectors = np.concatenate(parts)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(norms, 1e-12), np.float32)

    async def _ask(self, client: HttpClient, texts: list[str]) -> ndarray[Any, Any]:
        headers = {"authorization": f"Bearer {self._key}"} if self._key else {}
        body = {"model": self._model, "input": texts, "encoding_format": "float"}
        got = await client.request(
            "POST",
            self._url,
            headers=headers,
            json=body,
            timeout=self._seconds,
            repeat=True,
            max_bytes=200_000_000,
        )
        if isinstance(got, Failure):
            raise ModelError(
                f"the embeddings endpoint {self.name}: {got.message}", retryable=got.retryable
            )
        if not got.ok:
            hint = f"set {KEY_VARIABLE}" if got.status in (401, 403) else ""
            raise ModelError(
                f"the embeddings endpoint {self.name} answered {got.status}: {got.text[:200]}",
                hint=hint,
                status=got.status,
                retryable=got.status in (408, 429, 500, 502, 503, 504),
            )
        return self._read(got, len(texts))

    def _read(self, got: HttpResponse, count: int) -> ndarray[Any, Any]:
        """The rows of one answer in the order of their ``index``, (count, width)."""
        import numpy as np

        from callwright.jsontext import parse

        try:
            listed = parse(got.text)["data"]
            ordered = sorted(enumerate(listed), key=lambda item: int(item[1].get("index", item[0])))
            rows = np.array([row["embedding"] for _, row in ordered], np.float32)
        except (KeyError, TypeError, ValueError, AttributeError) as exc:
            raise ModelError(
                f"the embeddings endpoint {self.name} answered no embeddings: {exc!r}"
            ) from exc
        if rows.ndim != 2 or len(rows) != count or not np.isfinite(rows).all():
            raise ModelError(
                f"the embeddings endpoint {self.name} answered {rows.shape} numbers for {count}"
                " texts"
            )
        if self._width is not None and rows.shape[1] != self._width:
            raise ModelError(
                f"the embeddings endpoint {self.name} answered width {rows.shape[1]}, not"
                f" {self._width}"
            )
        self._width = rows.shape[1]
        return rows


def _run_coroutine(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine to its end from synchronous code, also where an event loop is already
    running.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()
