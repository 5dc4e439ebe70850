"""The settings of a command: said on the command line, in the environment, in the project's file, in the user's, or
nowhere, in this order. A profile goes before what its file and the others say in general."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from callwright.cli.config import NAME, PROXY, SETTINGS, File, Setting, nearest, project_file, read, user_file
from callwright.encoders.endpoint import KEY_VARIABLE
from callwright.errors import ConfigError
from callwright.http.egress import Target, parse_target
from callwright.limits import LIMITS, Limit, Limits
from callwright.proxy.access import LOOPBACK

CONFIG, PROFILE = "CALLWRIGHT_CONFIG", "CALLWRIGHT_PROFILE"
_LISTS = ("tools", "only", "allow")
USUAL = {"model": "local", "strategy": "layered", "planner": "default"}
_CHAT = ("CALLWRIGHT_API_KEY", "OPENAI_API_KEY")
_KEYS = {"model": _CHAT, "proxy.upstream": _CHAT, "encoder": (KEY_VARIABLE,)}  # what each endpoint is sent
ENDPOINTS = tuple(_KEYS)
_NAMED = {"journal": "CALLWRIGHT_RUNS"}


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds, each with where it was said. ``chosen``: why the profile is the one it is, or ""."""

    known: Mapping[str, Setting]
    files: tuple[File, ...] = ()
    profile: str = ""
    chosen: str = ""

    def get(self, key: str, default: Any = None) -> Any:
        return self.known[key].value if key in self.known else default

    def take(self, *keys: str) -> dict[str, Any]:
        """Those of the keys that anybody said, as arguments."""
        return {key.rpartition(".")[2]: self.known[key].value for key in keys if key in self.known}

    def sources(self, *, say: bool = True) -> list[str]:
        """The tool sources, and behind them the overlay that says more of their tools; where none are named, that it
        is of no use is said on stderr, unless ``say`` is false."""
        named, laid = self.get("tools", []), self.get("overlay")
        if laid and not named and say:
            print(f"warning: {laid} is of no use here: it says more of the tools of --tools", file=sys.stderr)
        return [*named, laid] if named and laid else [*named]

    def limits(self) -> Limits:
        """Raises ConfigError."""
        return Limits(**self.take(*(f"limits.{name}" for name in LIMITS)))

    def journal(self) -> bool | Path:
        """Where runs are kept: a folder, the default one (True), or nowhere."""
        return self.folder() or self.get("journal") is not False

    def folder(self) -> Path | None:
        """The folder of the runs, if one was named."""
        said = self.get("journal")
        return Path(said).expanduser() if said else None

    def evidence(self) -> bool | Path:
        """Where what is learned of tools is kept: a file, the default one (True), or nowhere."""
        said = self.get("evidence")
        return Path(said).expanduser() if said else said is not False

    def announced(self, *asked: str) -> Settings:
        """Itself, ready to be acted on: told of on stderr, the keys of the endpoints in place that ``asked`` names
        (``model``, ``encoder``, ``proxy.upstream``). Raises ConfigError."""
        for note in self.notes(asked):
            print(note, file=sys.stderr)
        self.admit_key(asked)
        return self

    def admit_key(self, asked: Collection[str] = ENDPOINTS) -> None:
        """Have the endpoint asked with the key that ``api_key_env`` names. Raises ConfigError where there is none.

        An endpoint that a file chose which was only found gets no key: it may have come with somebody's project.
        """
        strangers = self._strangers(asked)
        for key in strangers:
            for name in _KEYS[key]:
                os.environ.pop(name, None)
        said = self.known.get("api_key_env")
        chats = [key for key in asked if _KEYS[key] == _CHAT]
        if said is None or not chats or any(key in strangers for key in chats):
            return
        if not os.environ.get(said.value):
            raise ConfigError(
                f"there is no key: the environment variable {said.value} is not set ({said.origin})",
                hint=f"export {said.value}=…",
            )
        os.environ["CALLWRIGHT_API_KEY"] = os.environ[said.value]

    def again(self, model: str | None) -> Setting | None:
        """The model of a run that goes on, as said by whoever says it here: no file's endpoint becomes the user's by
        having been asked before."""
        if model is None:
            return None
        found = [said for file in self.files if not file.own for said in (file.general, *file.profiles.values())]
        known = [said["model"] for said in (self.known, *found) if "model" in said]
        place = self.known.get("journal", Setting(None, "the run"))
        return next((said for said in known if said.value == model), Setting(model, place.origin))

    def _strangers(self, asked: Collection[str]) -> dict[str, File]:
        """Which of the endpoints lie beyond this machine and were chosen by a file that was only found, and it."""
        found = [file for file in self.files if not file.own]
        return {
            key: file
            for file in found
            for key in asked
            if key in self.known
            and self.known[key].origin.startswith(str(file.path))
            and "://" in self.known[key].value
            and not _here(self.known[key].value)
        }

    def notes(self, asked: Collection[str] = ENDPOINTS) -> list[str]:
        """What a user should know before anything is done: which files were read, what was not taken from them."""
        said = ", ".join(str(file.path) for file in self.files)
        made = (
            [f"settings: {said}" + (f", profile {self.profile} ({self.chosen})" if self.profile else "")]
            if said
            else []
        )
        for file in self.files:
            made += [
                f"not taken: {left} (only from {user_file()}, or with --config {file.path})" for left in file.left_out
            ]
        for key, file in self._strangers(asked).items():
            names = (*_KEYS[key], *([self.get("api_key_env", "")] if _KEYS[key] == _CHAT else []))
            if any(os.environ.get(name) for name in names):
                whose = f"{file.path} was only found (--config {file.path} makes it yours)"
                made.append(f"no key goes to {self.known[key].value}: {whose}")
        return made


