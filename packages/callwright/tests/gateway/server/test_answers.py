from __future__ import annotations

import mcp_types as types
import pytest

from callwright.gateway.server.answers import read_result_type


def test_each_request_of_a_server_has_the_model_of_its_answer() -> None:
    assert read_result_type("elicitation/create") is types.ElicitResult
    assert read_result_type("roots/list") is types.ListRootsResult
    answer = read_result_type("sampling/createMessage").model_validate(
        {"role": "assistant", "model": "m", "content": {"type": "text", "text": "hi"}}
    )
    assert answer.model == "m"
    with pytest.raises(KeyError):
        read_result_type("tools/call")
