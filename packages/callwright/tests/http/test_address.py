from __future__ import annotations

from ipaddress import ip_address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.http.address import classify_address, parse

REFUSED = {
    "loopback": ["127.0.0.1", "127.255.255.254", "::1"],
    "private": [
        "10.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.0.1",
        "fd12:3456::1",
        "fc00::1",
    ],
    "link-local": ["169.254.1.1", "fe80::1"],
    "carrier-grade NAT": ["100.64.0.1", "100.127.255.255"],
    "multicast": ["224.0.0.1", "239.255.255.255", "ff02::1"],
    "unspecified": ["0.0.0.0", "0.1.2.3", "::"],
    "metadata": [
        "169.254.169.254",
        "168.63.129.16",
        "100.100.100.200",
        "192.0.0.192",
        "fd00:ec2::254",
    ],
    "reserved": ["255.255.255.255", "240.0.0.1", "::2:0:0:0:1", "4000::1", "100::1"],
    "IPv4-mapped": ["::ffff:8.8.8.8", "::ffff:127.0.0.1"],
    "6to4": ["2002:7f00:1::", "2002:808:808::1"],
    "local NAT64": ["64:ff9b:1::a00:1"],
    "protocol assignment": ["2001::1", "2001:0:53aa:64c::1"],
    "documentation": ["192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1", "3fff::1"],
    "site-local": ["fec0::1"],
}


@pytest.mark.parametrize(("kind", "text"), [(k, t) for k, ts in REFUSED.items() for t in ts])
def test_what_is_not_public_unicast_has_a_name(kind: str, text: str) -> None:
    assert classify_address(ip_address(text)) == kind


@pytest.mark.parametrize(
    "text", ["8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00::1"]
)
def test_public_addresses_are_public(text: str) -> None:
    assert classify_address(ip_address(text)) == ""


def test_nat64_is_judged_by_the_ipv4_address_inside() -> None:
    assert classify_address(ip_address("64:ff9b::8.8.8.8")) == ""
    assert classify_address(ip_address("64:ff9b::169.254.169.254")) == "metadata"
    assert classify_address(ip_address("2a00::5efe:10.0.0.1")) == "private"  # ISATAP


@settings(deadline=None)
@given(st.ip_addresses(v=4))
def test_nothing_private_to_the_standard_library_is_public_to_us(address: object) -> None:
    from ipaddress import IPv4Address

    assert isinstance(address, IPv4Address)
    if classify_address(address) == "":
        flags = (address.is_private, address.is_loopback, address.is_multicast, address.is_reserved)
        assert not any(flags)


def test_only_plain_spellings_are_parsed() -> None:
    assert str(parse("127.0.0.1")) == "127.0.0.1"
    for text in (
        "127.1",
        "0x7f000001",
        "0177.0.0.1",
        "2130706433",
        "fe80::1%eth0",
        "127.0.0.01",
        "",
    ):
        assert parse(text) is None
