from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.gateway.oauth.issuer import Issuer, serve_issuer


@pytest.fixture
async def issuer() -> AsyncIterator[Issuer]:
    async with serve_issuer() as made:
        yield made
