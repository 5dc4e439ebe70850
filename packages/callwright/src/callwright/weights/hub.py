"""Weights from a model hub (the Hugging Face hub's protocol), resumed by byte range.

``GET {endpoint}/{repo}/resolve/{revision}/{file}`` redirects to storage; the first answer's
``X-Linked-ETag`` is the sha256 of a large file, so another file is refused before a byte of it is
loaded. The endpoint is ``HF_ENDPOINT`` or huggingface.co; ``HF_TOKEN`` is sent to the endpoint's
own host alone; ``HF_HUB_OFFLINE=1`` keeps us from asking.
"""

from __future__ import annotations

import os
import re
import threading
import urllib.error
import urllib.request
from email.message import Message
from http.client import HTTPException, HTTPMessage, HTTPResponse
from pathlib import Path
from typing import IO
from urllib.parse import quote, urlsplit

from callwright.nouns.errors import WeightsError
from callwright.weights.registry import HubFile, Weight
from callwright.weights.store import CHUNK, Progress, convert_write_errors

CONNECT_SECONDS = 4.0  # longer means: no hub here, take the packages
READ_SECONDS = 30.0
ATTEMPTS = 5  # connections broken in the middle, each continued where it stopped

_unreachable: dict[str, str] = {}  # endpoint -> why; remembered while the process lives


def get_endpoint() -> str:
    """The hub's address without a trailing slash."""
    return (os.environ.get("HF_ENDPOINT") or "https://huggingface.co").rstrip("/")


def forget_unreachable() -> None:
    """Ask hubs again that did not answer earlier in this process."""
    _unreachable.clear()


def download(weight: Weight, part_file: Path, progress: Progress) -> None:
    """Append to ``part_file`` until it is ``weight.size`` bytes long. Raises WeightsError."""
    assert weight.hub is not None
    url = _build_url(weight.hub)
    _probe_hub(weight, url)
    error: WeightsError | None = None
    for _ in range(ATTEMPTS):
        before = part_file.stat().st_size if part_file.exists() else 0
        if before == weight.size:
            return
        try:
            _continue_transfer(weight, url, part_file, progress)
        except (urllib.error.URLError, HTTPException, ConnectionError, TimeoutError) as exc:
            error = WeightsError(
                f"{weight.name}: the hub's transfer broke off: {_describe_error(exc)}"
            )
            if isinstance(exc, urllib.error.HTTPError) and exc.code < 500 and exc.code != 416:
                break
    if not part_file.exists() or part_file.stat().st_size != weight.size:
        raise error or WeightsError(
            f"{weight.name}: the hub closed the connection too early {ATTEMPTS} times"
        )


def _build_url(file: HubFile) -> str:
    return f"{get_endpoint()}/{quote(file.repo)}/resolve/{quote(file.revision, safe='')}/{quote(file.file)}"


def _probe_hub(weight: Weight, url: str) -> None:
    """See that a hub answers quickly and offers the pinned file. Raises WeightsError."""
    base = get_endpoint()
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "ON", "YES", "TRUE"}:
        raise WeightsError("HF_HUB_OFFLINE is set")
    if base in _unreachable:
        raise WeightsError(_unreachable[base])
    try:
        headers = _fetch_headers(CONNECT_SECONDS, url)
    except urllib.error.HTTPError as exc:
        hint = "a gated repository needs HF_TOKEN" if exc.code in (401, 403) else ""
        raise WeightsError(
            f"{urlsplit(base).hostname} answered {exc.code} for {url}", hint=hint
        ) from None
    except (OSError, HTTPException) as exc:
        _unreachable[base] = f"no model hub at {base} ({_describe_error(exc)})"
        raise WeightsError(_unreachable[base]) from None
    tag = headers.get("X-Linked-ETag", "").strip('W/"')
    if re.fullmatch(r"[0-9a-f]{64}", tag) and tag != weight.sha256:
        raise WeightsError(
            f"the hub's {weight.filename} has sha256 {tag[:16]}…, pinned is {weight.sha256[:16]}…"
        )


def _fetch_headers(seconds: float, url: str) -> Message:
    """Headers of a HEAD request, redirects not followed; name resolution counts towards ``seconds``
    as well.
    """
    box: list[Message | Exception] = []

    def ask() -> None:
        try:
            request = _build_request(url, method="HEAD")
            with urllib.request.build_opener(_Stay).open(request, timeout=seconds) as answer:
                box.append(answer.headers)
        except urllib.error.HTTPError as exc:
            box.append(exc.headers if 300 <= exc.code < 400 else exc)
            exc.close()
        except Exception as exc:
            box.append(exc)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(seconds)
    found = box[0] if box else TimeoutError(f"no answer within {seconds:g} s")
    if isinstance(found, Exception):
        raise found
    return found


def _continue_transfer(weight: Weight, url: str, part_file: Path, progress: Progress) -> None:
    """One connection: ask for what is missing, append what comes."""
    done = part_file.stat().st_size if part_file.exists() else 0
    request = _build_request(url)
    if done:
        request.add_header("Range", f"bytes={done}-")
    try:
        answer = urllib.request.build_opener(_SameHostToken).open(request, timeout=READ_SECONDS)
    except urllib.error.HTTPError as exc:
        if exc.code == 416:  # what we hold is longer than the file
            part_file.unlink(missing_ok=True)
        raise
    with answer:
        if not _is_continuation(answer, done):
            done = 0
        with convert_write_errors(weight):
            out = part_file.open("r+b" if done else "wb")
        with out:
            out.seek(done)
            _copy_body(weight, answer, out, done, progress)


def _is_continuation(answer: HTTPResponse, done: int) -> bool:
    """Return True if the body starts at byte ``done`` (206 with that range) and not at the
    beginning.
    """
    return answer.status == 206 and answer.headers.get("Content-Range", "").startswith(
        f"bytes {done}-"
    )


def _copy_body(
    weight: Weight, answer: HTTPResponse, out: IO[bytes], done: int, progress: Progress
) -> None:
    label = f"{weight.name}: from {urlsplit(get_endpoint()).hostname}"
    while block := answer.read(min(CHUNK, weight.size - done + 1)):
        with convert_write_errors(weight):
            out.write(block)
        done += len(block)
        if done > weight.size:
            out.truncate(0)
            raise WeightsError(
                f"{weight.name}: the hub's file is larger than the pinned {weight.size} bytes"
            )
        progress(done, weight.size, label)


def _build_request(url: str, method: str = "GET") -> urllib.request.Request:
    request = urllib.request.Request(url, method=method, headers={"Accept-Encoding": "identity"})
    if token := os.environ.get("HF_TOKEN"):
        request.add_header("Authorization", f"Bearer {token}")
    return request


def _describe_error(exc: BaseException) -> str:
    reason = getattr(exc, "reason", None) or exc
    return str(reason) or type(exc).__name__


class _Stay(urllib.request.HTTPRedirectHandler):
    """A redirect is an answer: its own headers carry the digest. It arrives as an HTTPError with
    code 3xx.
    """

    def redirect_request(self, *_: object) -> None:
        return None


class _SameHostToken(urllib.request.HTTPRedirectHandler):
    """Follows redirects, but the token does not go to another host."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        new = super().redirect_request(req, fp, code, msg, headers, newurl)
        if new is not None and urlsplit(new.full_url)[:2] != urlsplit(req.full_url)[:2]:
            new.remove_header("Authorization")
        return new
