"""A socket that listens, the address that is printed, and an upstream that is looked at."""

from __future__ import annotations

import subprocess
import sys

import pytest

from callwright.nouns.errors import ConfigError
from callwright.serving.sockets import explain_unreachable, open_socket, render_host


@pytest.mark.parametrize(
    ("host", "port", "said"),
    [
        ("127.0.0.1", 65_536, "no port 65536"),
        ("127.0.0.1", -1, "no port -1"),
        ("192.0.2.1", 8787, "192.0.2.1 is no address of this machine"),
        ("nowhere.invalid", 8787, "nowhere.invalid is no address"),
    ],
)
def test_an_address_that_cannot_be_listened_on_is_refused_with_a_hint(
    host: str, port: int, said: str
) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        open_socket(host, port)
    assert caught.value.hint


def test_a_host_is_printed_as_a_browser_takes_it() -> None:
    hosts = ("127.0.0.1", "::1", "192.0.2.1", "tools.example")
    assert [render_host(host) for host in hosts] == [
        "localhost",
        "[::1]",
        "192.0.2.1",
        "tools.example",
    ]


def test_an_upstream_is_looked_at_before_the_first_request() -> None:
    with open_socket("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        assert explain_unreachable(f"http://127.0.0.1:{port}/v1") == ""
    assert explain_unreachable(f"http://127.0.0.1:{port}/v1")


@pytest.mark.parametrize(
    ("soft", "hard", "fit"), [(80, 400, 100), (80, 300, 100), (80, 200, 50), (80, 80, 1)]
)
def test_a_connection_has_a_file_for_itself_and_one_for_its_upstream(
    soft: int, hard: int, fit: int
) -> None:
    limit = f"import resource as r; r.setrlimit(r.RLIMIT_NOFILE, ({soft}, {hard}));"
    code = f"{limit} from callwright.serving.sockets import connections_with_files as fit; print(fit(100))"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) == fit
