"""Routes of other packages: found by their entry points, by path."""

from __future__ import annotations

from importlib.metadata import entry_points

from callwright.simulation.routes import GROUP, registered_routes


def test_the_registered_routes_are_those_of_the_entry_points() -> None:
    routes = registered_routes()
    assert len(routes) == len(entry_points(group=GROUP))
    assert all(path.startswith("/") and routes[path].path == path for path in routes)
