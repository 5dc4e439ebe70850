"""One process of a run on several: started by torchrun with (way, folder of the result)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

ROWS = 8


def start_processes(count: int, way: str, out: Path) -> None:
    """Run this file in ``count`` processes that share the work, until all have ended."""
    command = [sys.executable, "-P", "-W", "ignore", "-m", "torch.distributed.run", "--standalone"]
    command += ["--nproc-per-node", str(count), __file__, way, str(out)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    made = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr[-4000:]


def append(path: Path) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write("made\n")


def take_part(way: str, out: Path) -> None:
    """What each process does: SFT, the same on shards, a run that ends by time, or work that is done
    once.
    """
    import torch

    from callwright_lab.training import processes

    if way == "once":
        processes.do_once(out / "done", lambda: append(out / "made"))
        seen = (out / "made").read_text(encoding="utf-8")
        (out / f"seen-{os.environ['RANK']}").write_text(seen, encoding="utf-8")
        joined = str(torch.distributed.is_initialized())
        (out / f"joined-{os.environ['RANK']}").write_text(joined, encoding="utf-8")
        return
    if way == "time":
        (out / f"ended-{os.environ['RANK']}").write_text(str(_ends_by_time()), encoding="utf-8")
        return
    _train(way, out, "whole")
    _forget_end(out / "run")
    _train(way, out, "torn")


def _ends_by_time() -> bool:
    """Return True if a run of ten seconds ends, of which the first process alone took twenty."""
    from accelerate import PartialState
    from transformers import TrainerControl

    from callwright_lab.training.resumption import Checkpoints

    spent = 20 if PartialState(cpu=True).is_main_process else 0
    control = TrainerControl()
    Checkpoints({"seconds": 10}, spent).on_step_end(None, None, control)
    return bool(control.should_training_stop)


def _train(way: str, out: Path, result: str) -> None:
    """Two steps, or what is left of them, from the same random model."""
    from callwright_lab.training import tuning
    from callwright_lab.training.toolmvr.mask import Tokens
    from callwright_lab.training.toolmvr.runs import run_sft
    from tests.training.refiner_case import TOY, tiny_model, tiny_tokenizer
    from tests.training.toolmvr_case import TOY as SHARED

    tokenizer = tiny_tokenizer()
    model, run = tiny_model(tokenizer), out / "run"
    if way == "fsdp":
        rows = [Tokens((n, n + 1, n + 2), (-100, n + 1, n + 2)) for n in range(ROWS)]
        shared = replace(SHARED, sharding="fsdp", steps=2, sft_batch=4, save_every=1)
        run_sft(model, tokenizer, rows, shared, run, resume=True, result=out / result)
        return
    chats = [([{"role": "user", "content": f"{n} " * n}], f"a{n}" * n) for n in range(1, ROWS + 1)]
    settings = replace(TOY, sft_batch=4, sft_micro=1, sft_rate=1e-2)
    tuning.run_sft(
        model, tokenizer, chats, settings, run, steps=2, resume=True, result=out / result
    )


def _forget_end(run: Path) -> None:
    """Leave what a run has that was killed after its first step."""
    from accelerate import PartialState

    PartialState().wait_for_everyone()
    if PartialState().is_main_process:
        (run / "finished.json").unlink()
        shutil.rmtree(run / "checkpoint-2")
    PartialState().wait_for_everyone()


if __name__ == "__main__":
    take_part(sys.argv[1], Path(sys.argv[2]))