def shown(settings: Settings, as_json: bool = False) -> str:
    """The settings as a file would say them, each with where it was said; or as JSON."""
    usual = {f"limits.{name}": Setting(limit.default, "default") for name, limit in LIMITS.items()}
    usual |= {key: Setting(value, "default") for key, value in USUAL.items()}
    said = {**usual, **settings.known}
    keys = (*SETTINGS, *(f"limits.{name}" for name in LIMITS), *(f"proxy.{name}" for name in PROXY))
    rows = [(key, said[key]) for key in keys if key in said]
    if as_json:
        import orjson

        told = {key: {"value": s.value, "from": s.origin} for key, s in rows}
        whole = {"files": [str(f.path) for f in settings.files], "profile": settings.profile, "settings": told}
        return orjson.dumps(whole, option=orjson.OPT_INDENT_2, default=str).decode()
    lines, table = (
        [f"# {note}" for note in settings.notes() or [f"settings: no {NAME} here or above, no {user_file()}"]],
        "",
    )
    for key, setting in rows:
        head, _, name = key.rpartition(".")
        if head != table:
            lines, table = [*lines, "", f"[{head}]"], head
        lines.append(f"{f'{name} = {_toml(setting.value)}':<32}  # {setting.origin}")
    return "\n".join(lines)


def _toml(value: Any) -> str:
    import orjson  # JSON's texts, numbers, booleans and lists are TOML's

    return orjson.dumps(value, default=str).decode().replace('","', '", "')


def effective(
    given: Mapping[str, Any] | None = None,
    *,
    config: Path | None = None,
    profile: str | None = None,
    environ: Mapping[str, str] = os.environ,
    folder: Path | None = None,
) -> Settings:
    """The settings of a command. ``given`` is what its command line said: None and empty lists are nothing said, a
    Setting was said elsewhere.

    Raises ConfigError for a file, a variable or a profile that makes no sense.
    """
    files = _files(config, environ, folder or Path.cwd())
    said = {k: _said(v) for k, v in (given or {}).items() if v is not None and v != []}
    told = {**_variables(environ), **said}
    general: dict[str, Setting] = {}
    for file in reversed(files):
        general |= file.general
    name, chosen = _named(profile, environ, files) or _suitable(files, told.get("model"), general.get("model"))
    if name:
        for file in reversed(files):
            general |= file.profiles.get(name, {})
    return Settings(_one_upstream(general, told), files, name, chosen)


def _said(value: Any) -> Setting:
    return value if isinstance(value, Setting) else Setting(value, "the command line")


def _one_upstream(general: dict[str, Setting], told: dict[str, Setting]) -> dict[str, Setting]:
    """The proxy has one of two: what is said nearer goes before the other that a file says."""
    either = {"proxy.upstream", "proxy.model"}
    if either & told.keys():
        general = {k: v for k, v in general.items() if k not in either}
    return {**general, **told}


