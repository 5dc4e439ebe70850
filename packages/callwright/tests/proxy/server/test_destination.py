from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.models.secret import Secret
from callwright.nouns.errors import ConfigError
from callwright.proxy.server.destination import ModelNames, read_destinations, rename_model
from callwright.proxy.session.events import SendUpstream, UpstreamHead

SECRETS = (
    ("authorization", "Bearer sk-first"),
    ("x-api-key", "sk-first"),
    ("api-key", "sk-first"),
    ("cookie", "session=sk-first"),
    ("openai-organization", "sk-first"),
    ("x-goog-api-key", "sk-first"),
    ("x-auth-token", "sk-first"),
)
PLAIN = (("content-type", "application/json"), ("user-agent", "x"), ("x-stainless-lang", "python"))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text() | st.just("model"), inner, max_size=3)
    ),
    max_leaves=8,
)


def send(body: bytes = b"{}", query: str = "") -> SendUpstream:
    return SendUpstream("POST", "/v1/chat/completions", query, (*PLAIN, *SECRETS), body)


def test_no_credential_of_a_client_goes_to_another_origin() -> None:
    first, other, keyed = read_destinations(
        ["https://a.example/v1", "https://b.example/v1", "https://c.example/v1"],
        {"https://c.example/v1": Secret("sk-third")},
    )
    command = send(query="key=sk-first")
    assert first.adapt(command) == command
    assert other.adapt(command).headers == PLAIN
    assert keyed.adapt(command).headers == (*PLAIN, ("authorization", "Bearer sk-third"))
    assert "sk-first" not in f"{other.adapt(command).query}{keyed.adapt(command).query}"


def test_an_address_at_the_first_one_s_origin_gets_what_that_gets() -> None:
    _, same, other = read_destinations(
        ["https://a.example/v1", "https://A.example:443/b/v1", "https://a.example:444/v1"]
    )
    assert same.adapt(send()) == send()
    assert other.adapt(send()).headers == PLAIN
    assert [one.name for one in (same, other)] == ["A.example:443", "a.example:444"]


def test_cookies_of_another_upstream_are_not_handed_to_the_client() -> None:
    first, other = read_destinations(["http://a/v1", "http://b/v1"])
    head = UpstreamHead(200, {}, ("session=1",))
    assert first.read_head(head).cookies == ("session=1",)
    assert other.read_head(head).cookies == ()


def test_an_upstream_has_its_own_names_of_models() -> None:
    (every,) = read_destinations(["http://a/v1#gpt-4o"])
    (some,) = read_destinations(["http://a/v1#small=qwen2.5%3A7b,large=gpt-4o"])
    assert every.models.get("small") == "gpt-4o"
    assert [some.models.get(name) for name in ("small", "large", "x")] == [
        "qwen2.5:7b",
        "gpt-4o",
        "x",
    ]
    body = json.loads(some.adapt(send(b'{"model": "large", "messages": []}')).body)
    assert body["model"] == "gpt-4o"


@pytest.mark.parametrize(
    ("addresses", "said"),
    [
        (["http://a/v1", "http://a"], "named twice"),
        (["http://a/v1#x="], "maps no names"),
        (["http://u:p@a/v1"], "must be plain"),
        (["b"], "no address"),
    ],
)
def test_addresses_that_make_no_sense_are_refused(addresses: list[str], said: str) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        read_destinations(addresses)
    assert caught.value.hint


@given(st.dictionaries(st.text(), VALUES, max_size=4), st.text(), st.integers(0, 4))
def test_a_new_name_changes_nothing_else(more: dict[str, object], model: str, place: int) -> None:
    items = [(k, v) for k, v in more.items() if k != "model"]
    items.insert(place, ("model", model))
    body = json.dumps(dict(items), indent=1, ensure_ascii=False).encode("utf-8", "surrogatepass")
    made = rename_model(body, ModelNames(default="other"))
    try:
        document = json.loads(body)
    except ValueError:
        return
    if made == body:
        assert model == "other" or _is_unreadable(body)
        return
    assert json.loads(made) == {**document, "model": "other"}


def _is_unreadable(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False


def test_all_other_bytes_of_a_body_stay_as_they_are() -> None:
    body = b'{ "messages" : [{"model":  "m"}], "seed": 1.50, "model" : "m","x":"\\u00e9" }'
    made = rename_model(body, ModelNames({"m": "n"}))
    assert made == body.replace(b'"model" : "m"', b'"model" : "n"')
    assert rename_model(b"[1]", ModelNames(default="n")) == b"[1]"
    assert rename_model(b'{"a": 1}', ModelNames(default="n")) == b'{"a": 1}'
