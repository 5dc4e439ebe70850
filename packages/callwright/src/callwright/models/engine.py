"""llama.cpp in this process, one copy per model file however many models use it."""

from __future__ import annotations

import os
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from callwright.nouns.errors import MissingExtra, ModelError
from callwright.nouns.types import JsonObject

CACHE_MIB = 512  # earlier prompts kept, so that questions of different kinds may alternate
MOST_TOKENS = 2_048
"""Of a reply to whoever sets no limit: a small model that repeats itself goes on to the end of its
context, ten minutes on two cores.
"""
SLOTS = 4
"""Prompts kept where there are adapters. llama.cpp's cache of earlier prompts does not say by which
adapter they were computed, and was measured to give one adapter's to another: it is off, and every
kind of question keeps a slot instead, all in the one context.
"""


class Engine:
    """One loaded model file, which answers ``at_once`` questions at a time. Every method blocks;
    :attr:`worker` has the threads that may call them.

    llama.cpp also serves the OpenAI API on a loopback port: ``address``, guarded by ``key``; over
    it the base answers, without adapters.
    """

    def __init__(self, path: Path, context: int, threads: int, at_once: int = 1) -> None:
        self.path = path
        self.context = context
        self.threads = threads
        self.key = secrets.token_urlsafe(24)
        self.at_once = at_once
        self.worker = ThreadPoolExecutor(at_once, thread_name_prefix="callwright-model")
        self.users = 0
        self.adapters: list[Path] = []  # in the order in which llama.cpp numbers them
        self._loading = threading.RLock()
        self._server: Any = None
        self._loaded: tuple[Path, ...] = ()
        self._exposed = self._asked = False
        self._slots: OrderedDict[tuple[Path | None, str], int] = OrderedDict()

    def expose(self) -> str:
        """``http://127.0.0.1:PORT``; the model must be loaded, and is not loaded again after it."""
        self._exposed = True
        return str(self._server.listening_address)

    def load(self) -> None:
        """Load the file with its adapters, once; again if an adapter was added since.

        Raises MissingExtra or ModelError.
        """
        with self._loading:
            wanted = tuple(self.adapters)
            if self._server is not None and wanted == self._loaded:
                return
            if self._server is not None and self._exposed:
                raise ModelError(
                    f"{self.path.name} is served without the adapter {wanted[-1].name}",
                    hint="open the model with its adapter before its address is asked for",
                )
            before = self._loaded
            self.unload()
            xllamacpp = _import_library()
            try:
                self._server = xllamacpp.Server(self._parameters(xllamacpp))
            except Exception as exc:
                self.adapters = list(before)  # whoever asks next loads what was loaded
                raise _build_load_error(self.path, wanted, exc) from exc
            self._loaded = wanted

    def _parameters(self, xllamacpp: Any) -> Any:
        made = xllamacpp.CommonParams()
        made.model.path = str(self.path)
        made.n_ctx = self.context * self.at_once
        made.n_predict = MOST_TOKENS
        made.n_parallel = self.at_once  # with one slot, every prompt meets the prefix before it
        made.cpuparams.n_threads = made.cpuparams_batch.n_threads = self.threads
        made.cache_prompt, made.cache_ram_mib = True, CACHE_MIB
        if self.adapters:
            made.cache_ram_mib = 0
            if self.at_once == 1:
                made.n_parallel, made.kv_unified = SLOTS, True
            made.lora_adapters = [
                xllamacpp.CommonAdapterLoraInfo(str(path), 0.0) for path in self.adapters
            ]
            made.lora_init_without_apply = True
        made.n_batch = made.n_ubatch = 512  # between two batches a request can be given up
        made.warmup = False
        made.verbosity = -1
        made.ui = made.endpoint_slots = False
        made.n_threads_http = 2
        made.sampling.temp, made.sampling.seed = (
            0.0,
            0,
        )  # greedy for whoever asks over HTTP without saying otherwise
        made.api_keys = [self.key]
        return made

    def choose_adapter(self, adapter: Path | None, kind: str) -> JsonObject:
        """Return the fields of a request that is answered by this adapter (None: the base), in the
        slot that last answered it a question of this ``kind``; of several questions at a time, each
        takes a free one. Empty where there are no adapters.
        """
        if not self.adapters:
            return {}
        numbers = [] if adapter is None else [self.adapters.index(adapter)]
        chosen = {"lora": [{"id": n, "scale": 1.0} for n in numbers]}
        if self.at_once > 1:
            return chosen
        key = (adapter, kind)
        slot = self._slots.pop(key, None)
        if slot is None:
            full = len(self._slots) == SLOTS
            slot = self._slots.popitem(last=False)[1] if full else len(self._slots)
        self._slots[key] = slot
        return {"id_slot": slot, **chosen}

    def complete(self, body: JsonObject) -> JsonObject:
        """One raw completion, whole: a prompt of token ids, as llama.cpp's ``/v1/completions``.

        Raises ModelError for what llama.cpp refuses.
        """
        self.load()
        self._asked = True
        found: list[JsonObject] = []
        self._server.handle_completions(body, found.append)
        if not found or "choices" not in found[-1]:
            raise ModelError(f"llama.cpp refused the completion: {found[-1:]}")
        return found[-1]

    def chat(self, body: JsonObject, on_chunk: Callable[[JsonObject], bool]) -> None:
        """One streamed chat completion. ``on_chunk`` returns True to end it; its exception is
        raised here.

        Raises ValueError for what llama.cpp refuses before it starts; later errors are chunks with
        ``error``.
        """
        self.load()  # another model may have added its adapter
        self._asked = True
        trouble: list[BaseException] = []

        def deliver(chunk: JsonObject) -> bool:
            try:
                return on_chunk(chunk)
            except BaseException as exc:  # llama.cpp would swallow it
                trouble.append(exc)
                return True

        self._server.handle_chat_completions(body, deliver)
        if trouble:
            raise trouble[0]

    def unload(self) -> None:
        """Free the model's memory.

        A server that is freed before its loop began waits for that loop for ever; one that was
        never asked is therefore asked for a token first.
        """
        if self._server is not None and not self._asked:
            self._server.handle_completions({"prompt": [0], "n_predict": 1}, lambda _: None)
        self._server, self._asked = None, False
        self._loaded = ()
        self._slots.clear()


