"""``callwright view --follow``: the page of a run that is still going on, served to this machine."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from callwright.cli.view import draw_page
from callwright.nouns.errors import ConfigError, TraceError
from callwright.serving.access import LOOPBACK, host_name
from callwright.viewer.document import build_policy
from callwright.viewer.summary import FILTER, LIVE

_PATIENCE = 10  # seconds that a browser may take to send its request


class PageServer(ThreadingHTTPServer):
    """Serves the page of one trace on 127.0.0.1, drawn anew whenever the file has changed. Port 0
    takes a free one.
    """

    daemon_threads = True

    def __init__(self, trace: Path, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.trace = trace

    @property
    def address(self) -> str:
        """Where a browser finds the page."""
        return f"http://localhost:{self.server_port}/"

    def answer(self, host: str, path: str, tag: str) -> tuple[int, str, str]:
        """Status, version and body of the page. ``host``: what the browser calls us, no other than
        a name of loopback; ``tag``: the version that it has already.
        """
        if host_name(host) not in LOOPBACK:
            return 403, "", "The page is shown under localhost only."
        if path != "/":
            return 404, "", "There is only one page: /"
        try:
            found = os.stat(self.trace)
            version = f'"{found.st_mtime_ns}/{found.st_size}"'
            return (304, version, "") if tag == version else (200, version, self._draw())
        except OSError as error:
            return 500, "", f"cannot read the trace {self.trace}: {error.strerror}"
        except TraceError as error:
            return 500, "", str(error)

    def _draw(self) -> str:
        return draw_page(self.trace, live=True)


class _Handler(BaseHTTPRequestHandler):
    server: PageServer
    protocol_version = "HTTP/1.1"
    timeout = _PATIENCE

    def do_GET(self) -> None:
        """Send the page, its absence of changes, or an error."""
        given = self.headers
        status, version, text = self.server.answer(
            given.get("host", ""), self.path.partition("?")[0], given.get("if-none-match", "")
        )
        body = text.encode("utf-8", "replace")
        kind = "html" if status == 200 else "plain"
        policy = build_policy(scripts=(FILTER, LIVE), live=True)
        self.send_response(status)
        for name, value in (
            ("Content-Type", f"text/{kind}; charset=utf-8"),
            ("Content-Length", str(len(body))),
            ("Content-Security-Policy", f"{policy}; frame-ancestors 'none'"),
            ("X-Content-Type-Options", "nosniff"),
            ("Cache-Control", "no-store"),
            ("ETag", version),
        ):
            if value:
                self.send_header(name, value)
        self.end_headers()
        with suppress(ConnectionError):
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Write nothing: an open page asks every second."""


def follow_trace(trace: Path, html: Path | None = None) -> None:
    """Serve the page until interrupted. Raises ConfigError where ``html`` wants it written as well,
    TraceError where there is no trace to follow.
    """
    if html is not None:
        said = "--follow serves the page and writes none"
        raise ConfigError(said, hint="leave out --html, or --follow")
    draw_page(trace)
    with PageServer(trace) as server:
        print(f"{server.address} shows the run as it goes on; Ctrl-C ends this", file=sys.stderr)
        with suppress(KeyboardInterrupt):
            server.serve_forever()
