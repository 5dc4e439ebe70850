"""The card of an adapter: what the file is, what it learned from, and how it is used.

All is read from the folder of the run that trained it. What does not stand there is unknown, and
the card says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from callwright.jsontext import parse
from callwright.models.local import DEFAULT
from callwright.nouns.errors import ConfigError
from callwright.weights import REGISTRY
from callwright.weights.store import sha256_of
from callwright_lab.training.checkpoints import ADAPTER
from callwright_lab.training.refiner.command import MEASURED
from callwright_lab.training.refiner.licences import list_limits, render_licences
from callwright_lab.training.refiner.store import read_samples
from callwright_lab.training.refiner.task import Sample, split_held_out
from callwright_lab.training.resumption import FINISHED, SETTINGS
from callwright_lab.training.tuning_settings import is_gguf

_RUNS = {
    "sft": ("sft-run",), "refiner": ("sft-run", "dapo"), "against": ("sft-run", "against-run"),
}  # fmt: skip
_STAGES = (
    "| stage | steps | rate | of each step | prompt and reply, tokens | seed | ended |\n"
    "|---|---|---|---|---|---|---|\n"
)


def build_card(folder: Path, file: Path) -> tuple[str, list[str]]:
    """(card of the adapter in ``folder`` that was written to ``file``, as Markdown; sentences that
    say why the weights may not be given away).

    The run is the folder above: its samples, the settings of its stages, and its scores.
    """
    folder = folder.resolve()
    config: Any = parse((folder / ADAPTER).read_text(encoding="utf-8"))
    base = str(config["base_model_name_or_path"])
    told = _read_settings(folder)
    learned = _read_learned(folder.parent)
    limits = [*_find_gaps(folder, base, told, learned), *list_limits(learned)]
    prompt = ([""] + [settings.get("prompt") for settings in told.values()])[-1]
    spec = f"local:{'' if base == DEFAULT else Path(base).name}+{file.name}"
    use = f'callwright run "…" --model {spec}'
    if prompt:
        use = f"callwright refine --jsonl replies.jsonl --refiner {spec} --refiner-prompt {prompt}"
    modules, scores = config["target_modules"], folder.parent / "scores.md"
    lines = [
        f"# {file.stem}", "",
        "A LoRA adapter as a GGUF file, which llama.cpp loads beside its base.", "",
        "| field | value |", "|---|---|",
        f"| file | `{file.name}`, {file.stat().st_size / 1e6:.1f} MB |",
        f"| sha256 | `{sha256_of(file)}` |",
        *_render_base(base),
        f"| kind | LoRA, rank {config['r']}, alpha {config['lora_alpha']}, on"
        f" {modules if isinstance(modules, str) else ', '.join(sorted(modules))} |",
        f"| trained for | {f'repairing tool calls, prompt `{prompt}`' if prompt else 'unknown'} |",
        f"| may be given away | {'no, see below' if limits else 'yes, by the licences below'} |", "",
        "## Use", "", "```console", f"$ {use}", "```", "",
        "Measure it on your own replies before: an adapter can also make right calls worse.", "",
        "## Data", "", render_licences(learned) if learned else "The data are unknown.", "",
        "Rows longer than the lengths below were left out.", "",
        "## Training", "",
        (_STAGES + "\n".join(_render_stage(folder.parent / work, told[work]) for work in told))
        if told else "The settings of the run are unknown.", "",
        "## Held-out scores", "",
        f"It is `{MEASURED[folder.name]}`.\n\n{scores.read_text(encoding='utf-8').rstrip()}"
        if folder.name in MEASURED and scores.is_file() else "None: it was not measured.", "",
        "## Giving the weights away", "",
        *(limits or ["The licences above allow it. Name the sources and the base, keep this card."]),
    ]  # fmt: skip
    return "\n".join(lines) + "\n", limits


def _render_base(base: str) -> list[str]:
    """Name, without the folders of this machine, and sha256 of the base."""
    path = Path(base).expanduser()
    if base in REGISTRY:
        name, digest = f"{base} (`{REGISTRY[base].filename}`)", REGISTRY[base].sha256
    else:
        name = path.name if path.exists() else base
        digest = sha256_of(path) if is_gguf(base) else "unknown"
    return [f"| base model | {name} |", f"| sha256 of the base | `{digest}` |"]


def _read_settings(folder: Path) -> dict[str, Any]:
    """The settings of the stages that led to this folder, by the folder of their runs."""
    files = [folder.parent / work / SETTINGS for work in _RUNS.get(folder.name, ())]
    return {f.parent.name: parse(f.read_text(encoding="utf-8")) for f in files if f.is_file()}


def _read_learned(run: Path) -> list[Sample]:
    """The samples that a refiner's run learned from; none where its folder holds none."""
    files = [run / name for name in ("data.jsonl", "own.jsonl") if (run / name).is_file()]
    try:
        return split_held_out([sample for file in files for sample in read_samples(file)])[0]
    except ConfigError:  # the rows of another kind of run
        return []


def _find_gaps(
    folder: Path, base: str, told: Mapping[str, Any], learned: list[Sample]
) -> list[str]:
    """Sentences on what is unknown of the data: no card may leave a part of them out."""
    works = [work for work in _RUNS.get(folder.name, ()) if work != "sft-run"] or ["sft-run"]
    if (folder.parent / "sft").is_dir():
        works.append("sft-run")
    asked = {
        "The data that it learned from are unknown.": not learned,
        "A run that trained it is unknown.": not told.keys() >= set(works),
        "It began from another model than its base, of whose data nothing is known.": any(
            settings["model"] != base for settings in told.values()
        ),
    }
    return [sentence for sentence, true in asked.items() if true]


def _render_stage(work: Path, told: Mapping[str, Any]) -> str:
    sft = work.name != "dapo"
    steps = (path.name.rpartition("-")[2] for path in work.glob("checkpoint-*"))
    groups = f"{told['batch']} prompts x {told['group']} replies"
    cells = (
        work.name.removesuffix("-run"),
        max((int(step) for step in steps if step.isdigit()), default="unknown"),
        told["sft_rate" if sft else "rate"],
        f"{told['sft_batch']} rows" if sft else groups,
        f"{told['context']}, {told['longest']}",
        told["seed"],
        "yes" if (work / FINISHED).is_file() else "no",
    )
    return f"| {' | '.join(map(str, cells))} |"
