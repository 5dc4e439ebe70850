from __future__ import annotations

import pytest

from callwright.nouns.errors import ConfigError
from callwright.proxy.server.address import Upstream, normalize_path


@pytest.mark.parametrize(
    ("base", "path", "url"),
    [
        ("http://h:1", "/v1/chat/completions", "http://h:1/v1/chat/completions"),
        ("http://h:1/v1/", "/v1/models", "http://h:1/v1/models"),
        ("http://h:1/v1/chat/completions", "/v1/models", "http://h:1/v1/models"),
        ("http://h:1/v1", "/chat/completions", "http://h:1/v1/chat/completions"),
        ("http://h:1/v1", "/api/tags", "http://h:1/api/tags"),
        ("https://h/api/v4", "/v1/models", "https://h/api/v4/models"),
        ("https://h/v1beta/openai", "/v1/models", "https://h/v1beta/openai/models"),
    ],
)
def test_paths_lie_where_people_expect_them(base: str, path: str, url: str) -> None:
    assert Upstream(base).url(path) == url
    assert Upstream(base).url(path, "a=1") == f"{url}?a=1"


@pytest.mark.parametrize(
    "url", ["", "h:1", "ftp://h", "http://u:secret@h/v1", "http://h/v1?key=secret"]
)
def test_what_is_no_plain_address_is_refused_without_telling_secrets(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Upstream(url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "path", ["/v1/chat", "/v1/chat/", "//v1///chat", "/V1/Chat", "/v1/ch%61t", "/v1%252Fchat"]
)
def test_paths_that_a_server_may_take_for_one_are_one(path: str) -> None:
    assert normalize_path(path) == "/v1/chat"
