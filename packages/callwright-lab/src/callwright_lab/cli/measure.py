"""``callwright train`` and ``callwright bench``: commands whose options are read by the modules
that they start.
"""

from __future__ import annotations

import typer

from callwright.cli.terminal.apps import new_app

train = new_app("Rebuild the trained parts from data (extra: callwright-lab[train]).")
bench = new_app("Run the benchmarks (callwright-lab).")
_PASS = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


@train.command("layers", context_settings=_PASS)
def train_layers(context: typer.Context) -> None:
    """Train the layer predictor. --model edges is made of trees, network is the paper's."""
    from callwright_lab.cli.train import train_layers as start

    raise typer.Exit(start(context.args))


@train.command("ranker", context_settings=_PASS)
def train_ranker(context: typer.Context) -> None:
    """Train the learned ranker of retrieval. It learns from queries and the tools each needs."""
    from callwright_lab.training.ranker.retrieval_ranker import main

    raise typer.Exit(main(context.args))


@train.command("refiner", context_settings=_PASS)
def train_refiner(context: typer.Context) -> None:
    """Train the tool-use refiner. Steps: data, supervised warm start, DAPO, held-out score."""
    from callwright_lab.training.refiner.command import main

    raise typer.Exit(main(context.args))


@train.command("planner", context_settings=_PASS)
def train_planner(context: typer.Context) -> None:
    """Train a planner of whole graphs. Steps: tasks from any catalogue, SFT, curation, GRPO,
    held-out score.
    """
    from callwright_lab.training.planner.command import main

    raise typer.Exit(main(context.args))


@train.command("toolmvr", context_settings=_PASS)
def train_toolmvr(context: typer.Context) -> None:
    """Train on verified trajectories and reflections. Steps: rows, V alone, V and R together,
    held-out corrections.
    """
    from callwright_lab.training.toolmvr.command import main

    raise typer.Exit(main(context.args))


@train.command("adapter", context_settings=_PASS)
def train_adapter(context: typer.Context) -> None:
    """Write a trained LoRA adapter as a GGUF file. The embedded engine loads it as a check."""
    from callwright_lab.training.adapters.command import main

    raise typer.Exit(main(context.args))


@train.command("harm-bound", context_settings=_PASS)
def train_harm_bound(context: typer.Context) -> None:
    """Calibrate which changes of a refiner may be taken. Right replies are to stay right."""
    from callwright_lab.benchmarks.harm_bound.command import main

    raise typer.Exit(main(context.args))


@bench.command("desk", context_settings=_PASS)
def bench_desk(context: typer.Context) -> None:
    """Strategies on the tasks of examples/desk."""
    from callwright_lab.benchmarks.desk.bench import main

    raise typer.Exit(main(context.args))


@bench.command("multi-turn", context_settings=_PASS)
def bench_multi_turn(context: typer.Context) -> None:
    """Strategies on BFCL's executable multi-turn scenarios."""
    from callwright_lab.benchmarks.multi_turn.bench import main

    raise typer.Exit(main(context.args))


@bench.command("bfcl", context_settings=_PASS)
def bench_bfcl(context: typer.Context) -> None:
    """BFCL's own harness, direct and behind the proxy."""
    from callwright_lab.benchmarks.bfcl.bench import main

    raise typer.Exit(main(context.args))


@bench.command("agents", context_settings=_PASS)
def bench_agents(context: typer.Context) -> None:
    """Whole jobs by agent loops, direct and behind the proxy. Harm is counted first."""
    from callwright_lab.benchmarks.agents.bench import main

    raise typer.Exit(main(context.args))


@bench.command("makespan", context_settings=_PASS)
def bench_makespan(context: typer.Context) -> None:
    """Measure the duration of each strategy. Knowledge and scripted delays are the same."""
    from callwright_lab.benchmarks.makespan.bench import main

    raise typer.Exit(main(context.args))


@bench.command("gateway", context_settings=_PASS)
def bench_gateway(context: typer.Context) -> None:
    """Right and spoiled calls through the MCP gateway. Counts repaired, harmed and refused ones."""
    from callwright_lab.benchmarks.gateway.bench import main

    raise typer.Exit(main(context.args))


@bench.command("agentdojo", context_settings=_PASS)
def bench_agentdojo(context: typer.Context) -> None:
    """Frozen plans against injected instructions, on AgentDojo. Arguments are bound late."""
    from callwright_lab.benchmarks.agentdojo.bench import main

    raise typer.Exit(main(context.args))


