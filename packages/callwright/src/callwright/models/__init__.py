"""Opens language models: the embedded model, or any OpenAI-compatible endpoint. Importing this
package loads nothing heavy.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from callwright.models.secret import Secret
from callwright.nouns.errors import ConfigError
from callwright.nouns.protocols import ChatModel, ReplyMode

if TYPE_CHECKING:
    from callwright.http import HttpClient, Retry, Timeout
    from callwright.models.local import LocalModel
    from callwright.models.openai import OpenAIModel
    from callwright.weights import Progress

__all__ = ["LocalModel", "ModelOptions", "ModelSpec", "OpenAIModel", "Secret", "open_model"]

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


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Options of a model that is opened here. None: the default of its constructor, which also
    says what each means. ``threads``, ``progress``, ``reuse`` and ``adapter`` are for
    :class:`LocalModel`, ``context`` for both, the others for :class:`OpenAIModel`; an option of the
    other kind is a TypeError. ``at_once`` is nothing to an endpoint, which decides that itself.
    """

    context: int | None = None
    mode: ReplyMode | None = None
    api_key: Secret | str | None = None
    retry: Retry | None = None
    timeout: Timeout | None = None
    client: HttpClient | None = None
    memory: Path | None = None
    threads: int | None = None
    progress: Progress | None = None
    reuse: bool | None = None
    adapter: Path | None = None
    at_once: int | None = None

    def to_keywords(self) -> dict[str, Any]:
        """Return the options that are set, as keyword arguments of a constructor."""
        found = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: value for name, value in found.items() if value is not None}


def open_model(
    spec: str | ModelSpec | ChatModel | None = None,
    options: ModelOptions | None = None,
    *,
    mode: ReplyMode | None = None,
    context: int | None = None,
    **deprecated: Any,
) -> ChatModel:
    """A model from what a user writes. Nothing is loaded or asked yet.

    ``mode`` and ``context`` replace those of ``options``. The other fields of ModelOptions are
    still taken as keyword arguments; the next version takes them in ``options`` only.

    * None, "" or ``local``: the embedded default; ``local:NAME_OR_PATH`` another one; with
      ``+ADAPTER.gguf`` at its end (``local:+ADAPTER.gguf``) it answers with that LoRA adapter;
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
    chosen = _merge_options(options, {"mode": mode, "context": context, **deprecated})
    if spec is not None and not isinstance(spec, str):
        if chosen.to_keywords():
            raise ConfigError(
                "options are for models that are opened here, not for one that is given"
            )
        if not hasattr(spec, "complete"):
            raise ConfigError(f"{spec!r} is not a model", hint=f"{_FORMS}, or a ChatModel")
        return spec
    kind, _, rest = (spec or "local").partition(":")
    if kind == "local":
        return _open_local(rest, chosen)
    if kind in ("http", "https"):
        address, _, model = (spec or "").partition("#")
        return _open_endpoint(address, model, key_variable, chosen)
    if kind == "openai" and rest:
        address = os.environ.get("OPENAI_BASE_URL", "")
        if not address:
            raise ConfigError(
                f"{spec!r} needs an endpoint", hint="set OPENAI_BASE_URL, or write its http address"
            )
        return _open_endpoint(address, rest, key_variable, chosen)
    raise ConfigError(f"{spec!r} is not a model", hint=_FORMS)


def _merge_options(options: ModelOptions | None, replaced: dict[str, Any]) -> ModelOptions:
    """Return the options with those that were given one by one. Raises TypeError for others."""
    given = {name: value for name, value in replaced.items() if value is not None}
    if "api_key" in replaced:
        given["api_key"] = replaced["api_key"] or ""  # None: no key, not that of the environment
    return replace(options or ModelOptions(), **given)


def _open_local(name: str, options: ModelOptions) -> ChatModel:
    from callwright import weights
    from callwright.models.local import DEFAULT, LocalModel

    known = name in weights.REGISTRY or Path(name).expanduser().is_file()
    if "+" in name and not known:
        name, _, adapter = name.partition("+")
        options = replace(options, adapter=Path(adapter))
    if name and name not in weights.REGISTRY and not Path(name).expanduser().is_file():
        raise ConfigError(
            f"there is no local model {name!r}",
            hint="the path of a GGUF file, or one of: " + ", ".join(_local_names()),
        )
    return LocalModel(name or DEFAULT, **options.to_keywords())


def _local_names() -> list[str]:
    from callwright import weights

    return [w.name for w in weights.REGISTRY.values() if w.filename.endswith(".gguf")]


def _open_endpoint(address: str, model: str, key_variable: str, options: ModelOptions) -> ChatModel:
    from callwright.models.openai import OpenAIModel

    variables = [key_variable] if key_variable else ["CALLWRIGHT_API_KEY", "OPENAI_API_KEY"]
    key = next((found for name in variables if (found := os.environ.get(name))), "")
    given = {"api_key": Secret(key), **replace(options, at_once=None).to_keywords()}
    return OpenAIModel(address, model, **given)


def __getattr__(name: str) -> Any:
    if name == "LocalModel":
        from callwright.models.local import LocalModel

        return LocalModel
    if name == "OpenAIModel":
        from callwright.models.openai import OpenAIModel

        return OpenAIModel
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
