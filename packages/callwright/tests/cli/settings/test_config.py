"""``callwright.toml``: found, read whole, and refused with the file, the key and what to do."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import get_args

import pytest

from callwright.agent.safety.consent import Ask
from callwright.cli.settings.config import (
    ASKING,
    NAME,
    find_project_file,
    get_user_file,
    list_top_keys,
    read_config,
)
from callwright.nouns.errors import ConfigError

WHOLE = """
model = "http://localhost:8080/v1#small"
tools = ["tools.py:stock", "petstore.yaml?include=tag:pets", "https://host/openapi.json", "json"]
allow = ["send_*"]
journal = false
profile = "work"

[limits]
seconds = 120
repairs = 0

[profiles.work]
model = "https://host/v1#large"
api_key_env = "WORK_KEY"
mode = "native"
[profiles.work.limits]
tokens = 9_000

[proxy]
upstream = "http://localhost:11434/v1"
port = 8790
strict = true
"""


def written(folder: Path, text: str) -> Path:
    path = folder / NAME
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_is_read_with_every_kind_of_setting(tmp_path: Path) -> None:
    for beside in ("tools.py", "petstore.yaml"):
        (tmp_path / beside).touch()
    found = read_config(written(tmp_path, WHOLE))
    general = {key: said.value for key, said in found.general.items()}
    assert general == {
        "model": "http://localhost:8080/v1#small",
        "tools": [
            f"{tmp_path}/tools.py:stock",
            f"{tmp_path}/petstore.yaml?include=tag:pets",
            "https://host/openapi.json",
            "json",
        ],
        "allow": ["send_*"],
        "journal": False,
        "limits.seconds": 120,
        "limits.repairs": 0,
        "proxy.upstream": "http://localhost:11434/v1",
        "proxy.port": 8790,
        "proxy.strict": True,
    }
    work = {key: said.value for key, said in found.profiles["work"].items()}
    assert work == {
        "model": "https://host/v1#large",
        "api_key_env": "WORK_KEY",
        "mode": "native",
        "limits.tokens": 9000,
    }
    assert found.profile == "work"
    assert found.general["limits.seconds"].origin == f"{tmp_path / NAME}: [limits] seconds"
    assert (
        found.profiles["work"]["limits.tokens"].origin
        == f"{tmp_path / NAME}: [profiles.work.limits] tokens"
    )


def test_the_keys_of_a_file_that_is_not_trusted_can_be_told_and_of_no_toml_there_are_none() -> None:
    said = list_top_keys(Path(NAME), WHOLE.encode())
    assert said == ("model", "tools", "allow", "journal", "profile", "limits", "profiles", "proxy")
    for raw in (b"x = [", b'x = "\xe4"', b"x = " + b"[" * 100_000, b"a." * 100_000 + b"b = 1"):
        assert list_top_keys(Path(NAME), raw) == ()


def test_a_planner_may_be_the_address_of_a_model(tmp_path: Path) -> None:
    found = read_config(written(tmp_path, 'planner = "http://localhost:8000/v1#planner"'))
    assert found.general["planner"].value == "http://localhost:8000/v1#planner"


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ('modle = "x"', "the top of the file has no key 'modle'", "did you mean mode or model?"),
        ("[limits]\nsecond = 3", "[limits] has no key 'second'", "did you mean seconds"),
        ("[profiles.a]\ntoolz = []", "[profiles.a] has no key 'toolz'", "did you mean tools?"),
        ("[profiles.a.limits]\nx = 1", "[profiles.a.limits] has no key 'x'", "it knows: repairs"),
        ("[proxy]\nhots = 1", "[proxy] has no key 'hots'", "did you mean host?"),
        (
            "[limits]\nseconds = '3'",
            "[limits] seconds takes a number, not '3'",
            "seconds of the whole run",
        ),
        ("[limits]\nseconds = nan", "[limits] seconds is nan", "seconds of the whole run"),
        ("[limits]\nturns = 0", "[limits] turns is 0, and must be 1 or more", "turns"),
        ("[limits]\nturns = true", "[limits] turns takes a whole number, not True", "turns"),
        ("model = 3", f"{NAME}: model takes a text, not 3", "as --model"),
        ("tools = 'a'", "tools takes a list of texts, not 'a'", "as --tools"),
        ("journal = true", "journal takes a text or false, not True", "--no-journal"),
        ('mode = "scheme"', "mode is 'scheme'; there are: native, schema, text", "as --mode"),
        ('strategy = "best"', "strategy is 'best'; there are: layered", "as --strategy"),
        (
            'model_profile = "huge"',
            "model_profile is 'huge'; there are: small, medium, large",
            "as --model-profile",
        ),
        ('planner = "best"', "planner is 'best'; there are: default, edges", "as --planner"),
        ("[proxy]\nport = 99999", "[proxy] port is 99999, and must be 0 to 65535", "as --port"),
        ("[proxy]\nport = '1'", "[proxy] port takes a whole number, not '1'", "as --port"),
        ("trial_money = -1", "trial_money takes a number of 0 or more, not -1", "as --trial-money"),
        ("trial_money = inf", "trial_money takes a number of 0 or more", "as --trial-money"),
        ('trial_price = "*=0"', "trial_price takes a list of texts", "as --trial-price"),
        (
            'trial_simulate = "all"',
            "trial_simulate is 'all'; there are: never, transient, every, only",
            "as --trial-simulate",
        ),
        ('profile = "a"', "profile = 'a', and there is no [profiles.a]", "it knows: none"),
        ("profile = 3", "profile takes a text, not 3", "[profiles.NAME]"),
        ("limits = 3", "limits is no table", "[limits] on a line of its own"),
        ("profiles = 3", "profiles is no table", "[profiles] on a line of its own"),
        ("[profiles]\na = 3", "[profiles.a] is no table", "on a line of its own"),
        ("x = [", "is not TOML", "needs quotes"),
        ('api_key = "s3cret"', "api_key: a secret does not belong in this file", "api_key_env = "),
        (
            '[profiles.a]\ntoken = "s3cret"',
            "[profiles.a] token: a secret does not belong",
            "api_key_env = ",
        ),
    ],
)
def test_what_makes_no_sense_is_named_with_its_file_its_key_and_the_next_step(
    tmp_path: Path, text: str, said: str, hint: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        read_config(path)
    first, second = str(caught.value).split("\n", 1)
    assert str(path) in first
    assert said in first
    assert hint in second
    assert "s3cret" not in str(caught.value)


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        read_config(tmp_path / "none.toml")
    with pytest.raises(ConfigError, match="cannot be read: "):
        read_config(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b'model = "\xe4"')
    with pytest.raises(ConfigError, match="is not UTF-8"):
        read_config(tmp_path / "latin.toml")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = " + "[" * 5_000 + "]" * 5_000, "is not TOML: it is nested too deeply"),
        ("x = " + "{a = " * 5_000, "is not TOML: it is nested too deeply"),
        ("x = " + "{a = " * 30 + "1" + "}" * 30, "is nested too deeply"),
        (".".join(["a"] * 190) + " = 1", "is nested too deeply"),
        (".".join(["a"] * 30_000) + " = 1", "more than 200 parts"),
        ("[" + ".".join(["a"] * 30_000) + "]", "more than 200 parts"),
        ("x = {" + ".".join(["a"] * 30_000) + " = 1}", "more than 200 parts"),
        ("port = " + "9" * 5_000, "is not TOML"),
        ("#" * 70_000, "larger than 64000 bytes"),
    ],
)
def test_no_text_is_slow_or_ends_in_a_traceback(tmp_path: Path, text: str, says: str) -> None:
    start = time.process_time()
    with pytest.raises(ConfigError, match=says) as error:
        read_config(written(tmp_path, text))
    assert len(str(error.value)) < 700
    assert time.process_time() - start < 1


def test_the_nearest_file_upward_is_the_projects(tmp_path: Path) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert find_project_file(below) is None
    written(tmp_path, "")
    assert find_project_file(below) == tmp_path / NAME
    written(below, "")
    assert find_project_file(below) == below / NAME


def test_the_users_file_lies_in_the_folder_for_configuration(tmp_path: Path) -> None:
    assert get_user_file({"XDG_CONFIG_HOME": str(tmp_path)}) == tmp_path / "callwright" / NAME
    assert get_user_file({}) == Path.home() / ".config" / "callwright" / NAME


def test_settings_are_read_without_loading_what_carries_a_run_out(tmp_path: Path) -> None:
    path = written(tmp_path, 'mode = "native"\n[limits]\nturns = 3\n[proxy]\nguided = "on"\n')
    told = f"""
import sys
from pathlib import Path
from callwright.cli.settings.settings import resolve_settings
assert resolve_settings(config=Path({str(path)!r})).limits().turns == 3
assert not {{"callwright.agent.strategies", "callwright.agent", "aiohttp"}} & sys.modules.keys()
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", told], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


def test_settings_know_all_calls_that_can_be_asked_about(tmp_path: Path) -> None:
    assert get_args(Ask) == ASKING
    assert read_config(written(tmp_path, 'ask = "writes"')).general["ask"].value == "writes"
    with pytest.raises(ConfigError, match="there are: destructive, writes"):
        read_config(written(tmp_path, 'ask = "all"'))
