"""Which sources may fill which tools: the policy for arguments that are bound after the plan was
made.

A frozen plan says which tools are called (:mod:`agent.safety.freeze`). What it leaves open is
filled from results, by a model that has read them; and in a result there may stand what somebody
wrote who wants something else. So every such value is traced to its source
(:mod:`agent.safety.provenance`), and let through or not:

* what the plan or the request says may fill anything, and so may what a tool of a closed world
  returned (its effects: ``open_world=False``), which no stranger has written;
* of a tool of the open world (mail, pages, reviews, files) a whole field may: the sender of a
  message, the id of a record. A piece of a text is data: it may be passed on as a content (a body,
  a title, a place, a number, a day), and never says who gets something, or which thing is changed;
* nor may a content pass on an address (mail, link, account) out of such a text;
* what the model made up may be content, never a name;
* a tool that only reads may be asked for anything in a closed world; in the open one for anything
  but an address out of such a text, since a link that is fetched is a message too.

Rules of the user come first. As in CaMeL (Debenedetti et al., 2025), what counts is where a value
was, not what it looks like to a model; unlike there, no interpreter follows values: they are found
again in what was seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from callwright.agent.safety.provenance import Origin, Provenance, addresses, leaves, unsaid
from callwright.language import ENGLISH
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import CheckedCall, Json, Tool
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.schema.keys import words

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
    """What was found out about a call's late-bound arguments. ``told``: JSON Pointer -> where its
    value is from.
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
        late = {key: call.arguments[key] for key in unsaid(call.arguments, said)}
        if not late:
            return Filled()
        seen = Provenance(sources)
        told: dict[str, str] = {}
        wrong: dict[str, str] = {}
        for path, value in leaves(late):
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
        """Where a value is from, and why that may not be by the user's rule; the best of its
        sources counts.
        """
        assert self.rule is not None
        if ANY in self.rule or (self.seen.said(value) and REQUEST in self.rule):
            return (REQUEST if self.seen.said(value) else _told(self.seen.all_of(value))), ""
        found = self.seen.all_of(value)
        for origin in found:
            if any(_matches(origin, source) for source in self.rule):
                return str(origin), ""
        if not found and not self.seen.said(value) and MODEL in self.rule:
            return MODEL, ""
        told = REQUEST if self.seen.said(value) else _told(found)
        return told, f"it is from {told}, and the rule wants {' or '.join(self.rule)}"

    def usual(self, value: Json, tool: Tool, path: str) -> tuple[str, str]:
        """The same by the built-in rules."""
        if self.seen.said(value):
            return REQUEST, ""
        found = self.seen.all_of(value)
        told = _told(found)
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
                    f"{_short(value)} is a piece of what {found[0]} said, which somebody else may"
                    " have written"
                ),
            )
        return MODEL, f"nothing says {_short(value)}"

    def _address_in(self, value: Json) -> str:
        """Why a content may not be passed on: an address in it that only some text of the open
        world says.
        """
        for word in addresses(value) if isinstance(value, str) else ():
            found = [] if self.seen.said(word) else self.seen.all_of(word)
            if found and not any(o.field or self._trusts(o) for o in found):
                return (
                    f"{_short(word)} is a piece of what {found[0]} said, which somebody else may"
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


def _matches(origin: Origin, source: str) -> bool:
    tool, only_field = source.removesuffix(FIELD), source.endswith(FIELD)
    return fnmatchcase(origin.tool, tool) and (origin.field or not only_field)


def _is_content(path: str) -> bool:
    """Whether a value is passed on, rather than saying who gets something or what it is done to."""
    key = next((part for part in reversed(path.split("/")) if not part.isdigit()), "")
    last = words(key)[-1:]
    return bool(last) and last[0] in _CONTENT


def _told(found: Sequence[Origin]) -> str:
    return str(found[0]) if found else MODEL


def _short(value: Json) -> str:
    text = str(value)
    return repr(text if len(text) <= 60 else text[:59] + "…")
