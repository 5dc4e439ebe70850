"""Decides which credentials may go to an address that a document chose.

The names of environment variables are made from the document's file name or title and from its own
words. So a document that is named or titled *OpenAI* would ask for ``OPENAI_API_KEY``, to be sent
to whatever server it names. If the user has not confirmed the document, a credential is therefore
bound to the user's own choice. That is the variable by name, the address, or the host that the
document itself was fetched from.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from callwright.nouns.errors import Failure
from callwright.tools.openapi.security import Scheme
from callwright.tools.trust import escape_terminal_text

_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class KeyRule:
    """``fetched_from``: the document's own URL, or "". ``named``: schemes whose variable the user
    named. ``said``: the user named the address, or handed over the variables of this source.
    """

    fetched_from: str
    named: frozenset[str]
    said: bool

    def schemes(self, known: Mapping[str, Scheme], base: str) -> dict[str, Scheme]:
        """The schemes whose credentials may be sent to a server of a document that is not
        trusted.
        """
        bound = self.said or (
            self.fetched_from != "" and _parse_origin(self.fetched_from) == _parse_origin(base)
        )
        return {name: scheme for name, scheme in known.items() if bound or name in self.named}


def explain_withheld(document: str, base: str) -> Failure:
    """Return the failure that explains why a credential is not sent, and how to have it sent."""
    host = escape_terminal_text(urlsplit(base).netloc.rpartition("@")[2])
    how = "OpenAPISource(…, trusted=True), base_url= or credentials="
    if document:
        how = (
            f"callwright trust {shlex.quote(escape_terminal_text(document))}; or name it:"
            " ?credential=SCHEME:VARIABLE"
        )
    said = (
        f"a credential is set, but is not sent to {host}: a document that is not trusted chose that"
        " address"
    )
    return Failure("auth", f"{said}. To send it: {how}", not_done=True)


def _parse_origin(url: str) -> tuple[str, str, int | None]:
    try:
        parts = urlsplit(url)
        return (
            parts.scheme.lower(),
            (parts.hostname or "").lower(),
            parts.port or _PORTS.get(parts.scheme.lower()),
        )
    except ValueError:
        return url, "", None
