"""The embedded language model: llama.cpp in process, constrained decoding, prompt-prefix reuse."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from callwright import weights
from callwright.models import engine as engines
from callwright.models.chat import Gathered, body_out, tool_out
from callwright.models.engine import Engine
from callwright.models.grammar import build_grammar, reduce_schema
from callwright.models.model_size import read_parameters
from callwright.models.threads import default_threads
from callwright.nouns.errors import ModelError
from callwright.nouns.model_profile import ModelSize
from callwright.nouns.protocols import Capabilities, ChatRequest, Watcher
from callwright.nouns.types import JsonObject, Reply, Usage

DEFAULT = "qwen2.5-coder-1.5b"

LONGEST_NUMBER = 40
"""Characters after which a number counts as one that does not end: a float's digits and exponent
are 24.
"""

_NUMBER = re.compile(r"(?<=[\s:\[,])-?\d[\d.eE+-]*\Z")
_T = TypeVar("_T")


class LocalModel:
    """A ChatModel on this machine, greedy and repeatable (temperature 0, fixed seed).

    ``model`` is a registered name (see ``callwright.weights``) or the path of a GGUF file; it is
    loaded, and fetched if need be, with the first question or :meth:`load`. ``at_once`` questions
    are answered at a time, others wait in line; with more than one, each has a ``context`` of its
    own, and rounding may change a word of a reply. A prompt that begins like the one before is computed
    only from where they part (``usage.cached_tokens``).

    ``adapter`` is the path of a GGUF LoRA that was trained on this model. The file is loaded once
    for all: a model with the adapter and one without it share it. Each keeps its own prompts, for
    what one has computed is not what the other would.

    ``watch`` is called from the model's own thread. Cancelling :meth:`complete` stops the decoder.
    """

    def __init__(
        self,
        model: str | Path = DEFAULT,
        *,
        context: int = 8192,
        threads: int | None = None,
        progress: weights.Progress | None = None,
        reuse: bool = True,
        adapter: str | Path | None = None,
        at_once: int = 1,
    ) -> None:
        self._model = model
        self._adapter = None if adapter is None else Path(adapter).expanduser().resolve()
        self._context = context
        self._threads = threads or default_threads()
        self._progress = progress
        self._reuse, self._at_once = reuse, at_once
        self._engine: Engine | None = None
        self._loading = threading.Lock()
        self._closed = False

    @property
    def name(self) -> str:
        """The model, and after ``+`` its adapter."""
        known = str(self._model) in weights.REGISTRY
        base = str(self._model) if known else Path(self._model).stem
        return base if self._adapter is None else f"{base}+{self._adapter.stem}"

    @property
    def threads(self) -> int:
        return self._threads

    async def load(self) -> None:
        """Fetch and load the file now. Raises WeightsError, ModelError or MissingExtra."""
        await asyncio.to_thread(self._acquired)

    async def capabilities(self) -> Capabilities:
        return Capabilities(
            json_schema=True, native_tools=False, context=self._context, origin="declared"
        )

    async def read_size(self) -> ModelSize:
        """Its context, and the parameters that its name states."""
        return ModelSize(self._context, read_parameters(self.name))

    async def endpoint(self) -> tuple[str, str]:
        """Base URL and key of the same loaded model's OpenAI API on loopback."""
        engine = await asyncio.to_thread(self._acquired)
        if self._adapter is not None:
            raise ModelError(
                f"{self.name} has no address: over HTTP the base answers without its adapter",
                hint="ask it in this process, or serve the merged model",
            )
        return f"{engine.expose()}/v1", engine.key

    async def complete(self, request: ChatRequest, watch: Watcher | None = None) -> Reply:
        """Ask. Raises ModelError (a prompt longer than the context, a reply outside its schema)."""
        engine = await asyncio.to_thread(self._acquired)
        cancelled = threading.Event()
        question = _Question(
            engine, request, watch, cancelled, self.name, self._reuse, self._adapter
        )
        try:
            return await _run_in_worker(engine, question.ask)
        finally:
            cancelled.set()

    async def aclose(self) -> None:
        """Free the model, once nobody else in the process uses the file. Asking again loads it
        again.
        """
        with self._loading:
            engine, self._engine = self._engine, None
        if engine is not None:
            await asyncio.to_thread(engines.release_engine, engine)

    def _acquired(self) -> Engine:
        with self._loading:
            if self._engine is None:
                if self._adapter is not None and not self._adapter.is_file():
                    raise ModelError(
                        f"there is no adapter {self._adapter}",
                        hint="`callwright train adapter FOLDER` writes one from a trained folder",
                    )
                engine = engines.acquire_engine(
                    weights.fetch(self._model, self._progress),
                    self._context,
                    self._threads,
                    self._adapter,
                    self._at_once,
                )
                try:
                    engine.worker.submit(engine.load).result()
                except BaseException:
                    engines.release_engine(engine)
                    raise
                self._engine = engine
            return self._engine


