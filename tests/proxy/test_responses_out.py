from __future__ import annotations

import json

from callwright.proxy.responses_out import Output, error
from callwright.proxy.translated import Delta


def kinds(data: bytes) -> list[str]:
    return [line[7:].decode() for line in data.splitlines() if line.startswith(b"event: ")]


def test_the_events_of_a_message_come_in_their_order() -> None:
    out = Output({"stream": True})
    made = out.delta(Delta(text="a", id="chatcmpl-1")) + out.delta(Delta(text="b", finish="stop")) + out.close()
    assert kinds(made) == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    numbers = [json.loads(line[6:])["sequence_number"] for line in made.splitlines() if line.startswith(b"data: ")]
    assert numbers == list(range(10))


def test_an_answer_that_was_cut_off_is_incomplete() -> None:
    made = json.loads(Output({}).whole(Delta(text="a", finish="length")))
    assert made["status"] == "incomplete"
    assert made["incomplete_details"] == {"reason": "max_output_tokens"}


def test_errors_have_openais_shape() -> None:
    assert json.loads(error(500, "x"))["error"]["type"] == "server_error"
    assert kinds(Output({}).broken("x")) == ["response.failed"]
