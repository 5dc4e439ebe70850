"""The command: from rows to a file that a refiner's settings take."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from callwright.models import ModelOptions
from callwright.nouns.errors import ConfigError, ModelError
from callwright.repair.by_model.harm_bound import Measured, read_bound
from callwright.repair.by_model.harm_score import FEATURES
from callwright.testing import ScriptedModel
from callwright_lab.benchmarks.harm_bound import command
from callwright_lab.benchmarks.harm_bound.calibration import Outcome
from callwright_lab.benchmarks.harm_bound.command import (
    choose_cuts,
    judge_veto,
    main,
)
from callwright_lab.training.refiner.formats import Invocation
from callwright_lab.training.refiner.store import write_samples
from callwright_lab.training.refiner.task import Sample, Task
from tests.benchmarks.harm_bound.test_proposals import make_case


def write_rows(path: Path, count: int, prefix: str) -> Path:
    """Right replies of an upstream, a tool each."""
    rows = []
    for number in range(count):
        case = make_case(number, f"{prefix}_{number}")
        rows.append({
            "query": case.query,
            "tools": [
                {"name": t.name, "description": "", "parameters": t.input_schema} for t in case.tools
            ],
            "calls": [{"name": c.tool, "arguments": c.arguments} for c in case.calls],
        })  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_seal_tools(root: Path, count: int) -> Path:
    """A data folder with gold calls in the layout of Seal-Tools."""
    folder = root / "seal_tools"
    folder.mkdir(parents=True)
    fields = {"city": {"type": "str", "description": "Where."}, "day": {"type": "str"}}
    tools = [
        {"api_name": f"gold_{n}", "api_description": "", "parameters": fields, "required": ["city"]}
        for n in range(count)
    ]
    rows = [
        {
            "id": f"dev_{n}",
            "query": f"What is on in Town{n} on Monday?",
            "calling": [{"api": f"gold_{n}", "parameters": {"city": f"Town{n}", "day": "Monday"}}],
        }
        for n in range(count)
    ]
    for name, listed in (("tool", tools), ("dev", rows), ("test_in_domain", [])):
        text = "".join(json.dumps(row) + "\n" for row in listed)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return root


def test_right_replies_of_an_upstream_are_calibrated_to_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = write_seal_tools(tmp_path / "data", 300)
    rows = write_rows(tmp_path / "right.jsonl", 1600, "mine")
    out = tmp_path / "runs" / "bound.json"
    given = ["--data", str(data), "--right", str(rows), "--upstream", "qwen3-8b", "--out", str(out)]
    assert main(given) == 0
    bound = read_bound(out)
    cut = bound.cuts["plain"]
    assert (cut.calls, bound.limit, bound.confidence) == (1600, 0.002, 0.95)
    assert cut.upper <= 0.002
    assert cut.helps > 0
    assert (bound.measured.upstream, bound.measured.refiner) == ("qwen3-8b", "")
    assert bound.rows.startswith("sha256:")
    told = capsys.readouterr().out
    assert "| plain | 1,600 |" in told
    assert "| any objection counts | 1,600 |" in told
    assert main(given) == 0
    assert read_bound(out) == bound


class _Refiner(BaseHTTPRequestHandler):
    """Knows the right call of every request here, harms every third right one, and doubts it then."""

    asked = 0

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        type(self).asked += 1
        assert body["logprobs"] is True
        said = body["messages"][-1]["content"]
        names = re.findall(r"^((?:mine|gold)_\d+)\(", said, re.MULTILINE)
        number = re.findall(r"Town(\d+) on Monday", said)[0]
        name = next(one for one in names if one.endswith(f"_{number}"))
        right = {"city": f"Town{number}", "day": "Monday"}
        given = said.partition("Call:")[2]
        harms = int(number) % 3 == 0 and all(f'"{value}"' in given for value in right.values())
        made = {"city": "Monday", "day": f"Town{number}"} if harms else right
        answer = json.dumps([{"name": name, "arguments": made}])
        logprob = -2.5 if harms else -0.1
        choice = {
            "message": {"content": f"<func_call>{answer}</func_call>"},
            "logprobs": {"content": [{"token": "x", "logprob": logprob}]},
        }
        data = json.dumps({"choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def endpoint() -> Iterator[str]:
    _Refiner.asked = 0
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Refiner)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1#mine"
    server.shutdown()
    server.server_close()


def test_a_refiner_of_an_endpoint_is_asked_once_and_held_to_the_limit(
    tmp_path: Path, endpoint: str
) -> None:
    data = write_seal_tools(tmp_path / "data", 300)
    rows = write_rows(tmp_path / "right.jsonl", 90, "mine")
    out = tmp_path / "bound.json"
    given = ["--data", str(data), "--right", str(rows), "--upstream", "theirs", "--out", str(out)]
    given += ["--refiner", endpoint, "--refiner-prompt", "short", "--refiner-tokens", "4096"]
    assert main([*given, "--limit", "0.05", "--spoiled", "30"]) == 0
    bound = read_bound(out)
    assert bound.measured == Measured("mine", "theirs", "short", 4096)
    assert set(bound.cuts) == {"plain", "likelihood"}
    for cut in bound.cuts.values():
        assert (cut.calls, cut.harms) == (90, 0)
        assert cut.upper <= 0.05
        assert 0 < cut.helps <= cut.wrong
    parallel = tmp_path / "parallel.json"
    again = [*given, "--limit", "0.05", "--spoiled", "30", "--jobs", "8", "--out", str(parallel)]
    asked = _Refiner.asked
    assert main(again) == 0
    assert (_Refiner.asked, read_bound(parallel)) == (2 * asked, bound)
    _Refiner.asked = asked
    assert asked == len((tmp_path / "bound.replies.jsonl").read_text("utf-8").splitlines())
    assert main([*given, "--limit", "0.05", "--spoiled", "30"]) == 0
    assert (_Refiner.asked, read_bound(out)) == (asked, bound)


def test_a_local_refiner_has_room_for_its_longest_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was opened with 8,192 tokens, whatever its answers may have."""
    opened: list[int | None] = []

    def open_model(spec: str, options: ModelOptions) -> ScriptedModel:
        opened.append(options.context)
        return ScriptedModel([])

    monkeypatch.setattr("callwright_lab.training.batched.open_model", open_model)
    monkeypatch.setattr(command, "identify_model", lambda spec: "mine")
    data = write_seal_tools(tmp_path / "data", 300)
    rows = write_rows(tmp_path / "right.jsonl", 1600, "mine")
    given = ["--data", str(data), "--right", str(rows), "--upstream", "u", "--refiner", "local"]
    for tokens in ("4096", "256"):
        with pytest.raises(ModelError):
            main([*given, "--refiner-tokens", tokens, "--out", str(tmp_path / "b.json")])
    assert opened == [8192 + 4096, None]


