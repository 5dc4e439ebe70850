"""``callwright train`` and ``callwright bench``: commands whose options are read by the modules
that they start.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

import typer

from callwright.cli.terminal.apps import new_app

train = new_app("Rebuild the trained parts from data (extra: callwright-lab[train]).")
bench = new_app("Run the benchmarks (callwright-lab).")
_PASS = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}

_TRAINED: Mapping[str, tuple[str, str]] = {
    "layers": (
        "cli.train",
        ("Train the layer predictor. --model edges is made of trees, network is the paper's."),
    ),
    "ranker": (
        "training.ranker.retrieval_ranker",
        ("Train the learned ranker of retrieval. It learns from queries and the tools each needs."),
    ),
    "refiner": (
        "training.refiner.command",
        ("Train the tool-use refiner. Steps: data, supervised warm start, DAPO, held-out score."),
    ),
    "planner": (
        "training.planner.command",
        (
            "Train a planner of whole graphs. Steps: tasks from any catalogue, SFT, curation, "
            "GRPO, held-out score."
        ),
    ),
    "toolmvr": (
        "training.toolmvr.command",
        (
            "Train on verified trajectories and reflections. Steps: rows, V alone, V and R "
            "together, held-out corrections."
        ),
    ),
    "adapter": (
        "training.adapters.command",
        ("Write a trained LoRA adapter as a GGUF file. The embedded engine loads it as a check."),
    ),
    "harm-bound": (
        "benchmarks.harm_bound.command",
        ("Calibrate which changes of a refiner may be taken. Right replies are to stay right."),
    ),
}
"""By the name of a command: the module whose ``main`` it is, and its help."""

_MEASURED: Mapping[str, tuple[str, str]] = {
    "desk": (
        "benchmarks.desk.bench",
        "Strategies on the tasks of examples/desk.",
    ),
    "multi-turn": (
        "benchmarks.multi_turn.bench",
        "Strategies on BFCL's executable multi-turn scenarios.",
    ),
    "bfcl": (
        "benchmarks.bfcl.bench",
        "BFCL's own harness, direct and behind the proxy.",
    ),
    "agents": (
        "benchmarks.agents.bench",
        "Whole jobs by agent loops, direct and behind the proxy. Harm is counted first.",
    ),
    "makespan": (
        "benchmarks.makespan.bench",
        ("Measure the duration of each strategy. Knowledge and scripted delays are the same."),
    ),
    "gateway": (
        "benchmarks.gateway.bench",
        (
            "Right and spoiled calls through the MCP gateway. Counts repaired, harmed and "
            "refused ones."
        ),
    ),
    "agentdojo": (
        "benchmarks.agentdojo.bench",
        ("Frozen plans against injected instructions, on AgentDojo. Arguments are bound late."),
    ),
    "acebench": (
        "benchmarks.acebench.bench",
        (
            "ACEBench's normal and special rows. A model is prompted as the suite does, with "
            "native tools, and behind the proxy."
        ),
    ),
    "plan": (
        "benchmarks.planning.bench",
        ("Execution orders of planners against gold. Learned and simple ones, on public data."),
    ),
    "harm": (
        "benchmarks.harm.bench",
        (
            "Measure the changes that refinement makes. It is given correct calls, and "
            "replies that call nothing."
        ),
    ),
    "refine": (
        "benchmarks.refine.bench",
        (
            "Gain and harm of refinement on recorded replies. Compares the baseline, its "
            "rivals and every rule group, also on spoiled gold calls of public data."
        ),
    ),
    "retrieval": (
        "benchmarks.retrieval.bench",
        (
            "Rankings of tools against those that requests need. By BM25, dense, hybrid and "
            "learned, in a large catalogue."
        ),
    ),
    "large-catalogue": (
        "benchmarks.large_catalogue.bench",
        ("The same requests over 10, 100 and 1,000 tools. They are behind several MCP servers."),
    ),
    "broken-tools": (
        "benchmarks.broken_tools.bench",
        "Rankings of tools of which some are broken. By retrieval, a model, and trials.",
    ),
    "confidence": (
        "benchmarks.refine.confidence",
        ("Measure how often the rules' guesses are right. Their confidences are taken from this."),
    ),
    "statements": (
        "benchmarks.statements.bench",
        "True and false statements against the answer check.",
    ),
    "options": (
        "benchmarks.options.bench",
        "Asked and unasked optional values. A model's probabilities tell them apart.",
    ),
    "letters": (
        "benchmarks.letters.bench",
        "Deeds told and writes asked for. A model's one letter tells them from others.",
    ),
    "judge": (
        "benchmarks.judge.bench",
        (
            "Measure a judge's reliability on desk runs. By repeats, position swap, agreement "
            "with gold."
        ),
    ),
    "recovery": (
        "benchmarks.recovery.bench",
        (
            "Strategies on tools that are not as documented. Counts whether the error is "
            "noticed, and the call repaired."
        ),
    ),
    "refinetoolbench": (
        "benchmarks.recovery.refinetoolbench",
        (
            "Recovery from injected errors. Builds cases from any verified trajectories, runs "
            "any strategy, and judges."
        ),
    ),
    "stabletoolbench": (
        "benchmarks.stabletoolbench.bench",
        (
            "StableToolBench with any strategy and any judge. Runs behind a virtual server, "
            "reads others' answer files, and prints the papers' tables."
        ),
    ),
}


def _add_command(app: typer.Typer, name: str, module: str, about: str) -> None:
    @app.command(name, help=about, context_settings=_PASS)
    def run_command(context: typer.Context) -> None:
        raise typer.Exit(import_module(f"callwright_lab.{module}").main(context.args))


for _app, _commands in ((train, _TRAINED), (bench, _MEASURED)):
    for _name, _told in _commands.items():
        _add_command(_app, _name, *_told)
