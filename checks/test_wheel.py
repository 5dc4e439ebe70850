"""What a user installs: each wheel holds every file of its package, weights and prompts included,
and nothing else; the core works without the lab, and the lab adds its commands.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

import callwright
import callwright_lab
from callwright import prompts
from callwright_lab import prompts as lab_prompts
from tests.chat_server import ChatServer
from tests.cli.sky import TOOLS

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = {"callwright": "callwright", "callwright-lab": "callwright_lab"}
LAB_COMMANDS = ("verify", "explore", "train", "bench", "convert")
CALL = '{"tool": "weather", "arguments": {"city": "Oslo"}}'


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheels built from this tree, by distribution."""
    found = {}
    for name in PACKAGES:
        folder = tmp_path_factory.mktemp("wheel")
        command = [sys.executable, "-P", "-m", "hatchling", "build", "-t", "wheel"]
        subprocess.run(
            [*command, "-d", str(folder)],
            cwd=ROOT / "packages" / name,
            check=True,
            capture_output=True,
        )
        (found[name],) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module", params=PACKAGES)
def built(request: pytest.FixtureRequest, wheels: dict[str, Path]) -> tuple[str, dict[str, bytes]]:
    """A distribution and the files of its wheel, by path."""
    return request.param, _files(wheels[request.param])


