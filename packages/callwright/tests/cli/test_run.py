"""How a run ends that cannot go on: one message with the next step, and a run that can be
resumed.
"""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from callwright.cli.run import fetch_model
from callwright.nouns.errors import MissingExtra
from tests.cli.endpoint import endpoint, keyed, served
from tests.cli.program import callwright
from tests.cli.terminal import in_a_terminal
from tests.cli.test_app import ANSWER, CALLS

TOOLS = '''
import pathlib, threading
from callwright import READ, tool
HERE = pathlib.Path(__file__).parent

@tool(effects=READ)
def stock(article: str) -> dict[str, int]:
    """How many pieces of an article are in the warehouse."""
    if (HERE / "slow").exists():
        (HERE / "slow").unlink()
        (HERE / "called").touch()
        threading.Event().wait(60)
    return {"pieces": 4}
'''


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "tools.py").write_text(TOOLS)
    return tmp_path


def arguments(
    home: Path, url: str, tools: str = "tools.py", said: str = "How many hammers?"
) -> list[str]:
    told = [
        "run",
        said,
        "--tools",
        str(home / tools),
        "--model",
        f"{url}#m",
        "--mode",
        "schema",
    ]
    return [*told, "--planner", "schema", "--journal", str(home / "runs")]


@contextmanager
def silent(asked: threading.Event, status: int = 0) -> Iterator[str]:
    """An endpoint that answers with a status, or (0) begins to and says nothing more."""
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status or 200)
            self.send_header("Content-Length", "2" if status else "900")
            self.end_headers()
            if status:
                self.wfile.write(b"{}")
            asked.set()
            if not status:
                over.wait()

        def log_message(self, *args: object) -> None:
            pass

    with served(Handler) as url:
        try:
            yield url
        finally:
            over.set()


def interrupted(told: list[str], when: Callable[[], bool]) -> tuple[int, str]:
    """What a command in a terminal says and exits with, where Ctrl-C is typed once, as soon as
    ``when``.
    """
    left = [b"\x03"]
    return in_a_terminal(told, lambda shown: left.pop() if left and when() else b"")


def resumed(home: Path, said: str, url: str) -> str:
    """The answer, after the run that was named goes on as it was said."""
    (found,) = re.findall(r"callwright (resume \S+)", said)
    done = callwright(*found.split(), "--journal", home / "runs", "--model", f"{url}#m")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX terminal")
def test_ctrl_c_while_a_tool_is_called_ends_with_one_line_and_the_run_goes_on(home: Path) -> None:
    (home / "slow").touch()
    with endpoint([CALLS, ANSWER]) as url:
        code, said = interrupted(arguments(home, url), (home / "called").exists)
        assert code == 130
        assert len(re.findall(r"stopped; callwright resume \S+ --journal \S+ goes on", said)) == 1
        assert "Traceback" not in said
        assert "There are 4 pieces of the hammer." in resumed(home, said, url)


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX terminal")
def test_ctrl_c_while_the_model_replies_ends_with_one_line_and_the_run_goes_on(home: Path) -> None:
    asked = threading.Event()
    with silent(asked) as url:
        code, said = interrupted(arguments(home, url), asked.is_set)
    assert code == 130
    assert len(re.findall(r"stopped; callwright resume \S+ --journal \S+ goes on", said)) == 1
    assert "Traceback" not in said
    with endpoint([CALLS, ANSWER]) as url:
        assert "There are 4 pieces of the hammer." in resumed(home, said, url)


def only_message(done: subprocess.CompletedProcess[str]) -> str:
    """The one message of a run that ended in an error, its hint included."""
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    (said,) = re.findall(r"^error: .*\n  \S.*", done.stderr, re.M)
    return str(said)


def test_a_missing_key_is_said_with_the_variable_that_holds_it(home: Path) -> None:
    with silent(threading.Event(), 401) as url:
        done = callwright(*arguments(home, url))
    assert "set CALLWRIGHT_API_KEY" in only_message(done)
    assert re.search(r"callwright resume \S+ --journal \S+ goes on with this run", done.stderr)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("broken.yaml", "openapi: 3.1.0\npaths:\n  /x: [\n", "is not YAML"),
        ("other.yaml", "a: 1\n", "is not an OpenAPI 3.0, 3.1 or 3.2 document"),
        (
            "empty.yaml",
            'openapi: 3.1.0\ninfo: {title: x, version: "1"}\npaths: {}\n',
            "no source offers a tool",
        ),
        (
            "paths.yaml",
            'openapi: 3.1.0\ninfo: {title: x, version: "1"}\npaths: 3\n',
            "no source offers a tool",
        ),
        ("cut.json", '[{"name": ', "is not JSON"),
        ("list.json", '[{"name": 3}]', "holds no usable tool"),
        (
            "gone.json",
            '{"mcpServers": {"a": {"command": "no-such-program"}}}',
            "there is no command 'no-such-program'",
        ),
        (
            "dies.json",
            '{"mcpServers": {"a": {"command": "false"}}}',
            "MCP server 'a' cannot be used",
        ),
        ("neither.json", '{"mcpServers": {"a": {}}}', "needs either a command or a url"),
        ("syntax.py", "def f(:", "cannot be imported: SyntaxError"),
        ("zero.py", "\n1 / 0", "cannot be imported: ZeroDivisionError"),
        ("none.py", "x = 1", "the module holds no tool"),
        ("not_there.yaml", "", "there is no "),
    ],
)
def test_a_tool_source_that_cannot_be_used_is_one_message_with_the_next_step(
    home: Path, name: str, text: str, said: str
) -> None:
    if text:
        (home / name).write_text(text)
    assert said in only_message(callwright(*arguments(home, "http://127.0.0.1:9/v1", name)))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("option", ["--trace", "--html"])
