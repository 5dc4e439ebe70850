"""Chat templates for training on conversations of several turns.

Some templates write an assistant's turn otherwise once another follows: Qwen3's leaves the thoughts
out of all turns but the last. The tokens that such a model reads as history are then not those that
it has learned to write. TRL keeps a variant of each that appends turns. It is taken for training,
and saved with the model, so that training, measuring and serving write the same turns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from callwright.nouns.errors import ConfigError, MissingExtra

_PROBE = (
    {"role": "user", "content": "a"},
    {"role": "assistant", "content": "b"},
    {"role": "user", "content": "c"},
    {"role": "assistant", "content": "d"},
)
_MARKERS = re.compile(r"\{%-?\s*(?:end)?generation\s*-?%\}")  # llama.cpp's reader has no such tag


def use_training_template(tokenizer: Any) -> None:
    """Give the tokenizer a template that appends turns, if its own rewrites earlier ones.

    Raises ConfigError for a template that does and of which TRL has no such variant, MissingExtra
    where one is needed and TRL is not installed.
    """
    if appends_turns(tokenizer):
        return
    try:
        from trl.chat_template_utils import get_training_chat_template
    except ImportError:
        raise MissingExtra("training with this chat template", "train", "callwright-lab") from None
    try:
        found = get_training_chat_template(tokenizer)
    except ValueError:
        found = None
    if found:
        tokenizer.chat_template = _MARKERS.sub("", found)
    if not found or not appends_turns(tokenizer):
        raise ConfigError(
            "the chat template writes a turn otherwise once another follows: its tokens cannot be"
            " told apart",
            hint="use a model whose template appends turns, as ChatML does",
        )


def appends_turns(tokenizer: Any) -> bool:
    """Return True if what the template writes of a conversation begins with what it writes of the
    conversation's beginning, with the opening of the next turn too.
    """
    whole = _render(tokenizer, _PROBE)
    return all(
        whole.startswith(_render(tokenizer, _PROBE[:at], opened=at % 2 == 1))
        for at in range(1, len(_PROBE))
    )


def _render(tokenizer: Any, chat: Sequence[Any], *, opened: bool = False) -> str:
    made = tokenizer.apply_chat_template(list(chat), add_generation_prompt=opened, tokenize=False)
    return str(made)
