from __future__ import annotations

import time
from pathlib import Path

import pytest

from callwright.cli.gateway.assembly import (
    build_authorizer,
    build_exposure,
    build_setup,
    open_refiner,
)
from callwright.cli.gateway.serve import GatewayOptions, build_access
from callwright.cli.refiner import RefinerSetup
from callwright.gateway.configuration import read_servers_file
from callwright.gateway.exposure import ExposureSettings
from callwright.gateway.oauth.authorizer import OAuthAuthorizer
from callwright.gateway.server.authorizer import KeyAuthorizer
from callwright.nouns.errors import ConfigError
from callwright.repair.by_model.refiner_settings import RefinerSettings
from callwright.serving.access import Access
from callwright.tools.evidence import EvidenceStore, Observation
from tests.gateway.exposure.offered import make_catalog
from tests.gateway.files import write_servers

NEAR = "http://localhost:8790/mcp"
OAUTH = {"resource": "https://tools.example.org/mcp", "issuers": ["https://login.example.org"]}


def test_pins_are_kept_for_the_file_that_configures_the_servers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLWRIGHT_TRUST", str(tmp_path / "trust"))
    found = read_servers_file(write_servers(tmp_path, {"x": {"command": "x"}}))
    made = build_setup(found, build_exposure(ExposureSettings(), None), lambda *_: None)
    tool = {"name": "t", "inputSchema": {"type": "object"}}
    made.pins.review("x", [tool])
    again = build_setup(found, build_exposure(ExposureSettings(), None), lambda *_: None)
    known = again.pins.get_known("x")
    assert known is not None
    assert list(known.approved) == [tool]


def test_the_search_knows_what_evidence_says(tmp_path: Path) -> None:
    catalog = make_catalog([("a", "send_mail", "Send a mail"), ("b", "send_mail", "Send a mail")])
    with EvidenceStore(tmp_path / "evidence.db") as store:
        broken = catalog.offers["a__send_mail"].tool
        seen = Observation(broken.name, broken.digest, "execution_failure", at=time.time())
        store.record([seen] * 4)
        exposure = build_exposure(ExposureSettings("search"), store)
        answer = exposure.resolve("search_tools", {"query": "send a mail"}, catalog)
    text = str(answer)
    assert text.index("b__send_mail") < text.index("a__send_mail")


def test_beyond_loopback_a_key_or_oauth_is_needed(tmp_path: Path) -> None:
    found = read_servers_file(write_servers(tmp_path, {"x": {"command": "x"}}, oauth=OAUTH))
    options = GatewayOptions(servers=tmp_path, host="0.0.0.0", port=0)
    with pytest.raises(ConfigError, match="needs a key"):
        build_access(options)
    access = build_access(options, found.oauth)
    assert "tools.example.org" in access.hosts
    assert access.is_public
    near = read_servers_file(
        write_servers(tmp_path, {"x": {"command": "x"}}, oauth={**OAUTH, "resource": NEAR})
    )
    assert not build_access(options, near.oauth).is_public
    assert isinstance(build_authorizer(access, found.oauth), OAuthAuthorizer)
    assert isinstance(build_authorizer(Access(), None), KeyAuthorizer)


async def test_a_refiner_is_opened_where_options_name_one() -> None:
    assert open_refiner(RefinerSetup()) is None
    refiner = open_refiner(RefinerSetup("http://127.0.0.1:9/v1#mine", "short", 4096, "theirs"))
    assert refiner is not None
    assert refiner.model.name == "mine"
    assert refiner.settings == RefinerSettings("short", 4096, "", "theirs")
    await refiner.aclose()
    with pytest.raises(ConfigError, match="there is no refiner to guard"):
        open_refiner(RefinerSetup(is_guarded=False))
