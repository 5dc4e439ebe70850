"""Sockets of a server: one that listens, the connections that the process may have open, and an
upstream that answers.
"""

from __future__ import annotations

import errno
import socket
from urllib.parse import urlsplit

from callwright.nouns.errors import ConfigError

BACKLOG = 2048  # connections that wait to be accepted
_PORTS = 65_535
_OWN_FILES = 100  # libraries, logs, sockets that listen
_PATIENCE = 2.0  # seconds for a first look at the upstream


def open_socket(host: str, port: int, what: str = "proxy") -> socket.socket:
    """A socket that listens there, for ``what`` will serve; port 0 takes a free one. Raises
    ConfigError.
    """
    if not 0 <= port <= _PORTS:
        raise ConfigError(
            f"there is no port {port}",
            hint=f"--port takes 1 to {_PORTS}, or 0 for any that is free",
        )
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=BACKLOG)
        # what is accepted inherits it: asyncio sets it for its own sockets only, and without it an
        # answer in two pieces waits 40 ms for the client's acknowledgement of the first
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listening
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            other = (
                f"is a {what} running already? Stop it, or take another port: --port"
                f" {min(port + 10, _PORTS)}"  # the next ones are defaults of other commands
            )
            raise ConfigError(f"port {port} of {host} is taken", hint=other) from None
        if error.errno == errno.EACCES:
            raise ConfigError(
                f"port {port} may not be listened on by this user",
                hint="--port 0 takes any that is free",
            ) from None
        said = f"{host} is no address of this machine ({error.strerror or error})"
        raise ConfigError(said, hint="--host 127.0.0.1") from None


def connections_with_files(wanted: int) -> int:
    """Return the number of client connections, each with one upstream, that the process may have
    open. The process raises its own limit as far as the system allows.
    """
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = 2 * wanted + _OWN_FILES
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return (
        wanted if soft == resource.RLIM_INFINITY else max(1, min(wanted, (soft - _OWN_FILES) // 2))
    )


def explain_unreachable(base: str) -> str:
    """Return the reason why nothing answers at an upstream's address; empty if something does."""
    parts = urlsplit(base)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((str(parts.hostname), port), timeout=_PATIENCE).close()
    except OSError as error:
        return str(error.strerror or error)
    return ""


def render_host(host: str) -> str:
    """Return a host as it stands in a URL that a person opens: ``localhost`` for 127.0.0.1, an IPv6
    address in brackets.
    """
    if host == "127.0.0.1":
        return "localhost"
    return f"[{host}]" if ":" in host else host
