"""Both distributions in empty environments, with and without each extra; and every hint that names
an install command is carried out where it was shown, after which the command works.
"""

from __future__ import annotations

import functools
import http.server
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import tomllib
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from release_packages import PACKAGES, build_package

import callwright
from scripts import find_program

ROOT = Path(__file__).resolve().parent.parent
VERSION = callwright.__version__
SECONDS = 900
PYTHON = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
DOCUMENT = """
openapi: 3.1.0
info: {title: Sky, version: "1"}
paths:
  /sky:
    get: {operationId: get_sky, responses: {"200": {description: The sky.}}}
"""

IMPORTS = {
    "callwright": {
        "": ["callwright"],
        "local": ["xllamacpp"],
        "encoder": ["onnxruntime", "tokenizers"],
        "sentence": ["sentence_transformers"],
        "scale": ["usearch.index"],
        "retrieval": ["Stemmer", "onnxruntime"],
        "mcp": ["mcp"],
        "openapi": ["openapi_pydantic", "referencing", "yaml"],
        "proxy": ["starlette", "uvicorn", "httptools"],
        "code": ["pydantic_monty"],
        "all": ["xllamacpp", "onnxruntime", "Stemmer", "usearch.index", "mcp", "yaml", "uvicorn"],
        "desk": ["mcp", "astral", "holidays", "pint", "currency_converter"],
    },
    "callwright-lab": {
        "": ["callwright_lab"],
        "train": ["torch", "lightgbm", "sklearn", "trl", "peft", "datasets", "gguf"],
        "qlora": ["bitsandbytes"],
        "vllm": ["vllm"],
        "deepspeed": ["deepspeed"],
        "bench": ["nestful", "matplotlib", "json_repair", "mpmath"],
        "peers": ["toolpatch", "llm_output_parser", "baml_py"],
    },
}
"""Distribution -> extra -> what can be imported then."""


def test_every_extra_is_tried() -> None:
    for name in PACKAGES:
        text = (ROOT / "packages" / name / "pyproject.toml").read_text(encoding="utf-8")
        extras = tomllib.loads(text)["project"]["optional-dependencies"]
        assert set(IMPORTS[name]) == {"", *extras}


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sdist and wheel of both, built from this tree."""
    folder = tmp_path_factory.mktemp("dist")
    for name in PACKAGES:
        build_package(ROOT / "packages" / name, folder, "1700000000")
    return folder


def find_file(dist: Path, name: str, suffix: str = ".whl") -> Path:
    (found,) = dist.glob(f"{name.replace('-', '_')}-{VERSION}*{suffix}")
    return found


class Home:
    """A user who has nothing of ours: a folder, a PATH and an environment without our variables."""

    def __init__(self, folder: Path, *programs: str) -> None:
        self.folder = folder
        self.binaries = folder / "binaries"
        self.binaries.mkdir()
        for name in programs:
            (self.binaries / name).symlink_to(find_program(name))
        (folder / "sky.yaml").write_text(DOCUMENT)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "CALLWRIGHT"))}
        kept.pop("VIRTUAL_ENV", None)
        self.environment = {
            **kept,
            "PATH": f"{self.binaries}{os.pathsep}/usr/bin{os.pathsep}/bin",
            "XDG_STATE_HOME": str(folder / "state"),
            "UV_TOOL_DIR": str(folder / "tools"),
            "UV_TOOL_BIN_DIR": str(self.binaries),
            "PIPX_HOME": str(folder / "pipx"),
            "PIPX_BIN_DIR": str(self.binaries),
            "PIPX_DEFAULT_PYTHON": PYTHON,
            "UV_FIND_LINKS": os.environ.get("PIP_FIND_LINKS", ""),
            "COLUMNS": "200",
            "NO_COLOR": "1",
        }

    def activate(self, folder: Path) -> None:
        """Put an environment first on PATH, as its ``activate`` does."""
        self.environment["PATH"] = f"{folder / 'bin'}{os.pathsep}{self.environment['PATH']}"
        self.environment["VIRTUAL_ENV"] = str(folder)

    def __call__(
        self, *words: str | Path, code: int | None = 0
    ) -> subprocess.CompletedProcess[str]:
        """Run a command, found on this user's PATH."""
        return self.run_line(shlex.join(map(str, words)), code=code)

    def run_line(self, line: str, code: int | None = 0) -> subprocess.CompletedProcess[str]:
        """Run a line as it is typed into a shell."""
        done = subprocess.run(
            ["bash", "--norc", "-c", line],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        unreachable = re.search("connection|network|dns error|timed out", done.stderr, re.I)
        if code == 0 != done.returncode and unreachable:
            pytest.skip(f"could not be fetched here: {done.stderr[-200:]}")
        if code is not None:
            assert done.returncode == code, f"{line}\n{done.stdout}\n{done.stderr}"
        return done


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path, "uv", "uvx")