def test_a_full_disk_under_the_trace_or_the_page_is_one_message(home: Path, option: str) -> None:
    with endpoint([CALLS, ANSWER]) as url:
        done = callwright(*arguments(home, url), option, "/dev/full")
        said = only_message(done)
        if option == "--html":
            assert "There are 4 pieces of the hammer." in done.stdout, (
                "the answer is not lost with its page"
            )
        else:
            assert "There are 4 pieces of the hammer." in resumed(home, done.stderr, url)
    assert "No space left on device" in said


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_under_the_output_is_one_message_and_the_run_is_kept(home: Path) -> None:
    with endpoint([CALLS, ANSWER]) as url, open("/dev/full", "w", encoding="utf-8") as full:
        command = [sys.executable, "-P", "-m", "callwright", *arguments(home, url)]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120)
        assert "the output cannot be written" in only_message(done)
        (kept,) = (home / "runs").glob("*.run")
        assert "There are 4 pieces of the hammer." in resumed(
            home, f"callwright resume {kept.stem}", url
        )


def test_what_was_corrected_and_what_was_assumed_stand_under_the_answer(home: Path) -> None:
    dated = "def stock(article: str, day: str)"
    (home / "tools.py").write_text(TOOLS.replace("def stock(article: str)", dated))
    made = {"tool": "stock", "arguments": {"article": "hammer", "day": "2024-01-01"}}
    answer = ANSWER.replace("There are 4 pieces", "There are 5 pieces")
    with endpoint([json.dumps({"calls": [made]}), answer]) as url:
        done = callwright(*arguments(home, url))
    assert "There are 4 pieces of the hammer." in done.stdout
    assert "Corrected: 5 → 4 (5 stands in no result; r1 pieces is 4)" in done.stdout
    assert "stock: assumed day 2024-01-01: not in the request or in a result" in done.stdout
    assert done.stderr.splitlines()[-1].startswith("partial:")


def _room_for(size: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX limits")
@pytest.mark.parametrize("size", [12_000, 26_000, 32_000])
def test_a_full_disk_under_the_journal_is_one_message_and_what_is_kept_goes_on_when_there_is_room(
    home: Path, size: int
) -> None:
    with endpoint([CALLS, ANSWER]) as url:
        command = [sys.executable, "-P", "-m", "callwright", *arguments(home, url), "--no-evidence"]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=120, preexec_fn=_room_for(size)
        )
    said = only_message(done)
    assert "cannot write the journal" in said
    assert "make room" in said
    goes_on = re.search(r"callwright resume \d\S+", done.stderr)
    if goes_on:
        with endpoint([CALLS, ANSWER]) as url:
            resumed(home, goes_on[0], url)


def test_the_key_of_a_file_reaches_the_endpoint_and_no_tool(home: Path) -> None:
    (home / "tools.py").write_text(
        TOOLS.replace('{"pieces": 4}', '{"pieces": 4, "key": os.environ.get("CALLWRIGHT_API_KEY")}')
        .replace("import pathlib", "import os, pathlib")
        .replace("dict[str, int]", "dict[str, object]")
    )
    config, keys = home / "callwright.toml", list[str]()
    config.write_text('api_key_env = "A_KEY"\n')
    with keyed([CALLS, ANSWER], keys) as url:
        told = [*arguments(home, url), "--config", str(config), "--json"]
        done = callwright(*told, A_KEY="s3cret", CALLWRIGHT_API_KEY="")
    assert done.returncode == 0, done.stderr
    assert keys
    assert set(keys) == {"Bearer s3cret"}
    (result,) = json.loads(done.stdout)["results"]
    assert result["content"]["key"] == ""
    (kept,) = (home / "runs").glob("*.run")
    assert b"s3cret" not in kept.read_bytes()


def test_a_tool_source_that_is_not_there_ends_the_run_before_a_model_is_downloaded(
    tmp_path: Path,
) -> None:
    done = callwright(
        "run", "How many?", "--tools", "nothere.py", folder=tmp_path, CALLWRIGHT_CACHE=str(tmp_path)
    )
    assert done.returncode == 1
    assert "there is no 'nothere.py'" in done.stderr
    assert not list(tmp_path.rglob("*.gguf*"))


def test_a_missing_engine_is_named_before_its_model_is_downloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLWRIGHT_CACHE", str(tmp_path))
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(MissingExtra, match="the embedded model"):
        fetch_model(None)
    assert not list(tmp_path.rglob("*.gguf*"))


def test_a_named_model_profile_is_told_and_an_unknown_one_refused(home: Path) -> None:
    with endpoint([CALLS, ANSWER]) as url:
        done = callwright(*arguments(home, url), "--model-profile", "large")
    assert done.returncode == 0
    assert "schema replies · large profile" in done.stderr
    refused = callwright(*arguments(home, url), "--model-profile", "huge")
    assert refused.returncode == 1
    assert "there is no model profile 'huge'" in refused.stderr
    assert "there are: small, medium, large" in refused.stderr


def test_every_write_needs_approval_where_the_command_line_says_so(home: Path) -> None:
    (home / "tools.py").write_text(TOOLS.replace("READ", "WRITE"))
    said = "Take stock of the hammer."  # a mere question has nothing written
    with endpoint([CALLS, ANSWER]) as url:
        plain = callwright(*arguments(home, url, said=said))
    assert "There are 4 pieces of the hammer." in plain.stdout
    with endpoint([CALLS, ANSWER]) as url:
        asked = callwright(*arguments(home, url, said=said), "--ask", "writes")
    assert "not allowed: it may write, and nobody was there to be asked" in asked.stdout
    assert re.search(r"to approve it beforehand: --allow \S+:stock", asked.stderr)
    assert asked.returncode == 3
