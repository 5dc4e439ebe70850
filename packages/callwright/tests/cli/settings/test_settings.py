"""Which setting holds where several were said, and which profile."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

import pytest

from callwright.agent.probing.settings import TrialSettings
from callwright.cli.settings.settings import Given, Settings, render_settings, resolve_settings
from callwright.models import ModelSpec, open_model
from callwright.nouns.errors import ConfigError
from callwright.nouns.limits import LIMITS, Limits
from callwright.tools.trust import TrustStore, digest_of, normalize_location
from tests.cli.program import callwright
from tests.cli.settings.test_config import written

USERS = """
model = "http://user:1/v1"
[limits]
seconds = 1
tokens = 1
turns = 1
tool_calls = 1
repairs = 1
[profiles.both]
mode = "text"
strategy = "react"
[profiles.both.limits]
repairs = 11
turns = 11
[profiles.served]
model = "http://served:1/v1"
"""
PROJECT = """
model = "http://project:1/v1"
[limits]
seconds = 2
tokens = 2
turns = 2
[profiles.both]
mode = "native"
[profiles.both.limits]
turns = 22
[profiles.exact]
model = "http://served:1/v1#large"
[proxy]
model = "local"
port = 9999
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "config" / "callwright").mkdir(parents=True)
    (tmp_path / "project" / "below").mkdir(parents=True)
    written(tmp_path / "config" / "callwright", USERS)
    written(tmp_path / "project", PROJECT)
    return tmp_path


def said(
    home: Path, given: dict[str, object] | None = None, profile: str | None = None, **environ: str
) -> Settings:
    """What holds in the project's folder, whose file the user has confirmed as it is."""
    path = home / "project" / "callwright.toml"
    TrustStore(home / "trust").trust(
        "settings", normalize_location(path), digest_of(path.read_bytes())
    )
    return found(home, given, profile, **environ)


def found(
    home: Path, given: dict[str, object] | None = None, profile: str | None = None, **environ: str
) -> Settings:
    """What holds there, whatever was confirmed."""
    environ |= {"XDG_CONFIG_HOME": str(home / "config"), "CALLWRIGHT_TRUST": str(home / "trust")}
    return resolve_settings(
        Given(given or {}), profile=profile, environ=environ, folder=home / "project" / "below"
    )


def test_the_command_line_goes_before_the_environment_the_project_the_user_and_the_default(
    home: Path,
) -> None:
    made = said(
        home,
        {"limits.seconds": 4.0, "only": [], "strategy": None},
        CALLWRIGHT_SECONDS="3",
        CALLWRIGHT_TOKENS="3",
    )
    assert made.limits() == Limits(seconds=4.0, tokens=3, turns=2, tool_calls=1, repairs=1)
    origins = {
        name: made.known[f"limits.{name}"].origin
        for name in ("seconds", "tokens", "turns", "tool_calls")
    }
    assert origins["seconds"] == "the command line"
    assert origins["tokens"] == "CALLWRIGHT_TOKENS"
    assert origins["turns"] == f"{home}/project/callwright.toml: [limits] turns"
    assert origins["tool_calls"] == f"{home}/config/callwright/callwright.toml: [limits] tool_calls"
    assert "only" not in made.known
    assert "strategy" not in made.known
    assert made.get("model") == "http://project:1/v1"


def test_trials_are_set_by_files_too_and_only_where_something_is_tried(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """
trials = "read-only"
trial_model = "run"
trial_simulate = "transient"
trial_price = ["maps_*=0.5", "*=0"]
trial_money = 2
trial_relevance = "encoder"
""",
    )

    def trials(**given: object) -> TrialSettings:
        return resolve_settings(Given(given), config=path, environ={}).probing()

    prices = (("maps_*", 0.5), ("*", 0.0))
    assert trials() == TrialSettings("run", "transient", prices, 2, "encoder")
    assert trials(trial_money=3.0).money == 3.0
    assert trials(trials="off") == TrialSettings(), "nothing is tried: the file's do no harm"
    assert trials(trials="off", trial_money=3.0) == TrialSettings(money=3.0), "refused by the run"
    with pytest.raises(ConfigError, match="PATTERN=COST"):
        trials(trial_price=["much"])
    environ = {"CALLWRIGHT_TRIAL_RELEVANCE": "rules", "CALLWRIGHT_TRIAL_MONEY": "9"}
    said = resolve_settings(config=path, environ=environ).probing()
    assert (said.relevance, said.money) == ("rules", 2), "an amount is in no variable"


