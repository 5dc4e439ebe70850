import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.language.tokens import squash_name
from callwright.nouns.types import Tool, ToolCall
from callwright.repair.ordering.references import (
    Labels,
    Meaning,
    find_call_references,
    labels_of,
    rewrite_references,
)


def tool(name: str, *outputs: str) -> Tool:
    return Tool(
        name,
        output_schema={"type": "object", "properties": {o: {"type": "string"} for o in outputs}},
    )


@pytest.mark.parametrize(
    ("text", "label", "field"),
    [
        ("$var1.geoId$", "var1", ("geoId",)),
        ("$var_1.result$", "var_1", ("result",)),
        ("$var_1.result", "var_1", ("result",)),
        ("$var2$", "var2", ()),
        ("$var3.results[0].search key$", "var3", ("results", "search key")),
        ("API_call_4", "API_call_4", ()),
        ("$2", "2", ()),
        ("${2}", "2", ()),
        ("{call_1.city}", "call_1", ("city",)),
        ("{{call_1.rows[0].city}}", "call_1", ("rows", "city")),
    ],
)
def test_every_notation_of_the_field_is_a_reference(
    text: str, label: str, field: tuple[str, ...]
) -> None:
    calls = [
        ToolCall("call_1", "a", {}),
        ToolCall("call_2", "b", {"x": text}),
        ToolCall("call_3", "c", {}),
    ]
    (found,) = find_call_references(calls, [])
    assert (found.label, found.field, found.whole, found.pointer) == (
        label,
        field,
        True,
        "/1/arguments/x",
    )


@pytest.mark.parametrize(
    "text",
    [
        "it costs $20",
        "$1,000",
        "$5.50",
        "Hello {name}, welcome",
        "cost: $9%",
        "output_dir",
        "my_API_call_2b",
        "${HOME}/x y",
    ],
)
def test_prices_templates_and_paths_are_no_references(text: str) -> None:
    assert find_call_references([ToolCall("call_1", "a", {"x": text})], []) == []


def test_what_the_request_says_in_these_words_is_no_reference() -> None:
    calls = [ToolCall("1", "pay", {"amount": "$2"}), ToolCall("2", "rate", {})]
    assert find_call_references(calls, [], query="Pay them $2 please") == []
    assert len(find_call_references(calls, [], query="Pay them")) == 1


def test_output_names_count_only_where_tools_return_such_things() -> None:
    calls = [ToolCall("1", "capital", {"of": "output_birthplace"})]
    assert find_call_references(calls, [tool("capital", "output_capital")])
    assert find_call_references(calls, [tool("capital", "capital")]) == []


def test_an_output_name_that_another_call_returns_is_a_reference_whatever_the_prompt_says() -> None:
    find, capital = tool("find_birthplace", "output_birthplace"), tool("capital", "output_capital")
    calls = [
        ToolCall("1", "capital", {"of": "output_birthplace"}),
        ToolCall("2", "find_birthplace", {}),
    ]
    prompt = 'give "output_birthplace" to a later call'
    assert [r.label for r in find_call_references(calls, [find, capital], prompt)] == [
        "output_birthplace"
    ]
    assert find_call_references(calls[:1], [find, capital], prompt) == []


@pytest.mark.parametrize(
    ("label", "text"), [("$var_1", "$var_1.id$"), ("API_call_0", "API_call_0"), ("c1", "{c1.id}")]
)
def test_a_label_that_a_call_bears_is_referred_to_even_where_the_prompt_shows_the_notation(
    label: str, text: str
) -> None:
    calls = [ToolCall("call_1", "a", {}, label), ToolCall("call_2", "b", {"x": text})]
    assert [r.text for r in find_call_references(calls, [], f"for example: {text}")] == [text]


def test_references_inside_lists_and_objects_are_found_and_rewritten_in_place() -> None:
    call = ToolCall("c", "t", {"a": [{"b": "from $var1.x$ to $var2.y$"}], "n": 3})
    found = find_call_references([call], [])
    made = rewrite_references(call, [(r, r.renamed("var9")) for r in found])
    assert made.arguments == {"a": [{"b": "from $var9.x$ to $var9.y$"}], "n": 3}
    assert call.arguments == {"a": [{"b": "from $var1.x$ to $var2.y$"}], "n": 3}


def test_a_nestools_call_has_one_label_for_each_output() -> None:
    tools = {"isbn": tool("isbn", "details", "available"), "shelf": tool("shelf", "place")}
    calls = [
        ToolCall("API_call_0", "isbn", {}),
        ToolCall("API_call_2", "shelf", {"book": "API_call_1"}),
    ]
    given = labels_of(calls, tools)
    assert given == [("API_call_0", "API_call_1"), ("API_call_2",)]
    (ref,) = find_call_references(calls, tools.values())
    meaning = Labels(calls, tools, given).meaning(ref)
    assert meaning is not None
    assert (meaning.call, meaning.output) == (0, "available")


def test_a_label_of_another_call_is_none_of_the_first_calls_outputs() -> None:
    """A model that labels each call once was read as if its second label were the first call's
    second output."""
    calls = [
        ToolCall("API_call_0", "isbn", {}),
        ToolCall("API_call_1", "isbn", {}),
        ToolCall("API_call_2", "shelf", {"book": "API_call_1"}),
    ]
    tools = {"isbn": tool("isbn", "details", "available"), "shelf": tool("shelf", "place")}
    given = labels_of(calls, tools)
    assert given == [("API_call_0",), ("API_call_1",), ("API_call_2",)]
    (ref,) = find_call_references(calls, tools.values())
    meaning = Labels(calls, tools, given).meaning(ref)
    assert meaning == Meaning(1), "which of its outputs is meant is not known"


def test_calls_without_labels_are_counted() -> None:
    calls = [ToolCall("call_1", "a", {}), ToolCall("call_2", "b", {"x": "$var1.y$", "z": "$1"})]
    labels = Labels(calls, {}, [(c.id,) for c in calls])
    meanings = [labels.meaning(r) for r in find_call_references(calls, [])]
    assert [m.call for m in meanings if m] == [0, 0]


def test_two_spellings_of_a_label_are_one() -> None:
    assert squash_name("$var_1") == squash_name("VAR1") == "var1"


@given(
    st.recursive(
        st.text() | st.integers(),
        lambda v: st.lists(v) | st.dictionaries(st.text(), v),
        max_leaves=8,
    )
)
def test_rewriting_nothing_changes_nothing(value: object) -> None:
    call = ToolCall("c", "t", {"x": value})
    found = find_call_references([call], [])
    assert rewrite_references(call, [(r, r.text) for r in found]) == call