def _files(config: Path | None, environ: Mapping[str, str], folder: Path) -> tuple[File, ...]:
    """The nearest first. A file that is named stands in the project's place."""
    named = config or (Path(environ[CONFIG]).expanduser() if environ.get(CONFIG) else None)
    users = user_file(environ)
    found = named or project_file(folder)
    paths = [(found, named is not None)] if found is not None and found != users else []
    paths += [(users, True)] if users.is_file() else []
    return tuple(read(path, own=own) for path, own in paths)


def _variables(environ: Mapping[str, str]) -> dict[str, Setting]:
    made = {}
    for key in SETTINGS:
        name = _NAMED.get(key, f"CALLWRIGHT_{key.upper()}")
        if environ.get(name) and key not in _LISTS and key != "api_key_env":
            value = _whole(name, environ[name]) if SETTINGS[key].kind == "a whole number" else environ[name]
            options = SETTINGS[key].options()
            if options and value not in options:
                raise ConfigError(f"{name} is {value!r}", hint=f"there are: {', '.join(options)}")
            made[key] = Setting(value, name)
    for name, limit in LIMITS.items():
        variable = f"CALLWRIGHT_{name.upper()}"
        if environ.get(variable):
            made[f"limits.{name}"] = Setting(_number(variable, environ[variable], limit), variable)
    return made


def _whole(variable: str, text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise ConfigError(f"{variable} takes a whole number, not {text!r}", hint=f"or unset {variable}")
    return int(text)


def _number(variable: str, text: str, limit: Limit) -> float:
    try:
        value = limit.kind(text)
    except ValueError:
        wrong = limit.wrong(text)
    else:
        wrong = limit.wrong(value)
        if not wrong:
            return value
    raise ConfigError(f"{variable} {wrong}", hint=f"{limit.name}: {limit.about}; or unset {variable}") from None


def _named(option: str | None, environ: Mapping[str, str], files: tuple[File, ...]) -> tuple[str, str] | None:
    """The profile that the user named, and where. Raises ConfigError for one that is not there."""
    name, by = (option, "--profile") if option else (environ.get(PROFILE), PROFILE)
    if not name:
        return None
    known = list(dict.fromkeys(name for file in files for name in file.profiles))
    if name not in known:
        places = (
            ", ".join(str(file.path) for file in files) or f"there is no {NAME} here or above, and no {user_file()}"
        )
        raise ConfigError(f"{by}: there is no profile {name!r} ({places})", hint=nearest(name, known))
    return name, by


def _suitable(files: tuple[File, ...], asked: Setting | None, usual: Setting | None) -> tuple[str, str]:
    """The profile where none was named, and why: that of the endpoint the user asks; else the files' own choice; else
    that of the endpoint they ask in general."""
    chosen = next((file for file in files if file.profile), None)
    if asked is None and chosen is not None:
        return chosen.profile, f"{chosen.path}: profile"
    model = asked or usual
    models = _models(files)
    name = _for_endpoint(str(model.value), models) if model is not None else ""
    return name, f"its model is {models[name]}" if name else ""


def _models(files: tuple[File, ...]) -> dict[str, str]:
    """The model of each profile that has one; the nearer file's."""
    made: dict[str, str] = {}
    for file in reversed(files):
        made |= {name: str(said["model"].value) for name, said in file.profiles.items() if "model" in said}
    return made


def _for_endpoint(model: str, models: Mapping[str, str]) -> str:
    """The profile of the same model at the same address, else one of this address where either names no model."""
    address, asked = _address(model)
    here = {name: served for name, (base, served) in ((n, _address(m)) for n, m in models.items()) if base == address}
    exact = [name for name, served in here.items() if served == asked]
    return next(iter(exact or [name for name, served in here.items() if not (served and asked)]), "")


def _address(model: str) -> tuple[str, str]:
    base, _, name = model.partition("#")
    return base.rstrip("/").lower() if "://" in base else base, name


def _here(url: str) -> bool:
    """Whether an endpoint is on this machine."""
    target = parse_target(url.partition("#")[0])
    return isinstance(target, Target) and target.host in LOOPBACK
