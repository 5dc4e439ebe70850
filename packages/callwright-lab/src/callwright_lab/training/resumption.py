"""Goes on with a stage of training that was ended, so that it ends as if it had not been.

A checkpoint counts once its last file, ``complete.json``, is there: a process may be killed while
it writes one. A stage counts once ``finished.json`` is there, which is written after its result. A
resumed run skips what is finished and goes on from the last complete checkpoint.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from callwright.jsontext import JsonError, parse
from callwright.nouns.errors import ConfigError, MissingExtra
from callwright.nouns.types import to_json
from callwright_lab.training.checkpoints import ADAPTER
from callwright_lab.training.processes import is_main_process
from callwright_lab.training.tuning_settings import Tuning

try:
    import torch
    from accelerate import PartialState
    from accelerate.utils import gather_object
    from transformers import TrainerCallback
except ImportError:
    raise MissingExtra("training a language model", "train", "callwright-lab") from None

COMPLETE, FINISHED, SETTINGS = "complete.json", "finished.json", "settings.json"
MAY_CHANGE = frozenset(
    ["steps", "epochs", "sft_steps", "sft_epochs", "save_every", "micro", "sft_micro", "recompute",
     "vllm", "vllm_share"]
)  # fmt: skip
"""Settings that may change when a run goes on: how long it is, and what it is computed by."""

IDLE = (
    "tokenizer*", "special_tokens_map.json", "added_tokens.json", "vocab.*", "merges.txt",
    "chat_template*", "README.md",
)  # fmt: skip
"""Files of an adapter's checkpoint by which no run goes on: the tokenizer is that of its base."""

Order = Mapping[str, float]
"""How long a stage is: steps, epochs, seconds."""


def read_clock() -> float:
    """On a CPU the seconds this process worked, whoever else uses the machine; with a GPU those of
    the wall.
    """
    return time.monotonic() if torch.cuda.is_available() else time.process_time()


class Checkpoints(TrainerCallback):  # type: ignore[misc]
    """Completes the checkpoints of a stage, the last one at its end, and ends it after the seconds
    of its order (0: never), counted over all its resumptions. An adapter's checkpoint is left
    without the files of :data:`IDLE`.
    """

    def __init__(self, order: Order, spent: float = 0.0) -> None:
        self._order, self._spent = dict(order), spent
        self._began = read_clock()

    @property
    def seconds(self) -> float:
        """Seconds that the stage took so far."""
        return self._spent + read_clock() - self._began

    def on_train_begin(self, *_: Any, **__: Any) -> None:
        self._began = read_clock()

    def on_step_end(self, _args: Any, _state: Any, control: Any, **_: Any) -> None:
        limit = self._order.get("seconds", 0)
        # each process has a clock of its own, and one that went on alone would wait for ever
        if limit and any(gather_object([self.seconds > limit])):
            control.should_training_stop = True
        if control.should_training_stop:
            control.should_save = True

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        PartialState().wait_for_everyone()  # all have written their share
        if not state.is_world_process_zero:
            return
        told = {
            "seconds": round(self.seconds, 3),
            "ended": bool(control.should_training_stop),
            "order": self._order,
        }
        folder = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        if (folder / ADAPTER).is_file():
            for path in (path for pattern in IDLE for path in folder.glob(pattern)):
                path.unlink()
        _write_whole(folder / COMPLETE, told)


def prepare_run(work: Path, resume: bool, order: Order) -> Path | None:
    """The complete checkpoint from which the run in this folder goes on; None: from its beginning.

    A checkpoint at which a run of this same order ended is no place to go on from: the one before
    is taken, and its last steps are made again. Raises ConfigError if there is a run and ``resume``
    was not asked for: a run is never overwritten.
    """
    work.mkdir(parents=True, exist_ok=True)
    found = _list_checkpoints(work)
    if found and not resume:
        raise ConfigError(
            f"there is already a run in {work}", hint="go on with --resume, or choose another --out"
        )
    useless: list[Path] = []
    chosen: Path | None = None
    for step in sorted(found, reverse=True):
        told = _read(found[step] / COMPLETE)
        if told is not None and not (told["ended"] and told["order"] == dict(order)):
            chosen = found[step]
            break
        useless.append(found[step])
    PartialState().wait_for_everyone()  # all have chosen
    if is_main_process():
        for folder in useless:
            shutil.rmtree(folder)
    return chosen


def read_spent(checkpoint: Path | None) -> float:
    """The seconds that a stage took up to its checkpoint."""
    told = _read(checkpoint / COMPLETE) if checkpoint else None
    return float(told["seconds"]) if told else 0.0


def cut_curve(path: Path, checkpoint: Path | None) -> None:
    """Leave the rows of a curve up to the checkpoint: those after it are written again."""
    if not is_main_process():
        return
    last = int(checkpoint.name.rpartition("-")[2]) if checkpoint else 0
    kept = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
        try:
            if parse(line)["step"] <= last:
                kept.append(line + "\n")
        except JsonError:  # the process was killed as it wrote
            break
    part = path.with_name(path.name + ".part")
    part.write_text("".join(kept), encoding="utf-8")
    os.replace(part, path)


def is_finished(work: Path, order: Order) -> bool:
    """Return True if the stage in this folder left its result, at the end of this order."""
    return bool(_read(work / FINISHED) == dict(order))


def mark_finished(work: Path, order: Order) -> None:
    """Say that the result of the stage is there."""
    _write_whole(work / FINISHED, dict(order))


def require_same_settings(work: Path, settings: Tuning) -> None:
    """Hold the settings of a run that goes on against those with which it was begun.

    Raises ConfigError for one outside MAY_CHANGE that is another.
    """
    told = to_json(asdict(settings))
    for name, value in (_read(work / SETTINGS) or {}).items():
        if name in told and name not in MAY_CHANGE and told[name] != value:
            flag = name.replace("_", "-")
            raise ConfigError(
                f"the run in {work} was begun with --{flag} {value}, not {told[name]}",
                hint=f"go on with --{flag} {value}, or begin another run with another --out",
            )


def keep_settings(work: Path, settings: Tuning) -> None:
    """Keep the settings of a run with it."""
    PartialState().wait_for_everyone()  # all have read those of before
    if is_main_process():
        _write_whole(work / SETTINGS, to_json(asdict(settings)))


def _list_checkpoints(work: Path) -> dict[int, Path]:
    """Folders of checkpoints, complete or not, by their step."""
    named = ((path, path.name.rpartition("-")[2]) for path in work.glob("checkpoint-*"))
    return {int(step): path for path, step in named if step.isdigit()}


def _read(path: Path) -> Any:
    try:
        return parse(path.read_text(encoding="utf-8"))
    except (OSError, JsonError):
        return None


def _write_whole(path: Path, told: Any) -> None:
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(told, sort_keys=True), encoding="utf-8")
    os.replace(part, path)
