"""One process of a run on several: started by torchrun with (way, folder of the result)."""

from __future__ import annotations

import os
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


def main(way: str, out: Path) -> None:
    from callwright_lab.training import tuning
    from callwright_lab.training.toolmvr.mask import Tokens
    from callwright_lab.training.toolmvr.runs import run_sft
    from tests.training.refiner_case import TOY, tiny_model, tiny_tokenizer
    from tests.training.toolmvr_case import TOY as SHARED

    tokenizer = tiny_tokenizer()
    model = tiny_model(tokenizer)
    if way == "fsdp":
        rows = [Tokens((n, n + 1, n + 2), (-100, n + 1, n + 2)) for n in range(ROWS)]
        settings = replace(SHARED, sharding="fsdp", steps=2, sft_batch=4, save_every=1)
        run_sft(model, tokenizer, rows, settings, out / "run", result=out / "result")
        return
    chats = [([{"role": "user", "content": f"{n} " * n}], f"a{n}" * n) for n in range(1, ROWS + 1)]
    settings = replace(TOY, sft_batch=4, sft_micro=1, sft_rate=1e-2)
    tuning.run_sft(model, tokenizer, chats, settings, out / "run", steps=2, result=out / "result")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