def test_a_profile_goes_before_what_is_said_in_general_and_is_one_over_both_files(
    home: Path,
) -> None:
    made = said(home, profile="both")
    assert made.limits() == Limits(seconds=2, tokens=2, turns=22, tool_calls=1, repairs=11)
    assert (made.get("mode"), made.get("strategy")) == ("native", "react")
    assert (made.profile, made.chosen) == ("both", "--profile")
    assert said(home, CALLWRIGHT_PROFILE="both").chosen == "CALLWRIGHT_PROFILE"


@pytest.mark.parametrize(
    ("model", "profile"),
    [
        ("http://served:1/v1#large", "exact"),
        ("http://served:1/v1/#large", "exact"),
        ("http://SERVED:1/v1#small", "served"),
        ("http://served:1/v1", "served"),
        ("http://served:2/v1", ""),
        ("local", ""),
    ],
)
def test_the_profile_of_the_endpoint_that_is_asked_is_taken_unasked(
    home: Path, model: str, profile: str
) -> None:
    made = said(home, {"model": model})
    assert made.profile == profile
    assert made.get("model") == model
    assert said(home, CALLWRIGHT_MODEL=model).profile == profile


def test_the_files_own_choice_of_a_profile_gives_way_to_the_endpoint_that_is_asked(
    home: Path,
) -> None:
    written(home / "project", 'profile = "both"\n' + PROJECT)
    assert said(home).profile == "both"
    assert said(home, {"model": "http://served:1/v1"}).profile == "served"
    assert said(home, {"model": "http://elsewhere/v1"}).profile == ""


def test_a_named_file_stands_in_the_projects_place_and_is_the_users_own(home: Path) -> None:
    named = home / "named.toml"
    named.write_text('allow = ["send_*"]\n[limits]\nseconds = 7\n')
    made = said(home, CALLWRIGHT_CONFIG=str(named))
    assert made.limits().seconds == 7
    assert made.limits().tokens == 1
    assert made.get("allow") == ["send_*"]
    assert not made.unused


