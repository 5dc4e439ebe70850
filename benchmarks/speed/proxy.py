"""CPU per request, requests a second, first token and memory of the proxy beside a bare
pass-through.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import aiohttp

Rows = dict[str, dict[str, list[float]]]
Server = tuple[str, int]  # its address, its process
HERE = Path(__file__).resolve().parent


def request(kind: str) -> bytes:
    """A request of an agent's size: eight tools, a system message and some turns, about 9 KB."""
    properties = {"city": {"type": "string"}, "days": {"type": "integer"}}
    properties |= {
        f"option_{n}": {"type": "string", "description": "An option of the tool."} for n in range(5)
    }
    schema = {"type": "object", "properties": properties, "required": ["city"]}
    about = "Looks something up. " * 8
    tools = [
        {
            "type": "function",
            "function": {"name": f"tool_{n}", "description": about, "parameters": schema},
        }
        for n in range(8)
    ]
    messages = [{"role": "system", "content": "You are a helpful assistant. " * 40}]
    for n in range(6):
        messages += [
            {"role": "user", "content": f"Question {n} " * 10},
            {"role": "assistant", "content": "Answer. " * 20},
        ]
    messages.append({"role": "user", "content": "What is the weather in Paris for 3 days?"})
    body = {"model": kind, "messages": messages, "tools": tools, "stream": kind != "whole"}
    return json.dumps(body).encode()


def free_port() -> int:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return int(made.getsockname()[1])


@contextmanager
def running(command: list[str], port: int) -> Iterator[int]:
    """The process id of a server, once it listens."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(1200):
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", port)) == 0:
                    break
            if process.poll() is not None:
                raise RuntimeError(f"{command} ended with {process.returncode}")
            time.sleep(0.05)
        else:
            raise RuntimeError(f"{command} does not listen")
        yield process.pid
    finally:
        process.terminate()
        process.wait(30)


def cpu(pid: int) -> float:
    """Seconds that the threads of a process have run, to the nanosecond."""
    return (
        sum(
            int((p / "schedstat").read_text().split()[0])
            for p in Path(f"/proc/{pid}/task").iterdir()
        )
        / 1e9
    )


def memory(pid: int) -> float:
    """Resident MiB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


async def load(url: str, kind: str, count: int, connections: int) -> float:
    """Seconds that ``count`` requests took over so many connections."""
    body, left = request(kind), count
    headers = {"content-type": "application/json", "authorization": "Bearer sk-x"}

    async def work(session: aiohttp.ClientSession) -> None:
        nonlocal left
        while left > 0:
            left -= 1
            async with session.post(
                f"{url}/v1/chat/completions", data=body, headers=headers
            ) as given:
                assert given.status == 200
                await given.read()

    began = time.perf_counter()
    async with (
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session,
        asyncio.TaskGroup() as group,
    ):
        for _ in range(connections):
            group.create_task(work(session))
    return time.perf_counter() - began


async def first_tokens(url: str, count: int) -> list[float]:
    """Seconds until the first piece of each of ``count`` streams."""
    times = []
    async with aiohttp.ClientSession() as session:
        for _ in range(count):
            began = time.perf_counter()
            async with session.post(f"{url}/v1/chat/completions", data=request("slow")) as given:
                await given.content.readany()
                times.append(time.perf_counter() - began)
                given.close()
    return times


def measure(servers: dict[str, Server], count: int, rounds: int) -> Rows:
    """Every figure of every server in every round; within a round the servers follow each other, in
    turn forwards and backwards.
    """
    rows: dict[str, dict[str, list[float]]] = {name: {} for name in servers}
    for url, _ in servers.values():
        asyncio.run(load(url, "whole", 50, 4))
        asyncio.run(load(url, "repair", 20, 4))
    for turn in range(rounds):
        order = list(servers) if turn % 2 == 0 else list(reversed(servers))
        for kind in ("whole", "stream", "repair"):
            for name in order:
                url, pid = servers[name]
                before = cpu(pid)
                seconds = asyncio.run(load(url, kind, count, 16))
                rows[name].setdefault(f"{kind} ms CPU", []).append(
                    (cpu(pid) - before) / count * 1000
                )
                rows[name].setdefault(f"{kind} requests/s", []).append(count / seconds)
        for name in order:
            first = statistics.median(asyncio.run(first_tokens(servers[name][0], 20)))
            rows[name].setdefault("first token ms", []).append(first * 1000)
    for name, (_, pid) in servers.items():
        rows[name]["memory MiB"] = [memory(pid)]
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=400, help="requests of each kind per round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--litellm", help="the python of an environment with litellm[proxy]")
    given = parser.parse_args()
    with side_by_side() as (up, servers), ExitStack() as more:
        if given.litellm:
            servers["litellm"] = more.enter_context(
                litellm(given.litellm, f"http://127.0.0.1:{up}")
            )
        show(measure(servers, given.count, given.rounds))


@contextmanager
def side_by_side() -> Iterator[tuple[int, dict[str, Server]]]:
    """The upstream's port, and in front of it the pass-through and the proxy."""
    up, bare, ours = free_port(), free_port(), free_port()
    base = f"http://127.0.0.1:{up}"
    proxy = [
        sys.executable,
        "-P",
        "-m",
        "callwright",
        "proxy",
        "--upstream",
        f"{base}/v1",
        "--guided",
        "off",
    ]
    with (
        running([sys.executable, str(HERE / "servers.py"), "upstream", str(up)], up),
        running(
            [sys.executable, str(HERE / "servers.py"), "bare", str(bare), base], bare
        ) as bare_pid,
        running([*proxy, "--port", str(ours)], ours) as our_pid,
    ):
        bare_server, our_server = (
            (f"http://127.0.0.1:{bare}", bare_pid),
            (f"http://127.0.0.1:{ours}", our_pid),
        )
        yield up, {"bare": bare_server, "callwright": our_server}


@contextmanager
def litellm(python: str, base: str) -> Iterator[Server]:
    """LiteLLM's proxy in front of the same upstream."""
    port = free_port()
    config = HERE / "litellm.yaml"
    models = "".join(
        f"  - model_name: {kind}\n    litellm_params:\n      model: openai/{kind}\n      api_base:"
        f" {base}/v1\n      api_key: sk-x\n"
        for kind in ("whole", "stream", "repair", "slow")
    )
    open_to_all = "general_settings:\n  dangerously_permit_weak_or_unset_master_key: true\n"
    config.write_text(f"model_list:\n{models}{open_to_all}")
    script = Path(python).with_name("litellm")
    try:
        with running(
            [str(script), "--config", str(config), "--port", str(port), "--host", "127.0.0.1"], port
        ) as pid:
            yield f"http://127.0.0.1:{port}", pid
    finally:
        config.unlink(missing_ok=True)


def show(rows: Rows) -> None:
    """Medians, and beside them the median over the rounds of ours to the others' in the same
    round.
    """
    names = list(rows)
    others = [name for name in names if name != "callwright"]
    print(
        f"{'':18}"
        + "".join(f"{n:>12}" for n in names)
        + "".join(f"{'ours/' + n:>14}" for n in others)
    )
    for key, ours in rows["callwright"].items():
        line = f"{key:18}" + "".join(f"{statistics.median(rows[n][key]):12.3f}" for n in names)
        for name in others:
            ratio = statistics.median(
                a / b for a, b in zip(ours, rows[name][key], strict=True) if b
            )
            line += f"{ratio:14.3f}"
        print(line)


if __name__ == "__main__":
    main()
