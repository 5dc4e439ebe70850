"""Both official clients, unmodified, through ``callwright proxy --model local``: calls, several
calls, plain answers.

    python benchmarks/embedded/clients.py [--url http://127.0.0.1:8787] [--only
    single,parallel,plain]

Starts a proxy of its own unless one is named. Prints a row per request and what share was right; 0
if all were. What counts as right: exactly the calls that were asked for, their required arguments
included; for plain answers, no call, words, and where the question has one answer, that answer.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import anthropic
import openai

from callwright.jsontext import parse

Calls = list[tuple[str, dict[str, Any]]]


def tool(name: str, about: str, required: list[str], **properties: str) -> dict[str, Any]:
    parameters = {
        "type": "object",
        "properties": {k: {"type": t} for k, t in properties.items()},
        "required": required,
    }
    return {
        "type": "function",
        "function": {"name": name, "description": about, "parameters": parameters},
    }


TOOLS = [
    tool("get_weather", "Weather of a city", ["city"], city="string", days="integer"),
    tool("get_time", "Local time of a city", ["city"], city="string"),
    tool(
        "send_email",
        "Sends an email.",
        ["to", "body"],
        to="string",
        subject="string",
        body="string",
    ),
]


@dataclass(frozen=True)
class Question:
    kind: str
    text: str
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    words: str = ""  # what the answer must hold


def weather(city: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return "get_weather", {"city": city, **more}


QUESTIONS = (
    Question("single", "What time is it in Tokyo?", (("get_time", {"city": "Tokyo"}),)),
    Question("single", "What is the weather in Paris for 3 days?", (weather("Paris", days=3),)),
    Question("single", "Do I need an umbrella in Hamburg today?", (weather("Hamburg"),)),
    Question(
        "parallel", "What is the weather in Oslo and in Rome?", (weather("Oslo"), weather("Rome"))
    ),
    Question(
        "parallel",
        "Time in Lima, Cairo and Seoul?",
        tuple(("get_time", {"city": c}) for c in ("Lima", "Cairo", "Seoul")),
    ),
    Question(
        "parallel",
        "Weather in Paris for 2 days, and what time is it in Tokyo?",
        (weather("Paris", days=2), ("get_time", {"city": "Tokyo"})),
    ),
    Question(
        "parallel",
        "Write to ann@example.org and to bob@example.org: the meeting is off.",
        (("send_email", {"to": "ann@example.org"}), ("send_email", {"to": "bob@example.org"})),
    ),
    Question("plain", "Say hello in one word.", words="hello"),
    Question("plain", "Hello!"),
    Question("plain", "What is 17 plus 25?", words="42"),
    Question("plain", "Thanks, that helped a lot."),
    Question("plain", "Which tools do you have?", words="weather"),
    Question("plain", "What does the tool get_weather do?", words="weather"),
    Question("plain", "Write a haiku about the sea."),
    Question("plain", "Who wrote Hamlet?", words="shakespeare"),
    Question("plain", "Translate 'good morning' into French.", words="bonjour"),
    Question("plain", "Explain recursion in one sentence."),
    Question("plain", "Is 7 a prime number?", words="yes"),
    Question("plain", "What is the capital of France?", words="paris"),
)


def _called(call: Any) -> tuple[str, dict[str, Any]]:
    """The name and arguments of a call: of functions alone, because no custom tool is offered."""
    return call.function.name, parse(call.function.arguments)


def openai_whole(client: openai.OpenAI, text: str) -> tuple[str, Calls]:
    offered: Any = TOOLS
    made = client.chat.completions.create(model="local", messages=_messages(text), tools=offered)
    message = made.choices[0].message
    return message.content or "", [_called(c) for c in message.tool_calls or ()]


def openai_streamed(client: openai.OpenAI, text: str) -> tuple[str, Calls]:
    said = ""
    found: dict[int, list[str]] = {}
    offered: Any = TOOLS
    for chunk in client.chat.completions.create(
        model="local", messages=_messages(text), tools=offered, stream=True
    ):
        for choice in chunk.choices:
            said += choice.delta.content or ""
            for piece in choice.delta.tool_calls or ():
                entry = found.setdefault(piece.index, ["", ""])
                if piece.function is not None:
                    entry[0] += piece.function.name or ""
                    entry[1] += piece.function.arguments or ""
    return said, [(name, parse(arguments)) for name, arguments in found.values()]


def anthropic_whole(client: anthropic.Anthropic, text: str) -> tuple[str, Calls]:
    made = client.messages.create(
        model="local", max_tokens=300, messages=_messages(text), tools=_anthropic()
    )
    return _blocks(made)


def anthropic_streamed(client: anthropic.Anthropic, text: str) -> tuple[str, Calls]:
    with client.messages.stream(
        model="local", max_tokens=300, messages=_messages(text), tools=_anthropic()
    ) as stream:
        return _blocks(stream.get_final_message())


def _messages(text: str) -> list[Any]:
    return [{"role": "user", "content": text}]


def _anthropic() -> Any:
    given = [t["function"] for t in TOOLS]
    return [
        {"name": f["name"], "description": f["description"], "input_schema": f["parameters"]}
        for f in given
    ]


def _blocks(message: Any) -> tuple[str, Calls]:
    said = "".join(b.text for b in message.content if b.type == "text")
    return said, [(b.name, dict(b.input)) for b in message.content if b.type == "tool_use"]


def right(question: Question, said: str, calls: Calls) -> bool:
    if not question.calls:
        return not calls and bool(said.strip()) and question.words in said.lower()
    left = list(calls)
    for name, wanted in question.calls:
        hit = next((c for c in left if c[0] == name and wanted.items() <= c[1].items()), None)
        if hit is None:
            return False
        left.remove(hit)
    return not left


@contextmanager
def served(url: str | None) -> Iterator[str]:
    if url:
        yield url
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable,
        "-P",
        "-m",
        "callwright",
        "proxy",
        "--model",
        "local",
        "--port",
        str(port),
    ]
    proxy = subprocess.Popen(command, env=os.environ, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{address}/healthz", timeout=2).read()
                break
            except (urllib.error.URLError, OSError):
                time.sleep(0.5)
        yield address
    finally:
        proxy.terminate()
        proxy.wait(30)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--url", default=None, help="a running proxy; default: one is started")
    parser.add_argument(
        "--only", default="single,parallel,plain", help="kinds of questions (%(default)s)"
    )
    options = parser.parse_args()
    kinds = options.only.split(",")
    good = asked = 0
    with served(options.url) as address:
        one = openai.OpenAI(base_url=f"{address}/v1", api_key="x", timeout=600, max_retries=0)
        other = anthropic.Anthropic(base_url=address, api_key="x", timeout=600, max_retries=0)
        ways: dict[str, Callable[[str], tuple[str, Calls]]] = {
            "openai": lambda text: openai_whole(one, text),
            "openai, streamed": lambda text: openai_streamed(one, text),
            "anthropic": lambda text: anthropic_whole(other, text),
            "anthropic, streamed": lambda text: anthropic_streamed(other, text),
        }
        for question in (q for q in QUESTIONS if q.kind in kinds):
            for way, ask in ways.items():
                begun = time.monotonic()
                said, calls = ask(question.text)
                verdict = right(question, said, calls)
                asked, good = asked + 1, good + verdict
                shown = ", ".join(f"{n}({json.dumps(a)})" for n, a in calls) or said[:90].replace(
                    "\n", " "
                )
                row = (
                    f"{'right' if verdict else 'WRONG'} {time.monotonic() - begun:5.1f} s "
                    f" {question.kind:8} {way:19}"
                )
                print(f"{row} {question.text} -> {shown}", flush=True)
    print(f"{good} of {asked} right")
    return 0 if good == asked else 1


if __name__ == "__main__":
    sys.exit(main())
