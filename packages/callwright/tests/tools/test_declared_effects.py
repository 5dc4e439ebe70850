"""What a user declares of tools' effects, and what wins."""

from __future__ import annotations

from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import DESTRUCTIVE, READ, WRITE, Tool
from callwright.proxy.session.context import Toolsets
from callwright.tools.declared_effects import DeclaredEffects
from callwright.tools.overlay import Overlay, documented

MAIL, FIND = Tool("send_mail"), Tool("get_part")


def test_the_first_pattern_that_fits_counts() -> None:
    declared = DeclaredEffects.parse(["send_mail=write", "get_*=read", "*=destructive"])
    found = declared.apply([MAIL, FIND, Tool("wipe", effects=READ)])
    assert [tool.effects for tool in found] == [WRITE, READ, DESTRUCTIVE]
    assert all(tool.effects.declared for tool in found)
    assert not DeclaredEffects().apply([MAIL])[0].effects.declared


def test_a_file_says_the_same(tmp_path: Path) -> None:
    path = tmp_path / "effects.toml"
    path.write_text('send_mail = "write"\n"get_*" = "read"\n', encoding="utf-8")
    declared = DeclaredEffects.parse([str(path)])
    assert [tool.effects for tool in declared.apply([MAIL, FIND])] == [WRITE, READ]


@pytest.mark.parametrize("text", ["send_mail=harmless", "nowhere.toml", "broken.toml"])
def test_what_cannot_be_read_is_an_error_that_says_what_to_write(text: str, tmp_path: Path) -> None:
    (tmp_path / "broken.toml").write_text("send_mail =", encoding="utf-8")
    with pytest.raises(ConfigError):
        DeclaredEffects.parse([text if "=" in text else str(tmp_path / text)])


def offered(name: str, about: str = "") -> dict[str, object]:
    function = {"name": name, "description": about, "parameters": {"type": "object"}}
    return {"type": "function", "function": function}


def test_the_proxys_tools_have_the_effects_of_option_and_overlay() -> None:
    by_option = Toolsets(effects=DeclaredEffects.parse(["send_mail=write"]))
    assert by_option.get([offered("send_mail")]).tools[0].effects == WRITE
    tool = Toolsets().get([offered("get_part")]).tools[0]
    said = [{"key": "", "change": "effects", "value": "read"}]
    document = {
        "callwright_overlay": 1,
        "tools": {"get_part": {"of": documented(tool), "changes": said}},
    }
    known = Toolsets(overlay=Overlay.of_json(document))
    body = known.apply_overlay({"tools": [offered("get_part")]})
    assert known.get(body["tools"]).tools[0].effects == READ
    changed = known.apply_overlay({"tools": [offered("get_part", "Deletes a part.")]})
    assert not known.get(changed["tools"]).tools[0].effects.declared, "it is another tool now"
    said[0]["value"] = "harmless"
    with pytest.raises(ConfigError):
        Overlay.of_json(document)
