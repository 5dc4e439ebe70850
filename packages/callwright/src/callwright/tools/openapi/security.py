"""Credentials for an OpenAPI source, from environment variables. Values are never part of an error.

Naming rule: ``<SOURCE>_<SCHEME>`` in upper case, everything but letters and digits as one
underscore. The scheme ``api_key`` of the source ``tmdb`` is read from ``TMDB_API_KEY``; HTTP basic
takes ``…_USERNAME`` and ``…_PASSWORD``. Where the scheme's name begins with the source's, it is not
said twice.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from callwright.nouns.errors import Failure, MissingExtra
from callwright.tools.openapi.document import Document, Unusable


@dataclass(frozen=True, slots=True)
class Scheme:
    """One security scheme. ``how`` is where the value goes; ``variables`` are the environment
    variables it needs.
    """

    name: str
    how: str  # header | query | cookie | bearer | basic | unsupported
    parameter: str
    variables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Credentials:
    """Credentials that are added to a request. ``repr`` does not show the values."""

    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    query: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    cookies: tuple[tuple[str, str], ...] = field(default=(), repr=False)


def schemes_of(document: Document, source: str, renamed: Mapping[str, str]) -> dict[str, Scheme]:
    """The document's security schemes by name. ``renamed``: scheme -> the environment variable to
    use instead.
    """
    components = document.root.get("components")
    raw = components.get("securitySchemes") if isinstance(components, Mapping) else None
    found = {}
    for name, scheme in raw.items() if isinstance(raw, Mapping) else ():
        try:
            found[name] = _parse_scheme(
                name, document.resolved(scheme), source, renamed.get(name, ""), document.legacy
            )
        except Unusable:
            found[name] = Scheme(name, "unsupported", "", ())
    return found


def variable_name(source: str, scheme: str) -> str:
    """The environment variable of a scheme, after the naming rule above."""
    first, second = _to_upper_snake(source), _to_upper_snake(scheme)
    return second if not first or second.startswith(f"{first}_") else f"{first}_{second}"


def credentials_for(
    alternatives: tuple[tuple[str, ...], ...],
    schemes: Mapping[str, Scheme],
    environment: Mapping[str, str],
) -> Credentials | Failure:
    """Credentials of the first alternative whose variables are all set, wherever among them it
    stands that none are needed; the Failure names the missing variables.
    """
    if not alternatives:
        return Credentials()
    for alternative in sorted(alternatives, key=lambda names: not names):
        known = [
            schemes[n] for n in alternative if n in schemes and schemes[n].how != "unsupported"
        ]
        complete = len(known) == len(alternative)
        if complete and all(environment.get(v) for s in known for v in s.variables):
            return _build_credentials(known, environment)
    return Failure("auth", _explain_missing(alternatives, schemes, environment), not_done=True)


def secrets_of(schemes: Mapping[str, Scheme], environment: Mapping[str, str]) -> tuple[str, ...]:
    """Every secret value these schemes may send, for redaction; the longest first."""
    values = {
        environment.get(v, "")
        for s in schemes.values()
        for v in s.variables
        if not v.endswith("_USERNAME")
    }
    pairs = [s for s in schemes.values() if s.how == "basic"]
    values |= {
        _encode_basic(s, environment) for s in pairs if all(environment.get(v) for v in s.variables)
    }
    values |= {quote(v, safe="") for v in values}
    return tuple(sorted((v for v in values if v), key=lambda v: (-len(v), v)))


def _parse_scheme(
    name: str, raw: Mapping[str, Any], source: str, renamed: str, legacy: bool
) -> Scheme:
    typed = _validate_scheme(raw, legacy)
    variable = renamed or variable_name(source, name)
    kind, http = typed.type.lower(), (typed.scheme or "").lower()
    if (
        kind == "apikey"
        and typed.security_scheme_in in ("header", "query", "cookie")
        and typed.name
    ):
        return Scheme(name, typed.security_scheme_in, typed.name, (variable,))
    if kind == "http" and http == "basic":
        return Scheme(name, "basic", "", (f"{variable}_USERNAME", f"{variable}_PASSWORD"))
    if (kind == "http" and http == "bearer") or kind in ("oauth2", "openidconnect"):
        return Scheme(name, "bearer", "", (variable,))
    return Scheme(name, "unsupported", "", ())


def _validate_scheme(raw: Mapping[str, Any], legacy: bool) -> Any:
    try:
        if legacy:
            from openapi_pydantic.v3.v3_0 import SecurityScheme
        else:
            from openapi_pydantic.v3.v3_1 import SecurityScheme  # type: ignore[assignment]
    except ImportError:
        raise MissingExtra("reading OpenAPI documents", "openapi") from None
    try:
        return SecurityScheme.model_validate(
            {k: raw[k] for k in ("type", "name", "in", "scheme") if k in raw}
        )
    except ValueError:
        raise Unusable("the security scheme is malformed") from None


def _to_upper_snake(text: str) -> str:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text)
    return re.sub(r"[^A-Z0-9]+", "_", spaced.upper()).strip("_")


def _encode_basic(scheme: Scheme, environment: Mapping[str, str]) -> str:
    user, password = (environment[v] for v in scheme.variables)
    return b64encode(f"{user}:{password}".encode()).decode()


def _build_credentials(schemes: list[Scheme], environment: Mapping[str, str]) -> Credentials:
    headers: list[tuple[str, str]] = []
    query: list[tuple[str, str]] = []
    cookies: list[tuple[str, str]] = []
    for scheme in schemes:
        if scheme.how == "basic":
            headers.append(("authorization", f"Basic {_encode_basic(scheme, environment)}"))
            continue
        value = environment[scheme.variables[0]]
        if scheme.how == "bearer":
            headers.append(("authorization", f"Bearer {value}"))
        elif scheme.how == "header":
            headers.append((scheme.parameter.lower(), value))
        else:
            (query if scheme.how == "query" else cookies).append((scheme.parameter, value))
    return Credentials(tuple(headers), tuple(query), tuple(cookies))


def _explain_missing(
    alternatives: tuple[tuple[str, ...], ...],
    schemes: Mapping[str, Scheme],
    environment: Mapping[str, str],
) -> str:
    ways = []
    for alternative in alternatives:
        known = [
            schemes[n] for n in alternative if n in schemes and schemes[n].how != "unsupported"
        ]
        if len(known) == len(alternative):
            ways.append(
                " and ".join(v for s in known for v in s.variables if not environment.get(v))
            )
    if not ways:
        names = ", ".join(sorted({n for a in alternatives for n in a}))
        return (
            f"the security scheme {names} is not supported; send its credential with the headers"
            " setting"
        )
    return "no credential: set the environment variable " + ", or ".join(dict.fromkeys(ways))