@pytest.mark.parametrize("limit", ["0", "1", "-0.1", "much"])
def test_a_limit_is_a_share(limit: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--limit", limit])
    assert "between 0 and 1" in capsys.readouterr().err


def test_too_few_right_replies_are_refused_before_anybody_is_asked(tmp_path: Path) -> None:
    data = write_seal_tools(tmp_path / "data", 40)
    rows = write_rows(tmp_path / "right.jsonl", 1496, "mine")
    given = ["--data", str(data), "--right", str(rows), "--upstream", "u"]
    asked = ["--refiner", "http://127.0.0.1:9/v1#nobody", "--out", str(tmp_path / "b.json")]
    with pytest.raises(ConfigError, match=r"1,496 right replies are too few: .* needs 1,497"):
        main([*given, *asked])


def test_tools_of_the_training_rows_are_left_out(tmp_path: Path) -> None:
    data = write_seal_tools(tmp_path / "data", 300)
    rows = write_rows(tmp_path / "right.jsonl", 1500, "mine")
    task = Task(
        "t", "xlam", "xlam", "", "q", (), tuple(Invocation(f"mine_{n}", {}) for n in range(4))
    )
    training = tmp_path / "data.jsonl"
    write_samples(training, [Sample(task, "correct", "", "")])
    given = ["--data", str(data), "--right", str(rows), "--upstream", "u"]
    with pytest.raises(ConfigError, match="1,496 right replies are too few"):
        main([*given, "--training", str(training), "--out", str(tmp_path / "b.json")])


def test_rows_of_an_upstream_without_a_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--right needs the name of its upstream"):
        main(["--right", str(tmp_path / "right.jsonl")])


def make_outcome(was_right: bool, is_right: bool, **named: float) -> Outcome:
    return Outcome(was_right, is_right, {**dict.fromkeys(FEATURES, 0.0), **named})


def test_likelihoods_have_a_cut_where_the_refiner_states_them() -> None:
    harms = [make_outcome(True, False, sound=1, hesitation=3)] * 15
    helps = [make_outcome(False, True, hesitation=0.1)] * 15
    right = [*[Outcome(True, True)] * 1600, make_outcome(True, False, sound=1, hesitation=3)]
    cuts = choose_cuts([*harms, *helps], [*harms, *helps], [*right, *helps], 0.002)
    assert set(cuts) == {"plain", "likelihood"}
    assert cuts["likelihood"].score.weights["hesitation"] > 0
    assert "hesitation" not in cuts["plain"].score.weights
    assert cuts["likelihood"].helps == 15
    assert set(choose_cuts([*harms, *helps], [], right, 0.002)) == {"plain"}
    bare = Outcome(
        False, True, {k: v for k, v in (helps[0].features or {}).items() if k != "surprise"}
    )
    assert set(choose_cuts([*harms, *helps], [*harms, *helps], [*right, bare], 0.002)) == {"plain"}


def test_the_veto_takes_what_has_no_objection() -> None:
    rows = [
        make_outcome(True, False),
        make_outcome(True, False, lost=1),
        make_outcome(False, True),
        make_outcome(False, True, ungrounded=1),
        Outcome(True, True),
    ]
    assert judge_veto(rows) == (1, 1)
