"""Programs that are written with the SDK, started without its imports: those take a second of
processor at each start. A process makes them once and forks. Who starts a program starts a small
one, which hands over its streams, ends when the program ends, and whose end is the program's.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path

_IMPORTED = ("mcp.server.lowlevel.server", "mcp.server.runner", "mcp.server.stdio")
_KEPT: list[subprocess.Popen[str]] = []


def words_of(script: Path, *options: str) -> list[str]:
    """The arguments with which this Python runs a script that imports the SDK."""
    if not hasattr(os, "fork"):
        return ["-P", str(script), *options]
    return ["-I", "-S", __file__, _address(), str(script), *options]


@cache
def _address() -> str:
    """Where the process that forks listens. It ends with this one, whose pipe it reads."""
    command = [sys.executable, "-P", __file__]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    _KEPT.append(subprocess.Popen(command, text=True, start_new_session=True, **pipes))  # type: ignore[call-overload]
    said = _KEPT[-1].stdout
    assert said is not None
    return str(said.readline().strip())


def fork_programs() -> None:
    """Print an address and run what is asked for there, until standard input ends."""
    import tempfile
    from importlib import import_module

    for name in _IMPORTED:
        import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listening:
        address = f"{folder}/programs"
        listening.bind(address)
        listening.listen()
        sys.stdout.write(f"{address}\n")
        sys.stdout.flush()
        while True:
            if sys.stdin in select.select([listening, sys.stdin], [], [])[0]:
                return
            asker = listening.accept()[0]
            streams = socket.recv_fds(asker, 1, 3)[1]
            if not os.fork():
                listening.close()
                carry_out(asker, streams)
            asker.close()
            for stream in streams:
                os.close(stream)


def carry_out(asker: socket.socket, streams: list[int]) -> None:
    """Be the process of one program. It does not return."""
    import runpy
    import threading
    import traceback

    with asker.makefile() as read:
        told = json.loads(read.readline())
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(told["environment"])
    os.chdir(told["folder"])
    more = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:0] = [place for place in more if place and place not in sys.path]
    sys.argv = told["words"]
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    threading.Thread(target=lambda: asker.recv(1) or os._exit(1), daemon=True).start()
    code = 1
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        for written in (sys.stdout, sys.stderr):
            written.flush()
        asker.sendall(bytes([code]))
        os._exit(code)


def ask(address: str, words: list[str]) -> None:
    """Have a program started with the streams, environment and folder of this process."""
    told = {"words": words, "environment": dict(os.environ), "folder": os.getcwd()}
    with socket.socket(socket.AF_UNIX) as forker:
        forker.connect(address)
        socket.send_fds(forker, [b" "], [0, 1, 2])
        forker.sendall(json.dumps(told).encode() + b"\n")
        for number in range(3):
            os.close(number)  # else nobody would see that the program closed one
        code = forker.recv(1)
    os._exit(code[0] if code else 1)


if __name__ == "__main__":
    if sys.argv[1:]:
        ask(sys.argv[1], sys.argv[2:])
    else:
        fork_programs()
