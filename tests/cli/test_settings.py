"""Which setting holds where several were said, and which profile."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest
from tests.cli.program import callwright
from tests.cli.test_config import written

from callwright.cli.settings import Settings, effective, shown
from callwright.errors import ConfigError
from callwright.limits import LIMITS, Limits

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


def said(home: Path, given: dict[str, object] | None = None, profile: str | None = None, **environ: str) -> Settings:
    environ["XDG_CONFIG_HOME"] = str(home / "config")
    return effective(given, profile=profile, environ=environ, folder=home / "project" / "below")


def test_the_command_line_goes_before_the_environment_the_project_the_user_and_the_default(home: Path) -> None:
    made = said(
        home, {"limits.seconds": 4.0, "only": [], "strategy": None}, CALLWRIGHT_SECONDS="3", CALLWRIGHT_TOKENS="3"
    )
    assert made.limits() == Limits(seconds=4.0, tokens=3, turns=2, tool_calls=1, repairs=1)
    origins = {name: made.known[f"limits.{name}"].origin for name in ("seconds", "tokens", "turns", "tool_calls")}
    assert origins["seconds"] == "the command line"
    assert origins["tokens"] == "CALLWRIGHT_TOKENS"
    assert origins["turns"] == f"{home}/project/callwright.toml: [limits] turns"
    assert origins["tool_calls"] == f"{home}/config/callwright/callwright.toml: [limits] tool_calls"
    assert "only" not in made.known
    assert "strategy" not in made.known
    assert made.get("model") == "http://project:1/v1"


def test_a_profile_goes_before_what_is_said_in_general_and_is_one_over_both_files(home: Path) -> None:
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
def test_the_profile_of_the_endpoint_that_is_asked_is_taken_unasked(home: Path, model: str, profile: str) -> None:
    made = said(home, {"model": model})
    assert made.profile == profile
    assert made.get("model") == model
    assert said(home, CALLWRIGHT_MODEL=model).profile == profile


def test_the_files_own_choice_of_a_profile_gives_way_to_the_endpoint_that_is_asked(home: Path) -> None:
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
    assert not any(file.left_out for file in made.files)


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
def test_a_variable_that_makes_no_sense_is_named(home: Path, environ: dict[str, str], text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        said(home, **environ)
    assert text in str(caught.value)


def test_the_proxys_upstream_of_the_command_line_takes_the_place_of_the_files_model(home: Path) -> None:
    assert said(home).take("proxy.model", "proxy.upstream", "proxy.port") == {"model": "local", "port": 9999}
    given = said(home, {"proxy.upstream": "http://a/v1"}).take("proxy.model", "proxy.upstream", "proxy.port")
    assert given == {"upstream": "http://a/v1", "port": 9999}


def test_the_journal_is_a_folder_the_default_or_nowhere(home: Path) -> None:
    assert said(home).journal() is True
    assert said(home, {"journal": False}).journal() is False
    assert said(home, {"journal": Path("x")}).journal() == Path("x")
    assert said(home, CALLWRIGHT_RUNS="/runs").journal() == Path("/runs")


def test_what_is_shown_is_a_file_that_says_the_same(home: Path) -> None:
    made = said(home, {"limits.seconds": 4.0}, profile="both")
    table = tomllib.loads(shown(made))
    assert Limits(**table["limits"]) == made.limits()
    assert (table["model"], table["mode"], table["proxy"]["port"]) == ("http://project:1/v1", "native", 9999)
    assert set(table["limits"]) == set(LIMITS)


def test_a_key_comes_from_the_variable_that_the_profile_names(home: Path, tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text("def a() -> int:\n    'A.'\n    return 1\n")
    named = home / "named.toml"
    named.write_text(
        'tools = ["tools.py"]\nmodel = "http://127.0.0.1:9/v1#m"\nmode = "schema"\napi_key_env = "A_KEY"\n'
    )
    done = callwright("run", "x", "--config", named, "--no-journal", A_KEY="")
    assert done.returncode == 1
    assert "there is no key: the environment variable A_KEY is not set" in done.stderr
    assert "export A_KEY=" in done.stderr
    asked = callwright("run", "x", "--config", named, "--no-journal", A_KEY="s3cret")
    assert "cannot connect to http://127.0.0.1:9" in asked.stderr
    assert "s3cret" not in asked.stderr


def test_no_key_goes_to_an_endpoint_that_a_file_chose_which_was_only_found(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def keys_after(made: Settings) -> tuple[str | None, bool]:
        monkeypatch.setenv("CALLWRIGHT_API_KEY", "s3cret")
        told = any("no key goes to http://project:1/v1" in note for note in made.notes())
        made.admit_key()
        return os.environ.get("CALLWRIGHT_API_KEY"), told

    assert keys_after(said(home)) == (None, True)
    assert keys_after(said(home, {"model": "http://mine:1/v1"})) == ("s3cret", False)
    named = said(home, None, None, CALLWRIGHT_CONFIG=str(home / "project" / "callwright.toml"))
    assert keys_after(named) == ("s3cret", False)
    written(home / "project", PROJECT.replace("http://project:1", "http://localhost:1"))
    assert keys_after(said(home)) == ("s3cret", False)


def test_no_key_that_the_users_own_file_names_goes_to_such_an_endpoint_either(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLWRIGHT_API_KEY", "")
    monkeypatch.setenv("A_KEY", "s3cret")
    written(home / "config" / "callwright", 'model = "http://mine:1/v1"\napi_key_env = "A_KEY"\n')
    made = said(home)
    assert any("no key goes to http://project:1/v1" in note for note in made.notes())
    made.admit_key()
    assert not os.environ.get("CALLWRIGHT_API_KEY")
    said(home, {"model": "http://mine:1/v1"}).admit_key()
    assert os.environ["CALLWRIGHT_API_KEY"] == "s3cret"


def test_an_endpoint_that_only_looks_like_this_machine_gets_no_key(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for address in (
        "http://localhost:1@elsewhere/v1",
        "http://localhost.elsewhere/v1",
        "https://localhost@elsewhere/v1",
    ):
        monkeypatch.setenv("CALLWRIGHT_API_KEY", "s3cret")
        written(home / "project", f'model = "{address}"')
        said(home).admit_key()
        assert "CALLWRIGHT_API_KEY" not in os.environ, address


def test_an_endpoint_that_is_not_asked_takes_no_key_from_the_one_that_is(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLWRIGHT_API_KEY", "s3cret")
    monkeypatch.setenv("CALLWRIGHT_EMBEDDINGS_KEY", "s3cret")
    written(home / "project", 'encoder = "http://embeds:1/v1#e"\n[proxy]\nupstream = "http://behind:1/v1"\n')
    made = said(home, {"model": "http://mine:1/v1"})
    made.admit_key(["model"])
    assert os.environ["CALLWRIGHT_API_KEY"] == os.environ["CALLWRIGHT_EMBEDDINGS_KEY"] == "s3cret"
    made.admit_key(["encoder"])
    assert os.environ["CALLWRIGHT_API_KEY"] == "s3cret"
    assert "CALLWRIGHT_EMBEDDINGS_KEY" not in os.environ
    made.admit_key(["proxy.upstream"])
    assert "CALLWRIGHT_API_KEY" not in os.environ


@pytest.mark.parametrize(
    ("model", "key"),
    [
        ("http://project:1/v1", None),  # of the file, in general
        ("http://served:1/v1#large", None),  # of one of its profiles
        ("http://elsewhere:1/v1", "s3cret"),
    ],
)
def test_a_run_that_goes_on_makes_no_files_endpoint_the_users_own(
    home: Path, model: str, key: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLWRIGHT_API_KEY", "s3cret")
    made = said(home, {"model": said(home).again(model)})
    assert made.get("model") == model
    made.admit_key(["model"])
    assert os.environ.get("CALLWRIGHT_API_KEY") == key
    assert said(home, {"model": said(home).again(None)}).get("model") == "http://project:1/v1"


def test_a_run_from_a_folder_that_a_found_file_names_gets_no_key(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLWRIGHT_API_KEY", "s3cret")
    written(home / "project", 'journal = "runs"')
    said(home, {"model": said(home).again("http://elsewhere:1/v1")}).admit_key(["model"])
    assert "CALLWRIGHT_API_KEY" not in os.environ


def test_the_command_shows_the_settings_and_where_each_was_said(home: Path) -> None:
    done = callwright("config", "--config", home / "project" / "callwright.toml", "--profile", "both", HOME=str(home))
    assert done.returncode == 0, done.stderr
    assert "[profiles.both.limits] turns" in done.stdout
    assert "# default" in done.stdout
    listed = callwright("config", "--json", "--profile", "none", "--config", os.devnull)
    assert listed.returncode == 1
    assert "there is no profile 'none'" in listed.stderr
