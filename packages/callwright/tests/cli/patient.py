"""An endpoint with a model that does what it is told, and with the faults that it is given by
name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from tests.proxy.playbook import JSON, call, chunk, native_stream, text_stream, whole
from tests.proxy.upstream import Asked, Reply

LAMP = {"room": "kitchen", "on": True}
HERMES = "<tool_call>\n{}\n</tool_call>"


def refused(reason: str, status: int = 400) -> Reply:
    return Reply([json.dumps({"error": {"message": reason}}).encode()], status, JSON)


class Patient:
    """``faults``: see the words in the methods. An instance is the ``answer`` of
    ``tests.proxy.upstream``.
    """

    def __init__(self, *faults: str) -> None:
        self.faults = set(faults)

    def __call__(self, asked: Asked) -> Reply:
        if asked.method == "GET":
            return Reply([b'{"data": [{"id": "big"}, {"id": "small"}]}'], headers=JSON)
        body = asked.json
        said = str(body["messages"][0]["content"])
        if "passwords" in said:
            return self._long(said)
        if "response_format" in body:
            return self._schema(body["response_format"]["type"])
        if any(m["role"] == "tool" for m in body["messages"]):
            return (
                refused("roles must alternate")
                if "no tool role" in self.faults
                else self._say("It shows 7,431.")
            )
        if "tools" in body:
            return (
                refused("no tools here") if "no tools" in self.faults else self._tools(body, said)
            )
        return self._hello()

    def _say(
        self, text: str | None, calls: Sequence[Any] = (), finish: str = "", prompt: int = 20
    ) -> Reply:
        made = json.loads(whole(text, calls, finish or ("tool_calls" if calls else "stop")))
        made["usage"]["prompt_tokens"] = prompt
        return Reply([json.dumps(made).encode()], headers=JSON)

    def _hello(self) -> Reply:
        made = json.loads(whole("Hello."))
        message = made["choices"][0]["message"]
        if "think in text" in self.faults:
            message["content"] = "They greet me.</think>Hello."
        if "thought only" in self.faults or "endless thought" in self.faults:
            message |= {"content": None, "reasoning_content": "Hello."}
        if "endless thought" in self.faults:
            made["choices"][0]["finish_reason"] = "length"
        made["usage"]["prompt_tokens"] = 20
        return Reply([json.dumps(made).encode()], headers=JSON)

    def _schema(self, kind: str) -> Reply:
        if "schema refused" in self.faults:
            return refused("unknown field response_format")
        if "schema ignored" in self.faults:
            return self._say("hello")
        return self._say('{"zq": "k7"}' if kind == "json_schema" else '{"word": "hello"}')

    def _tools(self, body: Any, said: str) -> Reply:
        if said.startswith("Repeat"):
            text = said.partition("\n\n")[2]
            if "marks eaten" in self.faults:
                text = re.sub(r"<[^>]*>|\[TOOL_CALLS\]|[{}]", "", text)
            return self._say("No." if "stubborn" in self.faults else text)
        choice = body.get("tool_choice", "auto")
        ignores = "choice ignored" in self.faults
        if (choice == "none") != ignores and choice == "none":
            return self._say("I may not.")
        if isinstance(choice, dict) and not ignores:
            return self._say(None, [call("ring_bell", {"door": "front"})])
        if "two plus two" in said and (ignores or choice != "required"):
            return self._say("Four.")
        several = "twice" in said and (ignores or body.get("parallel_tool_calls") is not False)
        return self._calls(
            [LAMP, {**LAMP, "room": "hall"}] if several else [LAMP], bool(body.get("stream"))
        )

    def _calls(self, given: list[dict[str, Any]], stream: bool) -> Reply:
        if "wrong types" in self.faults:
            given = [{**g, "on": "true"} for g in given]
        written = [json.dumps({"name": "switch_lamp", "arguments": g}) for g in given]
        in_text = "text" in self.faults or ("text when streamed" in self.faults and stream)
        text = "\n".join(HERMES.format(w) for w in written) if in_text else None
        if "no call" in self.faults:
            text, in_text = "I would switch it on.", True
        if not stream:
            calls = (
                [] if in_text else [call("switch_lamp", g, f"c{n}") for n, g in enumerate(given)]
            )
            for entry in calls if "no ids" in self.faults else ():
                entry.pop("id")
            return self._say(text, calls, "stop" if "wrong finish" in self.faults else "")
        if "no stream" in self.faults:
            return Reply([b": nothing\n\n"])
        if "stream cut" in self.faults:
            return Reply([chunk({"role": "assistant", "content": "I"})])
        if in_text:
            return Reply([text_stream(str(text))])
        return Reply(
            [native_stream(*((f"c{n}", "switch_lamp", json.dumps(g)) for n, g in enumerate(given)))]
        )

    def _long(self, said: str) -> Reply:
        words = said.split()
        size = 20 + 4 * len(words)
        if size > 4096 and "long refused" in self.faults:
            return refused("the prompt is longer than the context of 4096 tokens")
        if size > 4096 and "cut" in self.faults:
            return self._say("I see no first password.", prompt=4096)
        seen = ["heliotrope", "periwinkle"]
        if size > 4096 and "beginning lost" in self.faults:
            seen = seen[1:]
        if size > 4096 and "middle lost" in self.faults:
            seen = seen[:1]
        if "forgetful" in self.faults:
            seen = []
        return self._say(
            " ".join(["They are", *seen]), prompt=0 if "uncounted" in self.faults else size
        )
