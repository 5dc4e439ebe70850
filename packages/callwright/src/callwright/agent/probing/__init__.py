"""Tools are tried before they are offered: a description that matches is not a tool that works
(GRETEL).

A shortlist from :mod:`callwright.retrieval` is a list of hypotheses. :func:`try_tools` plans a call
of each from the request, makes it where that can do no harm, and ranks the tools again by what came
back.
"""

from callwright.agent.probing.attempt import Remembers, Simulates
from callwright.agent.probing.policy import TrialPolicy
from callwright.agent.probing.result import Ranked, Trials
from callwright.agent.probing.rounds_of_probes import ProbingContext, try_tools

__all__ = [
    "ProbingContext",
    "Ranked",
    "Remembers",
    "Simulates",
    "TrialPolicy",
    "Trials",
    "try_tools",
]
