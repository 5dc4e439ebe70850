"""Hosts that are named and hosts to which nothing leads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.repair.provenance.hosts import (
    decode_stated_labels,
    find_host,
    is_local,
    is_unsaid_name,
)


@pytest.mark.parametrize(
    ("value", "host"),
    [
        ("https://Shop.example.com:8080/a?b=c", "shop.example.com"),
        ("shop.example.com", "shop.example.com"),
        ("/relative/path", ""),
        ("http://[broken", ""),
    ],
)
def test_the_host_of_an_address_is_found(value: str, host: str) -> None:
    assert find_host(value) == host


@pytest.mark.parametrize(
    ("value", "local"),
    [
        ("localhost", True),
        ("http://127.0.0.1:8080/", True),
        ("::1", True),
        ("0.0.0.0", True),
        ("10.3.4.5", False),
        ("shop.example.com", False),
    ],
)
def test_an_address_of_the_machine_itself_is_local(value: str, local: bool) -> None:
    assert is_local(value) is local


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("https://evil.example.com/hook", "Publish my page."),
        ("evil.example.com", "Open the port."),
        ("https://bitbucket.org/example-repo3", "Create a pipeline with the repository."),
    ],
)
def test_a_host_to_which_nothing_leads_is_unsaid(value: str, said: str) -> None:
    assert is_unsaid_name(value, [said], [])
    assert not is_unsaid_name(value, [said], [f"It runs on {find_host(value)}."])


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("https://nytimes.com", "Publish it in the New York Times."),
        ("https://wsj.com", "Bookmark the Wall Street Journal."),
        ("https://www.apple.com", "Get the page of Apple."),
        ("https://fb.com/x", "Publish it on Facebook."),
        ("https://zhihu.com", "发布到知乎。"),  # written in other letters
        ("https://10.3.4.5/", "Publish my page."),  # judged by its numbers
        ("http://localhost:8080", "Publish my page."),
        ("/images/a.png", "Publish my page."),
    ],
)
def test_a_host_may_be_called_by_its_name(value: str, said: str) -> None:
    assert not is_unsaid_name(value, [said], [])


CODED = "https://www.xn--mnchen-3ya.de/a"


@pytest.mark.parametrize(
    ("value", "said", "spelled"),
    [
        (CODED, "Open www.MÜNCHEN.de please.", "https://www.münchen.de/a"),
        ("ann@xn--mnchen-3ya.de", "Write to ann@mu\u0308nchen.de.", "ann@münchen.de"),
        (CODED, "Open munchen.de please.", CODED),  # another host
        ("xn--80ak6aa92e.com", "Open apple.com please.", "xn--80ak6aa92e.com"),
        ("xn--a-ecp.ru", "Open a.ru please.", "xn--a-ecp.ru"),
        ("xn--\u00fc.de", "Open ü.de please.", "xn--\u00fc.de"),
    ],
)
def test_a_host_in_punycode_is_spelled_as_it_was_said(value: str, said: str, spelled: str) -> None:
    assert decode_stated_labels(value, [said]) == spelled


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_text_can_be_judged(value: str, said: str) -> None:
    assert is_unsaid_name(value, [said], []) in (True, False)
    assert is_local(value) in (True, False)
