"""Commands that are killed anywhere in any stage, and gone on with by the same command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("trl") is None or find_spec("torch") is None:
    pytest.skip("extra 'train' is not installed", allow_module_level=True)

from callwright_lab.training.planner import data as planner_data
from callwright_lab.training.toolmvr.data import build_records, save_records
from tests.training.planner_case import tasks
from tests.training.refiner_case import nested_row, tiny_model, tiny_tokenizer
from tests.training.toolmvr_case import bought

pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore")]


def _refiner(folder: Path) -> list[str]:
    data = folder / "data"
    for name in ("xlam", "nestools"):
        (data / name).mkdir(parents=True)
    rows = [
        {
            "id": n,
            "query": f"Weather in town{n}",
            "tools": json.dumps(
                [{"name": f"weather_{n}", "parameters": {"city": {"type": "str"}}}]
            ),
            "answers": json.dumps([{"name": f"weather_{n}", "arguments": {"city": f"town{n}"}}]),
        }
        for n in range(20)
    ]
    (data / "xlam" / "xlam_function_calling_60k.json").write_text(json.dumps(rows))
    (data / "nestools" / "test_data.jsonl").write_text(
        "\n".join(json.dumps(nested_row(n)) for n in range(8))
    )
    given = ["refiner", "--preset", "cpu", "--sources", "xlam", "--each", "6", "--correct", "6"]
    given += ["--full", "4", "--simplified", "6", "--held", "4", "--data", str(data)]
    given += ["--adapter", "lora", "--rank", "4", "--beta", "0.1", "--top", "0", "--free", "200"]
    return [*given, "--sft-steps", "3", "--steps", "3", "--stages", "data,sft,dapo,measure"]


def _planner(folder: Path) -> list[str]:
    planner_data.write_rows(folder / "mine.jsonl", {"sft": tasks(60)})
    given = ["planner", "--preset", "cpu", "--sources", str(folder / "mine.jsonl"), "--held", "2"]
    given += ["--top", "1"]
    given += ["--samples", "2", "--sft-steps", "3", "--steps", "3", "--batch", "1"]
    return [*given, "--stages", "data,sft,grpo,measure"]


def _toolmvr(folder: Path) -> list[str]:
    save_records(folder / "rows.jsonl", build_records(map(bought, range(12)), context=4000))
    given = ["toolmvr", "--preset", "cpu", "--rows", str(folder / "rows.jsonl"), "--held", "1"]
    given += ["--top", "1"]
    return [*given, "--ratio", "0", "--steps", "4", "--stages", "data,v,vr,measure"]


CASES = {"refiner": _refiner, "planner": _planner, "toolmvr": _toolmvr}
RESULTS = {"refiner": ("sft", "refiner"), "planner": ("sft", "planner"), "toolmvr": ("v", "vr")}


def _start(given: list[str]) -> subprocess.Popen[str]:
    module = f"callwright_lab.training.{given[0]}.command"
    command = [sys.executable, "-u", "-P", "-W", "ignore", "-m", module, *given[1:]]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    )


def _run(given: list[str], kill_after: int = 0) -> bool:
    """Run it; with ``kill_after`` until that many steps were logged. Returns True if it ended."""
    process = _start(given)
    assert process.stdout is not None
    steps = 0
    for line in process.stdout:
        steps += line.startswith("{'loss'")
        if kill_after and steps == kill_after:
            process.kill()
            break
    process.stdout.close()
    return process.wait() == 0


@pytest.mark.parametrize("command", CASES)
def test_a_killed_command_ends_as_if_it_had_not_been(command: str, tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    start = tmp_path / "start"
    tiny_model(tokenizer).save_pretrained(start)
    tokenizer.save_pretrained(start)
    given = [*CASES[command](tmp_path), "--model", str(start), "--context", "4000"]
    given += ["--longest", "300", "--save-every", "1", "--no-bf16", "--resume"]
    whole, torn = ([*given, "--out", str(tmp_path / name)] for name in ("whole", "torn"))
    assert _run(whole)
    for steps in (2, 3):  # in the first stage, and in the second
        assert not _run(torn, steps)
    assert _run(torn)
    for folder in RESULTS[command]:
        (made,) = (tmp_path / "whole" / folder).glob("*.safetensors")
        assert made.read_bytes() == (tmp_path / "torn" / folder / made.name).read_bytes(), folder
    scores = [(tmp_path / side / "scores.json").read_text() for side in ("whole", "torn")]
    assert scores[0] == scores[1]