@pytest.fixture(scope="session")
def constraints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Our constraints without the local parts of versions, which are of one machine's builds."""
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    path = tmp_path_factory.mktemp("constraints") / "constraints.txt"
    path.write_text(re.sub(r"\+\w+$", "", text, flags=re.MULTILINE))
    return path


EXTRAS = [(name, extra) for name, extras in IMPORTS.items() for extra in extras]
# what these extras download, PyTorch among it
GIGABYTES = ("train", "sentence", "qlora", "vllm", "deepspeed")


@pytest.mark.parametrize(
    ("name", "extra"),
    [
        pytest.param(
            name, extra, marks=pytest.mark.large if extra in GIGABYTES else pytest.mark.heavy
        )
        for name, extra in EXTRAS
    ],
)
def test_an_extra_installs_into_an_empty_environment(
    home: Home, dist: Path, constraints: Path, name: str, extra: str
) -> None:
    home("uv", "venv", "--quiet", "--python", PYTHON, "venv")
    home.activate(home.folder / "venv")
    wheel = f"{find_file(dist, name)}[{extra}]" if extra else f"{find_file(dist, name)}"
    core = [str(find_file(dist, "callwright"))] if name != "callwright" else []
    # vLLM pins its own torch and more, other ones than those that the rest is tested with
    held = [] if extra == "vllm" else ["--constraint", constraints]
    home("uv", "pip", "install", "--quiet", *held, wheel, *core)
    home("uv", "pip", "check")
    modules = ", ".join(IMPORTS[name][extra])
    home("python", "-P", "-c", f"import {modules}")
    assert home("callwright", "--version").stdout == f"callwright {VERSION}\n"
    assert "--upstream" in home("callwright", "proxy", "--help").stdout
    assert "--upstream" in home("callwright", "doctor", "--help").stdout
    if name == "callwright-lab":
        assert "trajectories" in home("callwright", "verify", "--help").stdout


def read_hint(done: subprocess.CompletedProcess[str]) -> str:
    """The command that an error ends with."""
    assert "Traceback" not in done.stderr
    return done.stderr.splitlines()[-1].strip()


def follow_hints(home: Home) -> None:
    """Without an extra and without the lab: what the hint says is done, and then it works."""
    shown = home("callwright", "tools", "sky.yaml", code=1)
    assert "needs an optional library that is not installed" in shown.stderr
    home.run_line(read_hint(shown))
    assert "get_sky" in home("callwright", "tools", "sky.yaml").stdout
    shown = home("callwright", "verify", "--help", code=1)
    assert "is part of callwright-lab, which is not installed" in shown.stderr
    home.run_line(read_hint(shown))
    assert "trajectories" in home("callwright", "verify", "--help").stdout
    assert "get_sky" in home("callwright", "tools", "sky.yaml").stdout, "the extra is still there"


