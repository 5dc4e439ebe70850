"""From a reply to calls: what is right passes as it is, every change is listed, nothing is made
up.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import callwright
from callwright.nouns.errors import CatalogError, ConfigError
from callwright.nouns.types import READ, Message, Tool, ToolCall, iter_scalars
from callwright.repair.refinement import PROXY_RULES, REFINE_RULES, refine, repair_calls
from callwright.repair.result import Settings
from callwright.repair.rules.lossless import LOSSLESS_RULES
from callwright.tools.lists.tools import tools_from_wire

WEATHER = Tool(
    "get_weather",
    "Weather of a city.",
    {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "The city."},
            "days": {"type": "integer"},
            "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
        },
        "required": ["city"],
    },
)
DELETE = Tool(
    "delete_file", "Delete a file.", {"type": "object", "properties": {"path": {"type": "string"}}}
)
TOOLS = [WEATHER, DELETE]


def edited(
    arguments: object, query: str = "", name: str = "get_weather"
) -> tuple[object, list[str]]:
    found = refine([{"name": name, "arguments": arguments}], TOOLS, query=query)
    return (found.calls[0].arguments if found.calls else None, [e.rule for e in found.edits])


def test_a_right_call_is_the_same_object_afterwards() -> None:
    call = ToolCall("1", "get_weather", {"city": "Oslo", "days": 3})
    found = refine([call], TOOLS, query="Weather in Oslo for 3 days")
    assert found.calls[0] is call
    assert found.edits == () == found.violations
    assert found.confidence == 1.0


def test_one_line_from_text() -> None:
    text = (
        '```json\n{"name": "getWeather", "arguments": {"City": "Oslo", "days": "3", "unit":'
        ' "C"}}\n```'
    )
    found = callwright.refine(text, TOOLS, query="Weather in Oslo")
    assert [(c.tool, c.arguments) for c in found.calls] == [
        ("get_weather", {"city": "Oslo", "days": 3, "unit": "celsius"})
    ]
    assert [(e.path, e.rule) for e in found.edits] == [
        ("/0/name", "tool_spelling"),
        ("/0/arguments/days", "text_to_number"),
        ("/0/arguments/City", "rename_key"),
        ("/0/arguments/unit", "option_meaning"),
    ]


@pytest.mark.parametrize(
    ("given_", "query", "wanted", "rules"),
    [
        ({"arguments": {"city": "Oslo"}}, "", {"city": "Oslo"}, ["unwrap_arguments"]),
        ({"city": {"type": "string", "value": "Oslo"}}, "", {"city": "Oslo"}, ["echoed_schema"]),
        ({"city": {"type": "string"}}, "My city is Oslo.", {"city": "Oslo"}, ["stated_value"]),
        ({"city": "Oslo", "days": "<number>"}, "Weather in Oslo", {"city": "Oslo"}, ["placeholder"]),
        ({"city": "Oslo", "days": "<n>"}, "Oslo for 3 days", {"city": "Oslo", "days": 3}, ["stated_value"]),
        ({"place": "Oslo"}, "Weather in Oslo", {"city": "Oslo"}, ["assign_key"]),
        ('{"city": "Oslo"}', "", {"city": "Oslo"}, []),
        ('"{\\"city\\": \\"Oslo\\"}"', "", {"city": "Oslo"}, ["unwrap_json"]),
        ({"city": "Oslo", "verbose": True}, "Weather in Oslo", {"city": "Oslo"}, ["drop_unknown"]),
    ],
)  # fmt: skip
def test_arguments_are_repaired(
    given_: object, query: str, wanted: object, rules: list[str]
) -> None:
    assert edited(given_, query) == (wanted, rules)


def test_what_nobody_said_is_reported_and_not_made_up() -> None:
    found = refine(
        [{"name": "get_weather", "arguments": {"city": "<city>"}}],
        TOOLS,
        query="How is the weather?",
    )
    assert found.edits == ()
    assert found.calls[0].arguments == {"city": "<city>"}
    assert [(v.path, v.keyword) for v in found.violations] == [("/0/arguments/city", "placeholder")]


def test_a_key_that_holds_what_was_asked_for_is_kept_with_a_warning() -> None:
    found = refine(
        [{"name": "get_weather", "arguments": {"city": "Oslo", "station": "Blindern"}}],
        TOOLS,
        query="Weather in Oslo at Blindern",
    )
    assert found.edits == ()
    assert [v.path for v in found.violations] == ["/0/arguments/station"]


def test_an_optional_null_stays_with_a_warning() -> None:
    call = ToolCall("1", "get_weather", {"city": "Oslo", "days": None})
    found = refine([call], TOOLS, query="Weather in Oslo")
    assert found.calls[0] is call
    assert [v.keyword for v in found.violations] == ["null"]


def test_an_unknown_name_never_becomes_a_tool_that_may_write() -> None:
    found = refine(
        [{"name": "erase_document", "arguments": {"path": "/tmp/a"}}], TOOLS, query="delete /tmp/a"
    )
    assert found.calls[0].tool == "erase_document"
    assert found.edits == ()
    assert [v.kind for v in found.violations] == ["unknown_tool"]


def test_arguments_that_stop_in_the_middle_are_never_completed() -> None:
    found = refine(
        [{"name": "delete_file", "arguments": '{"path": "/tmp/a'}], TOOLS, query="delete /tmp/abc"
    )
    assert found.edits == ()
    assert found.calls[0].arguments == '{"path": "/tmp/a'
    assert [v.kind for v in found.violations] == ["truncated"]


def test_positions_are_those_of_the_calls_as_read() -> None:
    right = {"name": "get_weather", "arguments": {"city": "Oslo"}}
    found = refine(
        [right, right, {"name": "getWeather", "arguments": {"city": "Rome"}}],
        TOOLS,
        query="Oslo, Rome",
    )
    assert [(e.path, e.rule) for e in found.edits] == [
        ("/1", "duplicate_call"),
        ("/2/name", "tool_spelling"),
    ]
    assert [c.arguments for c in found.calls] == [{"city": "Oslo"}, {"city": "Rome"}]


def test_leave_out_takes_away_what_nothing_supports() -> None:
    call = {"name": "get_weather", "arguments": {"city": "Oslo", "days": 7}}
    kept = refine([call], TOOLS, query="Weather in Oslo")
    assert kept.edits == ()
    left = refine([call], TOOLS, query="Weather in Oslo", settings=Settings(leave_out=True))
    assert left.calls[0].arguments == {"city": "Oslo"}
    assert [e.rule for e in left.edits] == ["drop_unsourced"]
    said = refine(
        [call], TOOLS, query="Weather in Oslo for 7 days", settings=Settings(leave_out=True)
    )
    assert said.calls[0].arguments == {"city": "Oslo", "days": 7}


def test_values_come_from_earlier_messages_too() -> None:
    messages = [Message("user", "My city is Oslo."), Message("user", "Now the weather.")]
    found = refine([{"name": "get_weather", "arguments": {}}], TOOLS, messages=messages)
    assert found.calls[0].arguments == {"city": "Oslo"}


def test_prose_has_no_calls_and_keeps_its_text() -> None:
    found = refine("The weather is fine.", TOOLS)
    assert found.calls == ()
    assert found.text == "The weather is fine."


def test_an_example_that_names_no_tool_stays_in_the_text() -> None:
    text = 'An entry looks like {"name": "Ann", "parameters": {"age": 30}} in our address book.'
    found = refine(text, TOOLS)
    assert found.calls == ()
    assert found.text == text
    assert found.abstained


@pytest.mark.parametrize(
    "text",
    [
        '```python\nprint("hello")\n```',
        "```python\nprint(delete_file(path='/tmp/a'))\n```",
        "```js\nplot({a: 1})\n```",
        '```json\n{"name": "Ann", "age": 3}\n```',
        "Here it is:\n```python\nfly_home(city='Oslo')\n```",
    ],
)
def test_code_and_data_that_call_no_tool_stay_text(text: str) -> None:
    found = refine(text, TOOLS, query="Show me a hello world")
    assert (found.calls, found.text, found.violations) == ((), text, ())


@pytest.mark.parametrize(
    "source",
    [
        '<tool_call>{"name": "fly_home", "arguments": {"city": "Oslo"}}</tool_call>',
        '{"name": "fly_home", "arguments": {"city": "Oslo"}}',
        '```json\n{"name": "fly_home", "arguments": {"city": "Oslo"}}\n```',
        '[fly_home(city="Oslo")]',
        'Action: fly_home\nAction Input: {"city": "Oslo"}',
        {"functionCall": {"name": "fly_home", "args": {"city": "Oslo"}}},
    ],
)
def test_a_call_of_a_tool_that_does_not_exist_is_reported(source: Any) -> None:
    found = refine(source, TOOLS, query="Fly me home")
    assert [call.tool for call in found.calls] == ["fly_home"]
    assert [v.kind for v in found.violations] == ["unknown_tool"]


def test_a_call_of_an_offered_tool_counts_beside_other_code() -> None:
    code = "```python\nprint('I look')\nget_weather(city='Oslo')\n```"
    found = refine(code, TOOLS, query="Weather in Oslo?")
    assert [call.tool for call in found.calls] == ["get_weather"]


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "user", "content": "My city is Oslo."}],
        [{"role": "user", "content": [{"type": "text", "text": "My city is Oslo."}]}],
        [
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "1", "content": "city: Oslo"}],
            },
            Message("user", "The weather there?"),
        ],
    ],
)
def test_the_conversation_may_be_given_as_apis_have_it(messages: Any) -> None:
    call = {"name": "get_weather", "arguments": {"town": "Oslo"}}
    found = refine([call], TOOLS, messages=messages)
    assert found.calls[0].arguments == {"city": "Oslo"}
    assert found.abstained == ()


def test_a_message_of_no_known_form_is_refused_by_its_place() -> None:
    with pytest.raises(ConfigError, match="message 1 is of no known form") as raised:
        refine("Hi.", TOOLS, messages=[Message("user", "Hi."), {"content": "x"}])
    assert "'role'" in str(raised.value.hint)


def test_the_calls_of_another_client_go_back_in_the_form_they_came_in() -> None:
    block = {"type": "tool_use", "id": "t1", "name": "getWeather", "input": {"City": "Oslo"}}
    found = refine({"content": [block]}, TOOLS, query="Weather in Oslo?")
    assert callwright.calls_to_wire(found.calls, api="anthropic") == [
        {**block, "name": "get_weather", "input": {"city": "Oslo"}}
    ]


def test_rule_groups_are_optional_and_known() -> None:
    call = ToolCall("1", "getWeather", {"city": "Oslo"})
    assert refine([call], TOOLS, rule_groups=()).calls == (call,)
    with pytest.raises(ConfigError, match="rule group"):
        refine([call], TOOLS, rule_groups=("magic",))


def test_the_old_name_of_rule_groups_works_and_warns() -> None:
    call = ToolCall("1", "getWeather", {"city": "Oslo"})
    with pytest.warns(DeprecationWarning, match=r"rule_groups=…"):
        assert refine([call], TOOLS, rungs=()).calls == (call,)


def test_a_tool_known_to_read_may_be_found_by_meaning() -> None:
    reads = Tool(WEATHER.name, WEATHER.description, WEATHER.input_schema, effects=READ)
    found = refine(
        [{"name": "fetch_city_weather", "arguments": {"city": "Oslo"}}],
        [reads, DELETE],
        query="weather",
    )
    assert found.calls[0].tool == "get_weather"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=120, deadline=None)
@given(
    st.sampled_from(["get_weather", "delete_file", "getweather", "x", ""]),
    st.dictionaries(
        st.sampled_from(["city", "days", "unit", "path", "q", ""]), json_values, max_size=4
    )
    | st.text(),
)
def test_nothing_a_model_writes_raises_and_a_second_pass_changes_nothing(
    name: str, arguments: object
) -> None:
    first = refine(
        [{"name": name, "arguments": arguments}], TOOLS, query="Weather in Oslo for 3 days"
    )
    second = refine(list(first.calls), TOOLS, query="Weather in Oslo for 3 days")
    assert second.calls == first.calls
    assert second.edits == ()


def test_labels_of_a_list_stay_with_their_calls_whatever_its_order() -> None:
    """A shuffled NESTFUL list: only the order changes, no reference is renumbered to another
    call.
    """

    def tool(name: str, takes: str, gives: str) -> Tool:
        schema = {"type": "object", "properties": {k: {"type": "string"} for k in takes.split()}}
        out = {"type": "object", "properties": {gives: {"type": "string"}}}
        return Tool(name, name, {**schema, "required": takes.split()}, out, READ)

    tools = [
        tool("airport", "city", "skyId"),
        tool("flights", "a b", "price"),
        tool("hotels", "geoId", "name"),
    ]
    tools.append(tool("location", "q", "geoId"))
    text = """[
      {"name": "flights", "arguments": {"a": "$var1.skyId$", "b": "$var2.skyId$"}, "label": "$var3"},
      {"name": "location", "arguments": {"q": "London"}, "label": "$var4"},
      {"name": "hotels", "arguments": {"geoId": "$var4.geoId$"}, "label": "$var5"},
      {"name": "airport", "arguments": {"city": "New York"}, "label": "$var1"},
      {"name": "airport", "arguments": {"city": "London"}, "label": "$var2"}]"""
    done = refine(text, tools, query="Flights from New York to London, hotels in London.")
    assert [e.rule for e in done.edits] == ["topological_order"]
    by_label = {call.slot: call.arguments for call in done.calls}
    assert by_label["$var3"] == {"a": "$var1.skyId$", "b": "$var2.skyId$"}
    assert by_label["$var5"] == {"geoId": "$var4.geoId$"}
    assert [c.slot for c in done.calls].index("$var3") > [c.slot for c in done.calls].index("$var2")


def test_an_added_call_bears_its_label_as_the_others_do() -> None:
    def tool(name: str, takes: str, gives: str) -> Tool:
        schema = {"type": "object", "properties": {takes: {"type": "string"}}, "required": [takes]}
        out = {"type": "object", "properties": {gives: {"type": "string"}}}
        return Tool(name, name, schema, out, READ)

    text = '[{"name": "hotels", "arguments": {"geo_id": "$var1.geo_id$"}, "label": "$var2"}]'
    done = refine(
        text,
        [tool("location", "query", "geo_id"), tool("hotels", "geo_id", "name")],
        query="in 'Lisbon'",
    )
    assert [(c.tool, c.slot) for c in done.calls] == [("location", "$var1"), ("hotels", "$var2")]


def test_a_prompt_that_shows_the_notation_hides_no_reference() -> None:
    """Bamboogle*: the system prompt lists every output name; the producer still comes first."""
    person, content = (
        {"celebrity_name": {"type": "string"}},
        {"information_content": {"type": "string"}},
    )
    born = {"name": "find_birthplace", "parameters": person, "output_name": "output_birthplace"}
    capital = {"name": "find_capital", "parameters": content, "output_name": "output_capital"}
    text = (
        "[find_capital(information_content='output_birthplace'),"
        " find_birthplace(celebrity_name='Ada Lovelace')]"
    )
    said = [
        Message("system", "Tools: output_name: output_birthplace …"),
        Message("user", "The capital of …?"),
    ]
    done = refine(text, tools_from_wire([born, capital]), messages=said)
    assert [c.tool for c in done.calls] == ["find_birthplace", "find_capital"]
    assert [e.rule for e in done.edits] == ["topological_order"]


_WORDS = st.text("abcdefghij ", min_size=4, max_size=20).map(str.strip).filter(lambda s: len(s) > 3)
_PARTS = st.sampled_from(
    [{"type": "string"}, {"type": "integer"}, {"type": "array", "items": {"type": "string"}}]
)


@st.composite
def _lawful(draw: st.DrawFn) -> tuple[list[ToolCall], list[Tool], str]:
    """Calls that their schemas accept, with a request that says each of their values in these
    words.
    """
    tools, calls, said = [], [], ["Please do this:"]
    for number in range(draw(st.integers(1, 3))):
        parts = draw(
            st.dictionaries(
                st.sampled_from(["city", "note", "amount", "tags", "from_place"]), _PARTS
            )
        )
        tools.append(Tool(f"tool_{'abc'[number]}", "", {"type": "object", "properties": parts}))
        kinds = {
            "string": _WORDS,
            "integer": st.integers(20, 9_999),
            "array": st.lists(_WORDS, min_size=2, max_size=3),
        }
        arguments = {key: draw(kinds[str(part["type"])]) for key, part in parts.items()}
        calls.append(ToolCall(f"call_{number}", tools[-1].name, arguments))
        said += [str(leaf) for leaf in iter_scalars(arguments)]
    return calls, tools, "; ".join(said)


@given(_lawful())
def test_lawful_calls_with_values_that_were_said_come_back_as_the_same_objects(
    case: tuple[list[ToolCall], list[Tool], str],
) -> None:
    calls, tools, query = case
    found = callwright.refine(calls, tools, query=query)
    assert found.edits == ()
    assert found.violations == ()
    assert all(after is before for after, before in zip(found.calls, calls, strict=True))


def test_what_somebody_else_executes_is_converted_as_the_gate_would() -> None:
    schema = {"type": "object", "properties": {"loud": {"enum": ["True", "False"]}}}
    tools, call = [Tool("ring", "", schema)], ToolCall("1", "ring", {"loud": True})
    assert refine([call], tools, query="Ring loud.").calls == (call,)
    drafts = repair_calls([call], tools, "Ring loud.", (), Settings())
    assert drafts.calls[0].arguments == {"loud": "True"}
    assert [(e.path, e.rule) for e in drafts.render_edits()] == [
        ("/0/arguments/loud", "option_spelling")
    ]


def test_calls_that_cannot_be_read_are_left_as_they_are_for_others_too() -> None:
    call = ToolCall("1", "ring", {"loud": float("nan")})
    drafts = repair_calls([call], [Tool("ring")], "Ring.", (), Settings())
    assert drafts.calls == (call,)
    assert len(drafts.render_violations()) == len(refine([call], [Tool("ring")]).violations)


@pytest.mark.parametrize("rules", [LOSSLESS_RULES, REFINE_RULES, PROXY_RULES])
def test_a_configuration_runs_its_rules_by_cost_and_names_each_once(rules: Any) -> None:
    assert [rule.cost for rule in rules] == sorted(rule.cost for rule in rules)
    assert len({rule.id for rule in rules}) == len(rules)


def test_a_right_call_stays_beside_one_of_a_tool_that_does_not_exist_amid_text() -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    calls = '[{"name": "get_weather", "arguments": {"city": "Oslo"}}, {"name": "nope", "arguments": {}}]'
    tools = [Tool("get_weather", "", schema)]
    found = refine(f"Both.\n```json\n{calls}\n```", tools, query="Weather in Oslo?")
    assert [call.tool for call in found.calls] == ["get_weather"]
    assert [edit.rule for edit in found.edits] == ["ghost_call"]


def test_tools_of_another_form_are_refused_with_what_reads_them() -> None:
    wire = {"type": "function", "function": {"name": "a", "parameters": {"type": "object"}}}
    with pytest.raises(ConfigError, match="not a dict") as raised:
        refine("{}", [wire])  # type: ignore[list-item]
    assert "callwright.tools_from_wire(tools)" in str(raised.value)
    reply = '{"name": "a", "arguments": {}}'
    assert [call.tool for call in refine(reply, callwright.tools_from_wire([wire])).calls] == ["a"]


@pytest.mark.parametrize(
    ("tools", "query", "said"),
    [
        (TOOLS, 5, "query is 5, and must be a text"),
        (None, "", "tools takes a list of tools, and was given a NoneType"),
        (TOOLS[0], "", "tools takes a list of tools, and was given a Tool"),
    ],
)
def test_a_query_or_tools_of_another_type_are_refused(tools: Any, query: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        refine("Hi.", tools, query=query)


def test_a_schema_of_lists_takes_no_arguments() -> None:
    reply = '{"name": "a", "arguments": {"b": 1}}'
    with pytest.raises(CatalogError, match="tool 'a': its input schema takes no object"):
        refine(reply, [Tool("a", "", {"type": "array"})])
    (tool,) = tools_from_wire([{"name": "a", "parameters": {"anyOf": [{"type": "array"}]}}])
    assert refine(reply, [tool]).calls[0].arguments == {"b": 1}


@pytest.mark.parametrize("schema", [False, [], '{"type": "object"}'])
def test_a_schema_that_is_no_object_is_refused(schema: Any) -> None:
    with pytest.raises(CatalogError, match="tool 'a': its input schema is"):
        refine("Hi.", [Tool("a", "", schema)])


@pytest.mark.parametrize("schema", [True, None])
def test_a_schema_of_anything_takes_any_arguments(schema: Any) -> None:
    found = refine('{"name": "a", "arguments": {"b": 1}}', [Tool("a", "", schema)])
    assert (found.calls[0].arguments, found.violations) == ({"b": 1}, ())