def _build_load_error(path: Path, adapters: Sequence[Path], error: Exception) -> ModelError:
    if adapters:
        return ModelError(
            f"llama.cpp cannot load {path} with the adapter {adapters[-1]}: {error}",
            hint="was the adapter trained on this very model?",
        )
    return ModelError(
        f"llama.cpp cannot load {path}: {error}",
        hint=(
            "is it a GGUF file this llama.cpp knows, and is there memory for it and its context?"
        ),
    )


def require_library() -> None:
    """Raise MissingExtra if llama.cpp is not installed, without loading it."""
    if find_spec("xllamacpp") is None:
        raise MissingExtra("the embedded model", "local")


def _import_library() -> Any:
    """llama.cpp, its threads told to sleep while they wait for each other.

    They spin by default: on a machine that does anything else as well, two threads were measured 20
    times slower spinning than sleeping. OpenMP reads this once, when the library is loaded; what
    the user has set stands.
    """
    ours = not {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"} & os.environ.keys()
    if ours:
        os.environ["OMP_WAIT_POLICY"] = "passive"
    try:
        import xllamacpp
    except ImportError:
        raise MissingExtra("the embedded model", "local") from None
    finally:
        if ours:
            del os.environ["OMP_WAIT_POLICY"]
    return xllamacpp


_loaded: dict[Path, Engine] = {}
_guard = threading.Lock()


def acquire_engine(
    path: Path, context: int, threads: int, adapter: Path | None = None, at_once: int = 1
) -> Engine:
    """The engine of this file, shared with whoever uses it already; the ``adapter`` joins those it
    has with the next :meth:`Engine.load`. Raises ModelError if that one's context is smaller than
    asked for: the same file is never loaded twice. ``at_once`` is that of whoever came first.
    """
    key = path.resolve()
    with _guard:
        engine = _loaded.get(key)
        if engine is None:
            engine = _loaded[key] = Engine(key, context, threads, at_once)
        elif engine.context < context:
            raise ModelError(
                f"{path.name} is already loaded with a context of {engine.context} tokens,"
                f" {context} were asked for",
                hint="close the other model first, or give both the same context",
            )
        if adapter is not None and adapter not in engine.adapters:
            engine.adapters.append(adapter)
        engine.users += 1
        return engine


def release_engine(engine: Engine) -> None:
    """Give an engine back; the last one frees it. Blocks until what is running has ended."""
    with _guard:
        engine.users -= 1
        last = engine.users == 0
        if last:
            del _loaded[engine.path]
    if last:
        engine.worker.submit(engine.unload).result()
        engine.worker.shutdown()
