"""Puts a gateway together from its servers file and its options."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from callwright.cli.refiner import RefinerSetup
from callwright.gateway.configuration import ServersFile
from callwright.gateway.exposure import ExposureSettings, SearchExposure
from callwright.gateway.exposure.tool_search import ToolSearch, open_search_encoder
from callwright.gateway.oauth.authorizer import OAuthAuthorizer, open_verifier
from callwright.gateway.oauth.resource import OAuthResource
from callwright.gateway.oauth.server_auth import ServerLogins
from callwright.gateway.pins import PinStore, ProfileStore
from callwright.gateway.server.authorizer import Authorizer, KeyAuthorizer
from callwright.gateway.server.gateway import ConsentMode, GatewaySetup
from callwright.gateway.server.refiner import Refiner
from callwright.gateway.session.call import CallEnd
from callwright.gateway.session.record import CallRecord
from callwright.models.secret import Secret
from callwright.serving.access import Access
from callwright.tools.evidence import EvidenceStore, Rate


def build_setup(
    found: ServersFile,
    exposure: SearchExposure,
    record: Callable[[CallRecord, CallEnd | None], None],
    *,
    allow: Sequence[str] = (),
    consent: ConsentMode = "ask",
    refiner: Refiner | None = None,
) -> GatewaySetup:
    """A gateway whose pins, profiles and logins outlive the process."""
    return GatewaySetup(
        entries=found.entries,
        allow=allow,
        consent=consent,
        pins=PinStore(found.place),
        profiles=ProfileStore(found.place),
        exposure=exposure,
        logins=ServerLogins(),
        refiner=refiner,
        record=record,
    )


def open_refiner(setup: RefinerSetup) -> Refiner | None:
    """The refiner that options name; None where they name none. Raises ConfigError."""
    settings = setup.build_settings()
    return None if settings is None else Refiner(setup.open_served(), settings)


def build_exposure(settings: ExposureSettings, store: EvidenceStore | None) -> SearchExposure:
    """The exposure by these settings, with a search that knows how well tools work."""

    def open_search() -> ToolSearch:
        rates = store.rates if store is not None else dict[str, Rate]
        return ToolSearch(rates, encoder=open_search_encoder())

    return SearchExposure(settings, open_search)


def build_authorizer(access: Access, oauth: OAuthResource | None) -> Authorizer:
    """Who is let in: holders of the key, or of a token where OAuth is configured."""
    if oauth is None:
        return KeyAuthorizer(access)
    return OAuthAuthorizer(oauth, open_verifier(oauth), replace(access, key=Secret("")))