async def _run_in_worker(engine: Engine, work: Callable[[], _T]) -> _T:
    try:
        return await asyncio.get_running_loop().run_in_executor(engine.worker, work)
    except RuntimeError as exc:
        if "shutdown" in str(exc):
            raise ModelError("the model was closed while it was being asked") from exc
        raise


class _Unconstrained(Exception):
    """The decoder dropped the grammar without a word: the first character cannot begin such a
    reply.
    """


class _Runaway(Exception):
    """A number that goes on for ever: greedy decoding repeats its digits, and no schema says where
    they end.
    """

    def __init__(self, usage: Usage) -> None:
        self.usage = usage


class _Question:
    """One request on the model's thread."""

    def __init__(
        self,
        engine: Engine,
        request: ChatRequest,
        watch: Watcher | None,
        cancelled: threading.Event,
        name: str,
        reuse: bool,
        adapter: Path | None,
    ) -> None:
        self._engine = engine
        self._adapter = adapter
        self._request = request
        self._watch = watch
        self._cancelled = cancelled
        self._name = name
        self._reuse = reuse
        self._schema = None if request.schema is None else reduce_schema(request.schema)
        self._shown = 0  # characters of the reply that the watcher has

    def ask(self) -> Reply:
        """llguidance first: it is fast and writes compact JSON; if it drops the schema, llama.cpp's
        own grammar. A reply whose number does not end is asked for again, with numbers that do.
        """
        if self._schema is None:
            return self._once(
                {"tools": [tool_out(t) for t in self._request.tools]} if self._request.tools else {}
            )
        try:
            return self._once({"grammar": build_grammar(self._schema)}, longest=LONGEST_NUMBER)
        except _Runaway as first:
            reply = self._once({"grammar": build_grammar(self._schema, short_numbers=True)})
            return replace(reply, usage=first.usage + reply.usage)
        except _Unconstrained:
            named = {"name": "reply", "schema": self._schema}
            return self._once({"response_format": {"type": "json_schema", "json_schema": named}})

    def _once(self, more: JsonObject, longest: int | None = None) -> Reply:
        started = time.monotonic()
        gathered, finish = Gathered(), ""

        def on_chunk(chunk: JsonObject) -> bool:
            nonlocal finish
            if "error" in chunk:
                raise _build_model_error(chunk["error"])
            before = bool(gathered.text)
            piece = gathered.feed(chunk)
            if (
                self._schema
                and "grammar" in more
                and not before
                and not _may_begin(self._schema, piece)
            ):
                raise _Unconstrained
            number = _open_number(gathered.text) if longest else 0
            if longest and number > longest:
                raise _Runaway(gathered.usage or Usage())
            if self._shows(gathered.text[: len(gathered.text) - number]):
                finish = "cut"
            return bool(finish) or self._cancelled.is_set()

        try:
            self._engine.chat(self._body(more), on_chunk)
        except ValueError as exc:
            raise ModelError(f"llama.cpp refused the request: {exc}") from exc
        if not finish:
            gathered.close()
            finish = "cut" if self._shows(gathered.text) else ""
        prompt = "".join(m.content for m in self._request.messages)
        return gathered.reply(
            prompt=prompt, finish=finish, seconds=time.monotonic() - started, model=self._name
        )

    def _shows(self, text: str) -> bool:
        """Give the watcher what it does not have of the reply so far. Whether it has seen
        enough.
        """
        new, self._shown = text[self._shown :], max(self._shown, len(text))
        return bool(new) and self._watch is not None and self._watch(new)

    def _body(self, more: JsonObject) -> JsonObject:
        body = body_out(self._request)
        body |= {
            "stream": True,
            "stream_options": {"include_usage": True},
            "cache_prompt": self._reuse,
        }
        body |= {"timings_per_token": True, "return_progress": True}
        if "tools" in more and self._request.tool_choice != "auto":
            body["tool_choice"] = self._request.tool_choice
        messages = self._request.messages
        kind = messages[0].content if messages else ""
        return body | more | self._engine.choose_adapter(self._adapter, kind)


def _may_begin(schema: JsonObject, piece: str) -> bool:
    """Return True if the first piece can start JSON of this schema. This detects a grammar that was
    silently dropped.
    """
    first = piece.lstrip()[:1]
    allowed = "{" if schema.get("type") == "object" else '{["-0123456789tfn'
    return not first or first in allowed


def _open_number(text: str) -> int:
    """Return the length of the number at the end of an unfinished JSON text. The number may still
    grow, or be taken back.
    """
    found = _NUMBER.search(text[-2 * LONGEST_NUMBER :])
    return len(found[0]) if found else 0


def _build_model_error(error: object) -> ModelError:
    said = error if isinstance(error, dict) else {}
    message = str(said.get("message") or error)
    if said.get("type") == "exceed_context_size_error":
        return ModelError(
            f"the prompt is longer than the model's context: {message}",
            hint="show fewer tools or shorter results, or give LocalModel a larger context",
            status=400,
        )
    return ModelError(
        f"llama.cpp: {message}",
        status=said.get("code") if isinstance(said.get("code"), int) else None,
    )
