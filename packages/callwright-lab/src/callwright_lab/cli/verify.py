"""``callwright verify``: one command for each kind of thing that can be verified, each in a module
of its own.

A new one is a line in ``VERIFIERS``: its name and a function with typer's annotations that imports
what it needs when it is called. :mod:`callwright_lab.cli.verify_options` has what all of them
share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from callwright.cli.terminal.apps import new_app
from callwright_lab.cli.verify_apis import verify_apis
from callwright_lab.cli.verify_dataset import verify_dataset
from callwright_lab.cli.verify_queries import verify_queries
from callwright_lab.cli.verify_trajectories import verify_trajectories

VERIFIERS: Mapping[str, Callable[..., None]] = {
    "apis": verify_apis,
    "queries": verify_queries,
    "trajectories": verify_trajectories,
    "dataset": verify_dataset,
}

verify = new_app("Verify tools, requests, trajectories and data sets, with reasons.")
for _name, _command in VERIFIERS.items():
    verify.command(_name)(_command)
