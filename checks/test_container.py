"""The container: its files are linted, its steps are run in a clean environment, and where there is
a daemon the image is built.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from dockerfiles import Stage, expand_variables, read_exec, read_stages
from scripts import find_program
from tests.chat_server import ChatServer

ROOT = Path(__file__).resolve().parent.parent
BUILD, IMAGE = read_stages(ROOT / "Dockerfile")
BASE_MB = {"python:3.13-slim-trixie": 126.25}
"""Size of the base image on disk, as published for linux/amd64 of 3.13.15 on 2026-09-01 by
docker-library/repo-info (repos/python/local/3.13-slim.md)."""
MOST_MB = 250
KEY = "0123456789abcdef0123"
USER = 10001
SECONDS = 60.0


def test_hadolint_finds_nothing() -> None:
    done = subprocess.run(
        [find_program("hadolint"), "--failure-threshold", "style", str(ROOT / "Dockerfile")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_the_last_stage_runs_nothing_as_root_and_tells_its_health() -> None:
    assert IMAGE.rests("USER") == [f"{USER}:{USER}"]
    assert [name for name, _ in IMAGE.steps].index("USER") > len(IMAGE.rests("COPY"))
    assert not IMAGE.rests("RUN"), "what is installed comes from the first stage"
    assert all(rest.startswith("--from=build") for rest in IMAGE.rests("COPY"))
    (health,) = IMAGE.rests("HEALTHCHECK")
    assert "/healthz" in health
    assert BUILD.base == IMAGE.base


def test_both_stages_give_an_argument_the_same_value() -> None:
    build = {rest for rest in BUILD.rests("ARG") if "=" in rest}
    assert {rest for rest in IMAGE.rests("ARG") if "=" in rest} == build


def test_the_context_holds_what_is_copied_and_little_else() -> None:
    lines = (ROOT / ".dockerignore").read_text().split()
    assert lines[0] == "*"
    copied = [rest.split()[0] for rest in BUILD.rests("COPY")]
    kept = [line[1:] for line in lines if line.startswith("!")]
    for path in copied:
        assert (ROOT / path).exists()
        assert any(path == one or path.startswith(f"{one}/") for one in kept)
        assert path not in lines


def test_compose_keeps_the_proxy_to_this_machine_and_its_files_read_only() -> None:
    found = yaml.safe_load((ROOT / "compose.yaml").read_text())
    proxy, model = found["services"]["callwright"], found["services"]["small-model"]
    assert proxy["ports"] == ["127.0.0.1:8787:8787"]
    for service in (proxy, model):
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
    assert proxy["environment"]["CALLWRIGHT_PROXY_KEY"].startswith("${CALLWRIGHT_PROXY_KEY:?")
    (volume,) = proxy["volumes"]
    assert volume == f"state:{IMAGE.read_variables({})['STATE']}"
    assert set(found["volumes"]) == {"state"}
    assert model["image"] == IMAGE.base
    mounted = model["volumes"][0].split(":")[0]
    assert (ROOT / mounted).is_file()


class Built:
    """What the first stage leaves, in a folder of this machine instead of an image."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.given = {
            "PREFIX": str(folder / "opt"),
            "STATE": str(folder / "state"),
            "EXTRAS": "proxy",
        }
        self.prefix, self.state = folder / "opt", folder / "state"
        source = folder / "src"
        for rest in BUILD.rests("COPY"):
            path, _ = rest.split()
            copy_into(ROOT / path, source / path)
        programs = folder / "programs"
        programs.mkdir()
        add_python(programs / "python")
        values = BUILD.read_variables(self.given)
        path = f"{programs}{os.pathsep}{os.environ['PATH']}"
        for rest in BUILD.rests("RUN"):
            self.run_step(rest, source, {**os.environ, **values, "PATH": path})

    def run_step(self, command: str, folder: Path, environment: dict[str, str]) -> None:
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=folder,
            env={k: v for k, v in environment.items() if k != "PYTHONPATH"},
            capture_output=True,
            text=True,
            check=False,
        )
        if "connection" in done.stderr.lower() and done.returncode:
            pytest.skip(f"could not be fetched here: {done.stderr[-200:]}")
        assert done.returncode == 0, done.stderr

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a process of the image."""
        made = IMAGE.read_variables({**self.given, "PATH": "/usr/bin:/bin"})
        return {**made, "CALLWRIGHT_PROXY_KEY": KEY, "HOME": "/nonexistent"}

    def find_size(self) -> float:
        """Megabytes of the files that the image adds to its base."""
        files = [path for path in self.prefix.rglob("*") if not path.is_symlink()]
        return sum(path.stat().st_size for path in files if path.is_file()) / 1e6


def copy_into(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        unwanted = shutil.ignore_patterns("__pycache__", "tests")
        shutil.copytree(source, target, ignore=unwanted)
    else:
        shutil.copy(source, target)


def find_python() -> str:
    """A Python that every user of this machine may run: the environment is made with it."""
    base = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    for path in (base, shutil.which("python3", path="/usr/bin")):
        parents = [Path(path), *Path(path).resolve().parents] if path else []
        if parents and all(parent.stat().st_mode & 0o001 for parent in parents):
            return str(path)
    return base


def add_python(path: Path) -> None:
    """The command ``python`` of the base image: with pip, which only this Python may have."""
    pip = f'"{sys.executable}" -P "$@"'
    path.write_text(
        f'#!/bin/sh\ncase "$1 $2" in "-m pip") exec {pip};; esac\nexec "{find_python()}" "$@"\n'
    )
    path.chmod(0o755)


@pytest.fixture(scope="module")
def built() -> Iterator[Built]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Built(Path(folder))


@pytest.mark.heavy
def test_what_is_installed_and_the_base_stay_below_the_limit(built: Built) -> None:
    size = built.find_size()
    assert size > 50
    assert size + BASE_MB[IMAGE.base] < MOST_MB
    assert not list(built.prefix.rglob("*.gguf"))


def as_user(command: list[str]) -> list[str]:
    """The command as the image's user, with a file system that cannot be written, if we may."""
    if os.getuid() != 0 or shutil.which("unshare") is None or shutil.which("setpriv") is None:
        return command
    unprivileged = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
    mount = "mount --make-rprivate / && mount -o remount,bind,ro / && mount -t tmpfs tmpfs /run"
    code = f'({mount}) 2>/dev/null; exec "$@"'
    return ["unshare", "--mount", "sh", "-c", code, "sh", *unprivileged, "--no-new-privs", *command]


