"""llama.cpp in this process, one copy per model file however many models use it."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from callwright.nouns.errors import MissingExtra, ModelError
from callwright.nouns.types import JsonObject

CACHE_MIB = 512  # earlier prompts kept, so that questions of different kinds may alternate


class Engine:
    """One loaded model file. Every method blocks; :attr:`worker` is the one thread that may call
    them.

    llama.cpp also serves the OpenAI API on a loopback port: ``address``, guarded by ``key``.
    """

    def __init__(self, path: Path, context: int, threads: int) -> None:
        self.path = path
        self.context = context
        self.threads = threads
        self.key = secrets.token_urlsafe(24)
        self.worker = ThreadPoolExecutor(1, thread_name_prefix="callwright-model")
        self.users = 0
        self._server: Any = None

    @property
    def address(self) -> str:
        """``http://127.0.0.1:PORT``; the model must be loaded."""
        return str(self._server.listening_address)

    def load(self) -> None:
        """Load the file, once. Raises MissingExtra or ModelError."""
        if self._server is not None:
            return
        xllamacpp = _import_library()
        try:
            self._server = xllamacpp.Server(self._parameters(xllamacpp))
        except Exception as exc:
            raise ModelError(
                f"llama.cpp cannot load {self.path}: {exc}",
                hint=(
                    "is it a GGUF file this llama.cpp knows, and is there memory for it and its"
                    " context?"
                ),
            ) from exc

    def _parameters(self, xllamacpp: Any) -> Any:
        made = xllamacpp.CommonParams()
        made.model.path = str(self.path)
        made.n_ctx = self.context
        made.n_parallel = 1  # one slot: every prompt meets the prefix of the one before
        made.cpuparams.n_threads = made.cpuparams_batch.n_threads = self.threads
        made.cache_prompt, made.cache_ram_mib = True, CACHE_MIB
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

    def chat(self, body: JsonObject, on_chunk: Callable[[JsonObject], bool]) -> None:
        """One streamed chat completion. ``on_chunk`` returns True to end it; its exception is
        raised here.

        Raises ValueError for what llama.cpp refuses before it starts; later errors are chunks with
        ``error``.
        """
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
        """Free the model's memory."""
        self._server = None


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


def acquire_engine(path: Path, context: int, threads: int) -> Engine:
    """The engine of this file, shared with whoever uses it already. Raises ModelError if that one's
    context is smaller than asked for: the same file is never loaded twice.
    """
    key = path.resolve()
    with _guard:
        engine = _loaded.get(key)
        if engine is None:
            engine = _loaded[key] = Engine(key, context, threads)
        elif engine.context < context:
            raise ModelError(
                f"{path.name} is already loaded with a context of {engine.context} tokens,"
                f" {context} were asked for",
                hint="close the other model first, or give both the same context",
            )
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