@bench.command("acebench", context_settings=_PASS)
def bench_acebench(context: typer.Context) -> None:
    """ACEBench's normal and special rows. A model is prompted as the suite does, with native tools,
    and behind the proxy.
    """
    from callwright_lab.benchmarks.acebench.bench import main

    raise typer.Exit(main(context.args))


@bench.command("plan", context_settings=_PASS)
def bench_plan(context: typer.Context) -> None:
    """Execution orders of planners against gold. Learned and simple ones, on public data."""
    from callwright_lab.benchmarks.planning.bench import main

    raise typer.Exit(main(context.args))


@bench.command("harm", context_settings=_PASS)
def bench_harm(context: typer.Context) -> None:
    """Measure the changes that refinement makes. It is given correct calls, and replies that call
    nothing.
    """
    from callwright_lab.benchmarks.harm.bench import main

    raise typer.Exit(main(context.args))


@bench.command("refine", context_settings=_PASS)
def bench_refine(context: typer.Context) -> None:
    """Gain and harm of refinement on recorded replies. Compares the baseline, its rivals and every
    rule group, also on spoiled gold calls of public data.
    """
    from callwright_lab.benchmarks.refine.bench import main

    raise typer.Exit(main(context.args))


@bench.command("retrieval", context_settings=_PASS)
def bench_retrieval(context: typer.Context) -> None:
    """Rankings of tools against those that requests need. By BM25, dense, hybrid and learned, in a
    large catalogue.
    """
    from callwright_lab.benchmarks.retrieval.bench import main

    raise typer.Exit(main(context.args))


@bench.command("large-catalogue", context_settings=_PASS)
def bench_large_catalogue(context: typer.Context) -> None:
    """The same requests over 10, 100 and 1,000 tools. They are behind several MCP servers."""
    from callwright_lab.benchmarks.large_catalogue.bench import main

    raise typer.Exit(main(context.args))


@bench.command("broken-tools", context_settings=_PASS)
def bench_broken_tools(context: typer.Context) -> None:
    """Rankings of tools of which some are broken. By retrieval, a model, and trials."""
    from callwright_lab.benchmarks.broken_tools.bench import main

    raise typer.Exit(main(context.args))


@bench.command("confidence", context_settings=_PASS)
def bench_confidence(context: typer.Context) -> None:
    """Measure how often the rules' guesses are right. Their confidences are taken from this."""
    from callwright_lab.benchmarks.refine.confidence import main

    raise typer.Exit(main(context.args))


@bench.command("statements", context_settings=_PASS)
def bench_statements(context: typer.Context) -> None:
    """True and false statements against the answer check."""
    from callwright_lab.benchmarks.statements.bench import main

    raise typer.Exit(main(context.args))


@bench.command("options", context_settings=_PASS)
def bench_options(context: typer.Context) -> None:
    """Asked and unasked optional values. A model's probabilities tell them apart."""
    from callwright_lab.benchmarks.options.bench import main

    raise typer.Exit(main(context.args))


@bench.command("letters", context_settings=_PASS)
def bench_letters(context: typer.Context) -> None:
    """Deeds told and writes asked for. A model's one letter tells them from others."""
    from callwright_lab.benchmarks.letters.bench import main

    raise typer.Exit(main(context.args))


@bench.command("judge", context_settings=_PASS)
def bench_judge(context: typer.Context) -> None:
    """Measure a judge's reliability on desk runs. By repeats, position swap, agreement with gold."""
    from callwright_lab.benchmarks.judge.bench import main

    raise typer.Exit(main(context.args))


@bench.command("recovery", context_settings=_PASS)
def bench_recovery(context: typer.Context) -> None:
    """Strategies on tools that are not as documented. Counts whether the error is noticed, and the
    call repaired.
    """
    from callwright_lab.benchmarks.recovery.bench import main

    raise typer.Exit(main(context.args))


@bench.command("refinetoolbench", context_settings=_PASS)
def bench_refinetoolbench(context: typer.Context) -> None:
    """Recovery from injected errors. Builds cases from any verified trajectories, runs any strategy,
    and judges.
    """
    from callwright_lab.benchmarks.recovery.refinetoolbench import main

    raise typer.Exit(main(context.args))


@bench.command("stabletoolbench", context_settings=_PASS)
def bench_stabletoolbench(context: typer.Context) -> None:
    """StableToolBench with any strategy and any judge. Runs behind a virtual server, reads others'
    answer files, and prints the papers' tables.
    """
    from callwright_lab.benchmarks.stabletoolbench.bench import main

    raise typer.Exit(main(context.args))
