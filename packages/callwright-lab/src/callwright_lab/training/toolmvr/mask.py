"""Selects the tokens of a row that carry loss (Equations 6 and 7). In a V row it is every assistant
round, in an R row the last round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import JsonObject

IGNORED = -100  # what PyTorch's cross entropy passes over


@dataclass(frozen=True, slots=True)
class Tokens:
    """One row as the trainer sees it. ``labels`` are the ids where there is loss, IGNORED
    elsewhere.
    """

    ids: tuple[int, ...]
    labels: tuple[int, ...]
    weight: float = 1.0

    @property
    def learned(self) -> int:
        return sum(label != IGNORED for label in self.labels)


def tokenize_row(tokenizer: Any, messages: Sequence[JsonObject], weight: float = 1.0) -> Tokens:
    """The row of a conversation. A message of the assistant carries loss unless ``no_loss`` is true
    on it: from behind the opening of its turn to the mark that ends it, which is learned too, or
    the model would go on.

    ConfigError for a chat template that writes a turn otherwise once another follows.
    """
    whole = _apply_template(tokenizer, messages)
    labels = [IGNORED] * len(whole)
    for at, message in enumerate(messages):
        if message["role"] != "assistant" or message.get("no_loss"):
            continue
        before = _apply_template(tokenizer, messages[:at], opened=True)
        after = _apply_template(tokenizer, messages[: at + 1])
        if whole[: len(before)] != before or whole[: len(after)] != after:
            raise ConfigError(
                "the chat template writes a turn otherwise once another follows: its tokens cannot"
                " be told apart",
                hint="use a model whose template appends turns, as ChatML does",
            )
        end = _find_turn_end(tokenizer, after, len(before))
        labels[len(before) : end] = after[len(before) : end]
    return Tokens(tuple(whole), tuple(labels), weight)


def _apply_template(
    tokenizer: Any, messages: Sequence[JsonObject], *, opened: bool = False
) -> list[int]:
    chat = [{"role": m["role"], "content": m["content"]} for m in messages]
    made = tokenizer.apply_chat_template(
        chat, add_generation_prompt=opened, tokenize=True, return_dict=True
    )
    return list(made["input_ids"])


def _find_turn_end(tokenizer: Any, ids: Sequence[int], start: int) -> int:
    """Behind the last end-of-turn mark; what a template writes after it (a line's end) is nobody's
    to learn.
    """
    ends = [i + 1 for i in range(start, len(ids)) if ids[i] == tokenizer.eos_token_id]
    return ends[-1] if ends else len(ids)
