"""Determines a model's size in billions of parameters, from its name or else from its file."""

from __future__ import annotations

import re

from callwright.http import Egress, HttpClient
from callwright.jsontext import JsonError, parse
from callwright.models import LocalModel
from callwright.nouns.errors import Failure
from callwright.nouns.protocols import ChatModel

_SIZE = re.compile(
    r"(?<![\w.])(?:(?P<times>\d+)x)?(?P<count>\d+(?:[.]\d+)?)(?P<unit>[bm])(?![a-z0-9])", re.I
)


async def find_model_size(model: ChatModel) -> float | None:
    """Billions of parameters, or None where neither name nor file says it.

    The name first: llama.cpp counts what is in a GGUF file (``meta.n_params`` at ``/v1/models``),
    where an output matrix that a model shares with its input stands twice: 1.78 for a model of
    1.54. The file is loaded for it.
    """
    named = parse_model_size(model.name)
    return (
        await _fetch_parameter_count(model)
        if named is None and isinstance(model, LocalModel)
        else named
    )


def parse_model_size(name: str) -> float | None:
    """The size that a model's name gives: ``qwen2.5-coder-1.5b`` 1.5, ``smollm2:360m`` 0.36,
    ``mixtral-8x7b`` 56.
    """
    found = _SIZE.search(name.replace("_", "-"))
    if found is None:
        return None
    return int(found["times"] or 1) * float(found["count"]) / (1 if found["unit"] in "bB" else 1000)


async def _fetch_parameter_count(model: LocalModel) -> float | None:
    base, key = await model.endpoint()
    async with HttpClient(Egress.any()) as client:  # its own loopback
        answer = await client.request(
            "GET", f"{base}/models", headers={"authorization": f"Bearer {key}"}
        )
    if isinstance(answer, Failure) or not answer.ok:
        return None
    try:
        return round(float(parse(answer.body)["data"][0]["meta"]["n_params"]) / 1e9, 3)
    except (JsonError, LookupError, TypeError, ValueError):
        return None
