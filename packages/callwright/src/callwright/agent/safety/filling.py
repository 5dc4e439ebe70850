"""Decides which sources may fill arguments that are bound after the plan was made.

A frozen plan says which tools are called (:mod:`agent.safety.freeze`). The open arguments are
filled from results, by a model that has read them. A result may hold text from somebody with other
aims. So every such value is traced to its source (:mod:`agent.safety.provenance`), and accepted or
refused:

* A value of the plan or the request may fill anything. So may a result of a tool of a closed world
  (its effects: ``open_world=False``), which no stranger has written.
* Of a tool of the open world (mail, pages, reviews, files), a whole field may: the sender of a
  message, the id of a record.
* A piece of a text is data. It may be passed on as content (a body, a title, a place, a number, a
  day). It never decides who gets something, or which thing is changed.
* Content may not pass on an address (mail, link, account) out of such a text.
* An invented value of the model may be content, never a name.
* A tool that only reads may be asked for anything in a closed world. In the open world, an address
  out of such a text is excluded, since a link that is fetched is a message too.

Rules of the user come first. As in CaMeL (Debenedetti et al., 2025), the origin of a value counts,
not its appearance to a model. Unlike there, no interpreter follows values: they are found again in
the recorded texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from callwright.agent.safety.provenance import (
    Origin,
    Provenance,
    find_addresses,
    iter_leaves,
    list_unstated,
)
from callwright.language import ENGLISH
from callwright.language.tokens import split_identifier
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import CheckedCall, Json, Tool
from callwright.repair.provenance.sources import ProvenanceIndex

REQUEST, MODEL, ANY, FIELD = "request", "model", "*", ":field"
Rules = Mapping[str, Sequence[str]]
"""``tool.argument`` (shell patterns) -> sources: ``request``, ``model`` (made up), a tool
(``search_*``: whatever stands in what it returned; ``search_*:field``: only what is a whole field
of it), or ``*``.
"""

_CONTENT = ENGLISH.words("parameters.content")
"""Last words of arguments that hold what is passed on, not who gets it or which thing it is done
to.
"""


@dataclass(frozen=True, slots=True)
class Filled:
    """Result of checking a call's late-bound arguments. ``told``: JSON Pointer -> the origin of its
    value.
    """

    told: Mapping[str, str] = field(default_factory=dict)
    refused: tuple[str, ...] = ()
    message: str = ""

    @property
    def origins(self) -> bool:
        return bool(self.told)


class Filling:
    """The policy of one run. ``on`` is False where nobody asked for one: then nothing is judged."""

    def __init__(
        self, rules: Rules | None = None, *, on: bool = False, tools: Iterable[Tool] = ()
    ) -> None:
        """Raises ConfigError for a rule that could never match."""
        self.rules = {pattern: tuple(sources) for pattern, sources in (rules or {}).items()}
        for pattern, sources in self.rules.items():
            if "." not in pattern or isinstance((rules or {})[pattern], str) or not all(sources):
                raise ConfigError(
                    f"{pattern!r} is no rule of what may fill an argument",
                    hint=(
                        "tool.argument=source,source; sources: request, model, a tool,"
                        " tool:field, *"
                    ),
                )
        self.on = on or bool(self.rules)
        self._tools = {tool.name: tool for tool in tools}

    def know(self, tools: Iterable[Tool]) -> None:
        """More tools whose results may fill arguments."""
        self._tools |= {tool.name: tool for tool in tools}

    def judged(
        self, call: CheckedCall, sources: ProvenanceIndex, said: Mapping[str, Json]
    ) -> Filled:
        """Trace every value that is not ``said`` by the plan to its source, and say which may not
        stand there.
        """
        late = {key: call.arguments[key] for key in list_unstated(call.arguments, said)}
        if not late:
            return Filled()
        seen = Provenance(sources)
        told: dict[str, str] = {}
        wrong: dict[str, str] = {}
        for path, value in iter_leaves(late):
            key = path.split("/")[1]
            rule = self._rule(call.tool.name, key)
            judge = _Judge(seen, self._closed, rule)
            told[path], why = (
                judge.by_rule(value) if rule is not None else judge.usual(value, call.tool, path)
            )
            if why:
                wrong[path] = why
        message = "; ".join(f"{path} may not be filled so: {why}" for path, why in wrong.items())
        return Filled(told, tuple(wrong), message)

    def _rule(self, tool: str, key: str) -> Sequence[str] | None:
        found = (
            sources
            for pattern, sources in self.rules.items()
            if fnmatchcase(f"{tool}.{key}", pattern)
        )
        return next(found, None)

    def _closed(self, tool: str) -> bool:
        known = self._tools.get(tool)
        return known is not None and not known.effects.open_world


@dataclass(frozen=True, slots=True)
class _Judge:
    seen: Provenance
    closed: Callable[[str], bool]
    rule: Sequence[str] | None

    def by_rule(self, value: Json) -> tuple[str, str]:
        """Return the origin of a value, and the reason why the user's rule refuses it; the best of
        its origins counts.
        """
        assert self.rule is not None
        if ANY in self.rule or (self.seen.is_in_request(value) and REQUEST in self.rule):
            return (
                REQUEST
                if self.seen.is_in_request(value)
                else _describe_origin(self.seen.all_of(value))
            ), ""
        found = self.seen.all_of(value)
        for origin in found:
            if any(_is_match(origin, source) for source in self.rule):
                return str(origin), ""
        if not found and not self.seen.is_in_request(value) and MODEL in self.rule:
            return MODEL, ""
        told = REQUEST if self.seen.is_in_request(value) else _describe_origin(found)
        return told, f"it is from {told}, and the rule wants {' or '.join(self.rule)}"

    def usual(self, value: Json, tool: Tool, path: str) -> tuple[str, str]:
        """The same by the built-in rules."""
        if self.seen.is_in_request(value):
            return REQUEST, ""
        found = self.seen.all_of(value)
        told = _describe_origin(found)
        if tool.effects.read_only and not tool.effects.open_world:
            return told, ""
        trusted = next((o for o in found if o.field or self._trusts(o)), None)
        if trusted is not None:
            return str(trusted), ""
        if tool.effects.read_only or _is_content(path):
            return told, self._address_in(value)
        if found:
            return (
                told,
                (
                    f"{_shorten_value(value)} is a piece of what {found[0]} said, which somebody else may"
                    " have written"
                ),
            )
        return MODEL, f"nothing says {_shorten_value(value)}"

    def _address_in(self, value: Json) -> str:
        """Return the reason why a content may not be passed on: an address from a text of the open
        world; "" if it may.
        """
        for word in find_addresses(value) if isinstance(value, str) else ():
            found = [] if self.seen.is_in_request(word) else self.seen.all_of(word)
            if found and not any(o.field or self._trusts(o) for o in found):
                return (
                    f"{_shorten_value(word)} is a piece of what {found[0]} said, which somebody else may"
                    " have written"
                )
        return ""

    def _trusts(self, origin: Origin) -> bool:
        return self.closed(origin.tool)


def parse_rules(texts: Iterable[str]) -> dict[str, list[str]]:
    """Rules as a user writes them: ``send_email.recipients=request,search_contacts``. Raises
    ConfigError.
    """
    rules: dict[str, list[str]] = {}
    for text in texts:
        pattern, equals, sources = text.partition("=")
        if not equals:
            raise ConfigError(
                f"--allow-source {text!r} is no rule", hint="tool.argument=source,source"
            )
        rules.setdefault(pattern.strip(), []).extend(part.strip() for part in sources.split(","))
    return rules


def _is_match(origin: Origin, source: str) -> bool:
    tool, only_field = source.removesuffix(FIELD), source.endswith(FIELD)
    return fnmatchcase(origin.tool, tool) and (origin.field or not only_field)


def _is_content(path: str) -> bool:
    """Return True if a value is passed on as content. Other values decide who gets something or
    what is changed.
    """
    key = next((part for part in reversed(path.split("/")) if not part.isdigit()), "")
    last = split_identifier(key)[-1:]
    return bool(last) and last[0] in _CONTENT


def _describe_origin(found: Sequence[Origin]) -> str:
    return str(found[0]) if found else MODEL


def _shorten_value(value: Json) -> str:
    text = str(value)
    return repr(text if len(text) <= 60 else text[:59] + "…")