def _files(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_every_file_of_the_package_is_in_the_wheel_as_it_is_here(
    built: tuple[str, dict[str, bytes]],
) -> None:
    distribution, wheel = built
    source = ROOT / "packages" / distribution / "src"
    here = {
        path.relative_to(source).as_posix(): path.read_bytes()
        for path in (source / PACKAGES[distribution]).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name: wheel.get(name) for name in here} == here
    if distribution == "callwright":
        wanted = {
            "py.typed",
            "planning/__init__.py",
            "planning/data/edges.npz",
            "prompts/refine.md",
        }
        assert {f"callwright/{name}" for name in wanted} <= set(here)
    else:
        assert "callwright_lab/benchmarks/statements/scenes/01-airports.json" in here
        assert "callwright_lab/prompts/verify_row.md" in here
        assert "callwright_lab/py.typed" in here


def test_nothing_else_is_in_it(built: tuple[str, dict[str, bytes]]) -> None:
    distribution, wheel = built
    others = [name for name in wheel if not name.startswith(f"{PACKAGES[distribution]}/")]
    assert all(".dist-info/" in name for name in others)
    assert any(name.endswith("licenses/LICENSE") for name in others)
    (metadata,) = [text for name, text in wheel.items() if name.endswith(".dist-info/METADATA")]
    readme = (ROOT / "packages" / distribution / "README.md").read_text(encoding="utf-8")
    assert readme.strip() in metadata.decode()


def test_the_core_holds_nothing_of_the_lab(wheels: dict[str, Path]) -> None:
    """No benchmark, no training code, no data set, and only the questions that it asks itself."""
    core = _files(wheels["callwright"])
    rooms = {part for name in core for part in Path(name).parts[:-1]}
    assert not rooms & {"benchmarks", "training", "datasets", "verify", "reflection"}
    questions = [Path(name) for name in core if name.startswith("callwright/prompts/")]
    held = {path.stem for path in questions if path.suffix == ".md"}
    assert held == set(prompts.names())
    assert not held & set(lab_prompts.names())
    code = b"".join(text for name, text in core.items() if name.endswith(".py"))
    assert b"import callwright_lab" not in code
    assert b"from callwright_lab" not in code
    lab = _files(wheels["callwright-lab"])
    asked = {Path(name).stem for name in lab if name.startswith("callwright_lab/prompts/")}
    assert asked - {"__init__"} == set(lab_prompts.names())


def test_both_packages_have_one_version() -> None:
    assert callwright_lab.__version__ == callwright.__version__
    text = (ROOT / "packages" / "callwright-lab" / "pyproject.toml").read_text(encoding="utf-8")
    assert tomllib.loads(text)["project"]["dependencies"] == [
        f"callwright=={callwright.__version__}"
    ]


class Installed:
    """A fresh environment with these wheels: what they depend on is that of this environment."""

    def __init__(self, folder: Path, *wheels: Path) -> None:
        self.folder = folder
        venv.EnvBuilder().create(folder / "venv")
        binaries = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
        self.python = binaries / ("python.exe" if os.name == "nt" else "python")
        self.program = binaries / ("callwright.exe" if os.name == "nt" else "callwright")
        others = folder / "others"
        others.mkdir()
        for place in [path for path in sys.path if Path(path).name == "site-packages"]:
            for path in Path(place).iterdir():
                is_ours = path.name.startswith("callwright") or path.suffix == ".pth"
                if not is_ours and not (others / path.name).exists():
                    (others / path.name).symlink_to(path)
        (own,) = (folder / "venv").rglob("site-packages")
        (own / "others.pth").write_text(f"{others}\n")
        install = [sys.executable, "-P", "-m", "pip", "--python", str(self.python), "install"]
        subprocess.run(
            [*install, "--quiet", "--no-deps", "--no-index", *map(str, wheels)],
            check=True,
            capture_output=True,
        )
        (folder / "tools.py").write_text(TOOLS)

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """The command, run outside of the repository, with a state of its own."""
        kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
        return subprocess.run(
            [str(self.program), *arguments],
            cwd=self.folder,
            env={
                **kept,
                "XDG_STATE_HOME": str(self.folder / "state"),
                "COLUMNS": "200",
                "NO_COLOR": "1",
            },
            input="",
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )


@pytest.fixture(scope="module")
def core(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(tmp_path_factory.mktemp("core"), wheels["callwright"])


@pytest.fixture(scope="module")
def both(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(tmp_path_factory.mktemp("both"), *wheels.values())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--help"], "refine"),
        (["--version"], callwright.__version__),
        (["plan", "How is the weather in Oslo?", "--tools", "tools.py"], "weather"),
        (["check", CALL, "--tools", "tools.py"], '"accepted": true'),
        (
            ["refine", '{"name": "weather", "arguments": {"city": "Oslo"}}', "--tools", "tools.py"],
            '"weather"',
        ),
        (["proxy", "--help"], "--upstream"),
        (["tools", "tools.py"], "weather"),
    ],
    ids=lambda given: given[0] if isinstance(given, list) else "",
)
def test_the_core_works_alone(core: Installed, arguments: list[str], said: str) -> None:
    done = core(*arguments)
    assert done.returncode == 0, done.stderr
    assert said in done.stdout


@pytest.mark.parametrize("command", LAB_COMMANDS)
def test_without_the_lab_its_commands_say_what_to_install(core: Installed, command: str) -> None:
    done = core(command, "--help")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.split("\n")[0] == (
        f"error: `callwright {command}` is part of callwright-lab, which is not installed"
    )
    wheel = f"callwright_lab-{callwright.__version__}-py3-none-any.whl"
    assert done.stderr.rstrip().endswith(wheel), "where the core's wheel came from"
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", LAB_COMMANDS)
def test_the_lab_adds_its_commands(both: Installed, command: str) -> None:
    done = both(command, "--help")
    assert done.returncode == 0, done.stderr
    assert f"callwright {command}" in done.stdout


def _row() -> str:
    function = {
        "name": "weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    }
    called = {"name": "weather", "arguments": '{"city": "Oslo"}'}
    messages = [
        {"role": "user", "content": "What is the sky like in Oslo?"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "1", "type": "function", "function": called}],
        },
        {"role": "tool", "tool_call_id": "1", "content": '{"city": "Oslo", "sky": "clear"}'},
        {"role": "assistant", "content": "The sky in Oslo is clear."},
    ]
    return json.dumps({"messages": messages, "tools": [{"type": "function", "function": function}]})


def test_each_command_of_the_lab_does_its_work(both: Installed) -> None:
    (both.folder / "rows.jsonl").write_text(_row() + "\n")
    verified = both("verify", "trajectories", "rows.jsonl", "--tools", "tools.py")
    assert verified.returncode == 0, verified.stderr
    converted = both("convert", "rows.jsonl", "--to", "toolbench-vr", "--out", "vr.jsonl")
    assert converted.returncode == 0, converted.stderr
    assert "weather(city='Oslo')" in (both.folder / "vr.jsonl").read_text()
    measured = both("bench", "statements")
    assert (measured.returncode, "caught" in measured.stdout) == (0, True), measured.stderr
    trained = both("train", "refiner", "--dry-run")
    assert "optimiser steps" in trained.stdout, trained.stderr
    with ChatServer('{"tool": "weather", "arguments": {"city": "Rome"}}') as server:
        explored = both(
            "explore", "rows.jsonl", "--tools", "tools.py", "--model", f"{server.url}#m"
        )
        assert (explored.returncode, server.count > 0) == (0, True), explored.stderr
