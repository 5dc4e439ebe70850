"""The proxy as a process of its own, as its users start it."""

from __future__ import annotations

import json
import urllib.request

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.benchmarks.agents.proxied import (
    build_guard_options,
    count_own_questions,
    read_proxy_help,
    start_proxy,
)
from callwright_lab.benchmarks.agents.tasks import load_tasks
from callwright_lab.benchmarks.agents.upstream import ScriptedUpstream, serve_upstream

TASK = next(task for task in load_tasks() if task.id == "en-talk-1")


def test_a_proxy_answers_in_front_of_an_upstream() -> None:
    upstream = ScriptedUpstream("right")
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": TASK.request}]})
    with serve_upstream(upstream) as target, start_proxy(["--upstream", target]) as url:
        upstream.begin(TASK)
        request = urllib.request.Request(
            f"{url}/chat/completions", body.encode(), {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as response:
            said = json.loads(response.read())["choices"][0]["message"]["content"]
        assert count_own_questions(url) == 0
    assert said == TASK.answer
    assert count_own_questions(url) == 0  # it is gone: nothing is counted, nothing is raised


def test_a_proxy_that_does_not_start_says_why() -> None:
    with pytest.raises(ConfigError, match="did not start"), start_proxy(["--no-such-option"]):
        pass


def test_the_guard_is_passed_only_to_a_proxy_that_knows_it() -> None:
    assert build_guard_options("") == []
    if "--guard" in read_proxy_help():
        assert build_guard_options("on") == ["--guard", "on"]
    else:
        with pytest.raises(ConfigError, match="no --guard"):
            build_guard_options("on")
