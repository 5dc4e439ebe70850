from __future__ import annotations

import stat
from pathlib import Path

import pytest
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

from callwright.gateway.oauth.login_store import LoginStore
from callwright.nouns.errors import TrustError

URL = "https://mail.example.org/mcp"
TOKEN = OAuthToken(access_token="a-token", expires_in=60, refresh_token="r-token")


async def test_a_login_is_kept_for_its_owner_only(tmp_path: Path) -> None:
    login = LoginStore(tmp_path / "logins", lambda: 1_000.0).open("ann", URL)
    assert not login.exists
    await login.set_client_info(OAuthClientInformationFull(client_id="c1"))
    await login.set_tokens(TOKEN)
    login.keep_metadata({"server": {"issuer": "https://login.example.org"}})
    assert stat.S_IMODE(login.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(login.path.parent.stat().st_mode) == 0o700

    again = LoginStore(tmp_path / "logins").open("ann", URL)
    assert again.exists
    assert again.expires == 1_060.0
    kept, client = await again.get_tokens(), await again.get_client_info()
    assert kept is not None
    assert kept.refresh_token == "r-token"
    assert client is not None
    assert client.client_id == "c1"
    assert again.metadata["server"]["issuer"] == "https://login.example.org"


async def test_another_user_and_another_server_have_no_part_in_it(tmp_path: Path) -> None:
    store = LoginStore(tmp_path)
    await store.open("ann", URL).set_tokens(TOKEN)
    for user, url in (("bob", URL), ("", URL), ("ann", URL + "2"), ("an", "n" + URL)):
        other = store.open(user, url)
        assert not other.exists
        assert await other.get_tokens() is None
    moved = store.open("bob", URL)
    store.open("ann", URL).path.rename(moved.path)  # a file of another under one's own name
    assert not moved.exists


async def test_a_login_can_be_forgotten(tmp_path: Path) -> None:
    login = LoginStore(tmp_path).open("", URL)
    await login.set_tokens(TOKEN)
    assert login.forget()
    assert not login.forget()
    assert not login.exists


async def test_a_damaged_file_is_no_login(tmp_path: Path) -> None:
    login = LoginStore(tmp_path).open("", URL)
    await login.set_tokens(TOKEN)
    login.path.write_text("{")
    assert not login.exists
    assert login.expires is None


async def test_a_folder_that_cannot_be_written_is_said_without_the_token(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TrustError) as raised:
        await LoginStore(tmp_path / "file" / "logins").open("", URL).set_tokens(TOKEN)
    assert "a-token" not in str(raised.value)