@pytest.fixture(scope="module")
def index(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A package index on loopback that holds our wheels."""
    root = tmp_path_factory.mktemp("index")
    for name in PACKAGES:
        (root / "simple" / name).mkdir(parents=True)
        shutil.copy(find_file(dist, name), root / "simple" / name)

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    served = functools.partial(Quiet, directory=str(root))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), served) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/simple/"
        server.shutdown()


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("program", "source"),
    [
        ("pip", "wheel"), ("pip", "clone"), ("pip", "index"),
        ("uv", "wheel"), ("uv", "clone"), ("uv", "index"), ("uv", "sdist"), ("uv", "folder"),
    ],
)  # fmt: skip
def test_a_hint_works_where_it_is_shown(
    home: Home, dist: Path, index: str, program: str, source: str
) -> None:
    if program == "pip":
        (home.binaries / "uv").unlink()
        subprocess.run([PYTHON, "-m", "venv", str(home.folder / "venv")], check=True)
    else:
        home("uv", "venv", "--quiet", "--python", PYTHON, "venv")
    home.activate(home.folder / "venv")
    folder = home.folder / "packages"
    if source == "folder":
        for name in PACKAGES:
            shutil.copytree(ROOT / "packages" / name, folder / name)
    given = {
        "wheel": [str(find_file(dist, "callwright"))],
        "sdist": [str(find_file(dist, "callwright", ".tar.gz"))],
        "clone": ["-e", str(ROOT / "packages" / "callwright")],
        "folder": [str(folder / "callwright")],
        "index": ["callwright"],
    }[source]
    if source == "index":
        home.environment |= {"PIP_EXTRA_INDEX_URL": index, "UV_INDEX": index}
    install = ["pip", "install"] if program == "pip" else ["uv", "pip", "install"]
    home(*install, *given)
    follow_hints(home)


@pytest.mark.heavy
@pytest.mark.parametrize("program", ["uv", "pipx"])
def test_a_hint_works_for_a_program_that_is_installed_alone(
    tmp_path: Path, dist: Path, program: str
) -> None:
    home = Home(tmp_path, program)
    home(
        *(["uv", "tool"] if program == "uv" else ["pipx"]), "install", find_file(dist, "callwright")
    )
    follow_hints(home)


@pytest.mark.heavy
def test_uvx_runs_what_it_is_told_and_the_hint_says_what_to_tell_it(home: Home, dist: Path) -> None:
    wheel = find_file(dist, "callwright")
    shown = home("uvx", "--from", wheel, "callwright", "tools", "sky.yaml", code=1)
    line = read_hint(shown)
    assert line.endswith("callwright …")
    assert "get_sky" in home.run_line(line.replace("…", "tools sky.yaml")).stdout
    shown = home("uvx", "--from", wheel, "callwright", "verify", "--help", code=1)
    line = read_hint(shown)
    assert "trajectories" in home.run_line(line.replace("…", "verify --help")).stdout


@pytest.mark.heavy
def test_uvx_runs_the_proxy_from_a_wheel(home: Home, dist: Path) -> None:
    wheel = find_file(dist, "callwright")
    process = subprocess.Popen(
        ["uvx", "--quiet", "--from", f"{wheel}[proxy]", "callwright", "proxy", "--port", "0",
         "--upstream", "http://127.0.0.1:9/v1"],
        cwd=home.folder, env=home.environment, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stderr is not None
        said = process.stderr.readline()
        found = re.search(r"proxy: +(http://localhost:\d+)/v1", said)
        assert found, said
        with urllib.request.urlopen(f"{found[1]}/healthz", timeout=60) as answer:
            assert answer.status == 200
    finally:
        process.terminate()
        process.communicate(timeout=60)


def read_page_commands() -> list[str]:
    """The install commands in the first table of docs/install.md that need no daemon."""
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8").partition("## ")[0]
    rows = [line for line in page.splitlines() if line.startswith("|")]
    found = [command for row in rows for command in re.findall(r"`([^`]+)`", row)]
    return [line for line in found if line.startswith(("pip install ", "uvx ", "uv tool "))]


@pytest.mark.heavy
@pytest.mark.parametrize("line", read_page_commands())
def test_a_command_of_the_install_page_works_in_a_clone(home: Home, dist: Path, line: str) -> None:
    (home.folder / "packages").symlink_to(ROOT / "packages")
    (home.folder / "dist").symlink_to(dist)
    home("uv", "venv", "--quiet", "--python", PYTHON, "venv")
    home.activate(home.folder / "venv")
    line = re.sub(r"^pip ", "uv pip ", line)
    done = home.run_line(line.replace("proxy --upstream URL", "--version"))
    if not line.startswith("uvx"):
        done = home("callwright", "--version")
    assert f"callwright {VERSION}" in done.stdout
    if "callwright-lab" in line:
        assert "trajectories" in home("callwright", "verify", "--help").stdout


def test_the_install_page_lists_every_extra_and_the_version() -> None:
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    assert len(read_page_commands()) == 5
    assert f"callwright-{VERSION}-py3-none-any.whl" in page
    for extras in IMPORTS.values():
        assert not [extra for extra in extras if extra and f"`{extra}`" not in page]
