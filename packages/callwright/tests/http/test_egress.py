"""Line 12 of the reliability scorecard: at least 500 URL forms, redirects and rebinding, 0 escapes.

A canary listens on loopback. Nothing here resolves a name or leaves the machine: names are resolved
by the test.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.http import Egress, HttpClient, HttpResponse, Surroundings, Timeout
from callwright.http.egress import Target, parse_target
from callwright.nouns.errors import ConfigError, Failure

TARGETS = (
    *(
        "127.0.0.1",
        "127.8.9.10",
        "10.0.0.5",
        "172.16.3.4",
        "192.168.1.1",
        "169.254.169.254",
        "169.254.7.7",
    ),
    *(
        "100.64.0.9",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
    ),
)
V6_TARGETS = (
    "::1",
    "::",
    "fe80::1",
    "fc00::1",
    "fd00:ec2::254",
    "ff02::1",
    "fec0::1",
    "2001:db8::1",
    "4000::1",
)
NAMES = {
    "inside.test": "127.0.0.1",
    "127.0.0.1.nip.test": "127.0.0.1",
    "localhost": "127.0.0.1",
    "metadata.google.internal": "169.254.169.254",
    "v6.test": "::1",
    "mapped.test": "::ffff:127.0.0.1",
    "nat64.test": "64:ff9b::7f00:1",
    "sixtofour.test": "2002:7f00:1::",
    "lan.test": "192.168.0.10",
}


def spellings(text: str) -> Iterator[str]:
    """Ways to write one IPv4 address that some library or browser is known to accept."""
    number = int(IPv4Address(text))
    a, b, c, d = text.split(".")
    parts = [int(p) for p in (a, b, c, d)]
    yield from (
        text,
        f"{text}.",
        str(number),
        hex(number),
        hex(number).upper(),
        f"0{number:o}",
        f"{number + 2**32}",
    )
    yield ".".join(hex(p) for p in parts)
    yield ".".join(f"0{p:o}" for p in parts)
    yield ".".join(f"{p:03d}" for p in parts)
    yield ".".join(f"0000{p:o}" for p in parts)
    yield f"{a}.{(parts[1] << 16) + (parts[2] << 8) + parts[3]}"
    yield f"{a}.{b}.{(parts[2] << 8) + parts[3]}"
    yield f"{hex(parts[0])}.{b}.0{parts[2]:o}.{d}"
    yield text.translate({ord(str(n)): chr(0xFF10 + n) for n in range(10)})  # full-width digits
    yield text.replace(".", "\u3002")
    yield text.replace(".", "\uff0e")
    yield text.translate({ord(str(n)): chr(0x245F + n) for n in range(1, 10)})  # circled digits
    yield "".join(f"%{ord(ch):02x}" for ch in text)
    yield text.replace(".", "%2e")
    yield text.replace(".", "%E3%80%82")
    yield f"{text}%00.example.com"
    yield f"{text}%2523@example.com"
    yield f"example.com@{text}"
    yield f"user:pass@{text}"
    yield f"example.com:80@{text}"
    yield f"example.com%40{text}"
    yield f"example.com\\@{text}"
    yield f"{text}\\.example.com"
    yield f"\t{text}"
    yield f"{text[:2]}\n{text[2:]}"
    yield f" {text}"
    yield f"[{text}]"
    hi, lo = number >> 16, number & 0xFFFF
    yield from (
        f"[::ffff:{text}]",
        f"[::ffff:{hi:x}:{lo:x}]",
        f"[0:0:0:0:0:ffff:{text}]",
        f"[::{text}]",
    )
    yield from (
        f"[64:ff9b::{text}]",
        f"[64:ff9b::{hi:x}:{lo:x}]",
        f"[64:ff9b:1::{text}]",
        f"[::ffff:0:{text}]",
    )
    yield from (f"[2002:{hi:x}:{lo:x}::]", f"[2002:{hi:x}:{lo:x}::1]", f"[2001:0:{hi:x}:{lo:x}::1]")
    yield from (
        f"[2a00::5efe:{text}]",
        f"[fe80::{hi:x}:{lo:x}%25eth0]",
        f"[::ffff:{text}%lo]",
        f"[::ffff:{text}",
    )


def hosts() -> list[str]:
    found = [s for t in TARGETS for s in spellings(t)]
    for t in V6_TARGETS:
        full = IPv6Address(t).exploded
        found += [f"[{t}]", f"[{full}]", f"[{full.upper()}]", f"[{t}%eth0]", f"[{t}%25lo]", t]
    for name in NAMES:
        found += [name, name.upper(), f"{name}.", name.replace("l", "\uff4c"), f"x@{name}"]
    return [
        *found,
        "",
        ".",
        "..",
        "-",
        "a..b",
        "x" * 64,
        "xn--",
        "[",
        "[]",
        "[::1",
        "::1]",
        "[v1.x]",
        "%",
        "*",
        "a b",
    ]


def urls(port: int) -> list[str]:
    found = [f"http://{h}:{port}/canary" for h in hosts()]
    found += [f"HTTPS://{h}:{port}/" for h in hosts()[::7]]
    odd: tuple[str, ...] = (
        "file:///etc/passwd",
        "ftp://127.0.0.1/",
        "gopher://127.0.0.1:70/_x",
        "//127.0.0.1/",
        "127.0.0.1",
        "",
    )
    odd += (
        "http:127.0.0.1",
        "http:/127.0.0.1",
        "http:///127.0.0.1",
        "http://",
        "https://?x",
        "unix:///run/x.sock",
    )
    odd += (
        "data:text/plain,x",
        "javascript:1",
        "jar:http://127.0.0.1!/",
        "dict://127.0.0.1:11211/",
        "ws://127.0.0.1/",
    )
    ports = ("0", "-1", "65536", "99999999", "8o", " 80", "", "٨٠", "80@x", "0x50")
    return [
        *found,
        *odd,
        *(f"http://127.0.0.1:{p}/" for p in ports),
        *(f"http://lan.test:{p}/" for p in ports),
    ]


class Canary:
    """Two loopback servers: ``entry`` redirects to ``location``; a hit on ``canary`` is an
    escape.
    """

    def __init__(self) -> None:
        self.hits: list[str] = []
        self.location = ""
        self.status = 302

    async def start(self) -> None:
        from aiohttp import web

        async def entry(_: web.Request) -> web.Response:
            return web.Response(status=self.status, headers={"Location": self.location})

        async def canary(request: web.Request) -> web.Response:
            self.hits.append(str(request.url))
            return web.Response(text="escaped")

        self.runners = []
        ports = []
        for handler in (entry, canary):
            app = web.Application()
            app.router.add_route("*", "/{tail:.*}", handler)
            runner = web.AppRunner(app)
            await runner.setup()
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            self.runners.append(runner)
            ports.append(runner.addresses[0][1])
        self.entry_port, self.port = ports

    async def stop(self) -> None:
        for runner in self.runners:
            await runner.cleanup()


@pytest.fixture
async def canary() -> AsyncIterator[Canary]:
    server = Canary()
    await server.start()
    yield server
    await server.stop()


async def lookup(host: str, port: int) -> Sequence[str]:
    if host == "entry.test":
        return ["127.0.0.1"]
    if host not in NAMES:
        raise OSError("no such name here")
    return [NAMES[host]]


def refused(result: object, url: str) -> bool:
    """An egress refusal; a name that does not exist is no escape either."""
    assert isinstance(result, Failure), f"{url!r} was answered"
    return result.kind == "egress" or "cannot be resolved" in result.message


async def test_no_url_form_reaches_an_address_that_is_not_public(canary: Canary) -> None:
    forms = urls(canary.port)
    assert len(set(forms)) >= 500
    async with HttpClient(
        timeout=Timeout(connect=0.5, total=2), surroundings=Surroundings(lookup=lookup)
    ) as client:
        escapes = [u for u in forms if not refused(await client.request("GET", u), u)]
    assert escapes == []
    assert canary.hits == []


async def test_no_redirect_leads_to_an_address_that_is_not_public(canary: Canary) -> None:
    egress = Egress.allow([f"entry.test:{canary.entry_port}"])
    entry = f"http://entry.test:{canary.entry_port}/"
    forms = [u for u in urls(canary.port) if "\n" not in u and u and u != "127.0.0.1" and ":/" in u]
    assert len(set(forms)) >= 500
    escapes = []
    async with HttpClient(
        egress, timeout=Timeout(connect=0.5, total=2), surroundings=Surroundings(lookup=lookup)
    ) as client:
        for index, form in enumerate(forms):
            canary.location, canary.status = form, (301, 302, 303, 307, 308)[index % 5]
            result = await client.request("GET", entry, headers={"authorization": "Bearer canary"})
            if not refused(result, form):
                escapes.append(form)
    assert escapes == []
    assert canary.hits == []


async def test_a_name_that_changes_its_address_after_the_check_is_not_followed(
    canary: Canary,
) -> None:
    """DNS rebinding: the first answer is public, every later one private. There is no second
    question to answer.
    """
    asked: list[str] = []

    async def rebinding(host: str, _: int) -> Sequence[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) > 1 else ["203.0.114.1", "127.0.0.1"]

    async with HttpClient(
        timeout=Timeout(connect=0.5, total=2), surroundings=Surroundings(lookup=rebinding)
    ) as client:
        for _ in range(20):
            result = await client.request("GET", f"http://rebind.test:{canary.port}/")
            assert isinstance(result, Failure)
            assert result.kind == "egress"
    assert len(asked) == 20
    assert canary.hits == []


async def test_the_connection_goes_to_the_very_address_that_was_checked(canary: Canary) -> None:
    asked = 0

    async def once(host: str, port: int) -> Sequence[str]:
        nonlocal asked
        asked += 1
        return await lookup("entry.test", port)

    async with HttpClient(
        Egress.allow([f"name.test:{canary.port}"]), surroundings=Surroundings(lookup=once)
    ) as client:
        for _ in range(5):
            result = await client.request("GET", f"http://name.test:{canary.port}/x")
            assert isinstance(result, HttpResponse)
    assert asked == 1  # one connection, one resolution: kept alive, not asked again
    assert len(canary.hits) == 5


async def test_a_connection_that_was_allowed_for_one_name_does_not_serve_another(
    canary: Canary,
) -> None:
    egress = Egress.allow([f"entry.test:{canary.port}"])
    async with HttpClient(egress, surroundings=Surroundings(lookup=lookup)) as client:
        assert isinstance(
            await client.request("GET", f"http://entry.test:{canary.port}/"), HttpResponse
        )
        for host in ("127.0.0.1", "inside.test", "localhost"):
            result = await client.request("GET", f"http://{host}:{canary.port}/")
            assert isinstance(result, Failure)
            assert result.kind == "egress"
    assert len(canary.hits) == 1


@pytest.mark.parametrize(
    "answers", [["127.0.0.1"], ["8.8.8.8", "10.0.0.1"], ["2606:4700::1111", "::1"]]
)
async def test_a_name_with_one_address_that_is_not_public_is_refused_as_a_whole(
    answers: list[str],
) -> None:
    from callwright.http.connection import CheckedResolver, Refused

    async def answering(_: str, __: int) -> Sequence[str]:
        return answers

    with pytest.raises(Refused, match="not allowed"):
        await CheckedResolver(Egress(), answering).resolve("mixed.test", 80)


async def test_the_last_gate_refuses_a_socket_to_an_unchecked_address(canary: Canary) -> None:
    """Even if the library below connected on its own, the socket factory would stop it."""
    import socket

    from callwright.http.connection import Connections, Refused

    pool = Connections(Egress(), lookup, None, 1)
    try:
        with pytest.raises(Refused):
            pool._socket((socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", canary.port)))
    finally:
        await pool.close()


async def test_what_is_allowed_is_reached_and_nothing_beside_it(canary: Canary) -> None:
    async with HttpClient(
        Egress.allow([f"127.0.0.1:{canary.port}"]), surroundings=Surroundings(lookup=lookup)
    ) as client:
        assert isinstance(
            await client.request("GET", f"http://127.0.0.1:{canary.port}/"), HttpResponse
        )
        other = await client.request("GET", f"http://127.0.0.1:{canary.entry_port}/")
        assert isinstance(other, Failure)
        assert "allow it with" in other.message
    async with HttpClient(Egress.any(), surroundings=Surroundings(lookup=lookup)) as client:
        assert isinstance(
            await client.request("GET", f"http://127.0.0.1:{canary.port}/"), HttpResponse
        )


async def test_a_client_for_a_typed_address_does_not_follow_redirects_elsewhere(
    canary: Canary,
) -> None:
    canary.location = f"http://127.0.0.1:{canary.port}/"
    async with HttpClient(Egress.any()) as client:
        result = await client.request("GET", f"http://127.0.0.1:{canary.entry_port}/")
    assert isinstance(result, Failure)
    assert result.kind == "egress"
    assert canary.hits == []


@pytest.mark.parametrize(
    ("entry", "host", "port", "address", "opens"),
    [
        ("localhost", "localhost", 80, "127.0.0.1", True),
        (
            "localhost",
            "localhost",
            80,
            "10.0.0.1",
            False,
        ),  # localhost is loopback, whatever a resolver says
        ("localhost", "127.0.0.1", 80, "127.0.0.1", False),
        ("localhost:8080", "localhost", 8081, "127.0.0.1", False),
        ("10.0.0.0/8", "10.1.2.3", 80, "10.1.2.3", True),
        ("10.0.0.0/8", "any.test", 80, "10.1.2.3", True),
        ("10.0.0.0/8", "11.0.0.1", 80, "172.16.0.1", False),
        ("[::1]:80", "::1", 80, "::1", True),
        ("::1", "::1", 9, "::1", True),
        ("lan.test", "lan.test", 80, "192.168.0.1", True),
        (
            "lan.test",
            "lan.test",
            80,
            "169.254.169.254",
            False,
        ),  # a name never opens metadata addresses
        ("169.254.169.254", "169.254.169.254", 80, "169.254.169.254", True),
    ],
)
def test_an_entry_opens_exactly_what_it_says(
    entry: str, host: str, port: int, address: str, opens: bool
) -> None:
    assert (Egress.allow([entry]).problem(host, port, ip_address(address)) == "") is opens


@pytest.mark.parametrize(
    "entry", ["", "http://x", "a b", "10.0.0.0/99", "2130706433", "x:99999", "*.test", "127.1"]
)
def test_an_entry_that_means_nothing_is_refused_with_a_hint(entry: str) -> None:
    with pytest.raises(ConfigError, match="cannot be allowed"):
        Egress.allow([entry])


@pytest.mark.parametrize(
    ("url", "host", "path"),
    [
        ("HTTP://Example.COM", "example.com", "/"),
        ("https://example.com./a/../b?q#f", "example.com", "/a/../b"),
        ("http://bücher.example/x", "xn--bcher-kva.example", "/x"),
        ("http://8.8.8.8:53/%2e%2e", "8.8.8.8", "/%2e%2e"),
        ("http://[2606:4700:0:0::1111]/", "2606:4700::1111", "/"),
        ("http://public.example#@127.0.0.1/", "public.example", "/"),
        ("http://public.example?@127.0.0.1/", "public.example", "/"),
    ],
)
def test_public_urls_are_taken_apart_without_being_changed(url: str, host: str, path: str) -> None:
    target = Egress().check(url)
    assert isinstance(target, Target)
    assert (target.host, target.path) == (host, path)


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_either_a_target_that_reads_back_the_same_or_refused(text: str) -> None:
    target = parse_target("http://" + text)
    if isinstance(target, Target):
        assert parse_target(target.url) == target


def test_errors_name_neither_path_nor_query() -> None:
    for url in (
        "http://u:hunter2@host/",
        "http://127.0.0.1/hunter2?key=hunter2",
        "http://[::1]:0/?hunter2",
    ):
        failure = Egress().check(url)
        assert isinstance(failure, Failure)
        assert "hunter2" not in str(failure)


def test_the_package_is_light_until_the_first_request() -> None:
    import subprocess
    import sys

    code = (
        "import sys, callwright.http; sys.exit('aiohttp' in sys.modules or 'idna' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-P", "-c", code], check=False).returncode == 0


def test_asyncio_is_all_that_is_needed() -> None:
    async def main() -> object:
        client = HttpClient()
        try:
            return await client.request("GET", "http://127.0.0.1:1/")
        finally:
            await client.aclose()

    assert isinstance(asyncio.run(main()), Failure)
