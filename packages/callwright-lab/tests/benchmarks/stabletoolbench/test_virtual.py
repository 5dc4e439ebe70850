"""StableToolBench's request over real HTTP, as ``callwright simulate`` serves it."""

from __future__ import annotations

from callwright.simulation.routes import registered_routes
from callwright_lab.benchmarks.stabletoolbench.virtual import ROUTE
from tests.simulation.serving import asked, served


def test_the_route_is_registered() -> None:
    assert registered_routes()["/virtual"] is ROUTE


async def test_stabletoolbench_s_own_request_is_understood() -> None:
    request = {
        "category": "Weather",
        "tool_name": "SkyCast",
        "api_name": "weather",
        "strip": "",
        "toolbench_key": "",
    }
    async with served() as base:
        for given in ({"city": "Oslo"}, '{"city": "Oslo"}'):
            for names in (
                {},
                {"tool_name": "skycast_for_Weather", "api_name": "weather_for_skycast"},
            ):
                status, body, how = await asked(
                    "POST", f"{base}/virtual", {**request, **names, "tool_input": given}
                )
                assert (status, body["error"], body["response"]["celsius"], how) == (
                    200,
                    "",
                    7,
                    "recorded",
                )
        _, body, _ = await asked(
            "POST", f"{base}/virtual", {**request, "tool_input": {"city": "Atlantis"}}
        )
        assert body == {"error": "no such city", "response": ""}
        _, body, _ = await asked(
            "POST", f"{base}/virtual", {**request, "api_name": "tides", "tool_input": ""}
        )
        assert body["error"] == "API doesn't exist"
        assert (await asked("POST", f"{base}/virtual", {"tool_name": 1}))[0] == 422
        assert (await asked("POST", f"{base}/virtual", b"{"))[0] == 422
