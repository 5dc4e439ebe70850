from __future__ import annotations

import json

import pytest

from callwright.proxy.apis.ollama import Lines, Ollama
from callwright.proxy.apis.translated import BadRequest, Delta


def test_options_and_formats_have_their_names_in_chat_completions() -> None:
    options = {"num_predict": 9, "temperature": 0, "num_ctx": 4096}
    made = Ollama().request(
        {"model": "m", "messages": [], "options": options, "format": {"type": "object"}}
    )
    assert (made["max_tokens"], made["temperature"], made["stream"]) == (9, 0, True)
    assert made["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert "num_ctx" not in made
    assert Ollama().request({"messages": [], "format": "json"})["response_format"] == {
        "type": "json_object"
    }


def test_images_go_as_data_addresses() -> None:
    made = Ollama().request({"messages": [{"role": "user", "content": "x", "images": ["QQ=="]}]})
    assert made["messages"][0]["content"][1]["image_url"]["url"].endswith("base64,QQ==")


def test_what_is_no_conversation_is_refused() -> None:
    for messages in (None, [3]):
        with pytest.raises(BadRequest):
            Ollama().request({"messages": messages})


def test_thoughts_have_a_field_of_their_own() -> None:
    line = json.loads(Lines({"stream": True}).delta(Delta(reasoning="hm")))
    assert line["message"]["thinking"] == "hm"
    assert line["done"] is False
