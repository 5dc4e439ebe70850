"""The seam to what clients see of the catalogue: all of it, or tools that find and call the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from callwright.gateway.session.catalog import GatewayCatalog
from callwright.nouns.types import JsonObject


@dataclass(frozen=True, slots=True)
class Answer:
    """A result that needs no server, of a tool of the gateway itself."""

    result: JsonObject


@dataclass(frozen=True, slots=True)
class Meant:
    """The tool that is meant by a call of another one, under the name that clients know."""

    name: str
    arguments: JsonObject | str | None


Resolved: TypeAlias = Answer | Meant


class Exposure(Protocol):
    """Protocol of what clients see. Methods but :meth:`prepare` are pure."""

    def prepare(self, catalog: GatewayCatalog) -> None:
        """Make what a search of this catalogue will need. May take seconds: it is called in a
        thread, whenever there is another catalogue.
        """
        ...

    def list_tools(self, catalog: GatewayCatalog) -> Sequence[JsonObject]:
        """Return the definitions that ``tools/list`` has."""
        ...

    def describe(self, catalog: GatewayCatalog) -> str:
        """Return what the server's instructions say of tools that are not listed; "" where all
        are.
        """
        ...

    def resolve(
        self, name: str, arguments: JsonObject | str | None, catalog: GatewayCatalog
    ) -> Resolved:
        """Return what a call means."""
        ...


class ExposeAll:
    """Every tool is listed."""

    def prepare(self, catalog: GatewayCatalog) -> None:
        del catalog

    def list_tools(self, catalog: GatewayCatalog) -> Sequence[JsonObject]:
        return [offer.to_wire() for offer in catalog]

    def describe(self, catalog: GatewayCatalog) -> str:
        del catalog
        return ""

    def resolve(
        self, name: str, arguments: JsonObject | str | None, catalog: GatewayCatalog
    ) -> Resolved:
        del catalog
        return Meant(name, arguments)
