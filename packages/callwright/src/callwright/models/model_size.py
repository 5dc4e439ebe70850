"""Asks a server how large its model is. What each kind of server states, and where:

=========  =====================================  ==========================================
server     context                                parameters
=========  =====================================  ==========================================
llama.cpp  ``/props``: default_generation_        ``/v1/models``: meta.n_params
           settings.n_ctx
vLLM       ``/v1/models``: max_model_len          the model's name (``Qwen2.5-7B-Instruct``)
Ollama     ``/api/show``: num_ctx, else           ``/api/show``: general.parameter_count, else
           ``/api/ps``: context_length            details.parameter_size
=========  =====================================  ==========================================

The context with which a model was trained (``n_ctx_train``, ``qwen2.context_length``) is never
taken: servers open less.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from callwright.nouns.model_profile import ModelProfile, ModelSize, choose_profile
from callwright.nouns.protocols import SizedModel
from callwright.nouns.types import Json, JsonObject

Fetch = Callable[[str, JsonObject | None], Awaitable[Json]]
"""``await fetch(path, body)``: the JSON at a path of the server, ``/v1/models`` for example; with a
body it is posted. None where there is none. Never raises for the world.
"""

_NAMED = re.compile(
    r"(?<![A-Za-z0-9.])(?:(\d{1,3})x)?(\d{1,4}(?:\.\d{1,3})?)([bm])(?![a-z0-9])", re.I
)
_BILLION = {"b": 1.0, "m": 0.001}
_WINDOW = re.compile(r"^num_ctx\s+(\d{1,9})\s*$", re.M)


async def read_profile(model: object) -> ModelProfile:
    """Return the profile of the size that a model states; the smallest where it states none."""
    return choose_profile(await model.read_size() if isinstance(model, SizedModel) else ModelSize())


async def ask_size(fetch: Fetch, model: str) -> ModelSize:
    """Ask a server how large a model is; "" is the first that it lists. At most three requests."""
    entry = _find_entry(await fetch("/v1/models", None), model)
    if entry is None:
        return ModelSize()
    name = str(entry.get("id") or model)
    named = read_parameters(str(entry.get("root") or "")) or read_parameters(name)
    if "max_model_len" in entry:
        return ModelSize(_to_count(entry["max_model_len"]), named)
    if isinstance(entry.get("meta"), Mapping):
        stated = _to_billions(entry["meta"].get("n_params"))
        return ModelSize(await _ask_llama_context(fetch), stated or named)
    if ":" in name:  # Ollama lists every model with its tag
        return await _ask_ollama(fetch, name)
    return ModelSize(None, named)


def read_parameters(name: str) -> float | None:
    """Return the billions of parameters that the name of a model states: 7.0 for
    ``Qwen2.5-7B-Instruct``, 56.0 for ``Mixtral-8x7B``. None where it states none.
    """
    found = _NAMED.search(name)
    if found is None:
        return None
    experts, count, unit = found.groups()
    return float(count) * int(experts or 1) * _BILLION[unit.lower()] or None


def _find_entry(listed: Json, model: str) -> Mapping[str, Any] | None:
    """The entry of a model in the list of a server; that of its newest tag, where it names none.
    llama.cpp answers with the one model that it lists, whatever name it is asked by.
    """
    rows = listed.get("data") if isinstance(listed, Mapping) else None
    entries = [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
    is_llama = len(entries) == 1 and isinstance(entries[0].get("meta"), Mapping)
    if is_llama or not model:
        return next(iter(entries), None)
    by_id = {str(row.get("id")): row for row in entries}
    return by_id.get(model) or by_id.get(f"{model}:latest")


async def _ask_llama_context(fetch: Fetch) -> int | None:
    settings = _get_object(await fetch("/props", None), "default_generation_settings")
    return _to_count(settings.get("n_ctx"))


async def _ask_ollama(fetch: Fetch, name: str) -> ModelSize:
    shown = await fetch("/api/show", {"model": name})
    if not isinstance(shown, Mapping):
        return ModelSize(None, read_parameters(name))
    stated = _to_billions(_get_object(shown, "model_info").get("general.parameter_count"))
    size = str(_get_object(shown, "details").get("parameter_size") or "")
    parameters = stated or read_parameters(size) or read_parameters(name)
    window = _WINDOW.search(str(shown.get("parameters") or ""))
    if window is not None:
        return ModelSize(_to_count(int(window[1])), parameters)
    return ModelSize(_read_loaded_context(await fetch("/api/ps", None), name), parameters)


def _read_loaded_context(running: Json, name: str) -> int | None:
    """The context of a model that Ollama has loaded; None where it is not loaded."""
    rows = running.get("models") if isinstance(running, Mapping) else None
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, Mapping) and name in (row.get("name"), row.get("model")):
            return _to_count(row.get("context_length"))
    return None


def _get_object(value: Json, key: str) -> Mapping[str, Any]:
    found = value.get(key) if isinstance(value, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _to_count(value: Json) -> int | None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and value > 0
    return value if is_count and isinstance(value, int) else None


def _to_billions(value: Json) -> float | None:
    count = _to_count(value)
    return None if count is None else count / 1e9
