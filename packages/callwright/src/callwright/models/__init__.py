"""Opens language models: the embedded model, or any OpenAI-compatible endpoint. Importing this
package loads nothing heavy.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from callwright.models.secret import Secret
from callwright.nouns.errors import ConfigError
from callwright.nouns.protocols import ChatModel

if TYPE_CHECKING:
    from callwright.models.local import LocalModel
    from callwright.models.openai import OpenAIModel

__all__ = ["LocalModel", "ModelSpec", "OpenAIModel", "Secret", "open_model"]

_FORMS = "local, local:NAME_OR_PATH, http(s)://host/v1#model, or openai:MODEL with OPENAI_BASE_URL"


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model as a user writes it, and the environment variable that holds its key; "":
    CALLWRIGHT_API_KEY or OPENAI_API_KEY.
    """

    text: str
    key_variable: str = ""

    def __str__(self) -> str:
        return self.text


def open_model(spec: str | ModelSpec | ChatModel | None = None, **options: Any) -> ChatModel:
    """A model from what a user writes. ``options`` go to the model's constructor. Nothing is loaded
    or asked yet.

    * None, "" or ``local``: the embedded default; ``local:NAME_OR_PATH`` another one;
    * ``http://host:8000/v1`` or ``https://host/v1#model``: an OpenAI-compatible endpoint, with the
      key in CALLWRIGHT_API_KEY or OPENAI_API_KEY;
    * ``openai:MODEL``: the endpoint in OPENAI_BASE_URL;
    * a ChatModel: itself.

    Raises ConfigError for anything else.
    """
    key_variable = ""
    if isinstance(spec, ModelSpec):
        key_variable = spec.key_variable
        spec = spec.text
    if spec is not None and not isinstance(spec, str):
        if options:
            raise ConfigError(
                "options are for models that are opened here, not for one that is given"
            )
        return spec
    kind, _, rest = (spec or "local").partition(":")
    if kind == "local":
        return _open_local(rest, options)
    if kind in ("http", "https"):
        address, _, model = (spec or "").partition("#")
        return _open_endpoint(address, model, key_variable, options)
    if kind == "openai" and rest:
        address = os.environ.get("OPENAI_BASE_URL", "")
        if not address:
            raise ConfigError(
                f"{spec!r} needs an endpoint", hint="set OPENAI_BASE_URL, or write its http address"
            )
        return _open_endpoint(address, rest, key_variable, options)
    raise ConfigError(f"{spec!r} is not a model", hint=_FORMS)


def _open_local(name: str, options: dict[str, Any]) -> ChatModel:
    from callwright import weights
    from callwright.models.local import DEFAULT, LocalModel

    if name and name not in weights.REGISTRY and not Path(name).expanduser().is_file():
        raise ConfigError(
            f"there is no local model {name!r}",
            hint="the path of a GGUF file, or one of: " + ", ".join(_local_names()),
        )
    return LocalModel(name or DEFAULT, **options)


def _local_names() -> list[str]:
    from callwright import weights

    return [w.name for w in weights.REGISTRY.values() if w.filename.endswith(".gguf")]


def _open_endpoint(
    address: str, model: str, key_variable: str, options: dict[str, Any]
) -> ChatModel:
    from callwright.models.openai import OpenAIModel

    variables = [key_variable] if key_variable else ["CALLWRIGHT_API_KEY", "OPENAI_API_KEY"]
    key = next((found for name in variables if (found := os.environ.get(name))), "")
    return OpenAIModel(address, model, **{"api_key": Secret(key), **options})


def __getattr__(name: str) -> Any:
    if name == "LocalModel":
        from callwright.models.local import LocalModel

        return LocalModel
    if name == "OpenAIModel":
        from callwright.models.openai import OpenAIModel

        return OpenAIModel
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
