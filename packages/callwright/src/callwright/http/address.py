"""Classifies IP addresses as public or not: the one table behind every egress decision.

Sources: IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890 and updates), RFC 6052
(NAT64), RFC 3056 (6to4), RFC 4380 (Teredo), RFC 5214 (ISATAP). Written out here because
``ipaddress.is_global`` changed its mind between patch releases of Python.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address

_V4: tuple[tuple[str, IPv4Network], ...] = tuple(
    (why, IPv4Network(net))
    for net, why in (
        (
            "168.63.129.16/32",
            "metadata",
        ),  # Azure's wire server: a public address that every virtual machine reaches
        ("169.254.169.254/32", "metadata"),
        ("169.254.170.2/32", "metadata"),
        ("100.100.100.200/32", "metadata"),
        ("192.0.0.192/32", "metadata"),
        ("0.0.0.0/8", "unspecified"),
        ("127.0.0.0/8", "loopback"),
        ("10.0.0.0/8", "private"),
        ("172.16.0.0/12", "private"),
        ("192.168.0.0/16", "private"),
        ("100.64.0.0/10", "carrier-grade NAT"),
        ("169.254.0.0/16", "link-local"),
        ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "documentation"),
        ("198.51.100.0/24", "documentation"),
        ("203.0.113.0/24", "documentation"),
        ("192.88.99.0/24", "6to4 relay"),
        ("198.18.0.0/15", "benchmarking"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    )
)
_V6: tuple[tuple[str, IPv6Network], ...] = tuple(
    (why, IPv6Network(net))
    for net, why in (
        ("::/128", "unspecified"),
        ("::1/128", "loopback"),
        ("::ffff:0:0/96", "IPv4-mapped"),
        ("::ffff:0:0:0/96", "IPv4-translated"),
        ("::/96", "IPv4-compatible"),
        ("64:ff9b:1::/48", "local NAT64"),
        ("fd00:ec2::/32", "metadata"),
        ("fd20:ce::/32", "metadata"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "site-local"),
        ("ff00::/8", "multicast"),
        ("2001:db8::/32", "documentation"),
        ("3fff::/20", "documentation"),
        ("2001::/23", "protocol assignment"),  # Teredo and ORCHID included
        ("2002::/16", "6to4"),
    )
)
_NAT64 = IPv6Network("64:ff9b::/96")
_GLOBAL = IPv6Network("2000::/3")
_ISATAP = (0x00005EFE, 0x02005EFE)

NEVER_BY_NAME = frozenset({"metadata", "multicast", "unspecified", "reserved", "link-local"})
"""Kinds that allowing a *host name* never opens: only the address itself, written out, does."""


def classify_address(address: Address) -> str:
    """Return the kind of an address that is not public ("loopback", "private", …), or "" for public
    unicast.
    """
    if isinstance(address, IPv4Address):
        return next((why for why, net in _V4 if address in net), "")
    if address.scope_id:
        return "scoped"
    if (
        address in _NAT64
    ):  # what an IPv6-only network's DNS gives for public IPv4 hosts: judge the host inside
        return classify_address(IPv4Address(int(address) & 0xFFFFFFFF))
    why = next((why for why, net in _V6 if address in net), "")
    if why or address not in _GLOBAL:
        return why or "reserved"
    if (int(address) >> 32) & 0xFFFFFFFF in _ISATAP:
        return classify_address(IPv4Address(int(address) & 0xFFFFFFFF))
    return ""


def parse(text: str) -> Address | None:
    """An address in its plain spelling (dotted decimal, RFC 4291 without a zone), else None."""
    try:
        return None if "%" in text else ip_address(text)
    except ValueError:
        return None
