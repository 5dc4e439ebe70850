"""The prompt of a run: one beginning that all its questions share, and the question last.

A server that keeps the prompt of the question before computes only what differs. So the beginning
grows and is never written anew: the system prompt, the conversation, the request, the tools, the
results in the order they came. Which question it is, and what belongs to that question alone,
stands behind them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from callwright.nouns.types import Message
from callwright.prompts import render

_NO_TOOLS = "(named with each question)"
_NO_RESULTS = "(none yet)"


@dataclass(frozen=True, slots=True)
class RunPrompt:
    """The beginning of every question of a run. ``tools`` and ``results`` are blocks of text, one
    for each tool and each result; a longer prompt of the same run begins with the same blocks.
    """

    query: str
    tools: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    conversation: tuple[Message, ...] = ()

    def ask(self, question: str, /, **values: str) -> tuple[Message, ...]:
        """The messages of one question: a prompt file with one section, rendered behind what all
        questions share. Raises ConfigError where its placeholders and ``values`` differ.
        """
        (asked,) = render(question, **values)
        system, request = render(
            "run",
            query=self.query,
            tools="\n".join(self.tools) or _NO_TOOLS,
            results="\n".join(self.results) or _NO_RESULTS,
            question=asked.content,
        )
        return (system, *self.conversation, request)


def add_instructions(messages: tuple[Message, ...], instructions: str) -> tuple[Message, ...]:
    """The messages with instructions behind the text of the system message that they begin with;
    as they are where they begin with none.
    """
    if not instructions or not messages or messages[0].role != "system":
        return messages
    system = replace(messages[0], content=f"{messages[0].content}\n\n{instructions}")
    return (system, *messages[1:])
