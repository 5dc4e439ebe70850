"""The command line. A room is imported only when a command of it is called."""

from __future__ import annotations


def main() -> None:
    """Entry point of the ``callwright`` command."""
    from callwright.cli.app import run_app

    run_app()
