"""Tool-MVR's rounds: read, written, and their calls found in programs of any shape, without running
one.
"""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.types import Tool
from callwright.parsing import CallPiece, Parser, parse_calls
from callwright.parsing.formats.program import Round, find_calls, read_round, write_round
from callwright.parsing.tool_vocabulary import ToolVocabulary
from tests.places import DATA

ROWS = DATA / "toolbench_vr"
FIND = Tool(
    "find", input_schema={"type": "object", "properties": {"name": {"type": "string"}, "n": {}}}
)
SEEN = Tool("seen", input_schema={"type": "object", "properties": {"id": {}}})

CALLING = """<thought>
I look for Ada.
</thought>
<execute>
```python
print(find(name="Ada"))
```
</execute>"""


def test_a_round_that_calls() -> None:
    assert read_round(CALLING) == Round("I look for Ada.", 'print(find(name="Ada"))')


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("<thought> t </thought>\n<final_answer> It is 5. </final_answer>", Round("t", answer="It is 5.")),
        ("<thought>t</thought>\nAnswer: <final_answer>5</final_answer>", Round("t", answer="5")),
        ("<thought>t</thought><given_up> Unable. </given_up>", Round("t", given_up="Unable.")),
        ("<execute>\nprint(f())\n</execute>", Round("", "print(f())")),
        # the stop sequence took the end tag
        ("I think.\n<execute>print(f())", Round("I think.", "print(f())", ending="open")),
        ("<execute>\n```python\nprint(f())\n```\n", Round("", "print(f())")),
        ("<execute>\n```python\nprint(f())\n", Round("", "print(f())", ending="torn")),
        ("So:\n```python\nprint(f())", Round("So:", "print(f())", ending="torn")),
        ("<thought>t</thought><final_answer>5", Round("t", answer="5", ending="open")),
        ("<thought>t<execute>print(f())</execute>", Round("t", "print(f())")),
        ("So:\n```python\nprint(f())\n```\nand then", Round("So:", "print(f())")),
        ("I do not know.", Round("I do not know.")),
        ("", Round()),
        # what the model goes on to play alone is not read
        (CALLING + "\nObservation: 7\n<final_answer>7</final_answer>", read_round(CALLING)),
        ("<execute>\n```python\nx = f()\n\nprint(x)\n```\n</execute>", Round("", "x = f()\n\nprint(x)")),
    ],
)  # fmt: skip
def test_rounds_of_every_kind(text: str, made: Round) -> None:
    assert read_round(text) == made


LINES = st.text(
    st.characters(exclude_characters="<>`", exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]),
    min_size=1,
)


@given(LINES, LINES, st.sampled_from(["code", "answer", "given_up"]))
def test_a_round_that_is_written_is_read_as_it_was(thought: str, text: str, kind: str) -> None:
    made = Round(thought, **{kind: text})
    assert read_round(write_round(made)) == made


@given(st.text())
def test_any_text_is_some_round(text: str) -> None:
    made = read_round(text)
    assert sum(part is not None for part in (made.code, made.answer, made.given_up)) <= 1


PROGRAMS = [
    ("print(find(name='Ada'))", [("find", {"name": "Ada"})]),
    ("find('Ada')", [("find", {"name": "Ada"})]),
    ("x = find(name='Ada')\nprint(x)", [("find", {"name": "Ada"})]),
    (
        "print('Example:', find(name='Ada'), seen(id=[1]))",
        [("find", {"name": "Ada"}), ("seen", {"id": [1]})],
    ),
    ("for n in ['a']:\n    if len(n) > 1:\n        print(find(name=n))", [("find", {"name": "n"})]),
    (
        "print(seen(id=find(name='Ada')['id']))",
        [("find", {"name": "Ada"}), ("seen", {"id": "find(name='Ada')['id']"})],
    ),
    ("def show(x):\n    print(x)\nshow(find(name='Ada'))", [("find", {"name": "Ada"})]),
    ("print(find(name='</execute> (\"'))", [("find", {"name": '</execute> ("'})]),
    ("# find(name='no')\nprint(sorted(find(n=2)), sum([1]))", [("find", {"n": 2})]),
]


@pytest.mark.parametrize(("code", "calls"), PROGRAMS)
@pytest.mark.parametrize("fenced", [True, False])
def test_the_calls_of_a_program_whole_and_one_character_at_a_time(
    code: str, calls: list[tuple[str, dict[str, object]]], fenced: bool
) -> None:
    inner = f"```python\n{code}\n```" if fenced else code
    text = f"<thought>t</thought>\n<execute>\n{inner}\n</execute>\nOver."
    parser = Parser([FIND, SEEN])
    pieces = [piece for char in text for piece in parser.feed(char)] + parser.close()
    found = [piece for piece in pieces if isinstance(piece, CallPiece)]
    assert [(p.call.tool, p.call.arguments) for p in found] == calls
    assert "".join(p.raw if isinstance(p, CallPiece) else p.text for p in pieces) == text
    whole = parse_calls(text, [FIND, SEEN])
    assert [(c.tool, c.arguments) for c in whole.calls] == calls


@pytest.mark.parametrize(
    "code", ["print('hello')", "x = 1", "x = (", "", "import os; os.system('x')"]
)
def test_a_program_without_calls_is_text(code: str) -> None:
    text = f"<execute>\n{code}\n</execute>"
    assert parse_calls(text, [FIND]).calls == ()


def test_a_call_that_stops_is_never_completed() -> None:
    parser = Parser([FIND])
    (found,) = [
        p
        for p in [*parser.feed('<execute>\nprint(find(name="A'), *parser.close()]
        if isinstance(p, CallPiece)
    ]
    assert (found.call.tool, found.truncated) == ("find", True)
    assert isinstance(found.call.arguments, str)


@given(st.text(max_size=80))
def test_any_code_is_read_without_an_error(code: str) -> None:
    assert all(isinstance(call.tool, str) for call in find_calls(code, ToolVocabulary([FIND])))


def published() -> list[str]:
    """The replies of the published rows, where they are at hand."""
    files = sorted(ROWS.glob("*.json"))
    rows = [row for file in files for row in json.loads(file.read_text("utf-8"))]
    return [m["content"] for row in rows for m in row["messages"] if m["role"] == "assistant"]


@pytest.mark.skipif(not ROWS.exists(), reason="needs shared data: toolbench_vr")
def test_every_published_reply_is_a_round_and_its_calls_are_read() -> None:
    replies = published()
    assert len(replies) > 10
    for reply in replies:
        made = read_round(reply)
        assert made.thought
        assert (made.code is not None) + (made.answer is not None) + (
            made.given_up is not None
        ) == 1
        calls = parse_calls(reply).calls
        assert bool(calls) is (made.code is not None)
        assert all(isinstance(call.arguments, dict) for call in calls)
        assert read_round(write_round(made)) == made