@pytest.mark.heavy
def test_the_proxy_answers_as_another_user_and_the_health_check_sees_it(built: Built) -> None:
    entry = [*read_exec(IMAGE.rests("ENTRYPOINT")[0]), "--port", "0"]
    entry[0] = str(built.prefix / "bin" / entry[0])
    health = read_exec(IMAGE.rests("HEALTHCHECK")[0].partition("CMD")[2])
    health[0] = str(built.prefix / "bin" / health[0])
    reply = '{"name": "getWeather", "arguments": {"place": "Oslo"}}'
    with ChatServer(reply) as server:
        process = subprocess.Popen(
            as_user([*entry, "--upstream", server.url]),
            cwd=built.state,
            env=built.environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            port = read_port(process)
            health = [word.replace("8787", str(port)) for word in health]
            assert (
                subprocess.run(as_user(health), env=built.environment, check=False).returncode == 0
            )
            if os.getuid() == 0:
                owner = Path(f"/proc/{process.pid}").stat().st_uid
                assert owner == USER
            assert ask(port, "wrong key, and long enough") == 401
            answer = ask(port, KEY)
            assert isinstance(answer, dict)
            called = answer["choices"][0]["message"]["tool_calls"][0]["function"]
            assert (called["name"], json.loads(called["arguments"])) == (
                "get_weather",
                {"city": "Oslo"},
            )
        finally:
            process.terminate()
            process.communicate(timeout=SECONDS)
    assert subprocess.run(
        health, env=built.environment, check=False, capture_output=True
    ).returncode


def read_port(process: subprocess.Popen[str]) -> int:
    """The port that the proxy says it listens on; fails if it ends before."""
    assert process.stderr is not None
    said = process.stderr.readline()
    found = re.search(r"proxy: +http://[\d.]+:(\d+)/v1", said)
    assert found, said
    return int(found[1])


def ask(port: int, key: str) -> object:
    """One request with a tool: the status of a refusal, or the answer."""
    function = {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    }
    body = {
        "model": "m",
        "messages": [{"role": "user", "content": "Weather in Oslo?"}],
        "tools": [{"type": "function", "function": function}],
    }
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/v1/chat/completions",
        json.dumps(body).encode(),
        {"content-type": "application/json", "authorization": f"Bearer {key}"},
    )
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            return json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code


@pytest.mark.heavy
def test_what_the_image_lacks_is_said_with_the_command_that_adds_it(built: Built) -> None:
    (built.state / "tools.py").write_text("def f(x: str) -> str:\n    'Return x.'\n    return x\n")
    for words, extra in (
        (["plan", "Return x", "--tools", "tools.py:f"], "all"),
        (["tools", "mcp+http://127.0.0.1:9/mcp"], "mcp"),
    ):
        done = subprocess.run(
            [str(built.prefix / "bin" / "callwright"), *words],
            cwd=built.state,
            env=built.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert f"docker build --build-arg EXTRAS=proxy,{extra} --tag callwright ." in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.heavy
def test_the_image_is_built_and_is_small() -> None:
    docker = shutil.which("docker")
    if (
        docker is None
        or subprocess.run([docker, "info"], capture_output=True, check=False).returncode
    ):
        pytest.skip("no container daemon on this machine")
    subprocess.run([docker, "build", "--tag", "callwright:test", str(ROOT)], check=True)
    done = subprocess.run(
        [docker, "image", "inspect", "--format", "{{.Size}}", "callwright:test"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) < MOST_MB * 1e6


def test_a_dockerfile_is_read(tmp_path: Path) -> None:
    path = tmp_path / "Dockerfile"
    path.write_text(
        "# of a test\nARG V=1\nFROM a:${V} AS x\nARG P=/p\nRUN one \\\n  # why\n  && two\n"
        'FROM a:${V}\nENV A="$P/b" C=d\nCMD ["e", "f g"]\n'
    )
    first, last = read_stages(path)
    assert (first.base, first.name, first.steps) == (
        "a:1",
        "x",
        [("ARG", "P=/p"), ("RUN", "one  && two")],
    )
    assert isinstance(last, Stage)
    assert last.read_variables({"P": "/q"}) == {"P": "/q", "A": "/q/b", "C": "d"}
    assert read_exec(last.rests("CMD")[0]) == ["e", "f g"]
    assert expand_variables("$A-${B}", {"A": "1"}) == "1-"
