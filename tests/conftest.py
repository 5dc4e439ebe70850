"""Settings that every test shares."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# A shared machine is slow at times: an example that takes long is no failure.
settings.register_profile("shared", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared")