@pytest.mark.parametrize(
    ("environ", "text"),
    [
        ({"CALLWRIGHT_SECONDS": "soon"}, "CALLWRIGHT_SECONDS takes a number, not 'soon'"),
        ({"CALLWRIGHT_TURNS": "0"}, "CALLWRIGHT_TURNS is 0, and must be 1 or more"),
        ({"CALLWRIGHT_SECONDS": "inf"}, "and finite"),
        ({"CALLWRIGHT_MODE": "scheme"}, "there are: native, schema, text"),
        ({"CALLWRIGHT_PROFILE": "bath"}, "did you mean both?"),
        ({"CALLWRIGHT_CONFIG": "/none.toml"}, "/none.toml cannot be read"),
    ],
)
def test_a_variable_that_makes_no_sense_is_named(
    home: Path, environ: dict[str, str], text: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        said(home, **environ)
    assert text in str(caught.value)


def test_the_proxys_upstream_of_the_command_line_takes_the_place_of_the_files_model(
    home: Path,
) -> None:
    assert said(home).take("proxy.model", "proxy.upstream", "proxy.port") == {
        "model": "local",
        "port": 9999,
    }
    given = said(home, {"proxy.upstream": "http://a/v1"}).take(
        "proxy.model", "proxy.upstream", "proxy.port"
    )
    assert given == {"upstream": "http://a/v1", "port": 9999}


def test_the_journal_is_a_folder_the_default_or_nowhere(home: Path) -> None:
    assert said(home).journal() is True
    assert said(home, {"journal": False}).journal() is False
    assert said(home, {"journal": Path("x")}).journal() == Path("x")
    assert said(home, CALLWRIGHT_RUNS="/runs").journal() == Path("/runs")


def test_what_is_shown_is_a_file_that_says_the_same(home: Path) -> None:
    made = said(home, {"limits.seconds": 4.0}, profile="both")
    table = tomllib.loads(render_settings(made))
    assert Limits(**table["limits"]) == made.limits()
    assert (table["model"], table["mode"], table["proxy"]["port"]) == (
        "http://project:1/v1",
        "native",
        9999,
    )
    assert set(table["limits"]) == set(LIMITS)


def test_a_key_comes_from_the_variable_that_the_profile_names(home: Path, tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text("def a() -> int:\n    'A.'\n    return 1\n")
    named = home / "named.toml"
    named.write_text(
        'tools = ["tools.py"]\nmodel = "http://127.0.0.1:9/v1#m"\nmode = "schema"\napi_key_env ='
        ' "A_KEY"\n'
    )
    done = callwright("run", "x", "--config", named, "--no-journal", A_KEY="")
    assert done.returncode == 1
    assert "there is no key: the environment variable A_KEY is not set" in done.stderr
    assert "export A_KEY=" in done.stderr
    asked = callwright("run", "x", "--config", named, "--no-journal", A_KEY="s3cret")
    assert "cannot connect to http://127.0.0.1:9" in asked.stderr
    assert "s3cret" not in asked.stderr


def show_path(path: Path) -> str:
    """A path as messages show it: from the working directory, where that is shorter."""
    return min(str(path), os.path.relpath(path), key=len)


def test_nothing_of_a_file_that_was_only_found_counts_before_it_is_confirmed(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = home / "project" / "callwright.toml"
    written(
        home / "project",
        'api_key_env = "AWS_SECRET"\nallow = ["*"]\ntools = ["evil.py"]\n' + PROJECT,
    )
    made = found(home)
    assert [file.path for file in made.files] == [
        home / "config" / "callwright" / "callwright.toml"
    ]
    assert made.get("model") == "http://user:1/v1"
    assert not {"api_key_env", "allow", "tools", "proxy.model", "proxy.port"} & made.known.keys()
    noted = capsys.readouterr().err
    shown = show_path(path)
    assert f"not used: {shown} (api_key_env, allow, tools, model, limits, profiles, …)" in noted
    assert f"callwright trust {shown}" in noted
    assert "not used" in render_settings(made)
    with pytest.raises(ConfigError, match=r"(?s)no profile 'exact'.*callwright trust"):
        found(home, profile="exact")


def test_a_confirmed_file_counts_until_one_letter_of_it_changes(home: Path) -> None:
    assert said(home).get("proxy.port") == 9999
    written(home / "project", PROJECT.replace("9999", "9998"))
    assert "proxy.port" not in found(home).known
    assert said(home).get("proxy.port") == 9998
    written(home / "project" / "below", PROJECT)  # the same text at another place
    assert "proxy.port" not in found(home).known


def test_what_is_said_of_a_found_file_steers_no_terminal(home: Path) -> None:
    written(home / "project", '"a\\u001b[2Jb" = 1\n"\\u202eevil" = 2\n')
    assert "(a\\u001b[2Jb, \\u202eevil)" in found(home).unused
    unused = found(home).unused.replace(str(show_path(home)), "").replace(str(home), "")
    assert max(map(len, unused.splitlines())) <= 80
    written(home / "project", "x = [")
    assert "It was only found" in found(home).unused


def test_a_found_file_chooses_no_upstream_of_the_proxy_and_no_code(
    home: Path, tmp_path: Path
) -> None:
    (tmp_path / "evil.py").write_text(
        f"open({str(tmp_path / 'ran')!r}, 'w')\ndef a() -> int:\n    'A.'\n    return 1\n"
    )
    written(
        tmp_path, 'tools = ["evil.py"]\n[proxy]\nupstream = "http://127.0.0.1:9/v1"\nport = 0\n'
    )
    listed = callwright("check", '{"tool": "a", "arguments": {}}', folder=tmp_path)
    assert listed.returncode == 1
    assert "not used" in listed.stderr
    served = callwright("proxy", folder=tmp_path)
    assert served.returncode == 1
    assert "callwright trust" in served.stderr
    assert not (tmp_path / "ran").exists()
    assert callwright("trust", "callwright.toml", folder=tmp_path).returncode == 0
    assert callwright("check", '{"tool": "a", "arguments": {}}', folder=tmp_path).returncode == 0
    assert (tmp_path / "ran").exists()


def test_a_key_that_the_users_own_file_names_is_the_one_that_is_sent(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLWRIGHT_API_KEY", "")
    monkeypatch.setenv("A_KEY", "s3cret")
    written(home / "config" / "callwright", 'model = "http://mine:1/v1"\napi_key_env = "A_KEY"\n')
    assert found(home).key_variable(["encoder"]) == ""
    assert found(home).key_variable(["model"]) == "A_KEY"
    asked = found(home).model()
    assert asked == ModelSpec("http://mine:1/v1", "A_KEY")
    opened: Any = open_model(asked)
    assert opened.secrets == ("s3cret",)
    assert os.environ["CALLWRIGHT_API_KEY"] == "", "it is not copied to where tools would see it"


def test_the_command_shows_the_settings_and_where_each_was_said(home: Path) -> None:
    done = callwright(
        "config",
        "--config",
        home / "project" / "callwright.toml",
        "--profile",
        "both",
        HOME=str(home),
    )
    assert done.returncode == 0, done.stderr
    assert "[profiles.both.limits] turns" in done.stdout
    assert "# default" in done.stdout
    listed = callwright("config", "--json", "--profile", "none", "--config", os.devnull)
    assert listed.returncode == 1
    assert "there is no profile 'none'" in listed.stderr


UPSTREAMS = ["http://first:1/v1", "http://served:1/v1#large", "http://other:1/v1"]


def test_the_keys_of_upstreams_come_from_the_command_line_or_their_profile(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVED_KEY", "x")
    monkeypatch.setenv("OTHER_KEY", "x")
    project = home / "project" / "callwright.toml"
    text = project.read_text().replace(
        'model = "http://served:1/v1#large"',
        'model = "http://served:1/v1#large"\napi_key_env = "SERVED_KEY"',
    )
    project.write_text(text)
    made = resolve_settings(config=project)
    assert made.find_upstream_keys(UPSTREAMS, []) == {UPSTREAMS[1]: "SERVED_KEY"}
    given = ["http://other:1/v1/=OTHER_KEY", "http://served:1/v1=OTHER_KEY"]
    assert made.find_upstream_keys(UPSTREAMS, given) == {
        UPSTREAMS[1]: "OTHER_KEY",
        UPSTREAMS[2]: "OTHER_KEY",
    }


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("http://other:1/v1=sk-0123-secret", "takes URL=VARIABLE"),
        ("OTHER_KEY", "takes URL=VARIABLE"),
        ("http://first:1/v1=OTHER_KEY", "no upstream behind the first"),
        ("http://other:1/v1=NOT_SET_ANYWHERE", "NOT_SET_ANYWHERE is not set"),
    ],
)
def test_a_key_of_an_upstream_that_makes_no_sense_is_refused(
    home: Path, given: str, text: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        said(home).find_upstream_keys(UPSTREAMS, [given])
    assert text in str(caught.value)
    assert "secret" not in str(caught.value)


def test_upstreams_are_one_text_or_a_list(home: Path) -> None:
    assert said(home).upstreams() == []
    assert said(home, {"proxy.upstream": "http://a/v1"}).upstreams() == ["http://a/v1"]
    assert said(home, {"proxy.upstream": UPSTREAMS}).upstreams() == UPSTREAMS
